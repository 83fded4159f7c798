//! What is shown while a recording runs: on a terminal a line with time, epochs and how much is
//! watched, as far as it fits; elsewhere nothing.

use crate::run::{PAGETIDE, command, finish, scratch, there_is_script, turn};
use std::path::Path;
use std::process::Command;

/// A plan of a short command, with its recordings in `directory`.
fn plan(options: &[&str]) -> Vec<String> {
    let program = "workload uniform --size 16M --rate 1000 --seconds 20";
    let mut words = vec!["plan"];
    words.extend(options);
    words.extend(["--", PAGETIDE]);
    words.extend(program.split(' '));
    words.into_iter().map(str::to_owned).collect()
}

/// Runs it on a terminal of so many columns: the lines of progress that it showed.
fn on_a_terminal(directory: &Path, columns: u16, options: &[&str]) -> Vec<String> {
    let line = plan(options).join(" ");
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty rows 30 cols {columns}; {PAGETIDE} {line}"), "/dev/null"]);
    script.env("TMPDIR", directory).env("TERM", "xterm");
    let shown = finish(script).out;
    let (shown, _plan) = shown.split_once("Plan for").unwrap_or((&shown, ""));
    let lines = shown.split(['\r', '\n']).map(|line| without_escapes(line).trim_end().to_owned());
    // What the command itself prints may share a line with it.
    let ours = lines.filter(|line| line.starts_with("recording ") && !line.contains("uniform"));
    ours.collect()
}

/// A line without the terminal's control sequences.
fn without_escapes(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| {
        line + part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest)
    })
}

#[test]
fn a_terminal_shows_time_epochs_and_how_much_is_watched() {
    let name = "a_terminal_shows_time_epochs_and_how_much_is_watched";
    let Some(_turn) = turn(name) else { return };
    if !there_is_script(name) {
        return;
    }
    let scratch = scratch();
    let shown = on_a_terminal(scratch.path(), 170, &["--epoch", "500ms", "--for", "3s"]);
    let line = shown.last().unwrap_or_else(|| panic!("no progress"));
    for part in ["/3 s", "epochs", "% watched", "hot set", "1 process", "of a core", "Ctrl-C"] {
        assert!(line.contains(part), "no '{part}' in {line}");
    }
    let quiet = on_a_terminal(scratch.path(), 120, &["--epoch", "500ms", "--for", "2s", "--quiet"]);
    assert!(quiet.is_empty(), "{quiet:?}");
}

#[test]
fn the_line_moves_within_an_epoch_and_fits_into_a_narrow_terminal() {
    let name = "the_line_moves_within_an_epoch_and_fits_into_a_narrow_terminal";
    let Some(_turn) = turn(name) else { return };
    if !there_is_script(name) {
        return;
    }
    let scratch = scratch();
    let shown = on_a_terminal(scratch.path(), 58, &["--epoch", "6s", "--for", "7s"]);
    let second =
        |line: &'_ String| line.strip_suffix("/7 s  the first epoch takes 6s").map(str::to_owned);
    let mut seconds: Vec<_> = shown.iter().filter_map(second).collect();
    seconds.dedup();
    assert!(seconds.len() >= 2, "it stood still: {shown:?}");
    for line in shown {
        assert!(line.chars().count() < 58, "{line}");
        let whole = ["takes 6s", "1 epoch", "epochs", "% watched", "process", "iB", "unknown"];
        assert!(whole.iter().any(|end| line.ends_with(end)), "cut: {line}");
    }
}

#[test]
fn nothing_of_it_goes_into_a_pipe() {
    let Some(_turn) = turn("nothing_of_it_goes_into_a_pipe") else { return };
    let scratch = scratch();
    let mut planning = command(plan(&["--epoch", "500ms", "--for", "2s", "--json"]));
    planning.env("TMPDIR", scratch.path());
    let outcome = finish(planning).succeeds();
    outcome.json();
    // Standard error has what the command itself prints, and notes.
    assert!(!outcome.err.contains("% watched"), "{}", outcome.err);
    assert!(!outcome.err.contains(['\r', '\u{1b}']), "{:?}", outcome.err);
}
