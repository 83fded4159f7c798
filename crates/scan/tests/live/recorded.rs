//! A recording of some epochs in memory, and what it says of an area.

use crate::child::Child;
use pagetide_host::{Capabilities, Host};
use pagetide_scan::{Observer, Options, Recorder, Target};
use pagetide_testing::skip;
use pagetide_trace::EpochRecord;
use pagetide_types::{HeatFlags, HeatRow, ObjectId, UnitKey};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One test at a time: their processes would take the CPU from each other, and memory that waits
/// for its turn loses accessed bits to whoever else reads them (DAMON).
static ONE: Mutex<()> = Mutex::new(());

/// Epochs that a recording has at most. What a test waits for takes one to three on an idle
/// machine; on a busy one what is cleared in turns has its turn less often, and a process may get
/// no CPU time while it is looked at.
const MOST_EPOCHS: usize = 40;

/// CPU time in an epoch of a second from which on a child went round all its pages many times.
const RAN_S: f64 = 0.1;

/// One unit in one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) rate: f32,
    pub(crate) flags: HeatFlags,
    pub(crate) pages: u16,
    touched: u16,
    length_s: f64,
    target_cpu_s: f64,
}

impl Seen {
    pub(crate) fn has(&self, flag: HeatFlags) -> bool {
        self.flags.has(flag)
    }

    /// Whether the children ran in that epoch, so that what they touch over and over was touched.
    pub(crate) fn ran(&self) -> bool {
        self.target_cpu_s >= RAN_S
    }

    /// Each page that was seen was accessed at least once: the rate says so, whatever the speed of
    /// the machine. A factor of 20 is left to older, colder epochs that are averaged in.
    #[track_caller]
    pub(crate) fn has_a_rate_that_explains_what_was_seen(&self) {
        let accesses = f64::from(self.rate) * self.length_s;
        let few = self.touched < 64 || !self.ran();
        assert!(few || accesses > f64::from(self.touched) / 20.0, "{self:?}");
    }
}

pub(crate) struct Recorded {
    pub(crate) epochs: Vec<EpochRecord>,
    units: Vec<UnitKey>,
}

/// The right to record, held to the end of the test; None where this machine does not let us,
/// which it says.
pub(crate) fn alone(test: &str) -> Option<MutexGuard<'static, ()>> {
    if !Host::live().features().capabilities.has(Capabilities::SYS_ADMIN) {
        skip(test, "reading page tables needs root");
        return None;
    }
    Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A recorder of some children.
pub(crate) fn recorder(children: &[&Child], options: Options) -> Recorder {
    let host = Host::live();
    let observer = Observer::start(&host, &host.features()).unwrap();
    let target = Target::Pids(children.iter().map(|child| child.pid()).collect());
    Recorder::start(observer, host, &target, options).unwrap()
}

impl Recorded {
    /// Records `children` in epochs of a second until `enough` is true of what was recorded, or
    /// for so long that it never will be.
    pub(crate) fn until(
        children: &[&Child],
        clear_shared: bool,
        enough: impl Fn(&Self) -> bool,
    ) -> Self {
        let options = Options {
            epoch: Duration::from_secs(1),
            budget: 0.05,
            clear_shared,
            ..Options::default()
        };
        let mut recorder = recorder(children, options);
        let mut recorded = Self { epochs: Vec::new(), units: Vec::new() };
        while recorded.epochs.len() < MOST_EPOCHS && !enough(&recorded) {
            let (record, end) = recorder.epoch(&|| false).unwrap();
            assert_eq!(end, None, "the children go on");
            let record = record.unwrap();
            recorded.units.extend(record.new_units.iter().copied());
            recorded.epochs.push(record);
        }
        recorded
    }

    /// The units of an object by their index, in all epochs in which they are there.
    pub(crate) fn units_of(&self, object: ObjectId) -> HashMap<u64, Vec<Seen>> {
        let mut units: HashMap<u64, Vec<Seen>> = HashMap::new();
        for record in &self.epochs {
            for HeatRow { unit, rate, flags, pages, touched, .. } in record.heat.rows() {
                let key = self.units[unit.index()];
                if key.object == object {
                    let (length_s, target_cpu_s) =
                        (record.epoch.length_s, record.epoch.target_cpu_s);
                    let seen = Seen { rate, flags, pages, touched, length_s, target_cpu_s };
                    units.entry(key.index).or_default().push(seen);
                }
            }
        }
        units
    }

    /// The objects with an area for which `is` holds and so many units.
    pub(crate) fn objects(
        &self,
        units: usize,
        is: impl Fn(&pagetide_trace::Area) -> bool,
    ) -> Vec<ObjectId> {
        let areas = self.epochs.iter().flat_map(|epoch| &epoch.new_areas);
        let mut objects: Vec<_> = areas.filter(|area| is(area)).map(|area| area.object).collect();
        objects.sort_unstable();
        objects.dedup();
        objects.retain(|object| self.units_of(*object).len() == units);
        objects
    }

    /// Records a child until so many units of its private memory from that place on are all accessed in one epoch; as they are
    /// seen in it.
    pub(crate) fn all_accessed(child: &Child, first: u64, units: usize) -> Vec<Seen> {
        let last = |recorded: &Self| -> Vec<Seen> {
            let units = recorded.private(first, units);
            units.iter().filter_map(|unit| unit.last().copied()).collect()
        };
        let all = |last: &[Seen]| {
            last.len() == units && last.iter().all(|seen| seen.has(HeatFlags::ACCESSED))
        };
        // In the first epoch some of it may not be mapped yet.
        let enough = |recorded: &Self| recorded.epochs.len() > 1 && all(&last(recorded));
        let last = last(&Self::until(&[child], false, enough));
        assert!(all(&last), "{last:?}");
        last
    }

    /// The units from that place on, in order, in all epochs in which they are there; none if they
    /// are not all known. No file is as long as addresses of private memory are high.
    pub(crate) fn private(&self, first: u64, units: usize) -> Vec<Vec<Seen>> {
        let mut areas = self.epochs.iter().flat_map(|epoch| &epoch.new_areas);
        let Some(area) = areas.find(|area| (area.first..area.end).contains(&first)) else {
            return Vec::new();
        };
        let mut all = self.units_of(area.object);
        (first..first + units as u64).map_while(|index| all.remove(&index)).collect()
    }
}
