//! Clairvoyant: by what the epoch will bring, as it begins. With units of one size no placement that
//! stays for whole epochs serves more accesses from the same fast memory (Belady's idea applied to
//! epochs). It moves without regard to cost: a bound on hits, not on time.
//!
//! Where traffic was sampled it goes by what is expected of the epoch, this one's visits included: who
//! knew what a sample happened to show would need less than anybody can reach.

use crate::policy::rate_key;
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "clairvoyant",
    summary: "what the epoch to come will ask for most, per page: the bound on hits",
    source: "after Belady 1966, per epoch",
    class: Class::Bound,
    needs: Needs { oracle: true, ..Needs::NOTHING },
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
            let counted = !next.leads.is_empty() || next.traffic.is_empty();
            *key = rate_key(if next.unit.get(row) == Some(unit) {
                let asked = if counted { next.memory_rate(row) } else { next.rate[row] };
                asked / f32::from(next.pages[row].max(1))
            } else {
                0.0
            });
        }
    }
}
