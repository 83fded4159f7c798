//! The manual pages and the completions name every command.

use crate::run::{pagetide, scratch};
use std::fs;

const COMMANDS: [&str; 17] = [
    "record",
    "plan",
    "run",
    "shift",
    "bench",
    "report",
    "trace",
    "curve",
    "sim",
    "sweep",
    "reproduce",
    "doctor",
    "policies",
    "governors",
    "workload",
    "completions",
    "man",
];

#[test]
fn the_commands_are_all_known_to_this_test() {
    let help = pagetide("--help").succeeds().out;
    let (_, commands) = help.split_once("Commands:").unwrap();
    let listed: Vec<&str> = commands
        .lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(listed, COMMANDS);
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let text = pagetide(&format!("completions {shell}")).succeeds().out;
        for word in COMMANDS.into_iter().chain([
            "hot-cold",
            "target-slowdown",
            "machine",
            "from",
            "to",
            "by",
            "process",
            "verbose",
        ]) {
            assert!(text.contains(word), "{shell}: no {word}");
        }
    }
    pagetide("completions tcsh").fails(2, &["tcsh", "bash"]);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let main = pagetide("man").succeeds().out;
    assert!(main.contains(".TH pagetide 1"), "{main}");
    let scratch = scratch();
    let folder = scratch.path().join("man1");
    pagetide(&format!("man -o {}", folder.display())).succeeds();
    for command in COMMANDS.into_iter().chain(["trace-info", "workload-hot-cold"]) {
        let page = fs::read_to_string(folder.join(format!("pagetide-{command}.1")));
        assert!(page.is_ok_and(|page| page.contains(".SH SYNOPSIS")), "{command}");
        let top = command.split_once('-').map_or(command, |(top, _)| top);
        assert!(main.contains(top), "{command}");
    }
    let plan = fs::read_to_string(folder.join("pagetide-plan.1")).unwrap();
    assert!(plan.contains("\\-\\-target\\-slowdown"), "{plan}");
}
