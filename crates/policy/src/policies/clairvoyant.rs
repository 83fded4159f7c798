//! Clairvoyant: by what the epoch will bring, as it begins. With units of one size no placement that
//! stays for whole epochs serves more accesses from the same fast memory (Belady's idea applied to
//! epochs). It moves without regard to cost: a bound on hits, not on time.

use crate::policy::rate_key;
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "clairvoyant",
    summary: "what the epoch to come will ask for most, per page: the bound on hits",
    source: "after Belady 1966, per epoch",
    class: Class::Bound,
    needs: Needs { oracle: true, placement: false },
    options: &[],
    figures: &[],
    build: |_| Policy::Rank(Box::new(Clairvoyant)),
};

struct Clairvoyant;

impl RankPolicy for Clairvoyant {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let Some(next) = view.oracle else {
            keys.fill(0);
            return;
        };
        let mut row = 0;
        for (key, unit) in keys.iter_mut().zip(&view.heat.unit) {
            while next.unit.get(row).is_some_and(|other| other < unit) {
                row += 1;
            }
            // Per page: a small unit that is as hot gives more for the same memory.
            *key = rate_key(if next.unit.get(row) == Some(unit) {
                next.memory_rate(row) / f32::from(next.pages[row].max(1))
            } else {
                0.0
            });
        }
    }
}
