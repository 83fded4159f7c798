//! Phases: for how long which weights hold.

use serde::Deserialize;
use std::{collections::BTreeMap, time::Duration};

/// A time in which the weights of parts are others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// How long it lasts.
    pub seconds: f64,
    /// What the weights of parts, by name, are multiplied by; 0 leaves a part alone.
    #[serde(default)]
    pub weights: BTreeMap<String, f64>,
    /// What the weights of all other parts are multiplied by.
    #[serde(default = "one")]
    pub others: f64,
}

fn one() -> f64 {
    1.0
}

impl Phase {
    /// The names of its keys in a file.
    pub const KEYS: &[&str] = &["seconds", "weights", "others"];

    /// What the weight of a part is multiplied by.
    pub(super) fn factor(&self, part: &str) -> f64 {
        self.weights.get(part).copied().unwrap_or(self.others)
    }
}

/// When which phase is.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// The end of each in a round, nanoseconds; none where there are no phases.
    ends: Vec<u64>,
}

impl Calendar {
    pub(super) fn new(phases: &[Phase]) -> Self {
        let mut end = 0u64;
        let end_of = |phase: &Phase| {
            // Checked to be positive and no longer than ten years.
            let length = Duration::from_secs_f64(phase.seconds);
            end = end.saturating_add(nanoseconds(length).max(1));
            end
        };
        Self { ends: phases.iter().map(end_of).collect() }
    }

    /// The number of the phase; the first where there are none.
    pub(super) fn at(&self, now: Duration) -> usize {
        let Some(round) = self.ends.last() else { return 0 };
        let now = nanoseconds(now) % round;
        self.ends.partition_point(|end| *end <= now)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(seconds: f64) -> Phase {
        Phase { seconds, weights: BTreeMap::new(), others: 1.0 }
    }

    #[test]
    fn phases_come_in_turn_and_again() {
        let calendar = Calendar::new(&[phase(2.0), phase(0.1), phase(0.9)]);
        for round in [0, 1, 1000] {
            for (ms, phase) in [(0, 0), (1999, 0), (2000, 1), (2099, 1), (2100, 2), (2999, 2)] {
                let now = Duration::from_millis(round * 3000 + ms);
                assert_eq!(calendar.at(now), phase, "{now:?}");
            }
        }
        assert_eq!(Calendar::new(&[]).at(Duration::from_secs(9)), 0);
    }
}
