//! A part of a recording by time: what is seen of it, and what is refused.

use crate::common::{records, write};
use pagetide_trace::{Error, Recording, by_process, diff};

/// Twelve epochs of 5 s in spans of five; the n-th has 9 + n units.
fn recording(directory: &tempfile::TempDir) -> Recording {
    let path = directory.path().join("a.heat");
    write(&path, &records(12), 5);
    Recording::open(path).unwrap()
}

#[test]
fn what_comes_after_is_not_seen_and_what_comes_before_is() {
    let directory = tempfile::tempdir().unwrap();
    let whole = recording(&directory);
    let part = whole.clone().within(Some(20.0), Some(35.0)).unwrap();
    let window = part.window().unwrap();
    assert_eq!((window.first_epoch, window.epochs, window.of_epochs), (4, 3, 12));
    assert_eq!((window.from_s, window.to_s), (20.0, 35.0));
    assert_eq!((part.first_epoch(), part.epochs()), (4, &whole.epochs()[..7]));
    let all: Vec<_> = whole.records().map(Result::unwrap).collect();
    let seen: Vec<_> = part.records().map(Result::unwrap).collect();
    assert_eq!(seen, all[..7]);
    assert_eq!(part.heat().count(), 7);
    assert_eq!(part.unit_epochs(), all[..7].iter().map(|record| record.heat.len()).sum::<usize>());
}

#[test]
fn what_is_not_limited_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let whole = recording(&directory).within(None, None).unwrap();
    assert_eq!((whole.window(), whole.first_epoch(), whole.epochs().len()), (None, 0, 12));
    let all = whole.within(Some(0.0), Some(60.0)).unwrap();
    assert_eq!(all.records().count(), 12);
}

#[test]
fn sums_are_those_of_the_part() {
    let directory = tempfile::tempdir().unwrap();
    let part = recording(&directory).within(Some(20.0), Some(35.0)).unwrap();
    let found = diff(&part, &part).unwrap();
    assert_eq!((found.a.epochs, found.a.seconds), (3, 15.0));
    assert_eq!(by_process(&part).unwrap().seconds, 15.0);
}

#[test]
fn a_part_that_a_recording_has_not_is_named_with_it() {
    let directory = tempfile::tempdir().unwrap();
    for (from, to, says) in [
        (Some(60.0), None, "it ends after 60 s; begin earlier"),
        (None, Some(90.0), "it ends after 60 s, before 90 s"),
        (Some(21.0), Some(22.0), "no epoch of it lies from 21 s to 22 s"),
    ] {
        let error = recording_at(&directory).within(from, to).unwrap_err();
        assert!(matches!(error, Error::Window { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("a.heat: ") && text.contains(says), "{text}");
    }
}

fn recording_at(directory: &tempfile::TempDir) -> Recording {
    let path = directory.path().join("a.heat");
    if path.exists() { Recording::open(path).unwrap() } else { recording(directory) }
}
