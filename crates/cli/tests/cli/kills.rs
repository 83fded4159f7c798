//! Recorder or target killed in the middle: what was complete is readable, the target lives on.

use crate::run::{alive, heat, info, recorder_of, scratch, sleeper, turn, within};

#[test]
fn a_killed_target_leaves_a_readable_recording() {
    let Some(_turn) = turn("a_killed_target_leaves_a_readable_recording") else { return };
    let (scratch, target) = (scratch(), sleeper());
    let path = heat(&scratch, "x");
    let mut recorder = recorder_of(&target, &path);
    target.signal(libc::SIGKILL);
    assert_eq!(recorder.wait().code(), Some(0));
    assert_eq!(info(&path)["finished"], true);
}

#[test]
fn a_killed_recorder_leaves_complete_spans_and_the_target() {
    let name = "a_killed_recorder_leaves_complete_spans_and_the_target";
    let Some(_turn) = turn(name) else { return };
    let (scratch, target) = (scratch(), sleeper());
    let path = heat(&scratch, "x");
    let mut recorder = recorder_of(&target, &path);
    // Spans of 1 and 3 epochs: some 2 s of these.
    assert!(within(60, || path.join("heat-00001.parquet").exists()), "no span is written");
    recorder.signal(libc::SIGKILL);
    recorder.wait();
    assert!(alive(target.pid()), "the target went with its recorder");
    let info = info(&path);
    assert!(info["finished"] == false && info["epochs"].as_u64() >= Some(4), "{info}");
}
