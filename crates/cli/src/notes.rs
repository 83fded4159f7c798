//! What to say of a target beside the figures, while and after it was watched: alike for who records and who runs.

use crate::short::time;
use pagetide_replay::{much_is_unknown, percent, unknown_heat, unmapped_memory};
use pagetide_scan::Recorder;
use pagetide_trace::{Epoch, EpochRecord, Unknown};
use pagetide_types::Bytes;
use std::time::Duration;

/// Less memory of unknown heat than this is what every small program shares with others: its libraries. So little is not
/// worth a word whatever it is.
const LIBRARIES: f64 = 16.0 * 1048576.0;
/// From this share of the CPU time on short-lived processes are worth a word.
const SHORT_LIVED: f64 = 0.25;
/// An epoch that took so many times its budget took more than chance and rounding.
const MUCH_OVER: f64 = 1.5;
/// Said where there is room for it, of a recording that is kept and of anything else.
pub(crate) const CTRL_C_KEEPS: &str = "Ctrl-C keeps it";
pub(crate) const CTRL_C_ENDS: &str = "Ctrl-C ends it";

/// What is found out of a target meanwhile.
pub(crate) struct Notes {
    unknown: Unknown,
    clear_shared: bool,
    epoch: Duration,
    /// Share of a core that watching may cost, where that is the same in all epochs.
    budget: Option<f64>,
    told: bool,
    told_twice: bool,
}

impl Notes {
    /// `clear_shared`: the option was given.
    pub(crate) fn new(clear_shared: bool, epoch: Duration, budget: Option<f64>) -> Self {
        Self {
            unknown: Unknown::default(),
            clear_shared,
            epoch,
            budget,
            told: false,
            told_twice: false,
        }
    }

    /// Takes an epoch in, and how many processes another recorder has begun to watch. After the first one says how much is unknown, if that is much, and what finding all
    /// memory took, if that was beyond the budget: while one can still stop, and begin again otherwise.
    pub(crate) fn take(&mut self, record: &EpochRecord, also_watched: usize) -> Vec<String> {
        let first = self.unknown == Unknown::default();
        self.unknown.add(&record.epoch, record.heat.resident());
        let twice = twice_note(also_watched).filter(|_| !self.told_twice);
        self.told_twice |= twice.is_some();
        if !first {
            return twice.into_iter().collect();
        }
        let unknown = unknown_note(&self.unknown, self.clear_shared);
        self.told = unknown.is_some();
        let dear = self.budget.and_then(|budget| dear_note(&record.epoch, budget));
        let notes = [unknown, dear].into_iter().flatten();
        notes.map(|note| format!("after the first epoch: {note}")).chain(twice).collect()
    }

    /// What is to be said before anything is seen.
    pub(crate) fn at_the_start(recorder: &Recorder) -> Option<String> {
        twice_note(recorder.watched_twice())
    }

    /// What is to be said at the end. `planned`: a plan follows, which says of what it stands on how much
    /// is unknown; two shares of two times would be no answer.
    pub(crate) fn at_the_end(&self, recorder: &Recorder, planned: bool) -> Vec<String> {
        let unknown = unknown_note(&self.unknown, self.clear_shared)
            .filter(|_| !planned && (self.clear_shared || !self.told))
            .map(|note| format!("over the whole time: {note}"));
        let unmapped = unmapped_note(recorder.unmapped()).filter(|_| !planned);
        let share = recorder.too_short_lived().filter(|share| *share > SHORT_LIVED);
        let short_lived = share.map(|share| {
            format!(
                "{:.0} % of the CPU time was of processes that began and ended within an epoch, so that \
                 their memory was not seen; a shorter --epoch than {} sees more of them",
                share * 100.0,
                time(self.epoch)
            )
        });
        let unwatched = (recorder.unwatched() > 0).then(|| {
            format!(
                "{} processes at a time were not watched: our limit of open files (ulimit -n) was \
                 reached; raise it, or take fewer of them",
                recorder.unwatched()
            )
        });
        let crowded = recorder.crowded().then(|| {
            "more than half of the budget went into writing the rates of so many units; to watch more \
             of them choose a longer --epoch, a larger --budget or --unit 2M"
                .to_owned()
        });
        [unknown, unmapped, short_lived, unwatched, crowded].into_iter().flatten().collect()
    }
}

/// That much of the memory is unknown, if it is.
fn unknown_note(unknown: &Unknown, clear_shared: bool) -> Option<String> {
    let much = much_is_unknown(unknown.share()) && unknown.mean().as_f64() >= LIBRARIES;
    much.then(|| unknown_heat(unknown.share(), clear_shared))
}

/// That much shared memory is mapped by nobody, if it is.
fn unmapped_note(bytes: Bytes) -> Option<String> {
    (bytes.as_f64() >= LIBRARIES).then(|| unmapped_memory(bytes))
}

/// That another recorder watches some of the processes, if it does.
fn twice_note(processes: usize) -> Option<String> {
    (processes > 0).then(|| {
        format!(
            "another pagetide watches {processes} of these processes: each clears the accessed bits that the other \
             looks for, so both see less than there is; begin again when only one does"
        )
    })
}

/// That the first epoch, in which everything is found, took much more than the budget, if it did.
fn dear_note(epoch: &Epoch, budget: f64) -> Option<String> {
    let share = epoch.recorder_s / epoch.length_s;
    (share > MUCH_OVER * budget).then(|| {
        format!(
            "it took {} of one core, for a budget of {}: all memory has to be found once, whatever that takes; \
             where it is dear, that is done less often from now on",
            percent(share),
            percent(budget)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochHeat, HeatFlags, HeatRow, NodeId, UnitId};

    /// An epoch with so much of the memory unknown, in MiB.
    fn epoch(uncleared: u64, resident: u32) -> EpochRecord {
        let mut heat = EpochHeat::default();
        let row = |unit| HeatRow {
            unit: UnitId(unit),
            rate: 0.0,
            flags: HeatFlags::default(),
            pages: 256,
            watched: 0,
            touched: 0,
            node: NodeId(0),
        };
        (0..resident).for_each(|unit| heat.push(row(unit)));
        let epoch = Epoch { uncleared_bytes: uncleared << 20, ..Epoch::default() };
        EpochRecord { epoch, heat, ..EpochRecord::default() }
    }

    fn after_the_first(uncleared: u64, resident: u32, clear_shared: bool) -> Option<String> {
        let mut notes = Notes::new(clear_shared, Duration::from_secs(5), None);
        let first = notes.take(&epoch(uncleared, resident), 0).pop();
        assert!(notes.take(&epoch(uncleared, resident), 0).is_empty(), "once");
        first
    }

    #[test]
    fn much_unknown_memory_is_said_with_its_remedy_after_the_first_epoch() {
        assert_eq!(after_the_first(0, 0, false), None, "nothing was recorded");
        assert_eq!(
            after_the_first(90, 1000, false),
            None,
            "libraries are shared nearly everywhere"
        );
        assert_eq!(after_the_first(3, 4, false), None, "a small program is mostly libraries");
        let without = after_the_first(600, 1000, false).unwrap();
        assert!(without.contains("60 %") && without.contains("--clear-shared"), "{without}");
        let with = after_the_first(600, 1000, true).unwrap();
        assert!(!with.contains("--clear-shared") && with.contains("hugetlb"), "{with}");
    }

    #[test]
    fn a_plan_says_it_in_the_same_words() {
        let mut notes = Notes::new(false, Duration::from_secs(5), None);
        let note = notes.take(&epoch(600, 1000), 0);
        let plan = unknown_heat(0.6, false);
        assert_eq!(note, [format!("after the first epoch: {plan}")]);
    }

    #[test]
    fn a_recorder_that_came_later_is_said_once() {
        let mut notes = Notes::new(true, Duration::from_secs(5), None);
        let mut said = |others| notes.take(&epoch(0, 1000), others);
        assert!(said(0).is_empty());
        let [note] = &said(3)[..] else { panic!("one note") };
        assert!(note.contains("another pagetide watches 3 of these"), "{note}");
        assert!(said(3).is_empty());
    }

    #[test]
    fn a_first_epoch_that_took_more_than_the_budget_is_said_once() {
        let said = |recorder_s, budget| {
            let mut record = epoch(0, 1000);
            (record.epoch.recorder_s, record.epoch.length_s) = (recorder_s, 5.0);
            let mut notes = Notes::new(false, Duration::from_secs(5), budget);
            let first = notes.take(&record, 0);
            assert!(notes.take(&record, 0).is_empty(), "once");
            first
        };
        assert!(said(0.06, Some(0.01)).is_empty(), "1.2 % of a core for 1 % is near enough");
        assert!(said(0.16, None).is_empty(), "of a budget that changes nothing is said");
        let [note] = &said(0.16, Some(0.01))[..] else { panic!("one note") };
        assert!(note.contains("took 3.2 % of one core, for a budget of 1 %"), "{note}");
    }
}
