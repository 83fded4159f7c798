//! A tool that is run to its end, or ended when its time is over.

use crate::{PrepareError, helper::collect};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use std::{
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// How often it is looked after.
const LOOK: Duration = Duration::from_millis(5);
/// What it said is waited for so long after its end.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a tool whose work must not be left in the middle; what it said. A terminal's Ctrl-C is for us, and does not reach
/// it. Only when `limit` is over it is ended, with what it started.
pub(crate) fn run(tool: &str, arguments: &[&str], limit: Duration) -> Result<String, PrepareError> {
    let wrong = |why: String| {
        let what = [&[tool], arguments].concat().join(" ");
        PrepareError::Tool { what, why }
    };
    let failed = |error: io::Error| wrong(error.to_string());
    let mut command = Command::new(tool);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => wrong(format!("it is not installed; `apt install {tool}`")),
        _ => failed(error),
    })?;
    // It must not wait for us to read.
    let said = child.stdout.take().map(reader);
    let complained = child.stderr.take().map(reader);
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if since.elapsed() >= limit {
            // It may have ended just now.
            let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
            let gone =
                if collect(&mut child) { "was ended" } else { "cannot be ended; see `dmesg`" };
            return Err(wrong(format!(
                "did not end within {:.0} s, and {gone}",
                limit.as_secs_f64()
            )));
        }
        thread::sleep(LOOK);
    };
    // Whom it started may have its output open still.
    let text = |reader: Option<Receiver<String>>| {
        reader.and_then(|reader| reader.recv_timeout(GRACE).ok()).unwrap_or_default()
    };
    if !status.success() {
        return Err(wrong(text(complained).trim().to_owned()));
    }
    Ok(text(said))
}

/// Reads all that is said there.
fn reader(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, text) = channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        // What was said before an error counts. Nobody may be waiting for it any more.
        let _ = from.read_to_end(&mut all);
        let _ = sender.send(String::from_utf8_lossy(&all).into_owned());
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_terminals_ctrl_c_does_not_reach_the_tool() {
        let group = "read pid name state parent group rest </proc/self/stat; echo $group $$";
        let said = run("sh", &["-c", group], LONG).unwrap();
        let (group, pid) = said.trim().split_once(' ').unwrap();
        assert_eq!(group, pid, "it leads a group of its own");
    }

    #[test]
    fn a_tool_that_does_not_end_is_ended_with_what_it_started_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pids");
        let script = format!("sleep 1000 & echo $$ $! >{}; wait", path.display());
        let limit = Duration::from_secs(2);
        let error = run("sh", &["-c", &script], limit).unwrap_err().to_string();
        assert!(error.starts_with("sh -c sleep 1000"), "{error}");
        assert!(error.contains("did not end within 2 s, and was ended"), "{error}");
        let pids = std::fs::read_to_string(path).unwrap();
        for pid in pids.split_whitespace() {
            let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let since = Instant::now();
            // Its parent collects the second one.
            while !(state().is_empty() || state().contains(") Z ")) {
                assert!(since.elapsed() < LONG, "{}", state());
                thread::sleep(LOOK);
            }
        }
    }

    #[test]
    fn what_a_tool_says_is_read_however_long_and_why_it_failed_is_told() {
        let long = run("sh", &["-c", "yes | head -c 300000"], LONG).unwrap();
        assert_eq!(long.len(), 300_000);
        let error = run("sh", &["-c", "echo no such region >&2; exit 1"], LONG).unwrap_err();
        assert!(error.to_string().ends_with(": no such region"), "{error}");
        let error = run("no-such-tool", &[], LONG).unwrap_err().to_string();
        assert!(error.contains("apt install no-such-tool"), "{error}");
    }
}
