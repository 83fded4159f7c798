//! Which epochs of a recording count. Policies live through all of them forwards and once: a
//! decision at the end of an epoch knows that epoch and those before it, and is charged with the
//! traffic of the next. Nothing that is scored has been seen before it is scored.

/// When policies begin to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evaluation {
    first: usize,
    ran_before: bool,
}

/// What a policy does in one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    /// Its position in the recording.
    pub(crate) epoch: usize,
    /// Its accesses, and the moves of the decision at its end, count.
    pub(crate) counts: bool,
    /// It is the first that counts.
    pub(crate) begins: bool,
    /// See [`pagetide_policy::EpochView::free_moves`].
    pub(crate) free_moves: bool,
}

impl Evaluation {
    /// From epoch `first` on, but never the very first, in which no decision is in force.
    /// `ran_before`: the program had run for long when the recording began. Its memory would lie
    /// where the policy wants it; so until the evaluation begins the policy may forgo its thrift.
    pub(crate) fn new(first: usize, ran_before: bool) -> Self {
        Self { first: first.max(1), ran_before }
    }

    pub(crate) fn cue(self, epoch: usize) -> Cue {
        let counts = epoch >= self.first;
        Cue { epoch, counts, begins: epoch == self.first, free_moves: self.ran_before && !counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_very_first_epoch_never_counts_and_only_a_past_is_free_of_thrift() {
        for (first, ran_before) in [(0, false), (1, true), (3, true), (3, false)] {
            let evaluation = Evaluation::new(first, ran_before);
            for epoch in 0..5 {
                let cue = evaluation.cue(epoch);
                assert_eq!(cue.counts, epoch >= first.max(1));
                assert_eq!(cue.free_moves, ran_before && !cue.counts);
            }
        }
    }
}
