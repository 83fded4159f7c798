//! `shift` on a machine without persistent memory: what it answers. Conversions are tried in the lab
//! (`make test-lab`), refusals on a simulated kernel (crates/shift).

use crate::run::{Running, as_nobody, command, pagetide, scratch, skip, within};
use pagetide_host::Host;
use pagetide_shift::{Event, Helper, Identity, Journal, LiveKernel, Lock, Machine};
use pagetide_types::{Bytes, PhysAddr};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Whether we are root on a machine with a name and without dax devices; said aloud if not.
fn bare_machine(test: &str) -> bool {
    let host = Host::live();
    // SAFETY: only reads our own user number.
    let why = if unsafe { libc::geteuid() } != 0 {
        "not root"
    } else if host.machine_id().is_none() {
        "this machine has no name"
    } else if !host.dax_devices().is_ok_and(|devices| devices.is_empty()) {
        "this machine has dax devices, which are left alone"
    } else {
        return true;
    };
    skip(test, why);
    false
}

/// Whether devices could be memory here.
fn can_wait() -> bool {
    let kernel = LiveKernel::new(Host::live(), Helper(Vec::new()), false);
    pagetide_shift::can_run(&kernel).is_ok()
}

#[test]
fn a_machine_without_devices_is_answered_with_what_can_be_done() {
    if !bare_machine("a_machine_without_devices_is_answered_with_what_can_be_done") {
        return;
    }
    let folder = scratch();
    let state = folder.path().display();
    // Without the drivers none can be memory; with them it waits for one.
    let run = pagetide(&format!("shift run --for 1s --state {state}"));
    if can_wait() {
        assert!(run.succeeds().out.contains("no dax device yet"));
    } else {
        run.fails(4, &[]);
    }
    let status = pagetide(&format!("shift status --state {state}")).succeeds().out;
    assert!(
        status.contains("nobody manages memory") && status.contains("no dax device"),
        "{status}"
    );
    assert_eq!(status.contains("would refuse: "), !can_wait(), "{status}");
    let json = pagetide(&format!("shift status --json --state {state}")).succeeds().json();
    assert_eq!(json["unable"].is_null(), can_wait(), "{json}");
    assert_eq!(json["devices"].as_array().map(Vec::len), Some(0));
    pagetide(&format!("shift prepare --device dax7.7 --state {state}"))
        .fails(1, &["dax7.7 is not there", "shift status"]);
    let recovered = pagetide(&format!("shift recover --json --state {state}")).succeeds();
    assert_eq!(recovered.json(), serde_json::json!([]));
    pagetide(&format!("shift give-back --size 1G --state {state}"))
        .fails(1, &["0 B of 1.00 GiB were given back", "nothing of ours is memory"]);
}

#[test]
fn a_prepare_that_is_refused_leaves_no_folder_behind() {
    if !bare_machine("a_prepare_that_is_refused_leaves_no_folder_behind") {
        return;
    }
    let folder = scratch();
    let none = folder.path().join("made/for/nothing");
    // As `ls /dev` shows it, too.
    pagetide(&format!("shift prepare --device /dev/dax7.7 --state {}", none.display()))
        .fails(1, &["dax7.7 is not there"]);
    assert!(!folder.path().join("made").exists());
}

#[test]
fn a_state_that_cannot_be_a_folder_is_named() {
    if !bare_machine("a_state_that_cannot_be_a_folder_is_named") {
        return;
    }
    let folder = scratch();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for command in ["status", "recover", "give-back --size 1G", "prepare --device dax7.7"] {
        pagetide(&format!("shift {command} --state {}", file.display()))
            .fails(1, &["file/journal", "--state names a folder"]);
    }
    pagetide("shift prepare --device dax7.7 --state /proc/pagetide")
        .fails(1, &["cannot make the folder /proc/pagetide", "--state"]);
}

#[test]
fn a_dry_run_makes_no_folder() {
    if !bare_machine("a_dry_run_makes_no_folder") {
        return;
    }
    let folder = scratch();
    let none = folder.path().join("none");
    let state = none.display();
    pagetide(&format!("shift give-back --size 1G --dry-run --state {state}"))
        .fails(1, &["0 B of 1.00 GiB would be given back"]);
    pagetide(&format!("shift prepare --device dax7.7 --dry-run --state {state}"))
        .fails(1, &["dax7.7 is not there"]);
    let run = pagetide(&format!("shift run --dry-run --for 1s --state {state}"));
    if can_wait() {
        run.succeeds();
    } else {
        run.fails(4, &[]);
    }
    // Nor where nothing is ours.
    pagetide(&format!("shift recover --state {state}")).succeeds();
    pagetide(&format!("shift give-back --size 1G --state {state}"))
        .fails(1, &[&format!("there is no {state}")]);
    assert!(!none.exists(), "{state} was made");
}

/// A journal of this machine, or of one that is called so, of a device without a label that was memory before a reboot.
#[expect(clippy::unwrap_used, reason = "what cannot be made here ends the test")]
fn was_memory(folder: &Path, machine: Option<&str>) -> Vec<u8> {
    let machine = machine.map_or_else(|| Host::live().machine_id().unwrap(), str::to_owned);
    let mut journal = Journal::open(folder, Machine { machine, boot: "before".into() }).unwrap();
    let id = Identity { uuid: None, start: PhysAddr(1 << 40), size: Bytes::gib(1) };
    journal.write(Event::Memory, &id).unwrap();
    fs::read(folder.join("journal")).unwrap()
}

#[test]
fn a_journal_of_another_machine_is_refused_and_left_as_it_is() {
    if !bare_machine("a_journal_of_another_machine_is_refused_and_left_as_it_is") {
        return;
    }
    let folder = scratch();
    let state = folder.path().display();
    let whole = was_memory(folder.path(), Some("another"));
    for command in ["status", "recover", "give-back --size 1G", "prepare --device dax0.0"] {
        pagetide(&format!("shift {command} --state {state}"))
            .fails(4, &["of machine another", "--state"]);
    }
    assert_eq!(fs::read(folder.path().join("journal")).unwrap(), whole);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is made beside it");
}

#[test]
fn a_torn_line_of_the_journal_is_told_and_dropped() {
    if !bare_machine("a_torn_line_of_the_journal_is_told_and_dropped") {
        return;
    }
    let folder = scratch();
    let state = folder.path().display();
    let mut torn = was_memory(folder.path(), None);
    torn.truncate(torn.len() - 7);
    fs::write(folder.path().join("journal"), &torn).unwrap();
    let run = pagetide(&format!("shift recover --state {state}")).succeeds();
    assert!(
        run.err.contains("torn by a crash") && run.err.contains("had not begun"),
        "{}",
        run.err
    );
    assert!(run.out.contains("nothing is left to be made right"), "{}", run.out);
}

#[test]
fn only_what_is_there_can_be_said_to_be_wanted_by_nobody() {
    if !bare_machine("only_what_is_there_can_be_said_to_be_wanted_by_nobody") {
        return;
    }
    let folder = scratch();
    let state = folder.path().display();
    let whole = was_memory(folder.path(), None);
    pagetide(&format!("shift recover --zero dax7.7 --state {state}"))
        .fails(1, &["device dax7.7 is not there", "shift status"]);
    pagetide(&format!("shift recover --state {state}")).fails(1, &["is not there"]);
    pagetide("shift recover --zero").fails(2, &["--zero <"]);
    assert_eq!(fs::read(folder.path().join("journal")).unwrap(), whole, "it may come back");
}

#[test]
fn a_damaged_journal_is_refused_and_left_as_it_is() {
    if !bare_machine("a_damaged_journal_is_refused_and_left_as_it_is") {
        return;
    }
    let folder = scratch();
    let state = folder.path().display();
    pagetide(&format!("shift recover --state {state}")).succeeds();
    let path = folder.path().join("journal");
    let ours = fs::read_to_string(&path).unwrap();
    // Its checksum does not fit any more: with the line behind it, that is damage.
    let damaged = format!("{}{ours}", ours.replace("\"machine\":\"", "\"machine\":\"x"));
    fs::write(&path, &damaged).unwrap();
    for command in ["status", "recover"] {
        pagetide(&format!("shift {command} --state {state}"))
            .fails(4, &["journal:1", "is damaged", "prepare --device"]);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
}

#[test]
fn how_a_nodes_free_memory_lies_is_told_without_root_and_without_moving_any() {
    let free = pagetide("shift compact --node 0 --dry-run --json").succeeds().json();
    assert!(free["free"].as_u64() > Some(0) && free["blocks"].is_u64(), "{free}");
    pagetide("shift compact --node 777 --dry-run").fails(1, &["no node 777; it has 0"]);
    if pagetide_shift::is_root() {
        pagetide("shift compact --node 777").fails(1, &["no node 777; it has 0"]);
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    pagetide("shift prepare").fails(2, &["--region <REGION>|--device <NAME>"]);
    pagetide("shift prepare --region region0 --device dax0.0").fails(2, &["cannot be used with"]);
    pagetide("shift prepare --size 1G").fails(2, &["--region <REGION>"]);
    pagetide("shift prepare --region region0").fails(2, &["--size"]);
    pagetide("shift prepare --region region0 --size 512").fails(2, &["'512' has no unit"]);
    pagetide("shift give-back").fails(2, &["--size <SIZE>|--device <NAME>"]);
    pagetide("shift give-back --size 1G --device dax0.0").fails(2, &["cannot be used with"]);
    pagetide("shift run --growth 0.5").fails(2, &["factor from 1"]);
    pagetide("shift run --lead -1").fails(2, &["factor from 0"]);
    pagetide("shift run --smoothing 2").fails(2, &["at most 1"]);
    pagetide("shift run --threshold much").fails(2, &["'much'", "25%"]);
}

#[test]
fn converting_takes_root() {
    if !bare_machine("converting_takes_root") {
        return;
    }
    let folder = scratch();
    for command in ["run", "recover", "give-back --size 1G", "prepare --device dax0.0"] {
        as_nobody(&folder, &format!("shift {command}")).fails(3, &["takes root", "sudo"]);
    }
}

#[test]
fn who_waits_for_another_ends_when_he_is_asked_to() {
    if !bare_machine("who_waits_for_another_ends_when_he_is_asked_to") {
        return;
    }
    let folder = scratch();
    let _held = Lock::change(folder.path(), Duration::ZERO).unwrap();
    for words in ["recover", "give-back --size 1G", "prepare --device dax0.0"] {
        let state = folder.path().display();
        let line = format!("shift {words} --state {state}");
        let mut waiting = Running::start(command(line.split_whitespace()));
        until_caught(waiting.pid(), libc::SIGINT);
        waiting.signal(libc::SIGINT);
        waiting.outcome().fails(130, &[]);
    }
}

/// Waits until a process has a handler for a signal.
fn until_caught(pid: i32, signal: i32) {
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(mask.trim(), 16).unwrap_or(0) >> (signal - 1) & 1 == 1
    };
    assert!(within(30, caught), "it does not listen");
}

#[test]
fn a_helper_ends_with_its_parent_and_not_with_a_signal_to_the_whole_service() {
    let us = std::process::id().to_string();
    let mut helper = command(["shift", "helper", &us, "blocks"]);
    let mut helper = helper.stdin(Stdio::piped()).spawn().unwrap();
    let pid = i32::try_from(helper.id()).unwrap();
    let mut questions = helper.stdin.take().unwrap();
    let mut answers = BufReader::new(helper.stdout.take().unwrap()).lines();
    let mut ask = |question: &str| {
        writeln!(questions, "{question}").unwrap();
        answers.next().unwrap().unwrap()
    };
    assert_eq!(ask("sing"), "cannot understand \"sing\"");
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: a signal to a child of ours, which was not collected.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
        assert_eq!(ask("dance"), "cannot understand \"dance\"");
    }
    drop(questions);
    assert_eq!(helper.wait().unwrap().code(), Some(0));
}

#[test]
fn a_helper_reads_blocks_that_it_is_given_open() {
    let folder = scratch();
    let path = folder.path().join("blocks");
    let us = std::process::id().to_string();
    let mut bytes = vec![0; 1 << 20];
    for says in ["done", "done 5000"] {
        fs::write(&path, &bytes).unwrap();
        let mut helper = command(["shift", "helper", &us, "first-nonzero-of-blocks", "1048576"]);
        let helper = helper.stdin(fs::File::open(&path).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&helper.stdout).trim(), says);
        bytes[5000] = 1;
    }
}
