//! Recordings that any user can make anywhere: what workloads know of themselves. Each is made once
//! and written out for every test that wants it.

use crate::run::{alone, heat, pagetide, scratch};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The files of a recording: names and contents.
type Files = Vec<(OsString, Vec<u8>)>;

/// The truth of a workload over 5 s in 10 epochs.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own files")]
fn made(workload: &str) -> Files {
    // It would disturb a recording that runs at the same time.
    let _alone = alone();
    let scratch = scratch();
    let path = heat(&scratch, "truth");
    let common = "--rate 20000 --seconds 5 --truth-epoch 0.5 --truth";
    pagetide(&format!("workload {workload} {common} {}", path.display())).succeeds();
    let files = path.read_dir().unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
}

#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own files")]
fn written(files: &Files, directory: &TempDir, name: &str) -> PathBuf {
    let path = heat(directory, name);
    fs::create_dir(&path).unwrap();
    for (name, contents) in files {
        fs::write(path.join(name), contents).unwrap();
    }
    path
}

/// 64 MiB, of which 16 MiB are hot.
#[track_caller]
pub(crate) fn hot_cold(directory: &TempDir) -> PathBuf {
    static MADE: LazyLock<Files> = LazyLock::new(|| made("hot-cold --size 64M --hot 16M"));
    written(&MADE, directory, "hot-cold")
}

/// 32 MiB, all alike.
#[track_caller]
pub(crate) fn uniform(directory: &TempDir) -> PathBuf {
    static MADE: LazyLock<Files> = LazyLock::new(|| made("uniform --size 32M"));
    written(&MADE, directory, "uniform")
}
