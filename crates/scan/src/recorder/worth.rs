//! What watching is worth: it costs the same whether there is something to find or not.

use std::time::Duration;

/// Watching that is expected to bring nothing is worth this part of the budget: else no change would be seen.
const WORTHLESS: f64 = 0.1;
/// What it may bring is not believed before a target has been the same for so many epochs: the first looks tell little.
const SAME: u32 = 3;
/// What the best placement would have brought counts for half after so long, s: two epochs, for what is known of a target gets
/// better more often than it pauses. With 30 s a program that accesses all of its memory alike was watched for a minute for
/// what its first looks had promised.
const HALF_S: f64 = 10.0;

/// What is left after so long of what the best placement would have brought.
pub(super) fn after(may_bring_s: f64, passed: Duration) -> f64 {
    may_bring_s * (-passed.as_secs_f64() / HALF_S).exp2()
}

/// The part of the budget that watching is worth, where the best placement would bring so many seconds a second, of a target
/// that has been the same for so many epochs.
pub(super) fn of(budget: f64, may_bring_s: Option<f64>, same: u32) -> f64 {
    let known = may_bring_s.filter(|_| same >= SAME);
    known.map_or(1.0, |may_bring_s| (may_bring_s / budget).clamp(WORTHLESS, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watching_is_worth_what_the_best_placement_would_bring() {
        let worth = |may_bring_s| of(0.03, Some(may_bring_s), 3);
        assert_eq!(of(0.03, None, 9), 1.0, "nobody knows");
        assert_eq!([0.5, 0.03].map(worth), [1.0; 2]);
        assert!((worth(0.006) - 0.2).abs() < 1e-9);
        assert_eq!(
            worth(0.0),
            0.1,
            "all is accessed alike, or fast; a change is to be seen all the same"
        );
        assert_eq!(of(0.03, Some(0.0), 2), 1.0, "it is new");
    }

    #[test]
    fn who_pauses_does_not_promise_less_at_once() {
        assert!((after(0.4, Duration::from_secs(20)) - 0.1).abs() < 1e-9);
    }
}
