//! The figures of `trace info`.

use crate::common::{names, record, records, write};
use pagetide_trace::{Recording, info};
use pagetide_types::{Bytes, HeatFlags};
use std::fs;

#[test]
fn info_counts_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    // 10 units for 5 s, then 11 for 15 s.
    let mut written = records(2);
    written[1].epoch.length_s = 15.0;
    written[1].epoch.watched_share = 0.525;
    written[1].epoch.longest_clear_s = 0.0008;
    written[0].heat.flags[0] = HeatFlags::DIRTY;
    written[0].heat.flags[1] = HeatFlags::SAMPLED | HeatFlags::SATURATED;
    written[1].heat.flags[2] = HeatFlags::SAMPLED | HeatFlags::UNSEEN | HeatFlags::HUGE;
    write(&path, &written, 1);
    let info = info(&Recording::open(&path).unwrap()).unwrap();
    assert_eq!((info.epochs, info.units, info.unit_epochs), (2, 11, 21));
    assert_eq!((info.areas, info.objects, info.processes), (2, 1, 1));
    assert_eq!(info.seconds, 20.0);
    assert_eq!(info.resident_max_bytes, Bytes::mib(22));
    assert_eq!(info.resident_mean_bytes, Bytes::mib(2) + Bytes::kib(2048 * 39 / 4));
    assert_eq!(info.sampled_share, 20.0 / 21.0);
    assert_eq!(info.saturated_share, 1.0 / 20.0);
    assert_eq!(info.unseen_share, 1.0 / 20.0);
    assert_eq!(info.huge_share, 1.0 / 21.0);
    assert!((info.watched_share - 0.425).abs() < 1e-12, "{}", info.watched_share);
    assert_eq!(info.recorder_s, 0.08);
    assert_eq!(info.recorder_share, 0.08 / 20.0);
    assert_eq!(info.longest_clear_s, 0.0008);
    assert_eq!(info.stall_share, Some(0.25));
    assert_eq!(info.uncleared_max_bytes, Bytes::kib(4));
    assert_eq!(info.uncleared_share, 2.0 * 4096.0 / f64::from((20 << 20) + (22 << 20)));
    assert!(info.finished && info.failed.is_none() && info.leftovers.is_empty());
    assert_eq!(info.unfinished(), None);
    let files: u64 =
        names(&path).iter().map(|name| fs::metadata(path.join(name)).unwrap().len()).sum();
    assert_eq!(info.disk_bytes, Bytes(files));
    assert_eq!(info.disk_bytes_per_unit_epoch, files as f64 / 21.0);
}

#[test]
fn an_interrupted_recording_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(4), 2);
    fs::remove_file(path.join("end.json")).unwrap();
    fs::rename(path.join("heat-00001.parquet"), path.join(".heat-00001.parquet.tmp")).unwrap();
    let info = info(&Recording::open(&path).unwrap()).unwrap();
    assert!(!info.finished && info.failed.is_none());
    let why = info.unfinished().unwrap();
    for part in ["no end mark", "killed", "disk was full", "still being written"] {
        assert!(why.contains(part), "no '{part}' in {why}");
    }
    assert!(info.leftovers.contains(&".heat-00001.parquet.tmp".to_owned()), "{info:?}");
    assert_eq!((info.epochs, info.units), (2, 11));
}

#[test]
fn epochs_without_memory_or_length_do_not_divide_by_zero() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut empty = record(0, 0, 0);
    empty.epoch.length_s = 0.0;
    write(&path, &[empty], 1);
    let info = info(&Recording::open(&path).unwrap()).unwrap();
    assert_eq!((info.sampled_share, info.recorder_share), (0.0, 0.0));
    assert_eq!(info.disk_bytes_per_unit_epoch, 0.0);
}

#[test]
fn info_has_documented_json_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(1), 1);
    let json = serde_json::to_value(info(&Recording::open(&path).unwrap()).unwrap()).unwrap();
    assert_eq!(json["resident_max_bytes"], 20 << 20);
    assert_eq!(json["unit"], "2M");
    assert_eq!(json["machine"]["kernel"], "6.12");
    assert!(json["stall_share"].is_null());
}
