//! The units of docs/.

use crate::run::pagetide;
use std::fs;

/// A unit's value of a key; the command that it starts is one that there is.
#[expect(clippy::unwrap_used, reason = "a file of ours")]
fn unit(name: &str) -> impl Fn(&str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let unit = fs::read_to_string(path).unwrap();
    let value = move |key: &str| {
        let mut values = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        values.next().unwrap().to_owned()
    };
    let starts = value("ExecStart");
    let (program, words) = starts.split_once(' ').unwrap();
    assert!(program.ends_with("/pagetide"), "{program}");
    pagetide(&format!("{words} --help")).succeeds();
    value
}

#[test]
fn the_unit_for_systemd_starts_what_there_is_and_asks_it_alone_to_end() {
    let value = unit("pagetide-shift.service");
    assert_eq!(value("KillMode"), "mixed");
    // What stays so is not tried again; a disk that is full (1) may not be.
    assert_eq!(value("RestartPreventExitStatus"), "2 3 4");
}

#[test]
fn the_unit_of_run_follows_another_service() {
    let value = unit("pagetide-run@.service");
    assert!(value("ExecStart").ends_with("--cgroup system.slice/%i.service"));
    assert_eq!((value("BindsTo"), value("After")), ("%i.service".into(), "%i.service".into()));
    // A service without a process (5) may get one.
    assert_eq!(
        (value("Restart"), value("RestartPreventExitStatus")),
        ("always".into(), "2 3 4".into())
    );
}
