//! Least recently used: by age, the number of observed epochs since the last access.

use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "lru",
    summary: "the most recently accessed first",
    source: "AMP, section 3.1 (age per page)",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[],
    figures: &[],
    build: |_| Policy::Rank(Box::new(Lru)),
};

struct Lru;

impl RankPolicy for Lru {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        view.key_by(keys, |known| known.age);
    }
}
