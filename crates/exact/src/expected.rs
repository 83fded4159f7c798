//! What is to be expected of a unit by all that was counted so far: its mean since it last changed,
//! older epochs fading. What policies rank by; a plan charges what was counted in an epoch alone.

/// Seconds after which a count weighs half.
const HALF_LIFE_S: f64 = 15.0;
/// A change: so many times as much as expected or as little, and so many misses off, beyond so
/// many times what chance does.
const CHANGED: f64 = 2.0;
const FEW: f64 = 64.0;
const DEVIATIONS: f64 = 4.0;
/// Misses come in groups, of as many lines as a value has.
const LINES: f64 = 16.0;

/// Of one unit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    misses: f64,
    seconds: f64,
}

impl Expected {
    /// Takes an epoch in; misses per second to be expected from now on.
    pub(crate) fn learn(&mut self, misses: u64, seconds: f64) -> f64 {
        let misses = misses as f64;
        let before = if self.seconds > 0.0 { self.misses / self.seconds * seconds } else { misses };
        let times = misses > CHANGED * before || before > CHANGED * misses;
        let off = (misses - before).abs();
        if times && off > FEW + DEVIATIONS * (LINES * before).sqrt() {
            *self = Self::default();
        }
        let keep = (-seconds / HALF_LIFE_S).exp2();
        self.misses = keep * self.misses + misses;
        self.seconds = keep * self.seconds + seconds;
        self.misses / self.seconds.max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_until_the_program_changes() {
        let mut expected = Expected::default();
        assert!((expected.learn(1_000, 0.5) - 2_000.0).abs() < 1e-6);
        let mean = expected.learn(1_400, 0.5);
        assert!((2_350.0..2_450.0).contains(&mean), "{mean}");
        let changed = expected.learn(10_000, 0.5);
        assert!((changed - 20_000.0).abs() < 1e-6, "{changed}");
        let idle = expected.learn(0, 0.5);
        assert!(idle.abs() < 1e-6, "{idle}");
    }
}
