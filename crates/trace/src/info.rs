//! What a recording holds and what it cost: `pagetide trace info`.

use crate::{Epoch, Error, Recording, Result, Source, Unknown, recording::unfinished};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitSize};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::PathBuf,
};

/// A recording in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// Its directory.
    pub path: PathBuf,
    /// Who wrote it.
    pub tool: String,
    /// Its schema version.
    pub schema_version: u32,
    /// What was recorded.
    pub target: String,
    /// Start, seconds since the Unix epoch.
    pub started_unix_s: u64,
    /// How heat was observed.
    pub source: Source,
    /// Facts about the machine.
    pub machine: BTreeMap<String, String>,
    /// What a unit is.
    pub unit: UnitSize,
    /// Nominal gaps between clearing and looking, seconds.
    pub gaps_s: Vec<f64>,
    /// Whether it was ended cleanly. If not, the span under way was lost, or is not there yet.
    pub finished: bool,
    /// Why the recorder had to give up, where it could still write that down.
    pub failed: Option<String>,
    /// Files of an incomplete span, which are ignored.
    pub leftovers: Vec<String>,
    /// Number of epochs.
    pub epochs: usize,
    /// Their length together, seconds.
    pub seconds: f64,
    /// Number of units.
    pub units: usize,
    /// Rows of heat: live units, summed over the epochs.
    pub unit_epochs: usize,
    /// Number of areas.
    pub areas: usize,
    /// Number of objects (address spaces, files, shared memory) that units belong to.
    pub objects: usize,
    /// Most processes at a time.
    pub processes: u32,
    /// Resident memory, mean over time.
    pub resident_mean_bytes: Bytes,
    /// Resident memory, greatest of all epochs.
    pub resident_max_bytes: Bytes,
    /// Share of the unit-epochs that were observed in their epoch.
    pub sampled_share: f64,
    /// Share of the resident base pages that were watched, mean over time.
    pub watched_share: f64,
    /// Share of the observed unit-epochs whose rate is a lower bound only.
    pub saturated_share: f64,
    /// Share of the observed unit-epochs that were never seen accessed.
    pub unseen_share: f64,
    /// Share of the unit-epochs mapped by huge pages.
    pub huge_share: f64,
    /// Share of the resident memory whose accessed bits could not be cleared.
    pub uncleared_share: f64,
    /// Most of it in an epoch.
    pub uncleared_max_bytes: Bytes,
    /// CPU seconds of the target.
    pub target_cpu_s: f64,
    /// CPU seconds of the recorder.
    pub recorder_s: f64,
    /// The same as a share of one core over the whole time.
    pub recorder_share: f64,
    /// The share that it was allowed.
    pub budget: f64,
    /// Longest single clearing call, seconds.
    pub longest_clear_s: f64,
    /// Cycles stalled on memory over all cycles, mean over the epochs where they were counted.
    pub stall_share: Option<f64>,
    /// Size on disk, all files.
    pub disk_bytes: Bytes,
    /// The same per unit and epoch.
    pub disk_bytes_per_unit_epoch: f64,
}

impl Info {
    /// What is known of why the recording was not ended cleanly; none if it was.
    #[must_use]
    pub fn unfinished(&self) -> Option<String> {
        (!self.finished).then(|| unfinished(self.failed.as_deref()))
    }
}

/// Reads all of `recording` once.
///
/// # Errors
/// As for reading: [`Error::Missing`], [`Error::Damaged`], [`Error::Column`], [`Error::Io`].
pub fn info(recording: &Recording) -> Result<Info> {
    let mut totals = Totals::default();
    for (heat, epoch) in recording.heat().zip(recording.epochs()) {
        totals.add(epoch, &heat?);
    }
    info_with(recording, &totals)
}

/// As [`info`], without reading the heat again: `totals` are those of all its epochs.
///
/// # Errors
/// As [`info`].
pub fn info_with(recording: &Recording, totals: &Totals) -> Result<Info> {
    let header = recording.header();
    let epochs = recording.epochs();
    let seconds: f64 = epochs.iter().map(|epoch| epoch.length_s).sum();
    let sum = |value: fn(&Epoch) -> f64| epochs.iter().map(value).sum::<f64>();
    let most = |value: fn(&Epoch) -> f64| epochs.iter().map(value).fold(0.0, f64::max);
    let over = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let unit_epochs = recording.unit_epochs();
    let stalls: Vec<f64> = epochs.iter().filter_map(|epoch| epoch.stall_share).collect();
    let recorder_s = sum(|epoch| epoch.recorder_s);
    let disk = disk_bytes(recording)?;
    let objects: HashSet<_> = recording.units()?.iter().map(|unit| unit.object).collect();
    let resident_mean = over(totals.resident_byte_s, seconds);
    Ok(Info {
        path: recording.path().to_owned(),
        tool: header.tool.clone(),
        schema_version: header.schema_version,
        target: header.target.clone(),
        started_unix_s: header.started_unix_s,
        source: header.source,
        machine: header.machine.clone(),
        unit: header.unit,
        gaps_s: header.gaps_s.clone(),
        finished: recording.finished(),
        failed: recording.failed().map(str::to_owned),
        leftovers: recording.leftovers().to_vec(),
        epochs: epochs.len(),
        seconds,
        units: recording.unit_count(),
        unit_epochs,
        areas: recording.areas()?.len(),
        objects: objects.len(),
        processes: epochs.iter().map(|epoch| epoch.processes).max().unwrap_or(0),
        resident_mean_bytes: whole_bytes(resident_mean),
        resident_max_bytes: totals.resident_max,
        sampled_share: over(totals.sampled, unit_epochs as f64),
        watched_share: over(sum(|epoch| epoch.watched_share * epoch.length_s), seconds),
        saturated_share: over(totals.saturated, totals.sampled),
        unseen_share: over(totals.unseen, totals.sampled),
        huge_share: over(totals.huge, unit_epochs as f64),
        uncleared_share: totals.unknown.share(),
        uncleared_max_bytes: Bytes(epochs.iter().map(|e| e.uncleared_bytes).max().unwrap_or(0)),
        target_cpu_s: sum(|epoch| epoch.target_cpu_s),
        recorder_s,
        recorder_share: over(recorder_s, seconds),
        budget: header.budget,
        longest_clear_s: most(|epoch| epoch.longest_clear_s),
        stall_share: (!stalls.is_empty()).then(|| stalls.iter().sum::<f64>() / stalls.len() as f64),
        disk_bytes: disk,
        disk_bytes_per_unit_epoch: over(disk.as_f64(), unit_epochs as f64),
    })
}

/// What must be summed over all rows of heat.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    resident_byte_s: f64,
    resident_max: Bytes,
    sampled: f64,
    saturated: f64,
    unseen: f64,
    huge: f64,
    unknown: Unknown,
}

impl Totals {
    /// Adds an epoch.
    pub fn add(&mut self, epoch: &Epoch, heat: &EpochHeat) {
        let resident = heat.resident();
        self.unknown.add(epoch, resident);
        self.resident_byte_s += resident.as_f64() * epoch.length_s;
        self.resident_max = self.resident_max.max(resident);
        let count =
            |flags| heat.flags.iter().filter(|seen: &&HeatFlags| seen.has(flags)).count() as f64;
        self.sampled += count(HeatFlags::SAMPLED);
        self.saturated += count(HeatFlags::SAMPLED | HeatFlags::SATURATED);
        self.unseen += count(HeatFlags::SAMPLED | HeatFlags::UNSEEN);
        self.huge += count(HeatFlags::HUGE);
    }
}

/// A mean, to whole bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^57 bytes")]
pub(crate) fn whole_bytes(mean: f64) -> Bytes {
    Bytes(mean.round() as u64)
}

fn disk_bytes(recording: &Recording) -> Result<Bytes> {
    let path = recording.path();
    let size = || fs::read_dir(path)?.map(|entry| Ok(Bytes(entry?.metadata()?.len()))).sum();
    let size: std::io::Result<Bytes> = size();
    size.map_err(|error| Error::io(path, error))
}
