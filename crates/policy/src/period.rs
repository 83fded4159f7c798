//! When a policy decides that has a period of its own, in seconds, over epochs of any length.

use crate::options::OptionInfo;

/// The period of Nimble (section 3.2) and of AMP (section 3.1).
pub(crate) const INTERVAL: OptionInfo = OptionInfo {
    name: "interval",
    summary: "seconds between two decisions, rounded to whole epochs, at least one",
    default: 5.0,
    range: (0.0, 1e6),
    whole: false,
};

/// The period of policies that have none of their own.
pub(crate) const EVERY_EPOCH: OptionInfo = OptionInfo {
    summary: "seconds between two decisions, rounded to whole epochs; 0: after every epoch",
    default: 0.0,
    ..INTERVAL
};

/// Where in its first period the recording begins.
pub(crate) const PHASE: OptionInfo = OptionInfo {
    name: "phase",
    summary: "seconds of the first interval that are over when the recording begins",
    default: 0.0,
    range: (0.0, 1e6),
    whole: false,
};

/// Counts the seconds since the last decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    interval: f64,
    since: f64,
}

impl Period {
    /// The first decision comes after `interval` less `phase` seconds.
    pub(crate) fn new(interval: f64, phase: f64) -> Self {
        Self { interval, since: phase }
    }

    /// Whether a decision is due at the end of an epoch: whether that is nearer than the next.
    pub(crate) fn due(&mut self, length_s: f64) -> bool {
        self.since += length_s;
        let due = self.since + length_s / 2.0 > self.interval;
        if due {
            self.since = 0.0;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(interval: f64, phase: f64, length_s: f64) -> Vec<usize> {
        let mut period = Period::new(interval, phase);
        (1..=12).filter(|_| period.due(length_s)).collect()
    }

    #[test]
    fn a_period_is_a_whole_number_of_epochs_however_long_they_are() {
        let all: Vec<usize> = (1..=12).collect();
        for length_s in [4.9, 5.1, 9.0] {
            assert_eq!(due(5.0, 0.0, length_s), all);
        }
        assert_eq!(due(0.0, 0.0, 1.0), all);
        assert_eq!(due(5.0, 0.0, 1.0), [5, 10]);
        assert_eq!(due(5.0, 2.0, 1.0), [3, 8]);
        assert_eq!(due(5.0, 0.0, 1.01), [5, 10]);
        // 4 s are nearer to 5 s than 8 s are.
        assert_eq!(due(5.0, 0.0, 4.0), all);
    }
}
