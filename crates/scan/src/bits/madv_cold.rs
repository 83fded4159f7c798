//! The live kernel as the survey's eyes: clearing by `process_madvise(MADV_COLD)`, looking
//! by the page-table walk.
//!
//! `MADV_COLD` clears the accessed bits of just these ranges and flushes the translations, under
//! the read lock of the memory map. It passes over pages that several processes map and refuses
//! locked and hugetlb areas; and it moves pages to the inactive list, so the kernel's own reclaim
//! forgets some of what it knew (mm/madvise.c).

use crate::bits::eyes::{Eyes, Lost};
use crate::error::ScanError;
use crate::target::activity::Activity;
use crate::target::pidfd;
use crate::walk::group_clock::GroupClock;
use crate::walk::row::{Range, Row, RowBits};
use crate::walk::walker::{Walker, Watch};
use pagetide_types::Pid;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

const MADV_COLD: libc::c_int = 20;
/// Ranges per call that the kernel takes (UIO_MAXIOV).
const MAX_RANGES: usize = 1024;
/// Nearer than this, waiting is spinning: going to sleep and waking up takes longer.
const SPIN_NS: u64 = 40_000;

/// A process as the recorder holds it.
pub(crate) struct Followed {
    pid: Pid,
    /// None once it has ended: what is not needed any more must not stay open.
    open: Option<Open>,
    /// Identity of the address space when it was last read; 0 before.
    mm: u64,
}

/// The descriptors of a process: it is walked by its number, and known by its pidfd.
struct Open {
    watch: Watch,
    pidfd: Arc<OwnedFd>,
}

/// Descriptors that a followed process takes.
pub(crate) const DESCRIPTORS: u64 = 2;

impl Followed {
    pub(crate) fn new(walker: &Walker, pid: Pid) -> Result<Self, ScanError> {
        let pidfd = pidfd::open(pid).map_err(|error| match error.raw_os_error() {
            Some(libc::ESRCH) => ScanError::Gone(pid),
            _ => ScanError::system(format!("opening process {pid}"), error),
        })?;
        let open = Open { watch: walker.watch(pid)?, pidfd: Arc::new(pidfd) };
        Ok(Self { pid, open: Some(open), mm: 0 })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// To be asked while the walker is busy; none once it is closed.
    pub(crate) fn pidfd(&self) -> Option<Arc<OwnedFd>> {
        self.open.as_ref().map(|open| Arc::clone(&open.pidfd))
    }

    /// Whether the process that was opened runs: its number may be another's by now.
    pub(crate) fn runs(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !pidfd::has_ended(&open.pidfd))
    }

    /// Lets go of a process that ended, or is not watched any more. False if that was done before.
    pub(crate) fn close(&mut self) -> bool {
        self.open.take().is_some()
    }

    fn watch(&self) -> Result<&Watch, Lost> {
        self.open.as_ref().map(|open| &open.watch).ok_or(Lost)
    }
}

/// The walker and all processes that are followed.
pub(crate) struct Live {
    pub(crate) walker: Walker,
    pub(crate) followed: Vec<Followed>,
    iovecs: Vec<libc::iovec>,
    bits: Vec<RowBits>,
}

impl Live {
    pub(crate) fn new(walker: Walker) -> Self {
        Self { walker, followed: Vec::new(), iovecs: Vec::new(), bits: Vec::new() }
    }

    /// Walks `ranges` of a process for a resident_set: what is resident, and where. Returns whether
    /// the address space is the one that was walked last.
    pub(crate) fn walk(
        &mut self,
        process: usize,
        ranges: &[Range],
        rows: &mut Vec<Row>,
    ) -> Result<bool, Lost> {
        rows.clear();
        self.bits.clear();
        if ranges.is_empty() {
            // Nothing is walked: nobody knows which address space it would have been.
            return Ok(true);
        }
        let followed = &mut self.followed[process];
        let watch = &followed.open.as_ref().ok_or(Lost)?.watch;
        let mm = self.walker.walk(watch, ranges, rows, &mut self.bits).map_err(|_| Lost)?;
        // What was walked by its number was the process that we mean if that still runs.
        if !followed.runs() {
            return Err(Lost);
        }
        let same = followed.mm == mm;
        followed.mm = mm;
        Ok(same)
    }

    /// The same between two such walks, which see what it does not keep: false if the address space is another one than
    /// they know, or is gone.
    pub(crate) fn peek(
        &mut self,
        process: usize,
        ranges: &[Range],
        rows: &mut Vec<Row>,
        bits: &mut Vec<RowBits>,
    ) -> bool {
        rows.clear();
        bits.clear();
        let followed = &self.followed[process];
        let Ok(watch) = followed.watch() else { return false };
        let mm = self.walker.walk(watch, ranges, rows, bits);
        mm.is_ok_and(|mm| [0, mm].contains(&followed.mm)) && followed.runs()
    }

    /// Reads ranges down to single pages; the walker must report them.
    pub(crate) fn walk_pages(
        &mut self,
        process: usize,
        ranges: &[Range],
        rows: &mut Vec<Row>,
        bits: &mut Vec<RowBits>,
    ) -> Result<(), Lost> {
        let watch = self.followed[process].watch()?;
        self.walker.walk(watch, ranges, rows, bits).map(|_| ()).map_err(|_| Lost)
    }

    /// CPU time that a process has used, ns, to the last timer tick; 0 once it is gone.
    pub(crate) fn target_cpu(&self, process: usize) -> u64 {
        clock(GroupClock::of(self.followed[process].pid()))
    }

    /// Whether a process's address space can be entered at all (capabilities, not a zombie).
    pub(crate) fn try_clear(&mut self, process: usize) -> Result<(), ScanError> {
        let pid = self.followed[process].pid();
        // No range at all still checks permissions and finds the address space.
        match self.advise(process, 0) {
            Ok(_) => Ok(()),
            Err(error) => Err(match error.raw_os_error() {
                // The rights were there when the scan was loaded.
                Some(libc::EPERM | libc::EACCES) => ScanError::Protected(pid),
                Some(libc::ESRCH) => ScanError::NoMemory(pid),
                _ => ScanError::system(format!("process_madvise on process {pid}"), error),
            }),
        }
    }

    /// Advises the ranges in `iovecs[from..]`; bytes done.
    fn advise(&self, process: usize, from: usize) -> io::Result<usize> {
        let gone = || io::Error::from_raw_os_error(libc::ESRCH);
        let pidfd = self.followed[process].pidfd().ok_or_else(gone)?;
        let vector = &self.iovecs[from..];
        // SAFETY: the iovecs live through the call; their addresses are the target's, not ours.
        let done = unsafe {
            libc::syscall(
                libc::SYS_process_madvise,
                pidfd.as_raw_fd(),
                vector.as_ptr(),
                vector.len(),
                MADV_COLD,
                0,
            )
        };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }
}

impl Eyes for Live {
    fn now(&mut self) -> u64 {
        monotonic_ns()
    }

    fn cpu(&mut self) -> u64 {
        clock(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    fn activity(&mut self, process: usize) -> Result<Activity, Lost> {
        let followed = &self.followed[process];
        let activity = self.walker.activity(followed.watch()?).map_err(|_| Lost)?;
        if followed.runs() { Ok(activity) } else { Err(Lost) }
    }

    fn wait_until(&mut self, ns: u64) {
        let now = self.now();
        if now + SPIN_NS < ns {
            std::thread::sleep(Duration::from_nanos(ns - now));
        } else {
            while self.now() < ns {
                std::hint::spin_loop();
            }
        }
    }

    fn clear(
        &mut self,
        process: usize,
        ranges: &[Range],
        refused: &mut Vec<usize>,
    ) -> Result<(), Lost> {
        // Every range costs a flush on all CPUs of the target: neighbours are cleared as one.
        let merged: Vec<&[Range]> = ranges.chunk_by(|a, b| a.end == b.start).collect();
        let mut before = 0;
        for chunk in merged.chunks(MAX_RANGES) {
            self.iovecs.clear();
            self.iovecs.extend(chunk.iter().map(|group| {
                let (start, end) = (group[0].start, group[group.len() - 1].end);
                libc::iovec {
                    iov_base: start as *mut libc::c_void,
                    #[expect(clippy::cast_possible_truncation, reason = "64-bit only")]
                    iov_len: (end - start) as usize,
                }
            }));
            let mut at = 0;
            while at < chunk.len() {
                // The kernel stops at the first range that it refuses and says how far it came.
                let (mut done, error) = match self.advise(process, at) {
                    Ok(done) => (done, None),
                    Err(error) => (0, error.raw_os_error()),
                };
                if error == Some(libc::ESRCH) {
                    return Err(Lost);
                }
                while at < chunk.len() && done >= self.iovecs[at].iov_len {
                    done -= self.iovecs[at].iov_len;
                    at += 1;
                }
                if at < chunk.len() {
                    // A hole (unmapped since) was cleared as far as it was there.
                    if error != Some(libc::ENOMEM) {
                        let first = before + chunk[..at].iter().map(|g| g.len()).sum::<usize>();
                        refused.extend(first..first + chunk[at].len());
                    }
                    at += 1;
                }
            }
            before += chunk.iter().map(|group| group.len()).sum::<usize>();
        }
        Ok(())
    }

    fn look(
        &mut self,
        process: usize,
        ranges: &[Range],
        rows: &mut Vec<Row>,
    ) -> Result<Activity, Lost> {
        match self.walk(process, ranges, rows) {
            Ok(true) => Ok(self.walker.last_activity()),
            _ => Err(Lost),
        }
    }

    fn bits(&self) -> &[RowBits] {
        &self.bits
    }
}

/// `CLOCK_MONOTONIC`, ns: the clock of the eBPF programs.
pub(crate) fn monotonic_ns() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// CPU time that all threads of this process have used, ns.
pub(crate) fn process_cpu() -> u64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; a clock of a process that is gone leaves it zero.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
