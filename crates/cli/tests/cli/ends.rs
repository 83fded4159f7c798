//! How a recording may end: every way leaves it readable. A command that was started ends with it,
//! other targets go on unharmed.

use crate::run::{
    Outcome, PAGETIDE, Running, alive, finish, heat, heeds_signals, info, pids_in, recorder_of,
    recording, scratch, sleeper, there_is_script, turn, until_recorded, within,
};
use std::path::Path;
use std::process::{Command, Stdio};

/// `record` of a shell script, in which `$0` is the binary under test, and `$1` the file that
/// [`started`] tells of.
fn shell(path: &Path, options: &[&str], script: &str) -> Command {
    let mut recording = recording(path);
    recording.args(options).args(["--", "sh", "-c", script, PAGETIDE]);
    recording.arg(path.with_extension("started"));
    recording
}

/// The numbers that a script has written into `$1`, as soon as there are so many.
#[track_caller]
fn started(path: &Path, count: usize) -> Vec<i32> {
    pids_in(&path.with_extension("started"), count)
}

/// The numbers that a script printed of its processes.
fn pids(outcome: &Outcome) -> Vec<i32> {
    outcome.out.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// It was ended by its recorder and holds at least an epoch.
#[track_caller]
fn is_whole(path: &Path) {
    let info = info(path);
    assert!(info["finished"] == true && info["epochs"].as_u64() >= Some(1), "{info}");
}

#[test]
fn the_commands_exit_code_is_passed_on() {
    let Some(_turn) = turn("the_commands_exit_code_is_passed_on") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    // No number of epochs makes two seconds enough for a plan.
    let few = format!("epochs to {}, too few for a plan, which needs at least ", path.display());
    finish(shell(&path, &[], "sleep 2; exit 7")).fails(7, &["ended with exit status: 7", &few]);
    is_whole(&path);
    let short = heat(&scratch, "short");
    finish(shell(&short, &[], "sleep 0.1; exit 7")).fails(7, &["recorded 1 epoch to", "too few"]);
    let path = heat(&scratch, "killed");
    finish(shell(&path, &[], "sleep 1.2; kill -9 $$")).fails(128 + 9, &["signal: 9"]);
    is_whole(&path);
}

#[test]
fn an_interrupt_keeps_what_was_recorded() {
    let Some(_turn) = turn("an_interrupt_keeps_what_was_recorded") else { return };
    let (scratch, target) = (scratch(), sleeper());
    let path = heat(&scratch, "x");
    let mut recorder = recorder_of(&target, &path);
    recorder.signal(libc::SIGINT);
    assert_eq!(recorder.wait().code(), Some(130));
    assert!(alive(target.pid()), "the target was ended with the recording");
    is_whole(&path);
}

/// Two workloads in the background and one in a session of its own.
const SEVERAL: &str =
    "w='workload uniform --size 4M --rate 1000 --seconds 1000'; exec 3>>$1 >/dev/null
    $0 $w & echo $! >&3; $0 $w & echo $! >&3
    setsid sh -c 'echo $$ >&3; exec sleep 1000' & wait";

#[test]
fn an_interrupt_ends_the_command_with_all_its_descendants() {
    let name = "an_interrupt_ends_the_command_with_all_its_descendants";
    let Some(_turn) = turn(name) else { return };
    // `timeout` asks the program, and at once its whole group.
    for signals in [&[libc::SIGINT][..], &[libc::SIGTERM], &[libc::SIGTERM, libc::SIGINT]] {
        let scratch = scratch();
        let path = heat(&scratch, "x");
        let mut recorder = Running::start(shell(&path, &[], SEVERAL));
        until_recorded(&path);
        let pids = started(&path, 3);
        signals.iter().for_each(|signal| recorder.signal(*signal));
        let outcome = recorder.outcome();
        outcome.fails(130, &[]);
        assert!(!outcome.err.contains("killed"), "SIGTERM is enough for these: {}", outcome.err);
        assert!(!pids.iter().any(|pid| alive(*pid)), "{pids:?}");
        is_whole(&path);
    }
}

#[test]
fn ctrl_c_at_a_terminal_ends_the_command_and_keeps_the_recording() {
    let name = "ctrl_c_at_a_terminal_ends_the_command_and_keeps_the_recording";
    let Some(_turn) = turn(name) else { return };
    if !there_is_script(name) {
        return;
    }
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let recorded = path.display();
    // A shell's background processes ignore the terminal's interrupt: we must end this one.
    let child = scratch.path().join("child");
    let background = format!("sleep 1000 & echo $! >{}; wait", child.display());
    let line = format!("{PAGETIDE} record -q --epoch 500ms -o {recorded} -- sh -c '{background}'");
    let file = scratch.path().join("line.sh");
    std::fs::write(&file, format!("exec {line}")).unwrap();
    let typing = format!(
        "until [ -e {recorded}/heat-00000.parquet ] && [ -s {} ]; do sleep 0.1; done; \
         printf '\\003'; until [ -e {recorded}/end.json ]; do sleep 0.1; done",
        child.display()
    );
    let mut terminal = Command::new("timeout");
    let script = format!("({typing}) | script -qec 'sh {}' /dev/null", file.display());
    terminal.args(["60", "sh", "-c", &script]).stdin(Stdio::null());
    heeds_signals(&mut terminal);
    let outcome = finish(terminal);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(!pids_in(&child, 1).into_iter().any(alive), "{outcome:?}");
    is_whole(&path);
}

#[test]
fn when_the_time_is_up_the_command_and_its_descendants_are_asked_to_end() {
    let name = "when_the_time_is_up_the_command_and_its_descendants_are_asked_to_end";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let script = "trap 'echo asked; exit 3' TERM; sleep 1000 & echo $!; wait";
    let outcome = finish(shell(&path, &["--for", "3s"], script)).succeeds();
    assert!(outcome.out.contains("asked\n"), "{outcome:?}");
    let left: Vec<_> = pids(&outcome).into_iter().filter(|pid| alive(*pid)).collect();
    assert!(left.is_empty() && !pids(&outcome).is_empty(), "{left:?} of {outcome:?}");
    let seconds = info(&path)["seconds"].as_f64().unwrap_or_default();
    assert!((1.0..100.0).contains(&seconds), "{seconds} s recorded");
}

#[test]
fn what_a_command_left_in_the_background_is_ended_too() {
    let name = "what_a_command_left_in_the_background_is_ended_too";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    // The shell itself ends at once: its child is ours from then on.
    let outcome = finish(shell(&path, &["--for", "2s"], "sleep 1000 & echo $!")).succeeds();
    let pids = pids(&outcome);
    assert!(pids.len() == 1 && !alive(pids[0]), "{outcome:?}");
}

#[test]
fn what_ignores_the_request_to_end_is_killed_aloud() {
    let Some(_turn) = turn("what_ignores_the_request_to_end_is_killed_aloud") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let script = "trap '' TERM; exec 3>>$1 >/dev/null; sleep 1000 & echo $! >&3; echo $$ >&3; wait";
    let mut recorder = Running::start(shell(&path, &[], script));
    until_recorded(&path);
    let pids = started(&path, 2);
    recorder.signal(libc::SIGINT);
    let outcome = recorder.outcome();
    outcome.fails(130, &["killed what did not end within 5 s"]);
    for pid in pids {
        assert!(outcome.err.contains(&pid.to_string()) && !alive(pid), "{pid}: {outcome:?}");
    }
    is_whole(&path);
}

#[test]
fn a_recording_under_nohup_goes_on_without_its_terminal() {
    let Some(_turn) = turn("a_recording_under_nohup_goes_on_without_its_terminal") else { return };
    let (scratch, target) = (scratch(), sleeper());
    let path = heat(&scratch, "x");
    let line = recording(&path);
    let mut nohup = Command::new("sh");
    heeds_signals(&mut nohup);
    nohup.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(line.get_program());
    nohup.args(line.get_args()).args(["--pid", &target.pid().to_string()]).stderr(Stdio::null());
    let mut recorder = Running::start(nohup);
    until_recorded(&path);
    recorder.signal(libc::SIGHUP);
    assert!(within(60, || path.join("heat-00001.parquet").exists()), "it ended");
    recorder.signal(libc::SIGINT);
    assert_eq!(recorder.wait().code(), Some(130));
}

#[test]
fn a_command_runs_at_its_own_precedence() {
    let Some(_turn) = turn("a_command_runs_at_its_own_precedence") else { return };
    let scratch = scratch();
    let outcome = finish(shell(&heat(&scratch, "x"), &[], "nice; sleep 1")).succeeds();
    let own = finish(Command::new("nice")).succeeds();
    assert_eq!(outcome.out, own.out);
}

/// Lets a recorder open so many files at most.
fn with_files(recording: &mut Command, most: u64) {
    use std::os::unix::process::CommandExt;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        recording.pre_exec(move || {
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
            Ok(())
        });
    }
}

#[test]
fn short_processes_by_the_hundred_leave_no_files_open() {
    let name = "short_processes_by_the_hundred_leave_no_files_open";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    // Twenty at a time are met in an epoch; forty descriptors are open then.
    let script = "for wave in 1 2 3 4; do for i in $(seq 20); do sleep 1.2 & done; wait; done";
    let mut recording = shell(&path, &[], script);
    with_files(&mut recording, 128);
    let outcome = finish(recording).succeeds();
    is_whole(&path);
    assert!(!outcome.err.contains("not watched"), "{}", outcome.err);
    assert!(info(&path)["processes"].as_u64() >= Some(20), "{}", info(&path));
}

#[test]
fn more_processes_than_files_may_be_open_are_said_to_be_unwatched() {
    let name = "more_processes_than_files_may_be_open_are_said_to_be_unwatched";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut recording = shell(&path, &[], "for i in $(seq 150); do sleep 3 & done; wait");
    with_files(&mut recording, 128);
    let outcome = finish(recording).succeeds();
    is_whole(&path);
    assert!(outcome.err.contains("processes at a time were not watched"), "{}", outcome.err);
}
