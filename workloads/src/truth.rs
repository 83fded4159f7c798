//! The truth: accesses per unit and epoch as the workload itself counted them, written as a
//! heat recording, so that `plan` of it gives what a perfect recorder would have given.
//!
//! Object 0 is the process's anonymous memory; a unit's index is its virtual address divided by
//! the unit size. Every unit of the measured memory is in every epoch; nothing else is. The
//! counts are exact, and the nodes are those where the units are at the end of the epoch; the
//! recording rounds the rates made from them to within 1.6 %.

use crate::{
    args::Common,
    error::{Result, WorkloadError},
    memory::{Region, index},
    worker::Counts,
};
use nix::time::{ClockId, clock_gettime};
use pagetide_trace::{Area, Epoch, EpochRecord, Header, Owner, RecordingWriter, SCHEMA_VERSION};
use pagetide_types::{
    AreaKind, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId, UnitKey,
    UnitSize,
};
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

/// The recording under way.
pub(crate) struct Truth {
    writer: RecordingWriter,
    name: String,
    unit: UnitSize,
    first: u64,
    len: u64,
    huge: bool,
    ended: Duration,
    cpu_s: f64,
}

impl Truth {
    /// Begins the recording if the arguments ask for one.
    pub(crate) fn create(name: &str, common: &Common, region: &Region) -> Result<Option<Self>> {
        let Some(path) = &common.truth else { return Ok(None) };
        let unit = common.truth_unit;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let header = Header {
            schema_version: SCHEMA_VERSION,
            tool: concat!("pagetide workload ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_s: now.as_secs(),
            target: format!("pid {} (truth of workload {name})", std::process::id()),
            unit,
            epoch_s: common.truth_epoch,
            gaps_s: vec![],
            budget: 0.0,
            source: pagetide_trace::Source::Exact,
            began_with_target: true,
            cache_per_core: None,
            machine: BTreeMap::from([
                ("truth".to_owned(), name.to_owned()),
                ("started_unix".to_owned(), format!("{:.6}", now.as_secs_f64())),
                ("seed".to_owned(), common.seed.to_string()),
                ("page_size".to_owned(), common.page_size.to_string()),
            ]),
        };
        let writer = RecordingWriter::create(path, &header, Owner::behind_sudo())
            .map_err(|source| WorkloadError::Truth { source })?;
        Ok(Some(Self {
            writer,
            name: name.to_owned(),
            unit,
            first: region.range().0.0 >> unit.shift(),
            len: region.len(),
            huge: region.huge_bytes().0 > 0,
            ended: Duration::ZERO,
            cpu_s: cpu_seconds(),
        }))
    }

    fn units(&self) -> u64 {
        self.len.div_ceil(self.unit.bytes().0)
    }

    /// Appends an epoch that began where the one before ended.
    pub(crate) fn epoch(
        &mut self,
        epoch: u32,
        until: Duration,
        counts: &Counts,
        region: &Region,
    ) -> Result<()> {
        // Where it cannot be looked up (a container without that right) all is on node 0.
        let nodes = region.nodes(self.unit).unwrap_or_default();
        let length_s = until.saturating_sub(self.ended).as_secs_f64();
        let cpu_s = cpu_seconds();
        let mut record = EpochRecord {
            epoch: Epoch {
                epoch: EpochId(epoch),
                start_s: self.ended.as_secs_f64(),
                length_s,
                processes: 1,
                target_cpu_s: cpu_s - self.cpu_s,
                watched_share: 1.0,
                ..Epoch::default()
            },
            heat: self.heat(EpochId(epoch), length_s, counts, &nodes),
            ..EpochRecord::default()
        };
        if epoch == 0 {
            let object = ObjectId(0);
            let end = self.first + self.units();
            record.new_units = (self.first..end).map(|index| UnitKey { object, index }).collect();
            record.new_areas = vec![Area {
                object,
                first: self.first,
                end,
                kind: AreaKind::Anonymous,
                name: "[anon:pagetide-workload]".to_owned(),
                pid: Pid(i32::try_from(std::process::id()).unwrap_or_default()),
                command: self.name.clone(),
                since: EpochId(0),
                mapped: None,
            }];
        }
        (self.ended, self.cpu_s) = (until, cpu_s);
        self.writer.append(record).map_err(|source| WorkloadError::Truth { source })
    }

    fn heat(&self, epoch: EpochId, length_s: f64, counts: &Counts, nodes: &[NodeId]) -> EpochHeat {
        let mut heat = EpochHeat::new(epoch);
        let size = if self.huge { HeatFlags::HUGE } else { HeatFlags(0) };
        // Populating wrote to every page.
        let always = HeatFlags::SAMPLED | HeatFlags::DIRTY | size;
        let mut rest = self.len >> 12;
        for (unit, n) in (0u32..).zip(&counts.accesses) {
            let pages = u16::try_from(rest).unwrap_or(u16::MAX).min(self.unit.pages());
            rest -= u64::from(pages);
            let touched = match (*n > 0, counts.pages.is_empty()) {
                (false, _) => 0,
                (true, true) => pages,
                (true, false) => pages_of(&counts.pages, unit),
            };
            let seen = if *n > 0 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
            #[expect(clippy::cast_possible_truncation, reason = "7 digits are enough for a rate")]
            let rate = (*n as f64 / length_s.max(1e-9)) as f32;
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate,
                flags: always | seen,
                pages,
                watched: pages,
                touched,
                node: nodes.get(index(unit.into())).copied().unwrap_or_default(),
            });
        }
        heat
    }

    /// Closes the recording.
    pub(crate) fn finish(self) -> Result<()> {
        self.writer.finish().map_err(|source| WorkloadError::Truth { source })
    }
}

/// Marked base pages of a 2 MiB unit.
fn pages_of(bitmap: &[u64], unit: u32) -> u16 {
    let from = index(u64::from(unit) * 8);
    let to = bitmap.len().min(from + 8);
    let marked: u32 = bitmap[from..to].iter().map(|bits| bits.count_ones()).sum();
    u16::try_from(marked).unwrap_or(512)
}

/// CPU time of this process so far.
fn cpu_seconds() -> f64 {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(0.0, |t| Duration::from(t).as_secs_f64())
}
