//! `curve` of what cannot be read, has no end, or stands for more pages than there is memory: one line that
//! names the file and the place, soon.

#![expect(clippy::unwrap_used, reason = "a test's own files")]

use crate::curve::{file, record};
use crate::run::{Outcome, PAGETIDE, as_nobody, finish, pagetide, scratch, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of every format, sound and damaged: `crates/access/tests/fuzz` says of each what it is.
fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../access/tests/fuzz/corpus");
    let mut all: Vec<_> =
        fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    all.sort();
    assert!(all.len() > 30, "{all:?}");
    all
}

/// It failed with one line, which names the file, and nothing else was said.
#[track_caller]
fn is_refused(outcome: &Outcome, name: &str, said: &[&str]) {
    outcome.fails(1, said);
    outcome.fails(1, &[name]);
    assert_eq!((outcome.out.as_str(), outcome.err.lines().count()), ("", 1), "{outcome:?}");
}

/// Runs a line of a shell, in which `$0` is the binary and `$1` a file.
fn shell(line: &str, path: &Path) -> Outcome {
    let mut shell = Command::new("sh");
    shell.args(["-c", line, PAGETIDE]).arg(path);
    finish(shell)
}

#[test]
fn damage_is_named_in_a_line_with_file_and_place() {
    for path in corpus() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ours = name.contains(".stream");
        for options in ["", "--json --sizes 1M", "--sample 0.5", "--by page --id-bytes 512"] {
            if ours && options.contains("--by") {
                continue;
            }
            let outcome = pagetide(&format!("curve {options} {}", path.display()));
            if name.starts_with("valid-zeros") {
                is_refused(&outcome, name, &["there is no access in it"]);
            } else if name.starts_with("valid-edges") && options.contains("--by") {
                is_refused(&outcome, name, &["record 1 is of 4294967295 bytes"]);
            } else if name.starts_with("valid-") {
                outcome.succeeds();
            } else {
                is_refused(&outcome, name, &[if ours { "byte " } else { "" }]);
                let placed = outcome.err.contains("byte ") || outcome.err.contains("record");
                assert!(placed, "{outcome:?}");
            }
        }
    }
}

#[test]
fn a_file_that_may_not_be_read_says_so() {
    // SAFETY: it only asks who we are.
    if unsafe { libc::geteuid() } != 0 {
        return skip("curve of an unreadable file", "only root can become somebody else");
    }
    let scratch = scratch();
    let path = file(&scratch, "secret", &record(0, 1, 1, -1));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let outcome = as_nobody(&scratch, &format!("curve {}", path.display()));
    is_refused(&outcome, "secret", &["Permission denied"]);
}

#[test]
fn a_device_has_no_end_and_is_not_read() {
    for device in ["/dev/zero", "/dev/null", "/dev/urandom"] {
        is_refused(&pagetide(&format!("curve {device}")), device, &["no end", "file or a pipe"]);
    }
}

/// What comes out of a pipe may be long, but zeros without an end are no trace.
#[test]
fn a_pipe_of_zeros_ends() {
    for line in [
        "cat /dev/zero | \"$0\" curve /dev/stdin",
        "cat /dev/zero | \"$0\" curve --by page --sample 0.1 /dev/stdin",
    ] {
        let outcome = shell(line, Path::new(""));
        let err = outcome.err.replace("cat: write error: Broken pipe\n", "");
        let outcome = Outcome { err, ..outcome };
        is_refused(&outcome, "/dev/stdin", &["requests for nothing", "not oracleGeneral"]);
    }
    let noise = shell("yes | \"$0\" curve /dev/stdin", Path::new(""));
    noise.fails(1, &["record 0 says"]);
}

/// 2.4 MB that go to 400 million pages.
#[test]
fn more_pages_than_there_is_memory_are_refused_with_a_way_out() {
    let scratch = scratch();
    let longest = 16 << 20;
    let records = (0..100_000u64).flat_map(|i| record(0, i * longest, 16 << 20, -1));
    let path = file(&scratch, "wide", &records.collect::<Vec<u8>>());
    let line = "ulimit -v 800000 && \"$0\" curve --by page --policy fifo --sizes 1G \"$1\"";
    let outcome = shell(line, &path);
    is_refused(&outcome, "wide", &["access ", "pages", "of memory", "--sample"]);
}
