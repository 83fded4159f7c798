//! Who a command runs as, and what we keep ourselves: SECURITY.md, "Who is trusted with what".

use crate::run::{
    Outcome, Running, command, finish, heat, pagetide, recorder_of, recording, scratch, skip,
    sleeper, turn, within,
};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What sudo says of who called it.
const CALLER: u32 = 65534;

/// Prints what the kernel says of who it is.
const WHO: &str = "cat /proc/$$/status; echo home=$HOME; nice; sleep 1.5";

/// The fields of a `status` file, and lines like them.
fn status(text: &str) -> HashMap<String, String> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

fn capabilities(status: &HashMap<String, String>) -> u64 {
    u64::from_str_radix(&status["CapEff"], 16).unwrap_or(u64::MAX)
}

/// Records [`WHO`] with these arguments, as if sudo had been called by somebody.
#[track_caller]
fn who(arguments: &[&str]) -> Outcome {
    let scratch = scratch();
    let mut recording = recording(&heat(&scratch, "x"));
    recording.args(arguments).args(["--", "sh", "-c", WHO]);
    recording.env("SUDO_UID", CALLER.to_string()).env("SUDO_GID", CALLER.to_string());
    finish(recording).succeeds()
}

#[test]
fn through_sudo_a_command_runs_as_the_caller_without_any_capability() {
    let name = "through_sudo_a_command_runs_as_the_caller_without_any_capability";
    let Some(_turn) = turn(name) else { return };
    let outcome = who(&[]);
    let found = status(&outcome.out);
    let id = CALLER.to_string();
    for ids in ["Uid", "Gid"] {
        assert!(found[ids].split_whitespace().all(|word| word == id), "{ids}: {found:?}");
    }
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(found[set].trim_start_matches('0'), "", "{set}: {found:?}");
    }
    assert_eq!(found["NoNewPrivs"], "0", "its own setuid programs are its own affair");
    assert!(!outcome.out.contains("home=/root"), "{}", outcome.out);
    assert!(outcome.out.lines().any(|line| line == "0"), "niceness: {}", outcome.out);
    let said = outcome.err.lines().filter(|line| line.contains("the command runs as")).count();
    assert_eq!(said, 1, "in one line: {}", outcome.err);
    assert!(outcome.err.contains("--as-root"), "{}", outcome.err);
}

#[test]
fn root_and_other_users_only_when_asked_for() {
    let Some(_turn) = turn("root_and_other_users_only_when_asked_for") else { return };
    let outcome = who(&["--as-root"]);
    let found = status(&outcome.out);
    assert!(found["Uid"].split_whitespace().all(|word| word == "0"), "{found:?}");
    assert!(!outcome.err.contains("runs as"), "{}", outcome.err);
    let outcome = who(&["--user", "daemon"]);
    let found = status(&outcome.out);
    assert!(found["Uid"].split_whitespace().all(|word| word == "1"), "{found:?}");
    assert!(outcome.err.contains("the command runs as daemon"), "{}", outcome.err);
}

#[test]
fn an_account_must_exist_and_needs_a_command() {
    let Some(_turn) = turn("an_account_must_exist_and_needs_a_command") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let record = |rest: &str| pagetide(&format!("record -q -o {} {rest}", path.display()));
    record("--user no-such-user -- true").fails(5, &["no user 'no-such-user'", "getent passwd"]);
    record("--user daemon --pid 1").fails(2, &["--user"]);
    record("--user daemon --as-root -- true").fails(2, &["--as-root"]);
    assert!(!path.exists());
}

#[test]
fn a_recorder_keeps_what_it_needs_and_its_writer_less() {
    let Some(_turn) = turn("a_recorder_keeps_what_it_needs_and_its_writer_less") else { return };
    let (scratch, target) = (scratch(), sleeper());
    let mut recorder = recorder_of(&target, &heat(&scratch, "x"));
    let pid = recorder.pid();
    let main = status(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap());
    assert_eq!(main["NoNewPrivs"], "1");
    // CAP_SETUID, CAP_NET_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_MKNOD.
    for gone in [7, 12, 16, 17, 27] {
        assert_eq!(capabilities(&main) >> gone & 1, 0, "capability {gone}: {main:?}");
    }
    let mut others = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let of = status(&fs::read_to_string(task.path().join("status")).unwrap());
        if task.file_name().to_string_lossy() == pid.to_string() {
            continue;
        }
        others += 1;
        let left = capabilities(&of);
        // CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH.
        assert_eq!(left & !0b111, 0, "{of:?}");
        let stat = fs::read_to_string(task.path().join("stat")).unwrap();
        let nice = stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap();
        assert_eq!(nice, "0", "{stat}");
    }
    assert!(others >= 1, "the writer");
    recorder.signal(libc::SIGINT);
    recorder.wait();
}

/// A recording with so much in it that exporting it fills any pipe.
fn long_one(test: &str, path: &Path) -> bool {
    // SAFETY: cannot fail, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        skip(test, "only root has something to give up");
        return false;
    }
    let program = "workload uniform --size 256M --rate 20000 --seconds 4 --truth-epoch 0.1 --truth";
    let mut workload = command(program.split(' '));
    workload.arg(path);
    workload.env("SUDO_UID", CALLER.to_string()).env("SUDO_GID", CALLER.to_string());
    finish(workload).succeeds();
    true
}

/// What an export of `path` is while nobody reads what it prints.
#[track_caller]
fn while_exporting(path: &Path) -> HashMap<String, String> {
    let mut export = command(["trace", "export"]);
    export.arg(path);
    once_confined(export)
}

/// What a command is through sudo, once it has given up what it does not need.
#[track_caller]
fn once_confined(mut command: std::process::Command) -> HashMap<String, String> {
    command.env("SUDO_UID", CALLER.to_string()).env("SUDO_GID", CALLER.to_string());
    let running = Running::start(command);
    let read = || {
        let path = format!("/proc/{}/status", running.pid());
        status(&fs::read_to_string(path).unwrap_or_default())
    };
    let confined = || read().get("Seccomp").is_some_and(|mode| mode == "2");
    assert!(within(60, confined), "{:?}", read());
    read()
}

#[test]
fn reading_recordings_is_done_without_privileges() {
    let name = "reading_recordings_is_done_without_privileges";
    let scratch = scratch();
    let path = heat(&scratch, "x");
    if !long_one(name, &path) {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o700)).unwrap();
    // The caller may not enter root's directory: root stays, and keeps files alone.
    let root = while_exporting(&path);
    assert!(root["Uid"].split_whitespace().all(|id| id == "0"), "{root:?}");
    assert_eq!((capabilities(&root) & !0b111, root["NoNewPrivs"].as_str()), (0, "1"));
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let caller = while_exporting(&path);
    let id = CALLER.to_string();
    assert!(caller["Uid"].split_whitespace().all(|word| word == id), "{caller:?}");
    assert_eq!((capabilities(&caller), caller["NoNewPrivs"].as_str()), (0, "1"));
}

#[test]
fn simulating_is_done_without_privileges() {
    // SAFETY: cannot fail, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        skip("simulating_is_done_without_privileges", "only root has something to give up");
        return;
    }
    let scratch = scratch();
    let of = |name: &str| scratch.path().join(name);
    let scenario = crate::sim::small(&scratch);
    // A stream that never comes: whoever opens it waits.
    assert!(std::process::Command::new("mkfifo").arg(of("stream")).status().unwrap().success());
    let curve = || {
        let mut curve = command(["curve"]);
        curve.arg(of("stream"));
        curve
    };
    let simulated = |words: &[&str], out: Option<&str>| {
        let mut simulated = command(words);
        simulated.args(["--quiet", "--set", "seconds=1000", "--system", "lru"]).arg(&scenario);
        simulated
            .args(out.map(|out| ["-o".into(), of(out).into_os_string()]).into_iter().flatten());
        simulated
    };
    let reproduce = || {
        let mut reproduce =
            command(["reproduce", "adaptive", "stationary", "--quiet", "--results"]);
        reproduce.arg(of("results"));
        reproduce
    };
    let all = || {
        let sweep = ["sweep", "--vary", "seed=1,2"];
        [curve(), simulated(&["sim"], None), simulated(&sweep, Some("x.csv")), reproduce()]
    };
    use std::os::unix::fs::{PermissionsExt, chown};
    // The caller may not enter root's directory: root stays, and keeps files alone.
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o700)).unwrap();
    for command in all() {
        let line = format!("{command:?}");
        let root = once_confined(command);
        assert!(root["Uid"].split_whitespace().all(|id| id == "0"), "{line}: {root:?}");
        assert_eq!((capabilities(&root) & !0b111, &*root["NoNewPrivs"]), (0, "1"), "{line}");
    }
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    chown(scratch.path(), Some(CALLER), Some(CALLER)).unwrap();
    for name in ["results", "x.csv.points.jsonl"] {
        // What root made meanwhile only root writes into.
        let there = of(name);
        let _ = if there.is_dir() { fs::remove_dir_all(there) } else { fs::remove_file(there) };
    }
    let id = CALLER.to_string();
    for command in all() {
        let line = format!("{command:?}");
        let caller = once_confined(command);
        assert!(caller["Uid"].split_whitespace().all(|word| word == id), "{line}: {caller:?}");
        assert_eq!((capabilities(&caller), &*caller["NoNewPrivs"]), (0, "1"), "{line}");
    }
}

#[test]
fn a_temporary_recording_lies_in_a_directory_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let name = "a_temporary_recording_lies_in_a_directory_of_its_own";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let mut plan = command(["plan", "--epoch", "500ms", "--", "sleep", "2"]);
    plan.env("TMPDIR", scratch.path());
    let mut plan = Running::start(plan);
    let entry = || fs::read_dir(scratch.path()).ok()?.flatten().next();
    assert!(within(60, || entry().is_some()), "nothing is recorded");
    let folder = entry().unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let guessed = scratch.path().join(format!("pagetide-{}.heat", plan.pid()));
    assert!(!guessed.exists(), "nobody can know its name before");
    assert_eq!(plan.wait().code(), Some(0));
    assert!(entry().is_none(), "it goes with the plan");
}
