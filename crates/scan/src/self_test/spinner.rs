//! The program that the self test watches: a child that touches known pages over and over, pinned
//! to one CPU. It is forked, not executed, so it works without files; after the fork it makes
//! plain system calls only.

use crate::error::ScanError;
use crate::walk::row::Range;
use pagetide_types::{PageSize, Pid};
use std::collections::HashSet;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// So long the child may be put aside. On a busy machine its memory takes longer than that, all in
/// all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Pages touched after the test's memory: freshly mapped pages wait in a list per CPU, where
/// they cannot be cleared, until enough others have followed.
const PUSH_OUT: usize = 128;

/// In which order pages are touched, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first ones, one after the other.
    Sequential,
    /// Ones spread over the whole area, in no order.
    Random,
}

/// What the child does until told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) spinning: usize,
    pub(crate) order: Order,
}

/// What parent and child share.
#[repr(C)]
struct Board {
    /// 0: not ready; 1: ready; 2: no huge pages.
    state: AtomicU64,
    start: AtomicU64,
    spinning: AtomicUsize,
    stride: AtomicUsize,
    /// How many tasks were set.
    orders: AtomicU64,
    /// How often it went round; before it is ready, how many pages it has.
    laps: AtomicU64,
}

/// The child; killed on drop.
pub(crate) struct Spinner {
    pid: Pid,
    board: *mut Board,
    page: PageSize,
    pages: usize,
}

impl Spinner {
    /// Starts a child with `pages` populated pages. None if it gets no huge pages.
    pub(crate) fn start(page: PageSize, pages: usize) -> Result<Option<Self>, ScanError> {
        // All zeroes is a valid Board.
        let board = map(size_of::<Board>(), libc::MAP_SHARED);
        let Some(board) = board else {
            return Err(ScanError::last("mapping memory for the self test"));
        };
        let board: *mut Board = board.cast();
        let parent = std::process::id();
        // SAFETY: the child makes plain system calls and never returns.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(ScanError::last("starting the self test's program"));
        }
        if pid == 0 {
            // SAFETY: we are the child; the board stays mapped for its whole life.
            unsafe { child(&*board, parent, page, pages) };
        }
        let spinner = Self { pid: Pid(pid), board, page, pages };
        let (mut moved, mut laps) = (Instant::now(), 0);
        loop {
            match spinner.board().state.load(Ordering::Acquire) {
                1 => return Ok(Some(spinner)),
                2 => return Ok(None),
                _ if spinner.laps() != laps => (moved, laps) = (Instant::now(), spinner.laps()),
                _ if moved.elapsed() > PATIENCE => {
                    return Err(ScanError::Blind("the test program did not start".into()));
                }
                _ if spinner.has_ended() => {
                    let why = "the test program was killed, perhaps for want of memory here";
                    return Err(ScanError::Blind(why.into()));
                }
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn has_ended(&self) -> bool {
        // SAFETY: an all-zero siginfo is valid and is filled in; WNOWAIT leaves the child to be
        // collected on drop.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            let child = self.pid.0.unsigned_abs();
            libc::waitid(libc::P_PID, child, &raw mut info, flags) == 0 && info.si_pid() != 0
        }
    }

    fn board(&self) -> &Board {
        // SAFETY: mapped until drop; all fields are atomic.
        unsafe { &*self.board }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    pub(crate) fn page_size(&self) -> PageSize {
        self.page
    }

    /// Where the pages lie.
    pub(crate) fn area(&self) -> Range {
        let start = self.board().start.load(Ordering::Acquire);
        Range { start, end: start + self.pages as u64 * self.page.bytes().0 }
    }

    /// The number of the page at an address of the area.
    pub(crate) fn page_of(&self, address: u64) -> usize {
        usize::try_from((address - self.area().start) / self.page.bytes().0).unwrap_or(usize::MAX)
    }

    /// Gives it its task, again if need be: it forgets its translations first. Who cleared bits
    /// and left them (as DAMON does) would keep those pages from ever being seen accessed again.
    pub(crate) fn set(&self, task: Task) {
        let board = self.board();
        board.stride.store(self.stride(task), Ordering::Relaxed);
        board.spinning.store(task.spinning, Ordering::Relaxed);
        board.orders.fetch_add(1, Ordering::Release);
    }

    /// Steps from page to page: 1, or a number prime to the count that jumps about.
    fn stride(&self, task: Task) -> usize {
        match task.order {
            Order::Sequential => 1,
            Order::Random => {
                let wanted = (self.pages * 618 / 1000) | 1;
                (wanted..).find(|s| gcd(*s, self.pages) == 1).unwrap_or(1)
            }
        }
    }

    /// The pages that the child touches.
    pub(crate) fn touched(&self, task: Task) -> HashSet<usize> {
        let stride = self.stride(task);
        (0..task.spinning).map(|i| i * stride % self.pages).collect()
    }

    /// How often the child went round.
    pub(crate) fn laps(&self) -> u64 {
        self.board().laps.load(Ordering::Acquire)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        // SAFETY: our own child, not collected yet; the board is not used afterwards.
        unsafe {
            libc::kill(self.pid.0, libc::SIGKILL);
            libc::waitpid(self.pid.0, ptr::null_mut(), 0);
            libc::munmap(self.board.cast(), size_of::<Board>());
        }
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Maps anonymous memory; the caller owns it.
fn map(bytes: usize, sharing: libc::c_int) -> Option<*mut u8> {
    let flags = sharing | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel chooses a free place.
    let place = unsafe {
        libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    (place != libc::MAP_FAILED).then_some(place.cast())
}

/// The child's life. No allocation, no lock: the parent may have had threads.
///
/// # Safety
/// Must run in a process of its own.
unsafe fn child(board: &Board, parent: u32, page: PageSize, pages: usize) -> ! {
    let size = usize::try_from(page.bytes().0).unwrap_or(4096);
    let align = 2 << 20;
    // SAFETY: system calls on our own memory; addresses stay inside what was mapped.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // It may have ended before that was asked for.
        if libc::getppid().unsigned_abs() != parent {
            libc::_exit(1);
        }
        // What a terminal sends to the whole group is the parent's to answer.
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::signal(signal, libc::SIG_IGN);
        }
        pin_to_last_cpu();
        // Automatic NUMA balancing passes over memory with a policy; its hint faults would look
        // like those of base pages. Where the kernel has no NUMA, there are none.
        let no_nodes = ptr::null::<libc::c_ulong>();
        libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_LOCAL, no_nodes, 0 as libc::c_ulong);
        let (Some(area), Some(rest)) =
            (map(pages * size + align, libc::MAP_PRIVATE), map(PUSH_OUT * 4096, libc::MAP_PRIVATE))
        else {
            libc::_exit(1);
        };
        let area = area.add(area.align_offset(align));
        let advice =
            if page == PageSize::Huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
        libc::madvise(area.cast(), pages * size, advice);
        for i in 0..pages {
            area.add(i * size).write_volatile(1);
            board.laps.fetch_add(1, Ordering::AcqRel);
        }
        libc::madvise(rest.cast(), PUSH_OUT * 4096, libc::MADV_NOHUGEPAGE);
        for i in 0..PUSH_OUT {
            rest.add(i * 4096).write_volatile(1);
        }
        let got = page != PageSize::Huge || is_huge(area, pages);
        board.start.store(area as u64, Ordering::Release);
        board.state.store(if got { 1 } else { 2 }, Ordering::Release);
        let mut followed = 0;
        loop {
            let orders = board.orders.load(Ordering::Acquire);
            if orders != followed {
                followed = orders;
                forget_translations(area, pages * size);
            }
            let spinning = board.spinning.load(Ordering::Relaxed);
            let stride = board.stride.load(Ordering::Relaxed);
            let mut at = 0;
            for _ in 0..spinning {
                area.add(at * size).read_volatile();
                at += stride;
                if at >= pages {
                    at -= pages;
                }
            }
            board.laps.fetch_add(1, Ordering::AcqRel);
            if spinning == 0 {
                libc::usleep(100);
            }
        }
    }
}

/// Empties the TLB of the area: the kernel flushes where it takes a right away.
///
/// # Safety
/// `area` must hold `bytes` of mapped memory.
unsafe fn forget_translations(area: *mut u8, bytes: usize) {
    for rights in [libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE] {
        // SAFETY: it stays readable throughout.
        unsafe { libc::mprotect(area.cast(), bytes, rights) };
    }
}

/// Whether the area was given huge pages: then touching 512 base pages more costs no fault.
///
/// # Safety
/// `area` must hold `pages` mapped huge pages.
unsafe fn is_huge(area: *mut u8, pages: usize) -> bool {
    let faults = || {
        // SAFETY: an all-zero rusage is valid and is filled in.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage.ru_minflt
        }
    };
    let before = faults();
    for i in 0..pages {
        // SAFETY: the middle of the i-th huge page.
        unsafe { area.add((i << 21) + (1 << 20)).write_volatile(1) };
    }
    // A few may have failed for want of a free huge page; they would spoil the test.
    faults() - before == 0
}

/// Away from the parent, if there is more than one CPU.
fn pin_to_last_cpu() {
    // SAFETY: the sets are local and valid when zeroed.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return;
        }
        let limit = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
        let Some(last) = (0..limit).rev().find(|cpu| libc::CPU_ISSET(*cpu, &allowed)) else {
            return;
        };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(last, &mut one);
        libc::sched_setaffinity(0, size, &raw const one);
    }
}
