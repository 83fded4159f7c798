//! Finds the part at the start of a recording that policies live through and that is not judged:
//! in which the program still fills its memory, for what is placed and touched then says little
//! about the time after, and the epoch from which policies learn what it does then; and of a program that ran before
//! the recording, the first half, in which policies learn what they would have known. Our own rules, meant to need
//! no tuning.

use pagetide_trace::Epoch;
use pagetide_types::Bytes;
use serde::Serialize;

/// Share of its later level that memory must have reached for start-up to be over.
const LEVEL: f64 = 0.95;
/// An epoch that adds more than this share of the level was spent filling.
const FILLING: f64 = 0.05;
/// Nor is an epoch that adds more than this share one from which to learn what the program does when it is not.
const STILL_FILLING: f64 = 0.01;
/// After start-up the memory may grow by this share of the level; more is growth throughout.
const FLAT: f64 = 0.15;
/// So many epochs that together grow by no more than [`PHASE`] of the level, at no less than a
/// quarter of it, are a phase of the program and not its start-up.
const PHASE_EPOCHS: usize = 4;
const PHASE: f64 = 0.02;
/// From so many epochs on a memory that grows throughout is a program that grows; in fewer nobody
/// can tell that from one that still fills its memory.
const TELLS_GROWTH: usize = 8;

/// How a note ends where nothing is left out. Plans do not judge the first epoch all the same:
/// nothing was decided before it.
const NONE: &str = "no start-up is left out";

/// Which epochs at the start were left out, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WarmUp {
    /// Epochs left out at the start; epoch numbers below this are not evaluated.
    pub epochs: usize,
    /// The footprint grows to the end: no start-up could be told from the rest.
    pub still_growing: bool,
    /// The last epoch is left out: the program ended in it, and gave its memory back.
    pub ended: bool,
    /// What was left out, in one sentence.
    pub note: String,
}

impl WarmUp {
    /// The program ended in the last epoch, which is left out, too.
    pub(crate) fn ended(self) -> Self {
        let note = match self.note.strip_suffix(NONE) {
            Some(why) => format!("{why}{NONE}; the last epoch is, in which it ended"),
            None if self.epochs > 0 => format!("{}; so is the last, in which it ended", self.note),
            None => format!("{}; the last, in which it ended, is left out", self.note),
        };
        Self { ended: true, note, ..self }
    }

    /// How many of so many epochs are looked at: all but a last one in which the program ended.
    pub(crate) fn looked_at(&self, epochs: usize) -> usize {
        epochs - usize::from(self.ended).min(epochs)
    }

    /// What has to be kept in mind where start-up was not left out; none where it was, or where
    /// there was none.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.still_growing.then(|| format!("{}; a longer run will need more", self.note))
    }
}

/// What of a recording is not judged: the [warm-up](find_warm_up) where it `began_with_target`;
/// where the program ran before, at least the first half. Nothing else could stand for the past
/// that was not recorded: what is judged must not have been seen.
#[must_use]
pub fn not_judged(resident: &[Bytes], began_with_target: bool) -> WarmUp {
    let n = resident.len();
    if began_with_target {
        return find_warm_up(resident, Bytes(0));
    }
    let warm_up = find_warm_up(resident, resident.first().copied().unwrap_or_default());
    if warm_up.epochs >= n / 2 {
        return warm_up;
    }
    let many = match n / 2 {
        1 => "the first epoch is".to_owned(),
        half => format!("the first {half} of {n} epochs are"),
    };
    let growing = if warm_up.still_growing { "the footprint grows throughout; " } else { "" };
    WarmUp {
        epochs: n / 2,
        note: format!(
            "{growing}{many} left out: the program had begun before, and policies learn it then"
        ),
        ..warm_up
    }
}

/// What is not judged where only a part of the recording was asked for, that begins at epoch
/// `first`: all before it, in which policies learn, and the filling at its own beginning.
#[must_use]
pub(crate) fn not_judged_before(resident: &[Bytes], first: usize) -> WarmUp {
    let before = first.checked_sub(1).and_then(|last| resident.get(last)).copied();
    let own = find_warm_up(resident.get(first..).unwrap_or_default(), before.unwrap_or_default());
    let before = match first {
        1 => "the first epoch is".to_owned(),
        n => format!("the first {n} epochs are"),
    };
    let within = if own.epochs > 0 || own.still_growing {
        format!("; in the part asked for {}", own.note)
    } else {
        String::new()
    };
    WarmUp {
        epochs: first + own.epochs,
        note: format!("{before} left out, as asked: policies learn the program then{within}"),
        ..own
    }
}

/// Whether the last epoch is not judged, for the program ended in it: a program that frees what it
/// built touches most of it once more, as it never does before.
#[must_use]
pub(crate) fn ended_in_the_last(epochs: &[Epoch], warm_up: &WarmUp) -> bool {
    epochs.len() > warm_up.epochs + 1 && epochs.last().is_some_and(|last| last.processes == 0)
}

/// Finds the warm-up from the resident memory `before` the first epoch and at the end of each.
///
/// The level is the median of the second half. Filling ends with the first epoch that reaches
/// 95 % of it, or with an earlier steady phase of four epochs at a quarter of it or more; that
/// epoch too is left out when it added more than 5 %, and those that follow it and do. So is then the first epoch
/// after the filling, and the one after it where the first added more than 1 %: what was decided before was decided on
/// what filling looks like. How many remain is not asked: a recording of
/// which too few do is too short, and the plan says so. Where memory grows by more than 15 %
/// afterwards the program grows throughout, and nothing is left out; but of fewer than eight epochs
/// all are, for it may as well be filling its memory. The note says which.
#[must_use]
pub fn find_warm_up(resident: &[Bytes], before: Bytes) -> WarmUp {
    let n = resident.len();
    let all = |why: &str| WarmUp { note: format!("{why}; {NONE}"), ..WarmUp::default() };
    if n < 2 {
        return WarmUp {
            note: "too few epochs to look for a warm-up".to_owned(),
            ..WarmUp::default()
        };
    }
    let mut later = resident[n / 2..].to_vec();
    later.sort_unstable();
    let level = later[later.len() / 2].as_f64();
    if level <= 0.0 {
        return all("no memory was resident in the second half");
    }
    let phase = |i: usize| {
        let (first, last) = (resident[i].as_f64(), resident.get(i + PHASE_EPOCHS - 1));
        first >= 0.25 * level && last.is_some_and(|l| (l.as_f64() - first).abs() <= PHASE * level)
    };
    let has = |i: usize| resident[i].as_f64() >= LEVEL * level;
    let reached = (0..n).find(|i| has(*i) || phase(*i)).unwrap_or(n - 1);
    let before = |i: usize| if i == 0 { before } else { resident[i - 1] };
    let grew = |i: usize| (resident[i].as_f64() - before(i).as_f64()) / level;
    let full = reached + usize::from(grew(reached) > FILLING);
    let filling = full + (full..n).take_while(|i| grew(*i) > FILLING).count();
    let unlike = usize::from(filling < n && grew(filling) > STILL_FILLING);
    let epochs = if filling > 0 { (filling + unlike + 1).min(n) } else { 0 };
    let rest = &resident[full.min(n - 1)..];
    let start = rest[0].as_f64();
    let growth = rest.iter().map(|r| r.as_f64()).fold(start, f64::max) - start;
    let grows = growth > FLAT * level && !phase(reached);
    // One epoch without growth is no sign that it is over.
    let fills_on = filling > 0 && n - filling < 2;
    if (grows || fills_on) && n < TELLS_GROWTH {
        return WarmUp {
            epochs: n,
            still_growing: true,
            note: format!(
                "all {n} epochs are left out: the program was filling its memory, as far as they \
                 tell"
            ),
            ..WarmUp::default()
        };
    }
    if grows {
        return WarmUp {
            still_growing: true,
            ..all("the footprint grows throughout the recording")
        };
    }
    if epochs == 0 {
        return all("the footprint is steady from the first epoch");
    }
    WarmUp {
        epochs,
        note: format!(
            "the first {epochs} epochs are left out: the program was filling its memory, and policies learn it",
        ),
        still_growing: fills_on,
        ..WarmUp::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of one that had as much before.
    fn warm_up(mib: &[u64]) -> WarmUp {
        let resident: Vec<Bytes> = mib.iter().map(|m| Bytes::mib(*m)).collect();
        find_warm_up(&resident, resident.first().copied().unwrap_or_default())
    }

    #[test]
    fn a_fill_is_left_out_with_the_epoch_that_teaches_and_a_steady_program_is_not() {
        assert_eq!(warm_up(&[100, 400, 800, 1000, 1000, 1001, 1000, 1002, 1000]).epochs, 5);
        assert_eq!(warm_up(&[100, 990, 1000, 1000, 1000, 1001]).epochs, 3);
        // An epoch in which the filling ends is none to learn from.
        assert_eq!(warm_up(&[100, 400, 970, 1000, 1000, 1000, 1000, 1000, 1000]).epochs, 5);
        assert_eq!(warm_up(&[100, 400, 955, 1010, 1010, 1010, 1010, 1010, 1010]).epochs, 5);
        assert_eq!(warm_up(&[1000, 999, 1000, 1001, 1000, 1002, 1000]).epochs, 0);
        // A fill that takes more than half of the recording, with a plateau after it.
        assert_eq!(warm_up(&[1, 200, 300, 400, 500, 1000, 1000, 1000, 1000, 1000]).epochs, 7);
        // A second phase with twice the memory: the first is no start-up.
        let two = [vec![300], vec![1000; 11], vec![2000; 8]].concat();
        assert_eq!(warm_up(&two).epochs, 3);
        // A start-up peak is no warm-up: the memory was there.
        assert_eq!(warm_up(&[2000, 1000, 1000, 1000, 1000, 1000]).epochs, 0);
    }

    #[test]
    fn a_program_that_began_with_the_recording_fills_its_memory_in_the_first_epoch() {
        let began =
            |mib: &[u64]| not_judged(&mib.iter().map(|m| Bytes::mib(*m)).collect::<Vec<_>>(), true);
        let found = began(&[1000, 1001, 1000, 1002, 1000]);
        assert_eq!((found.epochs, found.still_growing), (2, false), "{found:?}");
        assert_eq!(began(&[400, 1000, 1000, 1000, 1000]).epochs, 3);
        assert_eq!(began(&[400, 410, 420, 1000, 1000, 1000, 1000, 1000]).epochs, 5);
    }

    #[test]
    fn growth_throughout_is_said_and_nothing_is_left_out() {
        for n in [16, 20, 24, 40] {
            let grown: Vec<Bytes> = (1..=n).map(|i| Bytes::mib(i * 100)).collect();
            for before in [0, 100] {
                let leak = find_warm_up(&grown, Bytes::mib(before));
                assert!(leak.still_growing && leak.epochs == 0, "{n}: {leak:?}");
            }
        }
    }

    #[test]
    fn a_short_recording_leaves_out_its_filling_whatever_remains() {
        // What remains is too little to judge by, and the plan says so.
        for (mib, left_out) in [
            (&[100, 800, 1000, 1000, 1000][..], 4),
            (&[300, 1000, 1000, 1001, 1000], 3),
            (&[300, 1000, 1000], 3),
            (&[100, 1000, 1000, 1000], 3),
        ] {
            assert_eq!(warm_up(mib).epochs, left_out, "{mib:?}");
        }
    }

    #[test]
    fn what_fills_until_the_end_of_a_short_recording_is_not_judged_at_all() {
        for mib in
            [&[1, 200, 400, 600, 800, 1000, 1000][..], &[1, 2, 3, 4], &[100, 300, 500], &[1, 9]]
        {
            let found = warm_up(mib);
            assert!(found.still_growing && found.epochs == mib.len(), "{mib:?}: {found:?}");
        }
    }

    #[test]
    fn of_a_program_that_ran_before_the_first_half_teaches() {
        let of = |mib: &[u64], began| {
            not_judged(&mib.iter().map(|m| Bytes::mib(*m)).collect::<Vec<_>>(), began)
        };
        assert_eq!((of(&[9; 11], true).epochs, of(&[9; 11], false).epochs), (2, 5));
        let filled = [[1, 2, 4, 6, 8].as_slice(), &[10; 5]].concat();
        assert_eq!((of(&filled, true).epochs, of(&filled, false).epochs), (7, 7));
        let growing = of(&(1..40).collect::<Vec<_>>(), false);
        assert!(growing.still_growing && growing.epochs == 19, "{growing:?}");
        assert!(growing.note.starts_with("the footprint grows"), "{growing:?}");
        assert_eq!([0, 1, 2, 4].map(|n| of(&vec![9; n], false).epochs), [0, 0, 1, 2]);
    }

    #[test]
    fn what_lies_before_the_part_asked_for_teaches_and_a_filling_in_it_is_left_out() {
        let of = |mib: &[u64], first| {
            not_judged_before(&mib.iter().map(|m| Bytes::mib(*m)).collect::<Vec<_>>(), first)
        };
        let steady = of(&[9; 12], 4);
        assert_eq!((steady.epochs, steady.still_growing), (4, false));
        assert!(steady.note.contains("the first 4 epochs are left out, as asked"), "{steady:?}");
        let filling = [[10; 4].as_slice(), &[100, 400, 800, 1000], &[1001; 8]].concat();
        let filling = of(&filling, 4);
        assert_eq!(filling.epochs, 9);
        assert!(filling.note.contains("in the part asked for the first 5 epochs"), "{filling:?}");
        // Nothing of it may be left to judge: the plan says so.
        assert_eq!(of(&[9, 9, 1, 9], 2).epochs, 4);
    }

    #[test]
    fn short_and_empty_recordings_are_used_whole() {
        for mib in [&[][..], &[5], &[7, 7, 7, 7], &[0, 0, 0, 0, 0, 0]] {
            assert_eq!(warm_up(mib).epochs, 0);
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
        assert!(!ended_in_the_last(&epochs(0), &warm_up(6)), "nothing would remain");
        assert!(!ended_in_the_last(&epochs(1), &warm_up(0)), "it went on");
        assert_eq!(WarmUp { ended: true, ..warm_up(2) }.looked_at(7), 6);
        assert_eq!(warm_up(2).looked_at(7), 7);
    }

    #[test]
    fn the_note_of_an_epoch_in_which_it_ended_contradicts_no_other() {
        let said = |mib: &[u64]| warm_up(mib).ended().note;
        assert_eq!(
            said(&[100; 9]),
            "the footprint is steady from the first epoch; no start-up is left out; the last \
             epoch is, in which it ended"
        );
        let filled = said(&[10, 50, 100, 100, 100, 100, 100, 100, 100]);
        assert!(
            filled.ends_with("policies learn it; so is the last, in which it ended"),
            "{filled}"
        );
        assert!(said(&[5]).ends_with("; the last, in which it ended, is left out"));
    }

    proptest! {
        #[test]
        fn leaves_enough_and_never_stops_at_noise(
            fill in 0usize..6,
            steady in 6usize..40,
            noise in proptest::collection::vec(0u64..10, 46),
        ) {
            let mib: Vec<u64> = (0..fill)
                .map(|i| 100 * (i as u64 + 1))
                .chain(noise.iter().take(steady).map(|n| 1000 + n))
                .collect();
            let found = warm_up(&mib);
            prop_assert!(mib.len() - found.epochs >= 4);
            prop_assert_eq!(found.epochs, if fill == 0 { 0 } else { fill + 2 });
        }
    }
}
