//! A recording of some epochs in memory, and what it says of an area.

use crate::child::Child;
use pagetide_host::{Capabilities, Host};
use pagetide_scan::{Observer, Options, Recorder, Target};
use pagetide_trace::EpochRecord;
use pagetide_types::{HeatFlags, ObjectId, UnitKey};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One test at a time: their processes would take the CPU from each other, and memory that waits
/// for its turn loses accessed bits to whoever else reads them (DAMON).
static ONE: Mutex<()> = Mutex::new(());

/// One unit in the last epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) rate: f32,
    pub(crate) flags: HeatFlags,
    pub(crate) pages: u16,
}

impl Seen {
    pub(crate) fn has(&self, flag: HeatFlags) -> bool {
        self.flags.has(flag)
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
        eprintln!("SKIPPED {test}: reading page tables needs root");
        return None;
    }
    Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Recorded {
    /// Records `children` for `epochs` epochs of a second.
    pub(crate) fn of(children: &[&Child], epochs: u32, clear_shared: bool) -> Self {
        let host = Host::live();
        let observer = Observer::start(&host, &host.features()).unwrap();
        let options = Options {
            epoch: Duration::from_secs(1),
            budget: 0.05,
            limit: Some(Duration::from_secs(u64::from(epochs))),
            clear_shared,
            ..Options::default()
        };
        let target = Target::Pids(children.iter().map(|child| child.pid()).collect());
        let mut recorder = Recorder::start(observer, host, &target, options).unwrap();
        let (mut records, mut units) = (Vec::new(), Vec::new());
        loop {
            let (record, end) = recorder.epoch(&|| false).unwrap();
            if let Some(record) = record {
                units.extend(record.new_units.iter().copied());
                records.push(record);
            }
            if end.is_some() {
                return Self { epochs: records, units };
            }
        }
    }

    /// The units of an object in the last epoch, by their index.
    pub(crate) fn units_of(&self, object: ObjectId) -> HashMap<u64, Seen> {
        let heat = &self.epochs.last().unwrap().heat;
        let rows = heat.rows().map(|row| (self.units[row.unit.index()], row));
        let of_object = rows.filter(|(key, _)| key.object == object);
        of_object
            .map(|(key, row)| {
                (key.index, Seen { rate: row.rate, flags: row.flags, pages: row.pages })
            })
            .collect()
    }

    /// The object of `units` resident units, with an area for which `is` holds.
    pub(crate) fn object(
        &self,
        units: usize,
        is: impl Fn(&pagetide_trace::Area) -> bool,
    ) -> ObjectId {
        let areas = self.epochs.iter().flat_map(|epoch| &epoch.new_areas);
        let mut objects = areas.filter(|area| is(area)).map(|area| area.object);
        objects.find(|object| self.units_of(*object).len() == units).unwrap()
    }

    /// The private memory that holds the unit at that place: no file is as long as addresses are high.
    pub(crate) fn private_object(&self, index: u64) -> ObjectId {
        let mut areas = self.epochs.iter().flat_map(|epoch| &epoch.new_areas);
        areas.find(|area| (area.first..area.end).contains(&index)).unwrap().object
    }
}
