//! Our own memory: where new memory of this thread goes (`set_mempolicy(2)`).

use pagetide_host::Host;
use pagetide_types::{Bytes, NodeId, Pid};
use std::{io, ptr};

// linux/mempolicy.h
const MPOL_DEFAULT: libc::c_int = 0;
const MPOL_PREFERRED: libc::c_int = 1;
const MPOL_BIND: libc::c_int = 2;
const MPOL_PREFERRED_MANY: libc::c_int = 5;
/// Most nodes of a kernel.
const MAX_NODES: usize = 1024;

/// Runs `make` while new memory of this thread comes from one node alone. The memory does not
/// remember: nothing keeps it from being moved later. Where the node has too little free memory,
/// the kernel kills processes to make some: look first.
///
/// # Errors
/// When there is no such node, or the kernel does not let us choose.
pub fn on_node<T>(node: NodeId, make: impl FnOnce() -> T) -> io::Result<T> {
    set(MPOL_BIND, mask(&[node])?.as_ptr())?;
    let made = make();
    set(MPOL_DEFAULT, ptr::null())?;
    Ok(made)
}

/// From now on new memory of this thread, and of threads and processes that it starts, comes from a node
/// as long as that has some.
///
/// # Errors
/// As [`on_node`].
pub fn prefer_node(node: NodeId) -> io::Result<()> {
    set(MPOL_PREFERRED, mask(&[node])?.as_ptr())
}

/// From now on new memory of this thread, and of threads and processes that it starts, comes from these nodes, the
/// nearest first, as long as one of them has some. Without it a socket's own slow memory comes before the fast memory of
/// another, where the firmware says that it is nearer.
///
/// # Errors
/// As [`on_node`]; before Linux 5.15 always.
pub fn prefer_nodes(nodes: &[NodeId]) -> io::Result<()> {
    set(MPOL_PREFERRED_MANY, mask(nodes)?.as_ptr())
}

/// Our own process.
pub(crate) fn me() -> Pid {
    Pid(std::process::id().cast_signed())
}

/// How much of our own memory from an address on is in huge pages, as far as the kernel says.
pub(crate) fn huge_bytes(start: u64, len: usize) -> Bytes {
    let areas = Host::live().area_facts(me()).unwrap_or_default();
    let ours = areas.iter().filter(|a| a.start.0 >= start && a.end.0 <= start + len as u64);
    ours.map(|area| area.anon_huge).sum()
}

fn mask(nodes: &[NodeId]) -> io::Result<[u64; MAX_NODES / 64]> {
    let mut mask = [0u64; MAX_NODES / 64];
    for node in nodes {
        let at = usize::from(node.0);
        *mask.get_mut(at / 64).ok_or(io::ErrorKind::InvalidInput)? |= 1 << (at % 64);
    }
    Ok(mask)
}

/// `mask`: [`MAX_NODES`] bits, or null.
fn set(mode: libc::c_int, mask: *const u64) -> io::Result<()> {
    // SAFETY: the mask holds MAX_NODES bits and lives through the call, or there is none.
    let failed = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask, MAX_NODES + 1) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The policy of this thread for new memory, and its nodes.
    fn policy() -> (libc::c_int, [u64; MAX_NODES / 64]) {
        let (mut mode, mut mask) = (-1, [0u64; MAX_NODES / 64]);
        let none = ptr::null::<libc::c_void>();
        // SAFETY: both live through the call, and the mask holds MAX_NODES bits.
        let failed = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                mask.as_mut_ptr(),
                MAX_NODES,
                none,
                0,
            )
        };
        assert_eq!(failed, 0, "{}", io::Error::last_os_error());
        (mode, mask)
    }

    #[test]
    fn what_a_thread_prefers_its_children_inherit() {
        // Of a thread of its own: it would stay.
        let test = || {
            prefer_nodes(&[NodeId(0)]).unwrap();
            assert_eq!((policy().0, policy().1[0]), (MPOL_PREFERRED_MANY, 1));
            let inherited = std::thread::spawn(policy).join().unwrap();
            assert_eq!(inherited, policy());
        };
        std::thread::spawn(test).join().unwrap();
        assert!(prefer_nodes(&[NodeId(u16::MAX)]).is_err(), "there is no such node");
    }
}
