//! How a recording may end: every way leaves it readable and the target unharmed.

use crate::run::{Running, alive, command, finish, heat, info, scratch, turn, within};
use std::path::Path;

/// `record` of a shell script into `path`, with epochs of half a second.
fn shell(path: &Path, options: &[&str], script: &str) -> std::process::Command {
    let mut recording = command(["record", "-q", "--epoch", "500ms", "-o"]);
    recording.arg(path).args(options).args(["--", "sh", "-c", script]);
    recording
}

#[test]
fn the_commands_exit_code_is_passed_on() {
    let Some(_turn) = turn("the_commands_exit_code_is_passed_on") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    finish(shell(&path, &[], "sleep 2; exit 7")).fails(7, &["ended with exit status: 7"]);
    assert_eq!(info(&path)["finished"], true);
    let path = heat(&scratch, "killed");
    finish(shell(&path, &[], "sleep 1.2; kill -9 $$")).fails(128 + 9, &["signal: 9"]);
    let info = info(&path);
    assert!(info["finished"] == true && info["epochs"].as_u64() >= Some(1), "{info}");
}

#[test]
fn an_interrupt_keeps_what_was_recorded() {
    let Some(_turn) = turn("an_interrupt_keeps_what_was_recorded") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut sleeper = std::process::Command::new("sleep");
    sleeper.arg("60");
    let target = Running::start(sleeper);
    let mut recording = command(["record", "-q", "--epoch", "500ms", "-o"]);
    recording.arg(&path).args(["--pid", &target.pid().to_string()]);
    let mut recorder = Running::start(recording);
    assert!(within(20, || path.join("recording.json").exists()), "it does not begin");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    recorder.signal(libc::SIGINT);
    assert_eq!(recorder.wait().code(), Some(130));
    assert!(alive(target.pid()), "the target was ended with the recording");
    let info = info(&path);
    assert!(info["finished"] == true && info["epochs"].as_u64() >= Some(1), "{info}");
}

#[test]
fn when_the_time_is_up_the_command_is_asked_to_end() {
    let Some(_turn) = turn("when_the_time_is_up_the_command_is_asked_to_end") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let script = "trap 'echo asked; exit 3' TERM; sleep 20 & wait";
    let outcome = finish(shell(&path, &["--for", "2s"], script)).succeeds();
    assert_eq!(outcome.out, "asked\n");
    let seconds = info(&path)["seconds"].as_f64().unwrap_or_default();
    assert!((1.0..15.0).contains(&seconds), "{seconds} s recorded");
}

#[test]
fn a_command_runs_at_its_own_precedence() {
    let Some(_turn) = turn("a_command_runs_at_its_own_precedence") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut recording = command(["record", "-q", "--epoch", "500ms", "-o"]);
    recording.arg(&path).args(["--", "sh", "-c", "nice; sleep 1"]);
    let outcome = finish(recording).succeeds();
    let own = finish(std::process::Command::new("nice")).succeeds();
    assert_eq!(outcome.out, own.out);
}
