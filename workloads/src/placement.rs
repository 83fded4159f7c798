//! On which NUMA node our own memory is: where new memory goes (`set_mempolicy(2)`), and where
//! pages are now (`move_pages(2)` without a target).

use pagetide_types::{NodeId, VirtAddr};
use std::{io, ptr};

// linux/mempolicy.h
const MPOL_DEFAULT: libc::c_int = 0;
const MPOL_BIND: libc::c_int = 2;
/// Most nodes of a kernel.
const MAX_NODES: usize = 1024;

/// New memory of this thread comes from one node alone, or from wherever the kernel takes it. The
/// memory does not remember: nothing keeps it from being moved later.
pub(crate) fn prefer_only(node: Option<NodeId>) -> io::Result<()> {
    let mut mask = [0u64; MAX_NODES / 64];
    let mode = match node {
        None => MPOL_DEFAULT,
        Some(node) => {
            let at = usize::from(node.0);
            let word = mask.get_mut(at / 64).ok_or(io::ErrorKind::InvalidInput)?;
            *word = 1 << (at % 64);
            MPOL_BIND
        }
    };
    let nodes = if node.is_some() { mask.as_ptr() } else { ptr::null() };
    // SAFETY: the mask holds MAX_NODES bits and lives through the call, or there is none.
    let failed = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, nodes, MAX_NODES + 1) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The node of each page; none of one that is not there.
pub(crate) fn nodes(pages: &[VirtAddr]) -> io::Result<Vec<Option<NodeId>>> {
    let addresses: Vec<*const libc::c_void> =
        pages.iter().map(|page| page.0 as *const libc::c_void).collect();
    let mut status: Vec<libc::c_int> = vec![-1; pages.len()];
    // SAFETY: both arrays have as many elements as said and live through the call; pages are only
    // looked up.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            addresses.len(),
            addresses.as_ptr(),
            ptr::null::<libc::c_int>(),
            status.as_mut_ptr(),
            0,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(status.into_iter().map(|node| u16::try_from(node).ok().map(NodeId)).collect())
}
