//! What is done in a process of its own, so that it can be ended: taking blocks offline, which may loop for
//! ever, reading and clearing devices, whose broken lines end their reader (SIGBUS), and whatever asks for the memory maps
//! of processes, which may be locked for long: moving their pages, and finding who has a device open.
//!
//! The helper is this program, started again with hidden arguments, of which the first is the number of its parent. It
//! says one line: `done`, `done NUMBER` or `errno NUMBER`. It ends with its parent, and when that ends it: signals that ask
//! to end, such as a service manager sends to all processes of a service, are for the parent alone.

use crate::{
    Answer, Fault, Why,
    first_nonzero::{first_nonzero, first_nonzero_alone, first_nonzero_of_blocks},
    offlining::Offlining,
    worker::serve,
    zero_bytes::{threads, zero},
};
use nix::{
    errno::Errno,
    sys::{
        prctl::set_pdeathsig,
        signal::{SigSet, Signal},
    },
    unistd::getppid,
};
use pagetide_host::Host;
use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::fd::AsFd,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Why a helper ends whose device has broken lines.
pub(crate) const UNREADABLE: &str = "some of it cannot be read (SIGBUS)";

/// How often a helper is looked after.
const LOOK: Duration = Duration::from_millis(5);
/// How long a helper may take to be gone once it is ended.
const ENDING: Duration = Duration::from_secs(5);

/// How helpers are started: a program and its first arguments.
#[derive(Clone, Debug)]
pub struct Helper(pub Vec<OsString>);

impl Helper {
    /// One that is to be started; what it says is read.
    pub(crate) fn command(&self, arguments: &[&str]) -> io::Result<Command> {
        let (program, first) = self
            .0
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no helper"))?;
        let mut command = Command::new(program);
        // Ctrl-C is for us: half a conversion is not what is asked for.
        command.args(first).arg(std::process::id().to_string()).args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Ok(command)
    }

    /// Runs one helper to its end, or ends it when `limit` is over; the number that it said.
    pub(crate) fn run(
        &self,
        doing: &str,
        arguments: &[&str],
        limit: Option<Duration>,
    ) -> Answer<Option<u64>> {
        self.run_on(Stdio::null(), doing, arguments, limit)
    }

    /// The same, on what is open already.
    pub(crate) fn run_on(
        &self,
        input: Stdio,
        doing: &str,
        arguments: &[&str],
        limit: Option<Duration>,
    ) -> Answer<Option<u64>> {
        let fault = |why| Fault { doing: doing.to_owned(), why };
        let said = |what: String| fault(Why::Said(what));
        let wrong = |error: io::Error| said(error.to_string());
        let started = self.command(arguments).map_err(wrong)?.stdin(input).spawn();
        let mut child = started.map_err(|error| said(format!("cannot start a helper: {error}")))?;
        let since = Instant::now();
        let mut ended: Option<Instant> = None;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(wrong)? {
                break status;
            }
            match ended {
                None if limit.is_some_and(|limit| since.elapsed() >= limit) => {
                    // It may have ended already.
                    let _ = child.kill();
                    ended = Some(Instant::now());
                }
                Some(at) if at.elapsed() > ENDING => {
                    return Err(said("the kernel does not let go of it; see `dmesg`".into()));
                }
                _ => {}
            }
            thread::sleep(LOOK);
        };
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            out.take(1000).read_to_string(&mut line).map_err(wrong)?;
        }
        // What was done in time counts, even if its end was asked for meanwhile.
        match line.trim().split_once(' ').unwrap_or((line.trim(), "")) {
            ("done", number) => Ok(number.parse().ok()),
            ("errno", number) if ended.is_none() => {
                Err(fault(Why::Errno(number.parse().unwrap_or(libc::EIO))))
            }
            _ => Err(match (ended, status.signal()) {
                (Some(_), _) => fault(Why::TimeUp(limit.unwrap_or_default())),
                (None, Some(libc::SIGBUS)) => said(UNREADABLE.into()),
                (None, _) => said(format!("the helper ended with {status}")),
            }),
        }
    }
}

/// Waits a moment for a child that has been ended; whether it has. One that the kernel holds is left.
pub(crate) fn collect(child: &mut Child) -> bool {
    let since = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if since.elapsed() > ENDING {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

/// What a helper does, by its hidden arguments, the first of which is its parent's number; the line that it says.
#[must_use]
pub fn helper(arguments: &[String]) -> String {
    let Some((parent, arguments)) = arguments.split_first() else {
        return format!("errno {}", libc::EINVAL);
    };
    let asked: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
    // A parent that has ended already sends no signal any more, and we are another's child.
    if asked.thread_block().is_err()
        || set_pdeathsig(Signal::SIGKILL).is_err()
        || parent.parse() != Ok(getppid().as_raw())
    {
        return format!("errno {}", libc::ESRCH);
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words[..] == ["blocks"] {
        let mut offlining = Offlining::new(Host::live());
        let answer = |question: &str| offlining.answer(question);
        return said(serve(io::stdin().lock(), io::stdout().lock(), answer).map(|()| None));
    }
    if let ["first-nonzero-of-blocks", bytes] = words[..] {
        let Ok(bytes) = bytes.parse() else { return format!("errno {}", libc::EINVAL) };
        let device = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        return said(device.and_then(|device| first_nonzero_of_blocks(&device, bytes)));
    }
    said(once(&words).unwrap_or_else(|| Err(Errno::EINVAL.into())))
}

/// Does what it is told in words; none: it makes no sense.
pub(crate) fn once(words: &[&str]) -> Option<io::Result<Option<u64>>> {
    let size = |text: &str| text.parse::<usize>().ok();
    Some(match *words {
        ["write", path, word] => write_word(Path::new(path), word).map(|()| None),
        ["zero", from, millis, path, bytes] => {
            let limit = Duration::from_millis(millis.parse().unwrap_or(u64::MAX));
            let range = (size(from)?, size(bytes)?);
            zero(Path::new(path), range, limit, threads()).map(|at| Some(at as u64))
        }
        ["zero-and-read", from, millis, path, bytes] => {
            let limit = Duration::from_millis(millis.parse().unwrap_or(u64::MAX));
            zero_and_read(Path::new(path), (size(from)?, size(bytes)?), limit)
        }
        ["first-nonzero", path, bytes] => first_nonzero(Path::new(path), size(bytes)?, threads()),
        ["first-nonzero", path, bytes, readers] => {
            first_nonzero(Path::new(path), size(bytes)?, size(readers)?)
        }
        ["first-nonzero-alone", path, bytes] => {
            first_nonzero_alone(Path::new(path), size(bytes)?, threads())
        }
        _ => return None,
    })
}

/// Zeroes a device of so many bytes from an offset on, and reads it if the time was enough for all of it; how far it is
/// zeros. One CPU is left to what is done beside it.
fn zero_and_read(
    path: &Path,
    (from, bytes): (usize, usize),
    limit: Duration,
) -> io::Result<Option<u64>> {
    let threads = threads().saturating_sub(1).max(1);
    let ended = zero(path, (from, bytes), limit, threads)?;
    if ended < bytes {
        return Ok(Some(ended as u64));
    }
    Ok(first_nonzero(path, bytes, threads)?.or(Some(bytes as u64)))
}

/// The line that says what came of it.
pub(crate) fn said(answer: io::Result<Option<u64>>) -> String {
    match answer {
        Ok(None) => "done".into(),
        Ok(Some(number)) => format!("done {number}"),
        Err(error) => format!("errno {}", error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

/// One word into a file of sysfs; the kernel acts on it during the call.
pub(crate) fn write_word(path: &Path, word: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments as our parent would give them.
    fn words(words: &[&str]) -> Vec<String> {
        let parent = getppid().to_string();
        [parent.as_str()].iter().chain(words).map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn whose_parent_has_ended_before_it_began_does_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut orphan = words(&["write", &file.path().to_string_lossy(), "offline"]);
        assert_eq!(helper(&orphan), "done");
        // A number that no process has, and that of another.
        for other in ["0", "1000000000"] {
            std::fs::write(file.path(), "online").unwrap();
            orphan[0] = other.into();
            assert_eq!(helper(&orphan), format!("errno {}", libc::ESRCH));
            assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "online");
        }
        assert_eq!(helper(&[]), format!("errno {}", libc::EINVAL));
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        let said = helper(&words(&["write", "/no/such/file", "offline"]));
        assert_eq!(said, format!("errno {}", libc::ENOENT));
        assert_eq!(helper(&words(&["sing"])), format!("errno {}", libc::EINVAL));
    }

    #[test]
    fn how_far_a_device_is_zeros_is_told_after_it_was_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_string_lossy().into_owned();
        let size = 5 << 20;
        let ask = |from: usize, millis: &str| {
            helper(&words(&["zero-and-read", &from.to_string(), millis, &path, &size.to_string()]))
        };
        std::fs::write(file.path(), vec![1; size]).unwrap();
        // What was not zeroed before the offset is found.
        assert_eq!(ask(4096, "1000000"), "done 0");
        assert_eq!(std::fs::read(file.path()).unwrap()[4096..], vec![0; size - 4096]);
        assert_eq!(ask(0, "1000000"), format!("done {size}"));
        assert_eq!(std::fs::read(file.path()).unwrap(), vec![0; size]);
    }

    #[test]
    fn a_helper_that_never_ends_is_ended() {
        let helper = Helper(["sh", "-c", "exec sleep 1000"].map(Into::into).to_vec());
        let limit = Some(Duration::from_millis(50));
        let fault = helper.run("wait", &[], limit).unwrap_err();
        assert_eq!(fault.why, Why::TimeUp(Duration::from_millis(50)));
        let helper = Helper(["sh", "-c", "kill -BUS $$"].map(Into::into).to_vec());
        let fault = helper.run("read", &[], None).unwrap_err();
        assert!(fault.to_string().contains("cannot be read"), "{fault}");
        let helper = Helper(["sh", "-c", "echo done 17"].map(Into::into).to_vec());
        assert_eq!(helper.run("count", &[], None), Ok(Some(17)));
        let helper = Helper(["sh", "-c", "echo errno 16"].map(Into::into).to_vec());
        let fault = helper.run("offline block 3", &[], None).unwrap_err();
        assert_eq!(fault.to_string(), "cannot offline block 3: Device or resource busy");
        let none = Helper(vec!["/no/such/program".into()]);
        assert!(none.run("run", &[], None).is_err());
    }
}
