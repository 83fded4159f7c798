//! Recordings for the tests: small ones by hand, random ones, and a look at the directory.

use pagetide_trace::{Area, Epoch, EpochRecord, Header, RecordingWriter, SCHEMA_VERSION};
use pagetide_types::{
    AreaKind, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId, UnitKey,
    UnitSize,
};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
};

/// A header as the recorder would write it.
pub(crate) fn header() -> Header {
    Header {
        schema_version: SCHEMA_VERSION,
        tool: "pagetide test".to_owned(),
        started_unix_s: 1_800_000_000,
        target: "redis-server".to_owned(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![0.0002, 0.02, 1.0],
        budget: 0.01,
        source: pagetide_trace::Source::default(),
        began_with_target: false,
        cache_per_core: None,
        machine: BTreeMap::from([("kernel".to_owned(), "6.12".to_owned())]),
    }
}

/// One row of heat: `rate` for all of `unit`'s 512 pages, sampled and accessed.
pub(crate) fn row(unit: u32, rate: f32) -> HeatRow {
    HeatRow {
        unit: UnitId(unit),
        rate,
        flags: HeatFlags::SAMPLED | HeatFlags::ACCESSED,
        pages: 512,
        watched: 64,
        touched: 3,
        node: NodeId(0),
    }
}

/// Epoch `number` with `new` more units after `known` ones; all are live, unit `u` at rate `u`.
pub(crate) fn record(number: u32, known: u32, new: u32) -> EpochRecord {
    let mut heat = EpochHeat::new(EpochId(number));
    for unit in 0..known + new {
        heat.push(row(unit, (unit % 64) as f32));
    }
    let new_units = (known..known + new)
        .map(|unit| UnitKey { object: ObjectId(0), index: 0x3f_8000 + u64::from(unit) })
        .collect();
    let new_areas = if new == 0 {
        Vec::new()
    } else {
        vec![Area {
            object: ObjectId(0),
            first: 0x3f_8000 + u64::from(known),
            end: 0x3f_8000 + u64::from(known + new),
            kind: AreaKind::Anonymous,
            name: String::new(),
            pid: Pid(17),
            command: "redis-server".to_owned(),
            since: EpochId(number),
            mapped: None,
        }]
    };
    let epoch = Epoch {
        epoch: EpochId(number),
        start_s: f64::from(number) * 5.0,
        length_s: 5.0,
        processes: 1,
        target_cpu_s: 4.5,
        clear_s: 0.01,
        scan_s: 0.02,
        recorder_s: 0.04,
        longest_clear_s: 0.0004,
        watched_share: 0.125,
        uncleared_bytes: 4096,
        stall_share: (number % 2 == 1).then_some(0.25),
    };
    EpochRecord { epoch, new_units, new_areas, heat }
}

/// `epochs` epochs: ten units at first, one more with each epoch.
pub(crate) fn records(epochs: u32) -> Vec<EpochRecord> {
    (0..epochs)
        .map(|number| match number {
            0 => record(0, 0, 10),
            _ => record(number, 9 + number, 1),
        })
        .collect()
}

/// Writes a finished recording with `span` epochs to a span.
pub(crate) fn write(path: &Path, records: &[EpochRecord], span: usize) {
    let mut writer =
        RecordingWriter::create(path, &header(), None).unwrap().with_span(span, usize::MAX);
    for record in records {
        writer.append(record.clone()).unwrap();
    }
    writer.finish().unwrap();
}

/// Says aloud that `test` is skipped, and why: `eprintln` would be captured with a pass.
pub(crate) fn skip(test: &str, reason: &str) {
    writeln!(io::stderr(), "SKIPPED {test}: {reason}").unwrap();
}

/// The names in a directory, sorted.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
