//! Finds the part at the start of a recording that policies live through and that is not judged:
//! in which the program still fills its memory, for what is placed and touched then says little
//! about the time after; and of a program that ran before the recording, the first half, in which
//! policies learn what they would have known. Our own rules, meant to need no tuning.

use pagetide_trace::Epoch;
use pagetide_types::Bytes;
use serde::Serialize;

/// Share of its later level that memory must have reached for start-up to be over.
const LEVEL: f64 = 0.95;
/// An epoch that adds more than this share of the level was spent filling.
const FILLING: f64 = 0.05;
/// After start-up the memory may grow by this share of the level; more is growth throughout.
const FLAT: f64 = 0.15;
/// Epochs that must remain after the warm-up.
const REMAIN: usize = 4;
/// As many epochs ([`REMAIN`]) that together grow by no more than this share of the level, at no
/// less than a quarter of it, are a phase of the program and not its start-up.
const PHASE: f64 = 0.02;

/// Which epochs at the start were left out, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WarmUp {
    /// Epochs left out at the start; epoch numbers below this are not evaluated.
    pub epochs: usize,
    /// Epochs at the start that were spent filling memory and count all the same, for too few
    /// would remain without them.
    pub filling_epochs: usize,
    /// The footprint grows to the end: no start-up could be told from the rest.
    pub still_growing: bool,
    /// The last epoch is left out: the program ended in it, and gave its memory back.
    pub ended: bool,
    /// What was left out, in one sentence.
    pub note: String,
}

impl WarmUp {
    /// How many of so many epochs are looked at: all but a last one in which the program ended.
    pub(crate) fn looked_at(&self, epochs: usize) -> usize {
        epochs - usize::from(self.ended).min(epochs)
    }

    /// What has to be kept in mind where start-up was not left out; none where it was, or where
    /// there was none.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let remedy = match () {
            () if self.still_growing => "a longer run will need more",
            () if self.filling_epochs > 0 => "a longer recording can leave them out",
            () => return None,
        };
        Some(format!("{}; {remedy}", self.note))
    }
}

/// What of a recording is not judged: the [warm-up](find_warm_up) where it `began_with_target`;
/// where the program ran before, at least the first half. Nothing else could stand for the past
/// that was not recorded: what is judged must not have been seen.
#[must_use]
pub fn not_judged(resident: &[Bytes], began_with_target: bool) -> WarmUp {
    let (warm_up, n) = (find_warm_up(resident), resident.len());
    if began_with_target || warm_up.epochs >= n / 2 {
        return warm_up;
    }
    let many = match n / 2 {
        1 => "the first epoch is".to_owned(),
        half => format!("the first {half} of {n} epochs are"),
    };
    let growing = if warm_up.still_growing { "the footprint grows throughout; " } else { "" };
    WarmUp {
        epochs: n / 2,
        filling_epochs: 0,
        note: format!(
            "{growing}{many} left out: the program had begun before, and policies learn it then"
        ),
        ..warm_up
    }
}

/// Whether the last epoch is not judged, for the program ended in it: a program that frees what it
/// built touches most of it once more, as it never does before. Not where few epochs are left.
#[must_use]
pub(crate) fn ended_in_the_last(epochs: &[Epoch], warm_up: &WarmUp) -> bool {
    let enough = epochs.len() > warm_up.epochs + REMAIN;
    enough && epochs.last().is_some_and(|last| last.processes == 0)
}

/// Finds the warm-up from the resident memory at the end of every epoch.
///
/// The level is the median of the second half. Warm-up ends with the first epoch that reaches
/// 95 % of it, or with an earlier steady phase of four epochs at a quarter of it or more; that
/// epoch too is left out when it added more than 5 %. Nothing is left out
/// when fewer than four epochs would remain (a short recording, or a long filling), or when memory
/// grows by more than 15 % afterwards: then the program grows throughout. The note says which.
#[must_use]
pub fn find_warm_up(resident: &[Bytes]) -> WarmUp {
    let n = resident.len();
    let all = |note: &str| WarmUp { note: note.to_owned(), ..WarmUp::default() };
    if n <= REMAIN {
        return all("too few epochs to look for a warm-up; all are used");
    }
    let mut later = resident[n / 2..].to_vec();
    later.sort_unstable();
    let level = later[later.len() / 2].as_f64();
    if level <= 0.0 {
        return all("no memory was resident in the second half; all epochs are used");
    }
    let phase = |i: usize| {
        let (first, last) = (resident[i].as_f64(), resident.get(i + REMAIN - 1));
        first >= 0.25 * level && last.is_some_and(|l| (l.as_f64() - first).abs() <= PHASE * level)
    };
    let full = |i: usize| resident[i].as_f64() >= LEVEL * level;
    let reached = (0..n).find(|i| full(*i) || phase(*i)).unwrap_or(n - 1);
    let grew = |i: usize| resident[i].as_f64() - resident[i - 1].as_f64() > FILLING * level;
    let filling = reached > 0 && grew(reached);
    let epochs = reached + usize::from(filling);
    let rest = &resident[epochs.min(n - 1)..];
    let start = rest[0].as_f64();
    let growth = rest.iter().map(|r| r.as_f64()).fold(start, f64::max) - start;
    if growth > FLAT * level && !phase(reached) {
        return WarmUp {
            still_growing: true,
            ..all("the footprint grows throughout the recording; all epochs are used")
        };
    }
    if epochs == 0 {
        return all("the footprint is steady from the first epoch; all epochs are used");
    }
    if n - epochs < REMAIN {
        return WarmUp {
            filling_epochs: epochs,
            // One epoch without growth is no sign that it is over.
            still_growing: n - epochs < 2,
            ..all(&format!(
                "the program was filling its memory in the first {epochs} of {n} epochs, too many \
                 to leave out; all are used"
            ))
        };
    }
    WarmUp {
        epochs,
        note: format!(
            "the first {} left out: the program was filling its memory",
            if epochs == 1 { "epoch is".to_owned() } else { format!("{epochs} epochs are") }
        ),
        ..WarmUp::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn warm_up(mib: &[u64]) -> WarmUp {
        find_warm_up(&mib.iter().map(|m| Bytes::mib(*m)).collect::<Vec<_>>())
    }

    #[test]
    fn a_fill_is_left_out_and_a_steady_program_is_not() {
        assert_eq!(warm_up(&[100, 400, 800, 1000, 1000, 1001, 1000, 1002, 1000]).epochs, 4);
        assert_eq!(warm_up(&[100, 980, 1000, 1000, 1000, 1001]).epochs, 2);
        assert_eq!(warm_up(&[1000, 999, 1000, 1001, 1000, 1002, 1000]).epochs, 0);
        // A fill that takes more than half of the recording, with a plateau after it.
        assert_eq!(warm_up(&[1, 200, 300, 400, 500, 1000, 1000, 1000, 1000, 1000]).epochs, 6);
        // A second phase with twice the memory: the first is no start-up.
        let two = [vec![300], vec![1000; 11], vec![2000; 8]].concat();
        assert_eq!(warm_up(&two).epochs, 2);
        // A start-up peak is no warm-up: the memory was there.
        assert_eq!(warm_up(&[2000, 1000, 1000, 1000, 1000, 1000]).epochs, 0);
    }

    #[test]
    fn growth_throughout_is_said_and_nothing_is_left_out() {
        let leak = warm_up(&(1..=40).map(|i| i * 100).collect::<Vec<_>>());
        assert!(leak.still_growing && leak.epochs == 0, "{leak:?}");
        let late = warm_up(&[1, 200, 400, 600, 800, 1000, 1000]);
        assert!(late.still_growing && late.epochs == 0, "{late:?}");
        assert!(late.note.contains("in the first 6 of 7 epochs"), "{late:?}");
    }

    #[test]
    fn a_short_recording_is_not_said_to_fill_until_the_end() {
        // The program was full after two epochs; there are just too few of them.
        for (mib, filling) in
            [([100, 800, 1000, 1000, 1000], 3), ([300, 1000, 1000, 1001, 1000], 2)]
        {
            let found = warm_up(&mib);
            assert_eq!((found.epochs, found.filling_epochs), (0, filling));
            assert!(!found.still_growing, "{found:?}");
        }
    }

    #[test]
    fn of_a_program_that_ran_before_the_first_half_teaches() {
        let of = |mib: &[u64], began| {
            not_judged(&mib.iter().map(|m| Bytes::mib(*m)).collect::<Vec<_>>(), began)
        };
        assert_eq!((of(&[9; 11], true).epochs, of(&[9; 11], false).epochs), (0, 5));
        let filled = [[1, 2, 4, 6, 8].as_slice(), &[10; 5]].concat();
        assert_eq!((of(&filled, true).epochs, of(&filled, false).epochs), (6, 6));
        let growing = of(&(1..40).collect::<Vec<_>>(), false);
        assert!(growing.still_growing && growing.epochs == 19, "{growing:?}");
        assert!(growing.note.starts_with("the footprint grows"), "{growing:?}");
        assert_eq!([0, 1, 2, 4].map(|n| of(&vec![9; n], false).epochs), [0, 0, 1, 2]);
    }

    #[test]
    fn short_and_empty_recordings_are_used_whole() {
        for mib in [&[][..], &[5], &[1, 2, 3, 4], &[0, 0, 0, 0, 0, 0]] {
            let found = warm_up(mib);
            assert_eq!(found.epochs, 0);
            assert!(found.note.contains("all"), "{found:?}");
        }
    }

    #[test]
    fn the_epoch_in_which_the_program_ended_is_left_out() {
        let epochs = |last: u32| -> Vec<Epoch> {
            let processes = [1, 1, 1, 1, 1, 1, last];
            processes.map(|processes| Epoch { processes, ..Epoch::default() }).to_vec()
        };
        let warm_up = |epochs| WarmUp { epochs, ..WarmUp::default() };
        assert!(ended_in_the_last(&epochs(0), &warm_up(2)));
        assert!(!ended_in_the_last(&epochs(0), &warm_up(3)), "four remain");
        assert!(!ended_in_the_last(&epochs(1), &warm_up(0)), "it went on");
        assert_eq!(WarmUp { ended: true, ..warm_up(2) }.looked_at(7), 6);
        assert_eq!(warm_up(2).looked_at(7), 7);
    }

    proptest! {
        #[test]
        fn leaves_enough_and_never_stops_at_noise(
            fill in 0usize..6,
            steady in 6usize..40,
            noise in proptest::collection::vec(0u64..20, 46),
        ) {
            let mib: Vec<u64> = (0..fill)
                .map(|i| 100 * (i as u64 + 1))
                .chain(noise.iter().take(steady).map(|n| 1000 + n))
                .collect();
            let found = warm_up(&mib);
            prop_assert!(mib.len() - found.epochs >= REMAIN);
            prop_assert_eq!(found.epochs, if fill == 0 { 0 } else { fill + 1 });
        }
    }
}
