//! What is done in a process of its own, so that it can be ended: taking blocks offline, which may loop for
//! ever, and reading and clearing devices, whose broken lines end their reader (SIGBUS).
//!
//! The helper is this program, started again with hidden arguments. It says one line: `done`,
//! `done NUMBER` or `errno NUMBER`. It ends with its parent.

use crate::{Answer, Fault, Why};
use memmap2::{MmapMut, MmapOptions};
use nix::{
    errno::Errno,
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, kill},
    },
    unistd::{Pid, getppid},
};
use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::{self, Read, Write},
    os::unix::{
        fs::OpenOptionsExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How often a helper is looked after.
const LOOK: Duration = Duration::from_millis(5);
/// How long a helper that was asked to end may take, before it is ended, and after that.
const ENDING: Duration = Duration::from_secs(5);
/// Pieces in which devices are read and cleared.
const CHUNK: usize = 2 << 20;
/// Of a CPU's cache.
const LINE: usize = 64;
/// What memory for direct reads is aligned to.
const ALIGNED: usize = 4096;

/// How helpers are started: a program and its first arguments.
#[derive(Clone, Debug)]
pub struct Helper(pub Vec<OsString>);

impl Helper {
    /// Runs one helper to its end, or ends it when `limit` is over; the number that it said.
    pub(crate) fn run(
        &self,
        doing: &str,
        arguments: &[&str],
        limit: Option<Duration>,
    ) -> Answer<Option<u64>> {
        let fault = |why| Fault { doing: doing.to_owned(), why };
        let said = |what: String| fault(Why::Said(what));
        let (program, first) =
            self.0.split_first().ok_or_else(|| said("there is no helper".into()))?;
        let mut child = Command::new(program)
            .args(first)
            .args(arguments)
            // Ctrl-C is for us: half a conversion is not what is asked for.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| said(format!("cannot start {}: {error}", program.display())))?;
        let since = Instant::now();
        let mut ending: Option<(Signal, Instant)> = None;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| said(error.to_string()))? {
                break status;
            }
            ending = match ending {
                None if limit.is_some_and(|limit| since.elapsed() >= limit) => {
                    Some(signal(&child, Signal::SIGTERM))
                }
                Some((Signal::SIGTERM, at)) if at.elapsed() > ENDING => {
                    Some(signal(&child, Signal::SIGKILL))
                }
                Some((Signal::SIGKILL, at)) if at.elapsed() > ENDING => {
                    return Err(said("the kernel does not let go of it; see `dmesg`".into()));
                }
                other => other,
            };
            thread::sleep(LOOK);
        };
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            out.take(1000).read_to_string(&mut line).map_err(|error| said(error.to_string()))?;
        }
        // What was done in time counts, even if its end was asked for meanwhile.
        match line.trim().split_once(' ').unwrap_or((line.trim(), "")) {
            ("done", number) => Ok(number.parse().ok()),
            ("errno", number) if ending.is_none() => {
                Err(fault(Why::Errno(number.parse().unwrap_or(libc::EIO))))
            }
            _ => Err(match (ending, status.signal()) {
                (Some(_), _) => fault(Why::TimeUp(limit.unwrap_or_default())),
                (None, Some(libc::SIGBUS)) => said("some of it cannot be read (SIGBUS)".into()),
                (None, _) => said(format!("the helper ended with {status}")),
            }),
        }
    }
}

fn signal(child: &Child, signal: Signal) -> (Signal, Instant) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // It may have ended already.
        let _ = kill(Pid::from_raw(pid), signal);
    }
    (signal, Instant::now())
}

/// What a helper does, by its hidden arguments; the line that it says.
#[must_use]
pub fn helper(arguments: &[String]) -> String {
    let parent = getppid();
    // A parent that has ended already sends no signal any more.
    if set_pdeathsig(Signal::SIGKILL).is_err() || getppid() != parent {
        return format!("errno {}", libc::ESRCH);
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let size = |text: &str| text.parse::<usize>().map_err(io::Error::other);
    let answer = match words.as_slice() {
        ["write", path, word] => write_word(Path::new(path), word).map(|()| None),
        ["zero", path, bytes] => {
            size(bytes).and_then(|bytes| zero(Path::new(path), bytes)).map(|()| None)
        }
        ["first-nonzero", path, bytes] => {
            size(bytes).and_then(|bytes| first_nonzero(Path::new(path), bytes))
        }
        ["first-nonzero-of-blocks", path, bytes] => {
            size(bytes).and_then(|bytes| first_nonzero_of_blocks(Path::new(path), bytes))
        }
        _ => Err(io::Error::from(Errno::EINVAL)),
    };
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

/// Writes zeros over the first `bytes` of a device and sees them to it.
fn zero(path: &Path, bytes: usize) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // SAFETY: the device is ours alone: the caller holds the lock on it, and has looked that nobody
    // has it open. Should somebody write to it all the same, no reference to its contents outlives
    // a chunk, and nothing is concluded from them.
    let mut map = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
    for chunk in map.chunks_mut(CHUNK) {
        chunk.fill(0);
    }
    persist(&map);
    Ok(())
}

/// Sees what was written out of the CPU's caches: a device cannot be flushed by msync(2).
fn persist(map: &MmapMut) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_clflush, _mm_sfence};
        for line in map.chunks(LINE) {
            // SAFETY: every x86-64 has the instruction; the address is one of the mapping.
            unsafe { _mm_clflush(line.as_ptr()) };
        }
        // SAFETY: every x86-64 has it; it only orders what was done.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// Offset of the first byte of a device that is not zero.
fn first_nonzero(path: &Path, bytes: usize) -> io::Result<Option<u64>> {
    let file = OpenOptions::new().read(true).open(path)?;
    // SAFETY: as in `zero`; it is only read.
    let map = unsafe { MmapOptions::new().len(bytes).map(&file)? };
    for (number, chunk) in map.chunks(CHUNK).enumerate() {
        if let Some(at) = nonzero_in(chunk) {
            return Ok(Some((number * CHUNK + at) as u64));
        }
    }
    Ok(None)
}

/// Where the first byte is that is not zero. Whole words first: that is as fast as memory is.
fn nonzero_in(chunk: &[u8]) -> Option<usize> {
    let (words, rest) = chunk.as_chunks::<8>();
    let clear = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)) == 0;
    if clear && rest.iter().all(|byte| *byte == 0) {
        return None;
    }
    chunk.iter().position(|byte| *byte != 0)
}

/// The same of a block device, past the page cache where that goes: what is read must not stay there, or other
/// programs' memory would be swapped for it.
fn first_nonzero_of_blocks(path: &Path, bytes: usize) -> io::Result<Option<u64>> {
    let open = |flags| OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut file = match open(libc::O_DIRECT) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => open(0)?,
        other => other?,
    };
    // Direct reads need aligned memory.
    let mut memory = vec![0; CHUNK + ALIGNED];
    let from = memory.as_ptr().align_offset(ALIGNED);
    let chunk = &mut memory[from..from + CHUNK];
    let mut at = 0;
    while at < bytes {
        let length = CHUNK.min(bytes - at);
        file.read_exact(&mut chunk[..length])?;
        if let Some(found) = nonzero_in(&chunk[..length]) {
            return Ok(Some((at + found) as u64));
        }
        at += length;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_device_is_cleared_and_every_byte_of_it_is_looked_at() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let size = CHUNK * 2 + 4096;
        file.as_file().set_len(size as u64).unwrap();
        for at in [0, 4095, CHUNK - 1, CHUNK, size - 1] {
            let mut bytes = vec![0; size];
            bytes[at] = 1;
            std::fs::write(file.path(), bytes).unwrap();
            assert_eq!(first_nonzero(file.path(), size).unwrap(), Some(at as u64));
            assert_eq!(first_nonzero_of_blocks(file.path(), size).unwrap(), Some(at as u64));
            zero(file.path(), size).unwrap();
            assert_eq!(first_nonzero(file.path(), size).unwrap(), None);
            assert_eq!(first_nonzero_of_blocks(file.path(), size).unwrap(), None);
        }
        assert_eq!(std::fs::read(file.path()).unwrap(), vec![0; size]);
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        let said = helper(&words(&["write", "/no/such/file", "offline"]));
        assert_eq!(said, format!("errno {}", libc::ENOENT));
        assert_eq!(helper(&words(&["sing"])), format!("errno {}", libc::EINVAL));
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
