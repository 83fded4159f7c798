//! What is written is what is read, rates rounded.

use crate::common::{header, record, records, write};
use pagetide_trace::{Area, Epoch, EpochRecord, Recording, RecordingWriter, round_rate};
use pagetide_types::{
    AreaKind, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId, UnitKey,
    printable,
};
use proptest::{collection::vec, prelude::*};
use std::path::Path;

fn read(recording: &Recording) -> Vec<EpochRecord> {
    recording.records().map(Result::unwrap).collect()
}

#[test]
fn a_recording_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let written = records(7);
    write(&path, &written, 3);
    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.header(), &header());
    assert!(recording.finished() && recording.leftovers().is_empty());
    assert_eq!(read(&recording), written);
    assert_eq!(recording.heat().map(Result::unwrap).last().as_ref(), Some(&written[6].heat));
    let epochs: Vec<Epoch> = written.iter().map(|record| record.epoch.clone()).collect();
    assert_eq!(recording.epochs(), epochs);
    let units: Vec<UnitKey> = written.iter().flat_map(|r| r.new_units.clone()).collect();
    assert_eq!(recording.units().unwrap(), units);
    assert_eq!(recording.unit_count(), 16);
    let areas: Vec<Area> = written.iter().flat_map(|r| r.new_areas.clone()).collect();
    assert_eq!(recording.areas().unwrap(), areas);
    assert_eq!(recording.unit_epochs(), (10..=16).sum::<usize>());
}

#[test]
fn an_epoch_without_any_unit_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let written = [record(0, 0, 0), record(1, 0, 2), record(2, 2, 0)];
    write(&path, &written, 1);
    assert_eq!(read(&Recording::open(&path).unwrap()), written);
}

#[test]
fn a_reader_that_stops_early_does_not_hang() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(20), 2);
    let first = Recording::open(&path).unwrap().records().next().unwrap().unwrap();
    assert_eq!(first, records(1)[0]);
}

#[test]
fn a_span_also_ends_by_rows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer = RecordingWriter::create(&path, &header(), None).unwrap().with_span(100, 21);
    for record in records(6) {
        writer.append(record).unwrap();
    }
    writer.finish().unwrap();
    // 10 + 11 rows, 12 + 13, 14 + 15.
    assert!(path.join("heat-00002.parquet").exists());
    assert!(!path.join("heat-00003.parquet").exists());
    assert_eq!(read(&Recording::open(&path).unwrap()), records(6));
}

prop_compose! {
    fn heat_row()(
        rate in prop_oneof![Just(0f32), 1e-3f32..1e9, Just(f32::MAX)],
        flags in 0u8..128,
        pages in 1u16..=512,
        watched in any::<u16>(),
        touched in any::<u16>(),
        node in any::<u16>(),
    ) -> HeatRow {
        HeatRow {
            unit: UnitId(0), rate, flags: HeatFlags(flags), pages, watched, touched,
            node: NodeId(node),
        }
    }
}

prop_compose! {
    fn area()(
        object in any::<u32>(), first in any::<u64>(), end in any::<u64>(),
        kind in prop::sample::select(vec![
            AreaKind::Heap, AreaKind::Stack, AreaKind::Anonymous, AreaKind::File, AreaKind::Shared,
        ]),
        name in ".*", pid in any::<i32>(), command in ".*", since in any::<u32>(),
        mapped in any::<Option<bool>>(),
    ) -> Area {
        Area {
            object: ObjectId(object), first, end, kind, name, pid: Pid(pid), command,
            since: EpochId(since), mapped,
        }
    }
}

prop_compose! {
    fn epoch_row()(
        times in vec(0f64..1e6, 8),
        processes in any::<u32>(),
        uncleared_bytes in any::<u64>(),
        stall_share in proptest::option::of(0f64..1.0),
    ) -> Epoch {
        Epoch {
            epoch: EpochId(0), start_s: times[0], length_s: times[1], processes,
            target_cpu_s: times[2], clear_s: times[3], scan_s: times[4], recorder_s: times[5],
            longest_clear_s: times[6], watched_share: times[7], uncleared_bytes, stall_share,
        }
    }
}

prop_compose! {
    /// One epoch's worth: gap to the epoch before, new units, new areas, and for each possible
    /// unit whether it is live and what it did.
    fn raw_epoch()(
        gap in 1u32..4,
        epoch in epoch_row(),
        new_units in vec((any::<u32>(), any::<u64>()), 0..8),
        new_areas in vec(area(), 0..3),
        rows in vec(proptest::option::of(heat_row()), 64),
    ) -> (u32, EpochRecord, Vec<Option<HeatRow>>) {
        let new_units = new_units
            .into_iter()
            .map(|(object, index)| UnitKey { object: ObjectId(object), index })
            .collect();
        (gap, EpochRecord { epoch, new_units, new_areas, ..EpochRecord::default() }, rows)
    }
}

fn assemble(raw: Vec<(u32, EpochRecord, Vec<Option<HeatRow>>)>) -> Vec<EpochRecord> {
    let (mut number, mut units) = (0, 0);
    raw.into_iter()
        .map(|(gap, mut record, rows)| {
            number += gap;
            units += record.new_units.len();
            record.epoch.epoch = EpochId(number);
            record.heat = EpochHeat::new(EpochId(number));
            for (unit, row) in (0u32..).zip(rows.into_iter().take(units)) {
                if let Some(row) = row {
                    record.heat.push(HeatRow { unit: UnitId(unit), ..row });
                }
            }
            record
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_recording_is_read_as_it_was_written(
        raw in vec(raw_epoch(), 1..9),
        span in 1usize..5,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.heat");
        let mut expected = assemble(raw);
        write(&path, &expected, span);
        for record in &mut expected {
            for rate in &mut record.heat.rate {
                *rate = round_rate(*rate);
            }
            for area in &mut record.new_areas {
                // Names are shown, and must not act.
                area.name = printable(&area.name).into_owned();
                area.command = printable(&area.command).into_owned();
            }
        }
        prop_assert_eq!(read(&Recording::open(&path).unwrap()), expected);
    }
}

#[test]
fn what_not_every_source_measures_is_there_where_it_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("measured.heat");
    let (mut first, second) = (record(0, 0, 3), record(1, 3, 0));
    first.heat.traffic = vec![0.0, 4.0, 2.5];
    first.heat.leads = vec![0.0, 1.0, 0.5];
    let mut writer = RecordingWriter::create(&path, &header(), None).unwrap();
    writer.append(first.clone()).unwrap();
    writer.append(second.clone()).unwrap();
    writer.finish().unwrap();
    let recording = Recording::open(&path).unwrap();
    let heat: Vec<_> = recording.heat().map(Result::unwrap).collect();
    assert_eq!(heat, [first.heat, second.heat]);
}

#[test]
fn half_a_column_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut half = record(0, 0, 3);
    half.heat.traffic = vec![1.0];
    let path = folder.path().join("half.heat");
    let mut writer = RecordingWriter::create(&path, &header(), None).unwrap();
    let refused = writer.append(half).unwrap_err().to_string();
    assert!(refused.contains("column traffic has 1 rows for 3 units"), "{refused}");
}

#[test]
fn a_recording_without_the_columns_that_came_later_is_read() {
    // What fuzzing begins with was written before areas told whether they are mapped. The first byte of a file says
    // which of them it is.
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/recording");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.heat");
    std::fs::create_dir(&path).unwrap();
    for file in std::fs::read_dir(corpus).unwrap().map(Result::unwrap) {
        let bytes = std::fs::read(file.path()).unwrap();
        std::fs::write(path.join(file.file_name()), &bytes[1..]).unwrap();
    }
    let recording = Recording::open(&path).unwrap();
    let areas = recording.areas().unwrap();
    assert!(!areas.is_empty() && areas.iter().all(|area| area.mapped.is_none()), "{areas:?}");
    assert!(recording.records().all(|record| record.is_ok()));
}
