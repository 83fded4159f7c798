//! Recordings made for somebody else: theirs, and no way to make us write where we should not.

use crate::common::{header, names, record, records, skip};
use pagetide_trace::{Owner, Recording, RecordingWriter};
use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
};

fn owner(path: &Path) -> (u32, u32) {
    let found = fs::symlink_metadata(path).unwrap();
    (found.uid(), found.gid())
}

#[test]
fn all_of_a_recording_is_given_to_its_owner_and_nothing_else() {
    let name = "all_of_a_recording_is_given_to_its_owner_and_nothing_else";
    let directory = tempfile::tempdir().unwrap();
    let us = owner(directory.path());
    if us.0 != 0 {
        return skip(name, "only root can give files away");
    }
    let path = directory.path().join("a.heat");
    let somebody = Owner::new(65534, 65533);
    let mut writer = RecordingWriter::create(&path, &header(), Some(somebody)).unwrap();
    for record in records(3) {
        writer.append(record).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(owner(&path), (65534, 65533));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o700);
    assert!(names(&path).len() > 6, "{:?}", names(&path));
    for name in names(&path) {
        assert_eq!(owner(&path.join(&name)), (65534, 65533), "{name}");
        assert_eq!(fs::metadata(path.join(&name)).unwrap().mode() & 0o7777, 0o600, "{name}");
    }
    assert_eq!(owner(directory.path()), us);
}

#[test]
fn a_link_planted_in_a_recording_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let (path, precious) = (directory.path().join("a.heat"), directory.path().join("precious"));
    fs::write(&precious, "precious").unwrap();
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(1, usize::MAX);
    symlink(&precious, path.join(".epochs-00000.parquet.tmp")).unwrap();
    let error = writer.append(record(0, 0, 3)).unwrap_err().to_string();
    assert!(error.contains("epochs-00000.parquet"), "{error}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn a_recording_whose_path_comes_to_lead_elsewhere_goes_on_where_it_began() {
    let directory = tempfile::tempdir().unwrap();
    let (path, moved) = (directory.path().join("a.heat"), directory.path().join("moved.heat"));
    let elsewhere = directory.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(1, usize::MAX);
    fs::rename(&path, &moved).unwrap();
    symlink(&elsewhere, &path).unwrap();
    for record in records(2) {
        writer.append(record).unwrap();
    }
    writer.finish().unwrap();
    assert!(names(&elsewhere).is_empty(), "{:?}", names(&elsewhere));
    let recording = Recording::open(&moved).unwrap();
    assert!(recording.finished() && recording.epochs().len() == 2);
}

#[test]
fn an_empty_recording_is_discarded_and_another_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    RecordingWriter::create(&path, &header(), None).unwrap().discard();
    assert!(!path.exists());
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(1, usize::MAX);
    writer.append(record(0, 0, 3)).unwrap();
    writer.discard();
    assert!(path.join("heat-00000.parquet").exists());
}
