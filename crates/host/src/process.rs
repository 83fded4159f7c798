//! One process: whether it is there, what it is, how much it used.

use crate::{Error, Host, files::fault, stat::Stat};
use pagetide_types::{Bytes, Pid};
use rustix::fs::readlinkat_raw;
use std::{ffi::OsString, fs::File, os::unix::ffi::OsStringExt, path::PathBuf, time::Duration};

/// The kernel's `PF_KTHREAD`: a kernel thread, which has no memory of its own.
const PF_KTHREAD: u64 = 0x0020_0000;
/// A tick of procfs (`USER_HZ`), the same on every x86-64 kernel.
const TICK: Duration = Duration::from_millis(10);
const PAGE: u64 = 4096;
/// A process may have a million files open, a microsecond and more each to look at. Monitors open KVM among their first.
const FILES_LOOKED_AT: usize = 4096;
/// Bytes of a descriptor's link that are read: more than those of KVM have. Others may be paths of 4 KiB.
const KVM_NAMES: usize = 64;

/// A process beyond doubt: numbers are reused, a number with its start time is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Its number.
    pub pid: Pid,
    /// Start, in ticks of 10 ms since boot.
    pub start_ticks: u64,
}

/// What the kernel says of a process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Which.
    pub id: Identity,
    /// The first thread's name, at most 15 bytes; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// One letter as in ps(1): R, S, D, T, t, Z, X, I.
    pub state: char,
    /// Who is told when it exits.
    pub parent: Pid,
    /// A thread of the kernel: it has no memory of its own.
    pub kernel_thread: bool,
    /// CPU time of all its threads, ended ones included; in steps of 10 ms.
    pub cpu: Duration,
    /// CPU time of its children that have ended and were waited for.
    pub waited_cpu: Duration,
}

impl Process {
    /// Whether it has ended and only waits to be collected: its memory is gone.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

fn ticks(count: u64) -> Duration {
    TICK.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

impl Host {
    /// A process's state now.
    ///
    /// # Errors
    /// [`Error::NoProcess`] when there is none by that number.
    pub fn process(&self, pid: Pid) -> Result<Process, Error> {
        let bytes = self.read_proc(pid, "stat")?;
        let stat = Stat::parse(&bytes).map_err(|bad| bad.at(self.proc(pid, "stat")))?;
        Ok(Process {
            id: Identity { pid, start_ticks: stat.start_ticks },
            name: stat.name,
            state: stat.state,
            parent: stat.parent,
            kernel_thread: stat.flags & PF_KTHREAD != 0,
            cpu: ticks(stat.cpu_ticks),
            waited_cpu: ticks(stat.waited_ticks),
        })
    }

    /// Whether this very process still runs: not ended, not another under its number.
    #[must_use]
    pub fn is_alive(&self, id: Identity) -> bool {
        self.process(id.pid).is_ok_and(|process| process.id == id && !process.has_ended())
    }

    /// Resident memory as the kernel counts it in passing (cheap, and late by some pages per
    /// CPU; hugetlb pages are not in it).
    ///
    /// # Errors
    /// When the process is gone.
    pub fn resident(&self, pid: Pid) -> Result<Bytes, Error> {
        let bytes = self.read_proc(pid, "statm")?;
        let text = String::from_utf8_lossy(&bytes);
        let pages = text.split_whitespace().nth(1).and_then(|field| field.parse::<u64>().ok());
        pages.map(|pages| Bytes(pages.saturating_mul(PAGE))).ok_or_else(|| Error::Parse {
            path: self.proc(pid, "statm"),
            line: 1,
            what: format!("expected resident pages in field 2, found {text:?}"),
        })
    }

    /// The file that it runs, without the mark of deletion; none for a kernel thread.
    ///
    /// # Errors
    /// When the process is gone or belongs to someone else.
    pub fn exe(&self, pid: Pid) -> Result<Option<PathBuf>, Error> {
        match self.link(format!("proc/{pid}/exe")) {
            Ok(path) => {
                let mut bytes = path.into_os_string().into_vec();
                if bytes.ends_with(b" (deleted)") {
                    bytes.truncate(bytes.len() - b" (deleted)".len());
                }
                Ok(Some(OsString::from_vec(bytes).into()))
            }
            Err(error) => match self.gone(pid, error) {
                Error::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                    Ok(None)
                }
                error => Err(error),
            },
        }
    }

    /// Its command line, as far as it is text; empty for a kernel thread.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn command_line(&self, pid: Pid) -> Result<Vec<String>, Error> {
        let bytes = self.read_proc(pid, "cmdline")?;
        let body = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
        if body.is_empty() {
            return Ok(Vec::new());
        }
        Ok(body.split(|&b| b == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect())
    }

    /// What shows that it is a virtual machine monitor, if anything: an open KVM descriptor among its first
    /// 4,096. A guest's accesses do not set the bits in the monitor's page table.
    ///
    /// # Errors
    /// When the process is gone or its descriptors may not be read.
    pub fn virtual_machine(&self, pid: Pid) -> Result<Option<String>, Error> {
        let dir = format!("proc/{pid}/fd");
        let gone = |error| self.gone(pid, error);
        let entries = self.first_entries(&dir, FILES_LOOKED_AT).map_err(gone)?;
        let path = self.path(&dir);
        let folder = File::open(&path).map_err(|source| gone(fault(path, source)))?;
        let mut room = [0; KVM_NAMES];
        for entry in entries {
            // Descriptors are closed while we look.
            let Ok(length) = readlinkat_raw(&folder, &entry, &mut room) else { continue };
            let target = String::from_utf8_lossy(&room[..length]);
            if target.starts_with("anon_inode:kvm-vm")
                || target.starts_with("anon_inode:kvm-vcpu")
                || target == "/dev/kvm"
            {
                return Ok(Some(target.into_owned()));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn reads_a_process() {
        let fake = Fake::new();
        fake.process(42, "two words", 7).file("proc/42/statm", "900 300 1 1 0 1 0\n");
        fake.link("proc/42/exe", "/opt/a b/prog (deleted)");
        fake.file("proc/42/cmdline", b"prog\0-x\0\xff\0");
        let host = fake.host();
        let process = host.process(Pid(42)).unwrap();
        assert_eq!((process.name.as_str(), process.parent), ("two words", Pid(7)));
        assert!(!process.kernel_thread && !process.has_ended());
        assert_eq!(process.cpu, Duration::from_millis(160));
        assert_eq!(process.waited_cpu, Duration::from_millis(100));
        assert_eq!(host.resident(Pid(42)).unwrap(), Bytes(300 * 4096));
        assert_eq!(host.exe(Pid(42)).unwrap(), Some("/opt/a b/prog".into()));
        assert_eq!(host.command_line(Pid(42)).unwrap(), ["prog", "-x", "\u{fffd}"]);
    }

    #[test]
    fn names_that_are_not_text() {
        let fake = Fake::new();
        fake.process(42, "x", 1);
        fake.link("proc/42/exe", std::ffi::OsStr::from_bytes(b"/opt/\xff\n"));
        let exe = fake.host().exe(Pid(42)).unwrap().unwrap();
        assert_eq!(exe.as_os_str().as_bytes(), b"/opt/\xff\n");
    }

    #[test]
    fn knows_kernel_threads_zombies_and_reuse() {
        let fake = Fake::new();
        fake.stat(2, "kthreadd", 'S', 0, PF_KTHREAD | 0x40, 5);
        fake.stat(9, "gone", 'Z', 1, 0, 700);
        fake.stat(10, "here", 'R', 1, 0, 700);
        fake.file("proc/2/cmdline", "");
        let host = fake.host();
        assert!(host.process(Pid(2)).unwrap().kernel_thread);
        assert_eq!(host.exe(Pid(2)).unwrap(), None);
        assert!(host.command_line(Pid(2)).unwrap().is_empty());
        let id = |pid, start_ticks| Identity { pid: Pid(pid), start_ticks };
        assert!(host.is_alive(id(10, 700)));
        assert!(!host.is_alive(id(10, 699)), "another process under its number");
        assert!(!host.is_alive(id(9, 700)), "ended");
        assert!(!host.is_alive(id(77, 1)), "never was");
    }

    #[test]
    fn a_missing_process_is_not_a_missing_file() {
        let fake = Fake::new();
        fake.dir("proc/5");
        let host = fake.host();
        assert!(matches!(host.process(Pid(4)), Err(Error::NoProcess(Pid(4)))));
        assert!(matches!(host.exe(Pid(4)), Err(Error::NoProcess(_))));
        assert!(matches!(host.virtual_machine(Pid(4)), Err(Error::NoProcess(_))));
        assert!(matches!(host.process(Pid(5)), Err(Error::Read { .. })));
        fake.file("proc/5/stat", "nonsense");
        let message = host.process(Pid(5)).unwrap_err().to_string();
        assert!(message.ends_with("proc/5/stat:1: expected a name in ( ), found \"nonsense\""));
    }

    #[test]
    fn recognises_virtual_machine_monitors() {
        for (target, is) in [
            ("anon_inode:kvm-vm", true),
            ("anon_inode:kvm-vcpu:3", true),
            ("/dev/kvm", true),
            ("anon_inode:[eventfd]", false),
            ("/home/dev/kvm", false),
        ] {
            let fake = Fake::new();
            fake.process(3, "qemu", 1).link("proc/3/fd/0", "/dev/null");
            fake.link("proc/3/fd/9", target);
            let found = fake.host().virtual_machine(Pid(3)).unwrap();
            assert_eq!(found.as_deref(), is.then_some(target));
        }
    }

    #[test]
    fn of_very_many_open_files_not_each_is_looked_at() {
        let fake = Fake::new();
        fake.process(3, "hoards", 1);
        let link = |file: usize, target| {
            let path = format!("proc/3/fd/{file}");
            let _ = std::fs::remove_file(fake.path(&path));
            fake.link(path, target);
        };
        let all = 2 * FILES_LOOKED_AT;
        (0..all).for_each(|file| link(file, "/dev/null"));
        // Which are listed first is the file system's choice: one that is not.
        let host = fake.host();
        let is_late = |file: &usize| {
            link(*file, "/dev/kvm");
            let first = host.first_entries("proc/3/fd", FILES_LOOKED_AT).unwrap();
            let late = !first.contains(&file.to_string().into());
            if !late {
                link(*file, "/dev/null");
            }
            late
        };
        assert!((0..all).any(|file| is_late(&file)));
        assert_eq!(host.virtual_machine(Pid(3)).unwrap(), None);
    }

    #[test]
    fn reads_ourselves() {
        let host = Host::live();
        let pid = Pid(i32::try_from(std::process::id()).unwrap());
        let process = host.process(pid).unwrap();
        assert!(host.is_alive(process.id) && !process.kernel_thread);
        assert!(host.resident(pid).unwrap() > Bytes::kib(64));
        assert_eq!(host.exe(pid).unwrap().unwrap(), std::env::current_exe().unwrap());
        assert_eq!(host.command_line(pid).unwrap().len(), std::env::args().count());
        assert_eq!(host.virtual_machine(pid).unwrap(), None);
    }
}
