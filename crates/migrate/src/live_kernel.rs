//! The kernel that we run on: `move_pages(2)`, `/proc/buddyinfo`, `/proc/vmstat`.

use crate::kernel::{Kernel, Made, Mapping, Moved, NodeRoom, Reads, Sharing, Spot};
use crate::make_room::make_room;
use crate::move_pages::{MPOL_MF_MOVE, MPOL_MF_MOVE_ALL, UNSET, call, spot};
use crate::sharing;
use nix::errno::Errno;
use pagetide_host::Host;
use pagetide_types::{Bytes, NodeId, Pid, VirtAddr};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// The kernel that we run on.
#[derive(Debug)]
pub struct LiveKernel {
    host: Host,
    start: Instant,
    /// Whose memory may be touched, by number; none: anybody's.
    held: RwLock<Option<BTreeMap<Pid, Arc<OwnedFd>>>>,
}

impl LiveKernel {
    /// The kernel whose `/proc` is `host`'s; the system calls go to the one that we run on.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { host, start: Instant::now(), held: RwLock::new(None) }
    }

    /// Whether a number is that of the process that is meant: asked before each call. `move_pages(2)`
    /// takes no pidfd, so a process that ends, is collected and whose number goes once around, all
    /// between this and the call, is not told apart.
    fn check(&self, pid: Pid) -> Result<(), Errno> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = &*held else { return Ok(()) };
        let Some(process) = held.get(&pid) else { return Err(Errno::ESRCH) };
        if has_ended(process) { Err(Errno::ESRCH) } else { Ok(()) }
    }
}

impl Kernel for LiveKernel {
    fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, Errno> {
        self.check(pid)?;
        let mut status = vec![UNSET; pages.len()];
        call(pid, pages, None, MPOL_MF_MOVE, &mut status)?;
        Ok(status.into_iter().map(|status| spot(status).unwrap_or(UNKNOWN)).collect())
    }

    fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId, shared: bool) -> Moved {
        if let Err(errno) = self.check(pid) {
            return Moved { status: vec![None; pages.len()], result: Err(errno) };
        }
        let mut status = vec![UNSET; pages.len()];
        let nodes = vec![libc::c_int::from(to.0); pages.len()];
        let which = if shared { MPOL_MF_MOVE_ALL } else { MPOL_MF_MOVE };
        let result = call(pid, pages, Some(&nodes), which, &mut status);
        Moved { status: status.into_iter().map(spot).collect(), result }
    }

    fn sharing(&self, mappings: &[Mapping]) -> Sharing {
        sharing::of(mappings).unwrap_or(Sharing::Outside)
    }

    fn room(&self, node: NodeId) -> NodeRoom {
        let pagetide_host::Room { free, huge_blocks, floor, full, idle_cache } =
            self.host.room(node);
        // Where the kernel demotes, it demotes what we have cleared the accessed bits of, too.
        let demotes = self.host.demotes() == Some(true);
        let idle_cache = if demotes { Bytes(0) } else { idle_cache };
        NodeRoom { free, huge_blocks, floor, full, idle_cache }
    }

    fn make_room(&self, node: NodeId, pages: u64, huge: u64, stop: &dyn Fn() -> bool) -> Made {
        make_room(self, &self.host, node, (pages, huge), stop)
    }

    fn bound_to(&self, pid: Pid, node_of: &dyn Fn(u32) -> Option<NodeId>) -> Option<NodeId> {
        self.host.bound_to(pid, node_of)
    }

    fn reads(&self) -> Option<Reads> {
        // In KiB.
        let read = self.host.vm_counter("pgpgin")? / 4;
        Some(Reads { read, refaults: self.host.vm_counter("workingset_refault_file")? })
    }

    fn splits(&self) -> u64 {
        self.host.vm_counter("thp_migration_split").unwrap_or(0)
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn only(&self, processes: Vec<(Pid, Arc<OwnedFd>)>) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        *held = Some(processes.into_iter().collect());
    }
}

/// Whether a process has ended, by its descriptor.
fn has_ended(process: &OwnedFd) -> bool {
    let mut poll = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd; no waiting.
    unsafe { libc::poll(&raw mut poll, 1, 0) != 0 }
}

/// A query that says nothing of a page.
const UNKNOWN: Spot = Spot::Not(Errno::EINVAL);

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn me() -> Pid {
        Pid(std::process::id().cast_signed())
    }

    #[test]
    fn our_own_pages_are_found_and_what_is_not_mapped_is_not() {
        let kernel = LiveKernel::new(Host::live());
        let memory = black_box(vec![1u8; 16 << 12]);
        let first = (memory.as_ptr() as u64).next_multiple_of(4096);
        let found = match kernel.locate(me(), &[VirtAddr(first), VirtAddr(0x1000)]) {
            Ok(found) => found,
            Err(errno) => {
                eprintln!("SKIPPED our_own_pages_are_found_and_what_is_not_mapped_is_not: {errno}");
                return;
            }
        };
        assert!(matches!(found[0], Spot::On(_)), "{found:?}");
        assert!(matches!(found[1], Spot::Not(Errno::EFAULT | Errno::ENOENT)), "{found:?}");
    }

    fn pidfd(pid: Pid) -> Arc<OwnedFd> {
        use std::os::fd::FromRawFd;
        // SAFETY: plain system call; a fresh descriptor that nobody else owns.
        Arc::new(unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, pid.0, 0);
            OwnedFd::from_raw_fd(i32::try_from(fd).unwrap())
        })
    }

    #[test]
    fn pages_of_a_stranger_under_a_reused_number_are_not_touched() {
        let name = "pages_of_a_stranger_under_a_reused_number_are_not_touched";
        let kernel = LiveKernel::new(Host::live());
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = Pid(child.id().cast_signed());
        kernel.only(vec![(pid, pidfd(pid)), (me(), pidfd(me()))]);
        let page = VirtAddr(0x1000);
        let (theirs, ours) = (kernel.locate(pid, &[page]), kernel.locate(me(), &[page]));
        child.kill().unwrap();
        child.wait().unwrap();
        if let Err(errno @ (Errno::ENOSYS | Errno::EPERM)) = theirs {
            return pagetide_testing::skip(name, errno.desc());
        }
        assert!(ours.is_ok());
        let Some(_stranger) = pagetide_testing::process_with_number(pid.0) else {
            return pagetide_testing::skip(name, "a process number cannot be chosen here");
        };
        assert_eq!(kernel.locate(pid, &[page]), Err(Errno::ESRCH));
        assert_eq!(kernel.relocate(pid, &[page], NodeId(0), false).result, Err(Errno::ESRCH));
        assert_eq!(kernel.locate(Pid(1), &[page]), Err(Errno::ESRCH), "nobody named it");
    }

    #[test]
    fn nobody_is_not_there_to_be_moved() {
        let kernel = LiveKernel::new(Host::live());
        let moved = kernel.relocate(Pid(1 << 23), &[VirtAddr(0x1000)], NodeId(0), false);
        assert!(matches!(moved.result, Err(Errno::ESRCH | Errno::ENOSYS | Errno::EPERM)));
        assert_eq!(moved.status, [None]);
    }

    #[test]
    fn where_the_kernel_demotes_no_page_cache_lies_idle() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/zoneinfo", "Node 0, zone Normal\n nr_inactive_file 500\n pages free 9\n");
        let idle = || LiveKernel::new(Host::new(root.path())).room(NodeId(0)).idle_cache.0 >> 12;
        assert_eq!(idle(), 500, "a kernel that cannot");
        write("sys/kernel/mm/numa/demotion_enabled", "true\n");
        assert_eq!(idle(), 0);
        write("sys/kernel/mm/numa/demotion_enabled", "false\n");
        assert_eq!(idle(), 500);
    }
}
