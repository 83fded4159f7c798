//! Free memory out of page cache. The kernel reclaims for who allocates and finds too little free, page cache that nobody uses
//! first, and stops soon: when its high watermark is reached. So we allocate: pages of our own go to the node until what is to be
//! free is ours, and then we free them. Whoever is moved there afterwards waits for no reclaim, and what is to stay free stays so.
//!
//! Blocks of 2 MiB are made likewise, by huge pages of our own: what the kernel has to split on the way is ours.

use crate::kernel::{Kernel, Made, Spot};
use crate::move_pages::{MPOL_MF_MOVE, UNSET, call, spot};
use crate::own::{huge_bytes, me, prefer_node_for};
use memmap2::{Advice, MmapMut};
use nix::errno::Errno;
use pagetide_host::Host;
use pagetide_types::{Bytes, NodeId, PageSize, VirtAddr};
use std::io;

const HUGE: u64 = 2 << 20;
/// So much goes at a time.
const PIECE: Bytes = Bytes::mib(16);

/// So many base pages of a node, in blocks if they are to be `huge`; our own come from node `from`.
///
/// # Errors
/// When there is too little memory for ours, or the kernel swaps others out for it.
pub(crate) fn make_room(
    kernel: &impl Kernel,
    host: &Host,
    (node, from): (NodeId, NodeId),
    (pages, huge): (u64, bool),
) -> io::Result<Made> {
    let wanted = Bytes((pages << 12).next_multiple_of(HUGE));
    let before = kernel.room(node);
    // As long as more than that is free the kernel reclaims nothing.
    let first = before.free.saturating_sub(before.floor);
    let base = Bytes((first + wanted).0.next_multiple_of(HUGE));
    let source = kernel.room(from);
    if source.free + source.idle_cache < source.floor + base {
        return Err(io::Error::other(format!(
            "node {from} has too little room for {base} of ours"
        )));
    }
    if host.memory_left().is_some_and(|left| left < base + base) {
        return Err(io::Error::other("our cgroup leaves too little memory"));
    }
    let swapped_out = || host.vm_counter("pswpout").unwrap_or(0);
    let before_us = swapped_out();
    let mut held = Vec::new();
    let mut left = base;
    while left > Bytes(0) {
        let scouts = Scouts::new(left.min(PIECE), PageSize::Base, from)?;
        left = left.saturating_sub(PIECE);
        let all = scouts.go(node)? == scouts.count();
        held.push(scouts);
        if swapped_out() > before_us {
            return Err(io::Error::other("the kernel swaps for it"));
        }
        if !all {
            break;
        }
    }
    drop(held);
    // They find room to compact in now.
    let blocks = if huge && left == Bytes(0) { blocks(kernel, (node, from), wanted)? } else { 0 };
    let free = kernel.room(node).free.saturating_sub(before.free);
    Ok(Made { pages: free.0 >> 12, blocks })
}

/// Blocks of 2 MiB that so much in huge pages of ours leaves behind.
fn blocks(kernel: &impl Kernel, (node, from): (NodeId, NodeId), size: Bytes) -> io::Result<u64> {
    let scouts = Scouts::new(size, PageSize::Huge, from)?;
    let splits = kernel.splits();
    let there = scouts.go(node)?;
    Ok(there.saturating_sub(kernel.splits().saturating_sub(splits)))
}

/// Memory of our own in pages of one size.
struct Scouts {
    map: MmapMut,
    skip: usize,
    len: usize,
    page: PageSize,
}

impl Scouts {
    /// `size`: in blocks of 2 MiB.
    fn new(size: Bytes, page: PageSize, from: NodeId) -> io::Result<Self> {
        let block = 2 << 20;
        let len = usize::try_from(size.0).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let map = MmapMut::map_anon(len + block)?;
        let start = map.as_ptr() as usize;
        let skip = start.next_multiple_of(block) - start;
        let huge = page == PageSize::Huge;
        let advice = if huge { Advice::HugePage } else { Advice::NoHugePage };
        map.advise_range(advice, skip, len)?;
        let mut scouts = Self { map, skip, len, page };
        prefer_node_for(from, &mut scouts.map[skip..skip + len])?;
        scouts.map[skip..skip + len].chunks_mut(4096).for_each(|page| page[0] = 1);
        if huge && huge_bytes(scouts.start(), len) < size {
            return Err(io::Error::other("the kernel gave no huge pages"));
        }
        Ok(scouts)
    }

    fn start(&self) -> u64 {
        self.map[self.skip..].as_ptr() as u64
    }

    /// How many they are.
    fn count(&self) -> u64 {
        self.len as u64 / self.page.bytes().0
    }

    /// Moves them to a node; how many are there then.
    fn go(&self, node: NodeId) -> io::Result<u64> {
        let step = self.page.bytes().0;
        let pages: Vec<VirtAddr> =
            (0..self.count()).map(|at| VirtAddr(self.start() + at * step)).collect();
        let mut status = vec![UNSET; pages.len()];
        let to = vec![libc::c_int::from(node.0); pages.len()];
        match call(me(), &pages, Some(&to), MPOL_MF_MOVE, &mut status) {
            // The kernel finds no more.
            Ok(_) | Err(Errno::ENOMEM) => {}
            Err(errno) => return Err(errno.into()),
        }
        let on_node = |status: &&libc::c_int| spot(**status) == Some(Spot::On(node));
        Ok(status.iter().filter(on_node).count() as u64)
    }
}
