//! Least recently used: by age, the number of observed epochs (or intervals) since the last
//! access.

use crate::by_history::ByHistory;
use crate::period::{EVERY_EPOCH, PHASE};
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "lru",
    summary: "the most recently accessed first",
    source: "AMP, section 3.1 (age per page)",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[EVERY_EPOCH, PHASE],
    figures: &[],
    build: |settings| Policy::Rank(Box::new(Lru(ByHistory::new(settings)))),
};

struct Lru(ByHistory);

impl RankPolicy for Lru {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        self.0.rank(view, keys, |known| known.age);
    }
}
