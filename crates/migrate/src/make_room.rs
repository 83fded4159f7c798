//! Free memory out of page cache. The kernel reclaims for who allocates and finds too little free, page cache that nobody uses
//! first, and stops soon: when its high watermark is reached. So we allocate: pages of our own go to the node until what is to be
//! free is ours, and then we free them. Whoever is moved there afterwards waits for no reclaim, and what is to stay free stays so.
//! How much is decided by the manager (`page_cache.rs` there).
//!
//! Blocks of 2 MiB are made by huge pages of our own: what the kernel has to split on the way is ours.

use crate::Options;
use crate::kernel::{Kernel, Made, Spot};
use crate::move_pages::{MPOL_MF_MOVE, UNSET, call, spot};
use crate::own::{huge_bytes, me};
use crate::queue::Entry;
use memmap2::{Advice, MmapMut};
use nix::errno::Errno;
use pagetide_host::Host;
use pagetide_types::{Bytes, NodeId, PageSize, VirtAddr};
use std::collections::VecDeque;
use std::io;

const HUGE: u64 = 2 << 20;
/// So much goes at a time.
const PIECE: Bytes = Bytes::mib(16);

/// Makes room for what goes up, beyond what comes down, and for what is to stay free: as much as may be given up, unless so much is
/// free already. Half as much as is to stay free is made beyond that, for all of that has to be taken and freed once more whenever
/// something is made.
pub(crate) fn for_round(
    kernel: &dyn Kernel,
    options: &Options,
    (up, down): (&VecDeque<Entry>, &VecDeque<Entry>),
    stop: &dyn Fn() -> bool,
) -> Made {
    let mut all = Made::default();
    for (node, may) in options.idle_cache.iter().filter(|(_, may)| **may > Bytes(0)) {
        let sum = |entries: &mut dyn Iterator<Item = &Entry>| -> Bytes {
            entries.map(|entry| entry.page.bytes()).sum()
        };
        let arrives = sum(&mut up.iter().filter(|entry| entry.to == *node));
        let leaves = sum(&mut down.iter().filter(|entry| entry.from == *node));
        let room = kernel.room(*node);
        let stays = options.reserve.get(node).copied().unwrap_or_default().max(room.floor);
        let missing = (arrives + stays).saturating_sub(room.free + leaves);
        let enough = missing == Bytes(0) || room.free >= stays + *may;
        let wanted = if enough { Bytes(0) } else { (missing + Bytes(stays.0 / 2)).min(*may) };
        let whole = up.iter().filter(|entry| entry.to == *node && entry.page.huge).count() as u64;
        let fit = (room.free + wanted).saturating_sub(stays).min(*may).0 / HUGE;
        let whole = if options.split { 0 } else { whole.min(fit) };
        let huge = whole.saturating_sub(room.huge_blocks);
        if wanted == Bytes(0) && huge == 0 {
            continue;
        }
        let made = kernel.make_room(*node, wanted.0 >> 12, huge, stop);
        all.pages += made.pages;
        all.refused |= made.refused;
        all.splits += made.splits;
        if stop() {
            // What others were to give up nobody has asked for.
            break;
        }
    }
    all
}

/// See [`Kernel::make_room`].
pub(crate) fn make_room(
    kernel: &impl Kernel,
    host: &Host,
    node: NodeId,
    (pages, huge): (u64, u64),
    stop: &dyn Fn() -> bool,
) -> Made {
    let before = kernel.room(node);
    // As long as more than that is free the kernel reclaims nothing.
    let first = before.free.saturating_sub(before.floor);
    let base = if pages > 0 { first + Bytes(pages << 12) } else { Bytes(0) };
    if !may_hold(host, base.max(Bytes(huge * HUGE))) {
        tracing::debug!(%node, %base, "too little memory to make room by");
        return Made::default();
    }
    let swaps =
        || -> u64 { ["pswpout", "zswpout"].iter().filter_map(|name| host.vm_counter(name)).sum() };
    let swapped = swaps();
    let whole = hold(PageSize::Base, node, base, &|| stop() || swaps() > swapped);
    let refused = whole == Held::Less || swaps() > swapped;
    let made = kernel.room(node).free.saturating_sub(before.free);
    let splits = kernel.splits();
    if whole == Held::All {
        // They find room to compact in now.
        let size = Bytes(huge * HUGE);
        hold(PageSize::Huge, node, size, stop);
    }
    let splits = kernel.splits().saturating_sub(splits);
    // Taking what is free may last for all of the time there is.
    let in_vain = pages > 0 && made == Bytes(0);
    Made { pages: made.0 >> 12, refused: refused || in_vain, splits }
}

/// Whether so much of our own puts nobody out of memory.
fn may_hold(host: &Host, bytes: Bytes) -> bool {
    let cgroup = host.memory_left().is_none_or(|left| left >= bytes + PIECE);
    cgroup && host.machine_available() >= bytes + bytes
}

/// How much there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    All,
    Less,
    /// It was asked to stop, or we have no such memory.
    Stopped,
}

/// Has so much of a node for a moment.
fn hold(page: PageSize, node: NodeId, size: Bytes, stop: &dyn Fn() -> bool) -> Held {
    let mut held = Vec::new();
    let mut left = size.0.next_multiple_of(HUGE);
    while left > 0 {
        if stop() {
            return Held::Stopped;
        }
        let piece = Bytes(left.min(PIECE.0));
        let went = Scouts::new(piece, page).and_then(|scouts| Ok((scouts.go(node)?, scouts)));
        match went {
            Ok((there, scouts)) if there == scouts.count() => held.push(scouts),
            Ok(_) => return Held::Less,
            Err(error) => {
                tracing::debug!(%error, %node, "no pages of ours");
                return Held::Stopped;
            }
        }
        left -= piece.0;
    }
    Held::All
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
    fn new(size: Bytes, page: PageSize) -> io::Result<Self> {
        let block = 2 << 20;
        let len = usize::try_from(size.0).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let map = MmapMut::map_anon(len + block)?;
        let start = map.as_ptr() as usize;
        let skip = start.next_multiple_of(block) - start;
        let huge = page == PageSize::Huge;
        let advice = if huge { Advice::HugePage } else { Advice::NoHugePage };
        map.advise_range(advice, skip, len)?;
        let mut scouts = Self { map, skip, len, page };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulatedKernel;
    use std::fs;

    #[test]
    fn who_is_to_stop_asks_no_further_node() {
        // Two nodes full of page cache, of which each is to keep 16 pages free.
        let made = |stops: bool| {
            let kernel = SimulatedKernel::two_tiers(512, 512);
            let nodes = [0, 1].map(NodeId);
            let all = |bytes: u64| nodes.map(|node| (node, Bytes(bytes))).into();
            nodes.iter().for_each(|node| kernel.cache(*node, 512));
            let (reserve, idle_cache) = (all(16 << 12), all(1 << 20));
            let options = Options { reserve, idle_cache, ..Options::default() };
            for_round(&kernel, &options, (&VecDeque::new(), &VecDeque::new()), &|| stops).pages
        };
        assert_eq!([true, false].map(made), [24, 48]);
    }

    #[test]
    fn ours_are_half_of_what_is_available_at_most_and_within_our_cgroup() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let holds = |mib| may_hold(&Host::new(root.path()), Bytes::mib(mib));
        assert!(!holds(1), "nobody says what is available");
        write("proc/meminfo", "MemAvailable: 409600 kB\n");
        assert_eq!([200, 201].map(holds), [true, false]);
        write("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write("proc/self/cgroup", "0::/ours\n");
        write("sys/fs/cgroup/cgroup.controllers", "memory\n");
        write("sys/fs/cgroup/ours/memory.max", "104857600\n");
        write("sys/fs/cgroup/ours/memory.current", "20971520\n");
        assert_eq!([64, 65].map(holds), [true, false], "a piece more may be under way");
    }
}
