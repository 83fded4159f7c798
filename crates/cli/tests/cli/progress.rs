//! What is shown while a recording runs: on a terminal a line with time, epochs and how much is
//! watched; elsewhere nothing.

use crate::run::{Outcome, PAGETIDE, command, finish, scratch, there_is_script, turn};
use std::path::Path;
use std::process::Command;

/// A plan of a short command, with its recordings in `directory`.
fn plan(options: &[&str]) -> Vec<String> {
    let program = "workload uniform --size 16M --rate 1000 --seconds 20";
    let mut words = vec!["plan", "--epoch", "500ms"];
    words.extend(options);
    words.extend(["--", PAGETIDE]);
    words.extend(program.split(' '));
    words.into_iter().map(str::to_owned).collect()
}

/// Runs it on a terminal of 120 columns.
fn on_a_terminal(directory: &Path, options: &[&str]) -> Outcome {
    let line = plan(options).join(" ");
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty rows 30 cols 120; {PAGETIDE} {line}"), "/dev/null"]);
    script.env("TMPDIR", directory).env("TERM", "xterm");
    finish(script)
}

#[test]
fn a_terminal_shows_time_epochs_and_how_much_is_watched() {
    let name = "a_terminal_shows_time_epochs_and_how_much_is_watched";
    let Some(_turn) = turn(name) else { return };
    if !there_is_script(name) {
        return;
    }
    let scratch = scratch();
    let shown = on_a_terminal(scratch.path(), &["--for", "3s"]).out;
    let (shown, _plan) = shown.split_once("Plan for").unwrap_or((&shown, ""));
    let line = shown.split(['\r', '\n']).rfind(|line| line.contains("recording "));
    let line = line.unwrap_or_else(|| panic!("no progress in {shown}"));
    for part in ["/3 s", "epochs", "% watched", "1 process", "of a core"] {
        assert!(line.contains(part), "no '{part}' in {line}");
    }
    let quiet = on_a_terminal(scratch.path(), &["--for", "2s", "--quiet"]).out;
    assert!(!quiet.contains("% watched"), "{quiet}");
}

#[test]
fn nothing_of_it_goes_into_a_pipe() {
    let Some(_turn) = turn("nothing_of_it_goes_into_a_pipe") else { return };
    let scratch = scratch();
    let mut planning = command(plan(&["--for", "2s", "--json"]));
    planning.env("TMPDIR", scratch.path());
    let outcome = finish(planning).succeeds();
    outcome.json();
    // Standard error has what the command itself prints, and notes.
    assert!(!outcome.err.contains("% watched"), "{}", outcome.err);
    assert!(!outcome.err.contains(['\r', '\u{1b}']), "{:?}", outcome.err);
}
