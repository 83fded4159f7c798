//! The order in which policies live through a recording. It begins in the middle of a program's
//! life: what is in fast memory then, and what a policy knows, is the work of a past that nobody
//! recorded. The first epochs that count are taken for it, backwards, as signals are continued
//! beyond their ends by their mirror image: the program was at rest, or came from where it went.

/// Epochs that are lived through backwards before a plan counts. A minute by default: what is
/// asked is how the program runs in the long run, not how it gets there.
pub(crate) const EPOCHS: usize = 12;

/// When an epoch is lived through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    /// Its position in the recording.
    pub(crate) epoch: usize,
    /// It is lived through again later, when it counts.
    pub(crate) rehearsal: bool,
    /// Its accesses, and the moves of the decision at its end, count.
    pub(crate) counts: bool,
}

/// Puts epochs into that order; the first epochs that count are held back until all are known.
pub(crate) struct Rehearsal<T> {
    first: usize,
    epochs: usize,
    pushed: usize,
    kept: Vec<T>,
    /// An epoch was lived through: a decision is in force.
    begun: bool,
}

impl<T: Clone> Rehearsal<T> {
    /// Of a recording that counts from epoch `first` on, with a past of `epochs` epochs; without
    /// any for 0 and 1.
    pub(crate) fn new(first: usize, epochs: usize) -> Self {
        Self { first, epochs, pushed: 0, kept: Vec::new(), begun: false }
    }

    /// Takes in the next epoch: what is lived through now.
    pub(crate) fn push(&mut self, item: T) -> Vec<(Cue, T)> {
        let epoch = self.pushed;
        self.pushed += 1;
        if !(self.first..self.first + self.epochs).contains(&epoch) {
            return vec![self.live(epoch, item)];
        }
        self.kept.push(item);
        if self.kept.len() == self.epochs { self.finish() } else { Vec::new() }
    }

    /// Ends the recording: what was held back.
    pub(crate) fn finish(&mut self) -> Vec<(Cue, T)> {
        let kept = std::mem::take(&mut self.kept);
        let past = kept.iter().enumerate().skip(1).rev();
        let cue = |epoch| Cue { epoch: self.first + epoch, rehearsal: true, counts: false };
        let mut order: Vec<_> = past.map(|(epoch, item)| (cue(epoch), item.clone())).collect();
        self.begun |= !order.is_empty();
        for (epoch, item) in (self.first..).zip(kept) {
            order.push(self.live(epoch, item));
        }
        order
    }

    fn live(&mut self, epoch: usize, item: T) -> (Cue, T) {
        let counts = epoch >= self.first && self.begun;
        self.begun = true;
        (Cue { epoch, rehearsal: false, counts }, item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is lived through of `n` epochs: `-` before those in rehearsal, `+` before those that count.
    fn order(n: usize, first: usize, epochs: usize) -> String {
        let mut rehearsal = Rehearsal::new(first, epochs);
        let mut all: Vec<_> = (0..n).flat_map(|epoch| rehearsal.push(epoch)).collect();
        all.extend(rehearsal.finish());
        let word = |(cue, item): &(Cue, usize)| {
            assert_eq!(cue.epoch, *item);
            let sign = if cue.counts { "+" } else { "" };
            format!("{}{sign}{item}", if cue.rehearsal { "-" } else { "" })
        };
        all.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_first_epochs_that_count_are_lived_through_backwards_before() {
        assert_eq!(order(7, 2, 3), "0 1 -4 -3 +2 +3 +4 +5 +6");
        assert_eq!(order(4, 0, 3), "-2 -1 +0 +1 +2 +3");
        assert_eq!(order(3, 1, 12), "0 -2 +1 +2", "fewer epochs than a whole past");
        assert_eq!(order(2, 0, 12), "-1 +0 +1");
    }

    #[test]
    fn without_a_past_the_very_first_epoch_cannot_count() {
        assert_eq!(order(3, 0, 0), "0 +1 +2");
        assert_eq!(order(3, 1, 1), "0 +1 +2");
        assert_eq!(order(1, 0, 12), "0");
        assert_eq!(order(2, 5, 3), "0 1");
    }
}
