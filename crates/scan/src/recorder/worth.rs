//! What watching is worth: it costs the same whether there is something to find or not.

use std::time::Duration;

/// Watching that is expected to bring nothing is worth this part of the budget: else no change would be seen.
const WORTHLESS: f64 = 0.1;
/// Where all is in place so large a part: a change is to be seen soon.
const IN_PLACE: f64 = 1.0 / 3.0;
/// What it may bring is not believed before a target has been the same for so many epochs: the first looks tell little.
const SAME: u32 = 3;
/// What the best placement would have brought, and what was found, counts for half after so long, s.
const HALF_S: [f64; 2] = [30.0, 5.0];

/// What watching may bring, seconds of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MayBring {
    /// A second: what the best placement would bring beyond the present one, or beyond any, if that is more.
    pub most_s: f64,
    /// For each second of the last epoch: what was decided on at its end is to bring beyond its cost.
    pub found_s: f64,
}

impl MayBring {
    /// What is left of it after so long.
    pub(super) fn after(self, passed: Duration) -> Self {
        let [most, found] = HALF_S.map(|half_s| (-passed.as_secs_f64() / half_s).exp2());
        Self { most_s: self.most_s * most, found_s: self.found_s * found }
    }

    pub(super) fn max(self, other: Self) -> Self {
        let most_s = self.most_s.max(other.most_s);
        Self { most_s, found_s: self.found_s.max(other.found_s) }
    }
}

/// The part of the budget that watching is worth, of a target that has been the same for so many epochs.
pub(super) fn of(budget: f64, may_bring: Option<MayBring>, same: u32) -> f64 {
    let worth = |MayBring { most_s, found_s }| {
        let found = (found_s / budget).max(IN_PLACE);
        found.min(most_s / budget).clamp(WORTHLESS, 1.0)
    };
    may_bring.filter(|_| same >= SAME).map_or(1.0, worth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worth(most_s: f64, found_s: f64) -> f64 {
        of(0.03, Some(MayBring { most_s, found_s }), 3)
    }

    #[test]
    fn watching_is_worth_what_it_brings() {
        assert_eq!(of(0.03, None, 9), 1.0, "nobody knows");
        assert_eq!(worth(0.5, 0.1), 1.0);
        assert!((worth(0.5, 0.015) - 0.5).abs() < 1e-9, "there is less and less to find");
        assert_eq!(worth(0.5, 0.0), 1.0 / 3.0, "and a change is to be seen soon");
        assert!((worth(0.006, 0.0) - 0.2).abs() < 1e-9, "which may not bring more");
        assert_eq!(worth(0.0, 0.0), 0.1, "all is accessed alike, or fast");
        assert_eq!(of(0.03, Some(MayBring { most_s: 0.0, found_s: 0.0 }), 2), 1.0, "it is new");
    }

    #[test]
    fn who_pauses_does_not_promise_less_at_once() {
        let before = MayBring { most_s: 0.4, found_s: 0.4 };
        let nothing = MayBring { most_s: 0.0, found_s: 0.0 };
        let after = nothing.max(before.after(Duration::from_secs(30)));
        assert!((after.most_s - 0.2).abs() < 1e-9 && (after.found_s - 0.4 / 64.0).abs() < 1e-9);
    }
}
