//! When a change is believed: the first one at once. What changes again and again is swept over now and then, and is known
//! best by what it is on average.

/// Another change is believed at once, the next one after an epoch more, each further one after so many times as many, up
/// to `CALM`, as long as no `CALM` epochs in a row go by without one.
const PATIENCE: u32 = 4;
const CALM: u32 = 16;

/// See the module. Counts epochs with visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
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
    pub(crate) fn is_over(&self) -> bool {
        self.since.saturating_add(1) > self.patience
    }

    /// An epoch went by; whether what seems to have changed is taken to have.
    pub(crate) fn believes(&mut self, differs: bool) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

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
