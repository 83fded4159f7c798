//! Processes that touch what a test says, until it ends. They are forked, and make plain system
//! calls only.

use pagetide_types::Pid;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

pub(crate) const PAGE: usize = 4096;
pub(crate) const HUGE: usize = 2 << 20;

/// Memory that is mapped before the children are forked, or by a child for itself.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
}

impl Area {
    /// Base pages; private ones begin with a unit. None if the kernel refuses.
    pub(crate) fn map(len: usize, flags: libc::c_int, fd: libc::c_int) -> Option<Self> {
        // SAFETY: a fresh mapping at an address of the kernel's choice, longer by the alignment.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let align = if flags & libc::MAP_PRIVATE != 0 { HUGE } else { PAGE };
            let start = libc::mmap(ptr::null_mut(), len + align - PAGE, access, flags, fd, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            let start = start.cast::<u8>();
            let start = start.add(start.align_offset(align));
            libc::madvise(start.cast(), len, libc::MADV_NOHUGEPAGE);
            Some(Self { start, len })
        }
    }

    pub(crate) fn private(len: usize) -> Self {
        Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).unwrap()
    }

    pub(crate) fn shared(len: usize) -> Self {
        Self::map(len, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1).unwrap()
    }

    /// Reads a word of every page of the first `len` bytes from `from` on.
    pub(crate) fn read(&self, from: usize, len: usize) {
        for at in (from..from + len).step_by(PAGE) {
            // SAFETY: inside the mapping.
            unsafe { self.start.add(at).read_volatile() };
        }
    }

    pub(crate) fn write(&self, from: usize, len: usize) {
        for at in (from..from + len).step_by(PAGE) {
            // SAFETY: inside the mapping.
            unsafe { self.start.add(at).write_volatile(1) };
        }
    }

    /// The number of the unit that an address of private memory belongs to.
    pub(crate) fn unit(&self) -> u64 {
        (self.start as usize / HUGE) as u64
    }
}

/// A forked process; killed on drop.
pub(crate) struct Child(Pid);

impl Child {
    /// Forks. The child calls `prepare` once, then `work` over and over; the parent goes on once
    /// it has prepared itself.
    pub(crate) fn fork(prepare: impl FnOnce(), work: impl Fn()) -> Self {
        let ready = Area::shared(PAGE);
        // SAFETY: a page of zeroes that lives as long as both processes.
        let ready = unsafe { &*ready.start.cast::<AtomicU64>() };
        let parent = std::process::id();
        // SAFETY: the child only touches memory, maps memory and sleeps.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork failed");
        if pid == 0 {
            // SAFETY: plain system calls. The parent may have ended before it was asked for.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid().unsigned_abs() != parent {
                    libc::_exit(1);
                }
            }
            prepare();
            // Freshly mapped pages wait in a list per CPU, where they cannot be cleared.
            Area::private(256 * PAGE).write(0, 256 * PAGE);
            ready.store(1, Ordering::Release);
            loop {
                work();
            }
        }
        while ready.load(Ordering::Acquire) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        Self(Pid(pid))
    }

    pub(crate) fn pid(&self) -> Pid {
        self.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: our own child, not collected yet.
        unsafe {
            libc::kill(self.0.0, libc::SIGKILL);
            libc::waitpid(self.0.0, ptr::null_mut(), 0);
        }
    }
}

/// A child that does not run at all.
pub(crate) fn rest() {
    // SAFETY: plain system call.
    unsafe { libc::pause() };
}
