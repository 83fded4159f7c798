//! What happened from epoch to epoch: memory, accesses, what was watched, and what the recommended
//! policy would have done at the recommended size. Neighbouring epochs share a point when there
//! are many.

use pagetide_policy::Chosen;
use pagetide_trace::{Epoch, epoch_times};
use pagetide_types::{Bytes, EpochHeat, HeatFlags};
use serde::Serialize;

/// Points of a timeline at most.
const POINTS: usize = 600;

/// A recording from epoch to epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Epochs summed up in a point.
    pub epochs_per_point: usize,
    /// The points in order of time.
    pub points: Vec<TimelinePoint>,
    /// Where epochs are missing.
    pub gaps: Vec<Gap>,
    /// Whether a policy was replayed beside.
    pub placed: bool,
}

/// Epochs that are missing between two others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// The number of the last epoch before.
    pub after_epoch: u32,
    /// How many are missing.
    pub epochs: u32,
    /// Where, seconds since the recording began.
    pub start_s: f64,
    /// Until when.
    pub end_s: f64,
}

/// Some epochs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimelinePoint {
    /// Seconds since the recording began.
    pub start_s: f64,
    /// The same for its end.
    pub end_s: f64,
    /// Seconds that were recorded of it.
    pub seconds: f64,
    /// Most resident bytes.
    pub resident_bytes: Bytes,
    /// Estimated accesses.
    pub accesses: f64,
    /// The part of them that went past the CPU caches.
    pub traffic: f64,
    /// The part of that traffic that went to saturated units.
    pub saturated: f64,
    /// CPU seconds of the target.
    pub target_cpu_s: f64,
    /// CPU seconds of the recorder.
    pub recorder_s: f64,
    /// Traffic in the epochs in which the recommended policy was judged.
    pub judged: f64,
    /// The part of `judged` that fast memory would have served.
    pub fast: f64,
    /// Bytes that the policy would have moved to fast memory at its beginning.
    pub promoted_bytes: Bytes,
    /// Bytes that it would have moved out.
    pub demoted_bytes: Bytes,
}

impl TimelinePoint {
    pub(super) fn of(epoch: &Epoch, heat: &EpochHeat, (start_s, end_s): (f64, f64)) -> Self {
        let accesses = |row: usize| f64::from(heat.rate[row]).max(0.0) * epoch.length_s;
        let traffic = |row: usize| f64::from(heat.memory_rate(row)).max(0.0) * epoch.length_s;
        let saturated = |row: &usize| heat.flags[*row].has(HeatFlags::SATURATED);
        let finite = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        Self {
            start_s,
            end_s,
            seconds: epoch.length_s,
            resident_bytes: heat.resident(),
            accesses: (0..heat.len()).map(accesses).sum(),
            traffic: (0..heat.len()).map(traffic).sum(),
            saturated: (0..heat.len()).filter(saturated).map(traffic).sum(),
            target_cpu_s: finite(epoch.target_cpu_s),
            recorder_s: finite(epoch.recorder_s),
            ..Self::default()
        }
    }

    /// Adds what fast memory served of an epoch; `fast` says which rows of `heat` were there.
    pub(super) fn placed(&mut self, heat: &EpochHeat, fast: &[bool], length_s: f64) {
        self.judged += self.traffic;
        let rows = fast.iter().enumerate().filter(|(_, fast)| **fast);
        self.fast +=
            rows.map(|(row, _)| f64::from(heat.memory_rate(row)).max(0.0) * length_s).sum::<f64>();
    }

    /// Adds the moves decided on at the end of the epoch `before`.
    pub(super) fn moved(&mut self, moves: &Chosen, before: &EpochHeat) {
        let bytes = |rows: &[usize]| rows.iter().map(|row| before.bytes(*row)).sum::<Bytes>();
        self.promoted_bytes += bytes(&moves.promote);
        self.demoted_bytes += bytes(&moves.demote);
    }

    fn add(&mut self, next: &Self) {
        self.end_s = next.end_s;
        self.seconds += next.seconds;
        self.resident_bytes = self.resident_bytes.max(next.resident_bytes);
        self.accesses += next.accesses;
        self.traffic += next.traffic;
        self.saturated += next.saturated;
        self.target_cpu_s += next.target_cpu_s;
        self.recorder_s += next.recorder_s;
        self.judged += next.judged;
        self.fast += next.fast;
        self.promoted_bytes += next.promoted_bytes;
        self.demoted_bytes += next.demoted_bytes;
    }
}

/// A timeline under way.
#[derive(Debug)]
pub(super) struct Gather {
    epochs_per_point: usize,
    pushed: usize,
    timeline: Timeline,
}

impl Gather {
    /// Room for all of `epochs`.
    pub(super) fn new(epochs: &[Epoch], placed: bool) -> Self {
        let times = epoch_times(epochs);
        let gap = |i: usize| {
            let (before, after) = (epochs[i].epoch.0, epochs[i + 1].epoch.0);
            let missing = after.saturating_sub(before).saturating_sub(1);
            let (start_s, end_s) = (times[i].1, times[i + 1].0);
            (missing > 0).then_some(Gap { after_epoch: before, epochs: missing, start_s, end_s })
        };
        let gaps = (0..epochs.len().saturating_sub(1)).filter_map(gap).collect();
        let epochs_per_point = epochs.len().div_ceil(POINTS).max(1);
        let timeline = Timeline { epochs_per_point, gaps, placed, ..Timeline::default() };
        Self { epochs_per_point, pushed: 0, timeline }
    }

    pub(super) fn push(&mut self, point: TimelinePoint) {
        let points = &mut self.timeline.points;
        match points.last_mut() {
            Some(last) if !self.pushed.is_multiple_of(self.epochs_per_point) => last.add(&point),
            _ => points.push(point),
        }
        self.pushed += 1;
    }

    pub(super) fn finish(self) -> Timeline {
        self.timeline
    }
}
