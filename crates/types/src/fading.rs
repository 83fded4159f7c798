//! How long what was seen of memory counts: for long while a unit stays what it is, so that chance evens out, and not at all
//! once it has changed. The recorder and its simulation fade alike; how often each has to see a change stands there.
//!
//! The first change is believed at once. What changes again and again is swept over now and then, and is known best by what it
//! is on average.

/// What was seen counts for so much one epoch with visits later: some fourteen such epochs say what is expected. With 0.8,
/// which is five, units whose rates differ by a third change places by chance, again and again; with 0.95 what changes by
/// less than is noticed is followed too late (docs/history.md, "Adaptive, by simulation").
pub const KEEP: f32 = 0.93;
/// A change: so many times as much seen as expected, or as little, and so many standard deviations and sightings off.
const CHANGED: f64 = 2.0;
const DEVIATIONS: f64 = 4.0;
const FEW: f64 = 8.0;
/// Another change is believed at once, the next one after an epoch more, each further one after so many times as many, up
/// to `CALM`, as long as no `CALM` epochs in a row go by without one.
const PATIENCE: u32 = 4;
const CALM: u32 = 16;

/// See the module. Counts epochs with visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Since it changed last, since it last seemed to, and those before that is believed.
    since: u32,
    calm: u32,
    patience: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { since: CALM, calm: CALM, patience: 0 }
    }
}

impl Patience {
    /// Whether a change in the next epoch would be believed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.since.saturating_add(1) > self.patience
    }

    /// An epoch went by; whether what seems to have changed is taken to have.
    pub fn believes(&mut self, differs: bool) -> bool {
        let changed = differs && self.is_over();
        self.since = self.since.saturating_add(1);
        let calm = self.calm;
        self.calm = if differs { 0 } else { calm.saturating_add(1) };
        if changed {
            let longer = (self.patience * PATIENCE).clamp(1, CALM);
            (self.since, self.patience) = (0, if calm >= CALM { 0 } else { longer });
        }
        changed
    }
}

/// Whether a count is no plausible outcome of what was known.
#[must_use]
pub fn surprising(seen: f64, expected: f64) -> bool {
    let times = seen > CHANGED * expected || expected > CHANGED * seen;
    times && (seen - expected).abs() > DEVIATIONS * expected.sqrt() + FEW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_brings_is_no_surprise() {
        for (seen, expected) in
            [(8.0, 0.0), (0.0, 8.0), (30.0, 20.0), (199.0, 100.0), (51.0, 100.0)]
        {
            assert!(!surprising(seen, expected), "{seen} for {expected}");
        }
        for (seen, expected) in [(9.0, 0.0), (0.0, 30.0), (240.0, 100.0), (40.0, 100.0)] {
            assert!(surprising(seen, expected), "{seen} for {expected}");
        }
    }

    #[test]
    fn who_changes_again_and_again_is_believed_less_and_less_often() {
        let mut patience = Patience::default();
        let believed: Vec<u32> = (0..60).filter(|_| patience.believes(true)).collect();
        assert_eq!(believed[..4], [0, 1, 3, 8], "at once, and again, then after 1, 4 and 16 more");
        assert!(believed[4..].windows(2).all(|two| two[1] - two[0] == 17), "{believed:?}");
        (0..16).for_each(|_| assert!(!patience.believes(false)));
        (0..2)
            .for_each(|_| assert!(patience.believes(true), "left in peace it is followed at once"));
    }
}
