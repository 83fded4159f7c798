//! Recorder or target killed in the middle: what was complete is readable, the target lives on.

use crate::run::{Running, alive, command, heat, info, scratch, turn, within};

fn sleeper() -> Running {
    let mut sleeper = std::process::Command::new("sleep");
    sleeper.arg("120");
    Running::start(sleeper)
}

#[test]
fn a_killed_target_leaves_a_readable_recording() {
    let Some(_turn) = turn("a_killed_target_leaves_a_readable_recording") else { return };
    let (scratch, target) = (scratch(), sleeper());
    let path = heat(&scratch, "x");
    let mut recording = command(["record", "-q", "--epoch", "500ms", "-o"]);
    recording.arg(&path).args(["--pid", &target.pid().to_string()]);
    let mut recorder = Running::start(recording);
    assert!(within(20, || path.join("recording.json").exists()), "it does not begin");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
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
    // A span ends after 255 epochs: some 5 s of these.
    let mut recording = command(["record", "-q", "--epoch", "20ms", "-o"]);
    recording.arg(&path).args(["--pid", &target.pid().to_string()]);
    let mut recorder = Running::start(recording);
    assert!(within(60, || path.join("heat-00000.parquet").exists()), "no span is written");
    recorder.signal(libc::SIGKILL);
    recorder.wait();
    assert!(alive(target.pid()), "the target went with its recorder");
    let info = info(&path);
    assert!(info["finished"] == false && info["epochs"].as_u64() >= Some(255), "{info}");
}
