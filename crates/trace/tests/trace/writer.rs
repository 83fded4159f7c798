//! What the writer leaves in the file system, refuses, and does when the disk fails.

use crate::common::{header, names, record, records, skip, write};
use pagetide_trace::{EpochRecord, Error, Header, Recording, RecordingWriter};
use pagetide_types::{EpochId, HeatFlags, UnitId};
use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn only_the_owner_can_read_a_recording() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(2), 1);
    assert_eq!(mode(&path), 0o700);
    for name in names(&path) {
        assert_eq!(mode(&path.join(&name)), 0o600, "{name}");
    }
}

#[test]
fn a_span_is_four_tables_and_their_checksums_and_the_end_is_marked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(2, usize::MAX);
    // The room for the end mark is taken at once.
    let reserved = ".end.json.tmp";
    assert_eq!(names(&path), [reserved, "recording.json"]);
    for record in records(3) {
        writer.append(record).unwrap();
    }
    let first = [
        reserved,
        "areas-00000.parquet",
        "epochs-00000.parquet",
        "heat-00000.parquet",
        "recording.json",
        "sums-00000.json",
        "units-00000.parquet",
    ];
    assert_eq!(names(&path), first);
    writer.finish().unwrap();
    let both = [
        "areas-00000.parquet",
        "areas-00001.parquet",
        "end.json",
        "epochs-00000.parquet",
        "epochs-00001.parquet",
        "heat-00000.parquet",
        "heat-00001.parquet",
        "recording.json",
        "sums-00000.json",
        "sums-00001.json",
        "units-00000.parquet",
        "units-00001.parquet",
    ];
    assert_eq!(names(&path), both);
}

/// After how many epochs of this length each span is there.
fn span_ends(length_s: f64, epochs: u32) -> Vec<u32> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer = RecordingWriter::create(&path, &header(), None).unwrap();
    let mut ends = Vec::new();
    for number in 0..epochs {
        let mut record = record(number, 0, 0);
        record.epoch.length_s = length_s;
        writer.append(record).unwrap();
        let complete = names(&path).iter().filter(|name| name.starts_with("heat-")).count();
        ends.resize(complete, number + 1);
    }
    ends
}

#[test]
fn spans_grow_from_one_epoch_to_a_minute() {
    assert_eq!(span_ends(4.99, 40), [1, 4, 13, 25, 37]);
    assert_eq!(span_ends(1.0, 170), [1, 4, 13, 40, 100, 160]);
    assert_eq!(span_ends(90.0, 3), [1, 2, 3]);
    assert_eq!(span_ends(0.01, 900), [1, 4, 13, 40, 121, 364, 619, 874]);
}

#[test]
fn an_existing_recording_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(2), 1);
    let error = RecordingWriter::create(&path, &header(), None).unwrap_err();
    assert!(matches!(&error, Error::Exists { path: at } if *at == path), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()) && text.contains("remove it"), "{text}");
    assert_eq!(Recording::open(&path).unwrap().epochs().len(), 2);
}

#[test]
fn a_missing_parent_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/a.heat");
    let error = RecordingWriter::create(&path, &header(), None).unwrap_err();
    assert!(error.to_string().contains("missing/a.heat"), "{error}");
}

#[test]
fn a_header_of_another_schema_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let header = Header { schema_version: 9, ..header() };
    let error = RecordingWriter::create(&path, &header, None).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }) && !path.exists(), "{error:?}");
}

#[test]
fn a_record_that_breaks_its_contract_is_refused_and_leaves_the_writer_usable() {
    type Spoil = fn(&mut EpochRecord);
    let spoils: [(&str, Spoil); 9] = [
        ("after 1", |r| {
            r.epoch.epoch = EpochId(1);
            r.heat.epoch = EpochId(1);
        }),
        ("heat is of epoch 7", |r| r.heat.epoch = EpochId(7)),
        ("column rate", |r| r.heat.rate.truncate(3)),
        ("column node", |r| r.heat.node.clear()),
        ("ascend", |r| r.heat.unit.swap(0, 1)),
        ("unknown", |r| {
            if let Some(last) = r.heat.unit.last_mut() {
                *last = UnitId(99);
            }
        }),
        ("flags of 0x80", |r| r.heat.flags[0] = HeatFlags(0x85)),
        ("rate of -1", |r| r.heat.rate[0] = -1.0),
        ("rate of NaN", |r| r.heat.rate[0] = f32::NAN),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer = RecordingWriter::create(&path, &header(), None).unwrap();
    writer.append(record(0, 0, 10)).unwrap();
    writer.append(record(1, 10, 1)).unwrap();
    for (reason, spoil) in spoils {
        let mut record = record(2, 11, 1);
        spoil(&mut record);
        let error = writer.append(record).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{reason}: {error:?}");
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
    writer.append(record(2, 11, 1)).unwrap();
    writer.finish().unwrap();
    assert_eq!(Recording::open(&path).unwrap().epochs().len(), 3);
}

/// A file system of 256 KiB; unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Result<Self, String> {
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "pagetide-test"])
            .arg(at)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self(at.to_owned()))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{} stays", self.0.display());
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_leaves_its_complete_spans_and_nothing_else() {
    let name = "a_full_disk_ends_the_recording_and_leaves_its_complete_spans_and_nothing_else";
    let directory = tempfile::tempdir().unwrap();
    let disk = match SmallDisk::mount(directory.path()) {
        Ok(disk) => disk,
        Err(reason) => {
            skip(name, &format!("it must mount a small tmpfs: {reason}"));
            return;
        }
    };
    let path = disk.0.join("a.heat");
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(1, usize::MAX);
    let mut complete = Vec::new();
    let error = loop {
        let number = u32::try_from(complete.len()).unwrap();
        assert!(number < 1000, "256 KiB never fill up");
        // Rates without any pattern, so that they cannot be compressed.
        let mut record = record(number, number * 2000, 2000);
        for (rate, unit) in record.heat.rate.iter_mut().zip(0u32..) {
            *rate = f32::from(u16::try_from(unit.wrapping_mul(2_654_435_761) >> 16).unwrap());
        }
        match writer.append(record.clone()) {
            Ok(()) => complete.push(record),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
    assert!(error.to_string().contains("free some space"), "{error}");
    let again = writer.append(record(999, 0, 0)).unwrap_err();
    assert!(matches!(again, Error::Ended { .. }), "{again:?}");
    assert!(matches!(writer.finish(), Err(Error::Ended { .. })));
    assert!(!complete.is_empty());
    assert_eq!(names(&path).len(), 2 + 5 * complete.len(), "{:?}", names(&path));
    let recording = Recording::open(&path).unwrap();
    assert!(!recording.finished() && recording.leftovers().is_empty());
    assert!(recording.failed().unwrap().starts_with("the disk was full: "), "{recording:?}");
    assert_eq!(recording.heat().count(), complete.len());
}

/// Takes all the room that is left.
fn fill(disk: &SmallDisk) {
    let mut ballast = fs::File::create(disk.0.join("ballast")).unwrap();
    while ballast.write_all(&[1; 4096]).is_ok() {}
}

#[test]
fn the_end_is_marked_on_a_disk_without_a_byte_left() {
    let name = "the_end_is_marked_on_a_disk_without_a_byte_left";
    let directory = tempfile::tempdir().unwrap();
    let disk = match SmallDisk::mount(directory.path()) {
        Ok(disk) => disk,
        Err(reason) => {
            skip(name, &format!("it must mount a small tmpfs: {reason}"));
            return;
        }
    };
    let create = |name: &str| {
        let path = disk.0.join(name);
        let writer = RecordingWriter::create(&path, &header(), None);
        (path, writer.unwrap().with_span(1, usize::MAX))
    };
    let (path, mut writer) = create("whole.heat");
    let (empty_path, mut empty) = create("empty.heat");
    writer.append(record(0, 0, 3)).unwrap();
    fill(&disk);
    writer.finish().unwrap();
    let recording = Recording::open(&path).unwrap();
    assert!(recording.finished() && recording.unfinished().is_none());
    assert!(matches!(empty.append(record(0, 0, 3)), Err(Error::DiskFull { .. })));
    assert_eq!(names(&empty_path), ["end.json", "recording.json"]);
    let error = Recording::open(&empty_path).unwrap_err();
    assert!(matches!(error, Error::Empty { .. }), "{error:?}");
    let text = error.to_string();
    for part in ["the disk was full: sums-00000.json could not be written", "record again"] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
}

#[test]
fn a_directory_that_disappears_is_an_error_with_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(1, usize::MAX);
    fs::remove_dir_all(&path).unwrap();
    let error = writer.append(record(0, 0, 3)).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("sums-00000.json"), "{error}");
}

#[test]
fn a_path_from_the_current_directory_stands_once_in_an_error() {
    let directory = tempfile::tempdir().unwrap();
    // The same place, from the root on.
    let here = std::env::current_dir().unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let path = up.join(directory.path().strip_prefix("/").unwrap()).join("a.heat");
    assert!(path.is_relative());
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(1, usize::MAX);
    writer.append(record(0, 0, 3)).unwrap();
    fs::remove_dir_all(&path).unwrap();
    let error = writer.append(record(1, 3, 3)).unwrap_err().to_string();
    assert_eq!(error.matches("a.heat").count(), 1, "{error}");
    assert!(error.contains("a.heat/sums-00001.json"), "{error}");
}
