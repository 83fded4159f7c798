//! Recordings that cannot be read: named in words, with the same exit code everywhere.

use crate::run::{pagetide, scratch};
use crate::truths::uniform;
use std::fs::{self, File};
use std::path::Path;

/// Every command that reads a recording fails with 1 and says all of this.
#[track_caller]
fn is_refused(recording: &Path, said: &[&str]) {
    let path = recording.display();
    for line in [
        format!("plan {path}"),
        format!("plan --json {path}"),
        format!("plan --fast 1G {path} {path}"),
        format!("trace info {path}"),
        format!("trace info --json {path}"),
        format!("trace export {path}"),
        format!("trace diff {path} {path}"),
    ] {
        let outcome = pagetide(&line);
        outcome.fails(1, said);
        assert_eq!(outcome.err.lines().count(), 1, "{line}: {}", outcome.err);
    }
}

#[test]
fn a_recording_of_a_newer_version_is_refused_with_the_advice_to_update() {
    let scratch = scratch();
    let path = uniform(&scratch);
    let newer = r#"{"schema_version": 99, "tool": "pagetide 9.0", "colour": 3}"#;
    fs::write(path.join("recording.json"), newer).unwrap();
    is_refused(&path, &["uniform.heat", "newer version", "pagetide 9.0", "update pagetide"]);
}

#[test]
fn a_truncated_span_is_named() {
    let scratch = scratch();
    let path = uniform(&scratch);
    let table = path.join("heat-00001.parquet");
    let length = fs::metadata(&table).unwrap().len();
    File::options().write(true).open(&table).unwrap().set_len(length / 2).unwrap();
    is_refused(&path, &["heat-00001.parquet", "is damaged"]);
}

#[test]
fn a_changed_byte_is_named() {
    let scratch = scratch();
    let path = uniform(&scratch);
    let table = path.join("epochs-00001.parquet");
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&table, bytes).unwrap();
    is_refused(&path, &["epochs-00001.parquet", "is damaged"]);
}

#[test]
fn a_missing_table_is_named() {
    let scratch = scratch();
    let path = uniform(&scratch);
    fs::remove_file(path.join("epochs-00000.parquet")).unwrap();
    is_refused(&path, &["epochs-00000.parquet", "is missing", "copy the recording again"]);
}
