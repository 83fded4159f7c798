//! `move_pages(2)`: one call, and what its statuses say.

use crate::kernel::Spot;
use nix::errno::Errno;
use pagetide_types::{NodeId, Pid, VirtAddr};
use std::ptr;

/// Only pages that the process alone maps, or all (linux/mempolicy.h).
pub(crate) const MPOL_MF_MOVE: libc::c_int = 1 << 1;
pub(crate) const MPOL_MF_MOVE_ALL: libc::c_int = 1 << 2;
/// No status that the kernel writes.
pub(crate) const UNSET: libc::c_int = libc::c_int::MIN;

/// What a status says of its page; none where the kernel has not written it.
pub(crate) fn spot(status: libc::c_int) -> Option<Spot> {
    match u16::try_from(status) {
        Ok(node) => Some(Spot::On(NodeId(node))),
        Err(_) if status == UNSET => None,
        Err(_) => Some(Spot::Not(Errno::from_raw(status.saturating_neg()))),
    }
}

/// One call; `nodes` as long as `pages`, or none to ask where they are.
pub(crate) fn call(
    pid: Pid,
    pages: &[VirtAddr],
    nodes: Option<&[libc::c_int]>,
    which: libc::c_int,
    status: &mut [libc::c_int],
) -> Result<u64, Errno> {
    debug_assert!(pages.len() == status.len());
    debug_assert!(nodes.is_none_or(|nodes| nodes.len() == pages.len()));
    let addresses: Vec<*const libc::c_void> =
        pages.iter().map(|page| page.0 as *const libc::c_void).collect();
    // SAFETY: all arrays have `pages.len()` elements and live through the call; the addresses are
    // the target's and are only looked up in its page table. Moving a page never changes what
    // the target reads from it.
    let left = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            pid.0,
            addresses.len(),
            addresses.as_ptr(),
            nodes.map_or(ptr::null(), <[_]>::as_ptr),
            status.as_mut_ptr(),
            which,
        )
    };
    Errno::result(left).map(i64::unsigned_abs)
}
