//! Recordings that were interrupted, damaged, or never were recordings.

use crate::common::{header, names, record, records, write};
use pagetide_trace::{Error, Recording, RecordingWriter, SCHEMA_VERSION};
use proptest::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// A recording of three spans of two epochs.
fn three_spans() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(6), 2);
    (directory, path)
}

/// Removes the checksums, so that what they would tell must be found in the tables.
fn without_sums(path: &Path) {
    for name in names(path).iter().filter(|name| name.starts_with("sums-")) {
        fs::remove_file(path.join(name)).unwrap();
    }
}

/// Reads all there is.
fn read(path: &Path) -> Result<usize, Error> {
    let recording = Recording::open(path)?;
    recording.units()?;
    recording.areas()?;
    recording.records().try_fold(0, |epochs, record| record.map(|_| epochs + 1))
}

#[test]
fn a_crash_loses_only_the_span_under_way() {
    // What is there after a kill at each step of writing the third span.
    let steps: [(&[&str], &str); 6] = [
        (&[], ".sums-00002.json.tmp"),
        (&[], ".epochs-00002.parquet.tmp"),
        (&["epochs"], ".areas-00002.parquet.tmp"),
        (&["epochs", "areas"], ".units-00002.parquet.tmp"),
        (&["epochs", "areas", "units"], ".heat-00002.parquet.tmp"),
        (&["epochs", "areas", "units"], ""),
    ];
    for (done, temporary) in steps {
        let (_directory, path) = three_spans();
        fs::remove_file(path.join("end.json")).unwrap();
        let mut left = Vec::new();
        let sums = "sums-00002.json";
        if temporary.contains(sums) {
            fs::remove_file(path.join(sums)).unwrap();
        } else {
            left.push(sums.to_owned());
        }
        for part in ["epochs", "areas", "units", "heat"] {
            let name = format!("{part}-00002.parquet");
            if done.contains(&part) {
                left.push(name);
            } else {
                fs::remove_file(path.join(name)).unwrap();
            }
        }
        if !temporary.is_empty() {
            fs::write(path.join(temporary), b"PAR1 and then nothing").unwrap();
            left.push(temporary.to_owned());
        }
        left.sort();
        let recording = Recording::open(&path).unwrap();
        assert!(!recording.finished());
        assert_eq!(recording.leftovers(), left, "{done:?}");
        let read: Vec<_> = recording.records().map(Result::unwrap).collect();
        assert_eq!(read, records(4), "{done:?}");
        assert_eq!(recording.unit_count(), 13);
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_its_closed_spans() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(2, usize::MAX);
    for record in records(5) {
        writer.append(record).unwrap();
    }
    drop(writer);
    let recording = Recording::open(&path).unwrap();
    assert!(!recording.finished() && recording.leftovers().is_empty());
    assert_eq!(recording.epochs().len(), 4);
}

#[test]
fn a_recording_without_a_complete_span_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut writer =
        RecordingWriter::create(&path, &header(), None).unwrap().with_span(2, usize::MAX);
    writer.append(record(0, 0, 3)).unwrap();
    assert!(matches!(Recording::open(&path), Err(Error::Empty { .. })));
    drop(writer);
    let error = Recording::open(&path).unwrap_err();
    assert!(error.to_string().contains("record for longer"), "{error}");
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "hello").unwrap();
    let cases = [
        (directory.path().to_owned(), "no recording.json"),
        (file, "it is a file"),
        (directory.path().join("absent"), "there is nothing"),
    ];
    for (path, reason) in cases {
        let error = Recording::open(&path).unwrap_err();
        assert!(matches!(error, Error::NotARecording { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()) && text.contains(reason), "{text}");
    }
}

#[test]
fn a_newer_version_is_told_apart_even_if_its_header_is_unlike_ours() {
    let (_directory, path) = three_spans();
    let newer = SCHEMA_VERSION + 1;
    let header = format!(r#"{{"schema_version": {newer}, "tool": "pagetide 9.0", "colour": 3}}"#);
    fs::write(path.join("recording.json"), header).unwrap();
    let error = Recording::open(&path).unwrap_err();
    assert!(matches!(error, Error::Newer { found, .. } if found == newer), "{error:?}");
    let text = error.to_string();
    for part in ["written by a newer version", "pagetide 9.0", "update pagetide"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_named() {
    let (_directory, path) = three_spans();
    for text in ["", "{", "[]", r#"{"schema_version": 1}"#, r#"{"schema_version": "one"}"#] {
        fs::write(path.join("recording.json"), text).unwrap();
        let error = Recording::open(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{text}: {error:?}");
        assert!(error.to_string().contains("recording.json"), "{text}: {error}");
    }
}

#[test]
fn an_epoch_of_no_length_is_damage() {
    let (_directory, path) = three_spans();
    let file = path.join("recording.json");
    let header = fs::read_to_string(&file).unwrap();
    fs::write(&file, header.replace("\"epoch_s\": 5.0", "\"epoch_s\": 0.0")).unwrap();
    let error = Recording::open(&path).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("epoch_s is 0"), "{error}");
}

#[test]
fn a_truncated_file_is_named_at_whatever_length() {
    let (_directory, path) = three_spans();
    let tables = ["areas-00001.parquet", "epochs-00001.parquet", "heat-00001.parquet"];
    for (name, sums) in [true, false].iter().flat_map(|sums| tables.map(|name| (name, *sums))) {
        if !sums {
            without_sums(&path);
        }
        let whole = fs::read(path.join(name)).unwrap();
        for length in [0, 1, 4, 12, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            fs::write(path.join(name), &whole[..length]).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{name} to {length}: {error:?}");
            assert!(error.to_string().contains(name), "{name} to {length}: {error}");
        }
        fs::write(path.join(name), whole).unwrap();
    }
    assert_eq!(read(&path).unwrap(), 6);
}

#[test]
fn a_missing_file_of_a_complete_span_is_named() {
    for name in ["epochs-00001.parquet", "units-00002.parquet", "areas-00000.parquet"] {
        let (_directory, path) = three_spans();
        fs::remove_file(path.join(name)).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Missing { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
    // Heat in the middle, or at the end although the recording was finished.
    for name in ["heat-00001.parquet", "heat-00002.parquet"] {
        let (_directory, path) = three_spans();
        fs::remove_file(path.join(name)).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Missing { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

#[test]
fn a_wrong_checksum_names_the_table() {
    for name in ["heat-00001.parquet", "areas-00001.parquet", "epochs-00001.parquet"] {
        let (_directory, path) = three_spans();
        fs::copy(path.join(name.replace('1', "2")), path.join(name)).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

#[test]
fn tables_that_contradict_each_other_are_named() {
    for name in ["heat-00001.parquet", "units-00001.parquet"] {
        let (_directory, path) = three_spans();
        without_sums(&path);
        fs::copy(path.join(name.replace('1', "0")), path.join(name)).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
    let (_directory, path) = three_spans();
    without_sums(&path);
    fs::copy(path.join("epochs-00000.parquet"), path.join("epochs-00001.parquet")).unwrap();
    assert!(matches!(read(&path), Err(Error::Damaged { .. })));
}

#[test]
fn a_table_without_a_column_says_which() {
    // A sound Parquet file with as many rows, but of another table.
    let cases = [
        ("units", "areas", "'unit' of type required int32"),
        ("areas", "units", "'first' of type required int64"),
        ("epochs", "units", "'epoch' of type required int32"),
    ];
    for (table, other, column) in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.heat");
        write(&path, &[record(0, 0, 1), record(1, 1, 1)], 2);
        without_sums(&path);
        let name = format!("{table}-00000.parquet");
        fs::copy(path.join(format!("{other}-00000.parquet")), path.join(&name)).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Column { .. }), "{name}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(&name) && text.contains(column), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, failure_persistence: None, ..ProptestConfig::default()
    })]
    /// With checksums any changed byte is found. Without them reading ends with an answer or an
    /// error: no panic, no hang, no allocation without bound.
    #[test]
    fn a_changed_byte_is_found_and_never_takes_the_reader_down(
        part in prop::sample::select(vec!["epochs", "areas", "units", "heat"]),
        place in any::<prop::sample::Index>(),
        mask in 1u8..,
    ) {
        // Written once, then copied: synchronising hundreds of recordings would take long.
        static SOUND: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(three_spans);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        for name in names(&SOUND.1) {
            fs::copy(SOUND.1.join(&name), path.join(&name)).unwrap();
        }
        let name = format!("{part}-00001.parquet");
        let mut bytes = fs::read(path.join(&name)).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= mask;
        fs::write(path.join(&name), bytes).unwrap();
        let error = read(&path).unwrap_err();
        prop_assert!(matches!(error, Error::Damaged { .. }), "{:?}", error);
        prop_assert!(error.to_string().contains(&name), "{}", error);
        without_sums(&path);
        let outcome = read(&path);
        let sound = matches!(&outcome, Ok(6) | Err(Error::Damaged { .. } | Error::Column { .. }));
        prop_assert!(sound, "{:?}", outcome);
    }
}
