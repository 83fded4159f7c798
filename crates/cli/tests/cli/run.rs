//! Runs the binary and looks at what it did.

pub(crate) use pagetide_testing::skip;

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The binary under test.
pub(crate) const PAGETIDE: &str = env!("CARGO_BIN_EXE_pagetide");

/// What a finished run said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// It ended with this code, and its complaint holds all of these.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in said {
            assert!(self.err.contains(word), "no '{word}' in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }

    /// It ended well.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// A command line of the binary under test, to be refined.
pub(crate) fn command<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(PAGETIDE);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The tests may run through sudo: what they start is to run as they do.
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    heeds_signals(&mut command);
    command
}

/// What the tests were started with (a shell's `&`, nohup) may ignore signals; this will not.
pub(crate) fn heeds_signals(command: &mut Command) {
    // SAFETY: resetting signal dispositions is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// `record` into `path` with epochs of half a second; the target is still to be named.
pub(crate) fn recording(path: &Path) -> Command {
    let mut command = command(["record", "-q", "--epoch", "500ms", "-o"]);
    command.arg(path);
    command
}

/// A recorder of a process that has its first epoch on disk.
#[track_caller]
pub(crate) fn recorder_of(target: &Running, path: &Path) -> Running {
    let mut recording = recording(path);
    recording.args(["--pid", &target.pid().to_string()]);
    let recorder = Running::start(recording);
    until_recorded(path);
    recorder
}

/// Waits until the first epoch is on disk.
#[track_caller]
pub(crate) fn until_recorded(path: &Path) {
    assert!(within(60, || path.join("heat-00000.parquet").exists()), "nothing is recorded");
}

/// Runs a command to its end.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own command")]
pub(crate) fn finish(mut command: Command) -> Outcome {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Outcome { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Runs the binary to its end; arguments are split at spaces.
#[track_caller]
pub(crate) fn pagetide(arguments: &str) -> Outcome {
    finish(command(arguments.split_whitespace()))
}

/// Runs a copy of the binary in `directory`, which it opens for all, as a user without rights.
/// Another user cannot reach a build directory below root's own.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own files")]
pub(crate) fn as_nobody(directory: &TempDir, arguments: &str) -> Outcome {
    let binary = directory.path().join("pagetide");
    if !binary.exists() {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        // By a program of its own: who starts one meanwhile would hold the file open for writing.
        let copied = Command::new("cp").arg(PAGETIDE).arg(&binary).status().unwrap();
        assert!(copied.success());
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&binary);
    command.args(arguments.split_whitespace()).uid(65534).gid(65534);
    finish(command)
}

/// `trace info` of a recording.
#[track_caller]
pub(crate) fn info(recording: &Path) -> Value {
    pagetide(&format!("trace info --json {}", recording.display())).succeeds().json()
}

/// A directory for one test. Paths in it have no spaces.
#[expect(clippy::unwrap_used, reason = "a test's own directory")]
pub(crate) fn scratch() -> TempDir {
    tempfile::Builder::new().prefix("pagetide-test-").tempdir().unwrap()
}

/// A recording's path in a directory.
pub(crate) fn heat(directory: &TempDir, name: &str) -> PathBuf {
    directory.path().join(format!("{name}.heat"))
}

/// Whoever holds this is alone with its workloads.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Recordings are made one at a time, so as not to disturb each other: hold this meanwhile. None,
/// said aloud, where nothing can be recorded.
pub(crate) fn turn(test: &str) -> Option<MutexGuard<'static, ()>> {
    static CANNOT: OnceLock<Option<String>> = OnceLock::new();
    let guard = alone();
    let cannot = CANNOT.get_or_init(|| {
        let scratch = scratch();
        let path = heat(&scratch, "probe");
        let tried = pagetide(&format!("record -q --for 1s -o {} -- sleep 1", path.display()));
        // 3: not permitted, 4: unsupported. Anything else is for the tests to judge.
        matches!(tried.code, Some(3 | 4)).then_some(tried.err)
    });
    if let Some(reason) = cannot {
        skip(test, reason);
        return None;
    }
    Some(guard)
}

/// Whether script(1) can give a command a terminal; said aloud if not.
pub(crate) fn there_is_script(test: &str) -> bool {
    let there = Command::new("script").arg("--version").output().is_ok();
    if !there {
        skip(test, "script(1) is not installed");
    }
    there
}

/// A process that a test started; ended by its number when dropped.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    #[track_caller]
    #[expect(clippy::unwrap_used, reason = "a test's own command")]
    pub(crate) fn start(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    /// Sends a signal; the process was not collected yet, so the number is its own.
    #[track_caller]
    pub(crate) fn signal(&self, signal: libc::c_int) {
        // SAFETY: a signal to a child of ours.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

    /// What it prints until it ends.
    #[track_caller]
    #[expect(clippy::unwrap_used, reason = "a test's own child")]
    pub(crate) fn outcome(&mut self) -> Outcome {
        let (mut out, mut err) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        Outcome { code: self.wait().code(), out, err }
    }

    /// Waits for the end, but not forever.
    #[track_caller]
    #[expect(clippy::unwrap_used, reason = "a test's own child")]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        assert!(within(60, || self.0.try_wait().unwrap().is_some()), "it does not end");
        self.0.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that does nothing for longer than any test.
#[track_caller]
pub(crate) fn sleeper() -> Running {
    let mut sleeper = Command::new("sleep");
    sleeper.arg("1000");
    Running::start(sleeper)
}

/// Waits until a file has so many lines, and reads them as process numbers.
#[track_caller]
pub(crate) fn pids_in(file: &Path, count: usize) -> Vec<i32> {
    let mut pids = Vec::new();
    let all = || {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        pids = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        pids.len() >= count && text.ends_with('\n')
    };
    assert!(within(60, all), "not {count} processes in {}", file.display());
    pids
}

/// Whether something comes true within some seconds.
pub(crate) fn within(seconds: u64, mut what: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Whether a process is there and has not ended.
pub(crate) fn alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
        !matches!(state, Some("Z" | "X"))
    })
}
