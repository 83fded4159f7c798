//! A kernel for tests: two nodes of a size, pages that refuse in every way that real ones do, and
//! calls that end at the first list of pages that fails, as do_pages_move does (Linux 6.12,
//! mm/migrate.c).

use crate::kernel::{Kernel, Made, Mapping, Moved, NodeRoom, Reads, Sharing, Spot};
use crate::order::Page;
use nix::errno::Errno;
use pagetide_types::{Bytes, NodeId, PageSize, Pid, VirtAddr};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One page of a simulated process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimPage {
    /// Where it is.
    pub node: NodeId,
    /// Mapped by several processes, by some that nobody manages, too.
    pub shared: bool,
    /// Somebody holds a reference: it cannot be moved, and the kernel does not say why.
    pub pinned: bool,
    /// The kernel holds it.
    pub busy: bool,
    /// Goes back to where it was right after it was moved.
    pub returns: bool,
    /// Is unmapped while it is moved.
    pub vanishes: bool,
}

impl SimPage {
    /// An ordinary page.
    #[must_use]
    pub fn on(node: NodeId) -> Self {
        Self { node, shared: false, pinned: false, busy: false, returns: false, vanishes: false }
    }
}

#[derive(Debug, Default)]
struct State {
    /// By process and address; the page's size in base pages with it.
    pages: BTreeMap<(Pid, u64), (SimPage, u64)>,
    /// Base pages of each node, and how many are free.
    nodes: BTreeMap<NodeId, (u64, u64)>,
    /// Base pages of page cache that nothing uses.
    idle_cache: BTreeMap<NodeId, u64>,
    /// The kernel does not give it up.
    cache_stays: bool,
    reads: Reads,
    fragmented: Vec<NodeId>,
    deceiving: Vec<NodeId>,
    failure: Option<Errno>,
    splits: u64,
    clock: u64,
    calls: u64,
    inside: u64,
    most_inside: u64,
    lowest_free: BTreeMap<NodeId, u64>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct SimulatedKernel {
    state: Mutex<State>,
}

const HUGE: u64 = 512;

impl SimulatedKernel {
    /// Node 0 (fast) and node 1 (slow) with so many base pages.
    #[must_use]
    pub fn two_tiers(fast: u64, slow: u64) -> Self {
        let nodes = BTreeMap::from([(NodeId(0), (fast, fast)), (NodeId(1), (slow, slow))]);
        let lowest_free = nodes.iter().map(|(node, (_, free))| (*node, *free)).collect();
        Self { state: Mutex::new(State { nodes, lowest_free, ..State::default() }) }
    }

    /// Maps base pages, or huge ones, of a process from an address on.
    pub fn map(&self, pid: Pid, start: VirtAddr, end: VirtAddr, huge: bool, page: SimPage) {
        let step = if huge { PageSize::Huge } else { PageSize::Base }.bytes().0;
        for addr in (start.0..end.0).step_by(usize::try_from(step).unwrap_or(4096)) {
            self.put(pid, Page { addr: VirtAddr(addr), huge }, page);
        }
    }

    /// Where the page at an address is.
    #[must_use]
    pub fn at(&self, pid: Pid, addr: VirtAddr) -> Option<NodeId> {
        self.state().page(pid, addr).map(|(_, page, _)| page.node)
    }

    /// Free base pages of a node, and the fewest there ever were.
    #[must_use]
    pub fn free(&self, node: NodeId) -> (u64, u64) {
        let state = self.state();
        let free = state.nodes.get(&node).map_or(0, |(_, free)| *free);
        (free, state.lowest_free.get(&node).copied().unwrap_or(free))
    }

    /// So many of a node's free base pages become page cache that nothing uses.
    pub fn cache(&self, node: NodeId, pages: u64) {
        let mut state = self.state();
        state.take(node, pages);
        *state.idle_cache.entry(node).or_default() += pages;
    }

    /// Base pages of such cache.
    #[must_use]
    pub fn idle_cache(&self, node: NodeId) -> u64 {
        self.state().idle_cache.get(&node).copied().unwrap_or(0)
    }

    /// From now on the kernel gives none of it up.
    pub fn keep_cache(&self) {
        self.state().cache_stays = true;
    }

    /// So many pages are read again that had been reclaimed.
    pub fn refault(&self, pages: u64) {
        let mut state = self.state();
        state.reads.read += pages;
        state.reads.refaults += pages;
    }

    /// The node has free memory, but no free block of 2 MiB.
    pub fn fragment(&self, node: NodeId) {
        self.state().fragmented.push(node);
    }

    /// The same, and yet blocks of 2 MiB seem to be free.
    pub fn fragment_unseen(&self, node: NodeId) {
        let mut state = self.state();
        state.fragmented.push(node);
        state.deceiving.push(node);
    }

    /// Calls that were made to move something, and how many were under way at once at most.
    #[must_use]
    pub fn calls(&self) -> (u64, u64) {
        let state = self.state();
        (state.calls, state.most_inside)
    }

    /// From now on every call ends with this error.
    pub fn fail_calls(&self, errno: Option<Errno>) {
        self.state().failure = errno;
    }

    /// The process ends.
    pub fn end(&self, pid: Pid) {
        let mut state = self.state();
        let gone: Vec<u64> =
            state.pages.range((pid, 0)..=(pid, u64::MAX)).map(|((_, addr), _)| *addr).collect();
        for addr in gone {
            state.unmap(pid, addr);
        }
    }

    pub(crate) fn put(&self, pid: Pid, page: Page, sim: SimPage) {
        let mut state = self.state();
        state.unmap(pid, page.addr.0);
        let size = if page.huge { HUGE } else { 1 };
        state.take(sim.node, size);
        state.pages.insert((pid, page.addr.0), (sim, size));
    }

    #[cfg(test)]
    pub(crate) fn remove(&self, pid: Pid, page: Page) {
        self.state().unmap(pid, page.addr.0);
    }

    #[cfg(test)]
    pub(crate) fn node_of(&self, pid: Pid, page: Page) -> Option<NodeId> {
        self.at(pid, page.addr)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn page(&self, pid: Pid, addr: VirtAddr) -> Option<(u64, SimPage, u64)> {
        let ((_, start), (page, size)) = self.pages.range((pid, 0)..=(pid, addr.0)).next_back()?;
        (addr.0 < start + (size << 12)).then_some((*start, *page, *size))
    }

    fn take(&mut self, node: NodeId, pages: u64) {
        if let Some((_, free)) = self.nodes.get_mut(&node) {
            *free = free.saturating_sub(pages);
            let lowest = self.lowest_free.entry(node).or_insert(*free);
            *lowest = (*lowest).min(*free);
        }
    }

    fn unmap(&mut self, pid: Pid, addr: u64) {
        if let Some((page, size)) = self.pages.remove(&(pid, addr))
            && let Some((_, free)) = self.nodes.get_mut(&page.node)
        {
            *free += size;
        }
    }

    /// Moves a list of pages, whole; how many failed, or the error.
    fn migrate(&mut self, pid: Pid, list: &[u64], to: NodeId) -> Result<u64, Errno> {
        let mut failed = 0;
        for addr in list {
            let Some((page, size)) = self.pages.get(&(pid, *addr)).copied() else { continue };
            if page.vanishes {
                self.unmap(pid, *addr);
                failed += 1;
                continue;
            }
            if page.pinned {
                failed += 1;
                continue;
            }
            let free = self.nodes.get(&to).map_or(0, |(_, free)| *free);
            if free < size {
                return Err(Errno::ENOMEM);
            }
            let split = size > 1 && self.fragmented.contains(&to);
            self.unmap(pid, *addr);
            if page.returns {
                self.take(page.node, size);
                self.pages.insert((pid, *addr), (SimPage { returns: false, ..page }, size));
                continue;
            }
            self.take(to, size);
            let page = SimPage { node: to, ..page };
            if split {
                self.splits += 1;
                for piece in 0..size {
                    self.pages.insert((pid, addr + (piece << 12)), (page, 1));
                }
            } else {
                self.pages.insert((pid, *addr), (page, size));
            }
        }
        Ok(failed)
    }

    /// As do_pages_move: errors of single pages are written down and end the list so far; a list
    /// with a failure ends the call.
    fn move_pages(&mut self, pid: Pid, pages: &[VirtAddr], to: NodeId, shared: bool) -> Moved {
        let mut status = vec![None; pages.len()];
        let (mut list, mut first) = (Vec::new(), 0);
        let count = pages.len() as u64;
        for (i, addr) in pages.iter().enumerate() {
            let answer = match self.page(pid, *addr) {
                None => Spot::Not(Errno::ENOENT),
                Some((_, page, _)) if page.node == to => Spot::On(to),
                Some((_, page, _)) if page.shared && !shared => Spot::Not(Errno::EACCES),
                Some((_, page, _)) if page.busy => Spot::Not(Errno::EBUSY),
                Some((start, ..)) => {
                    if list.is_empty() {
                        first = i;
                    }
                    list.push(start);
                    continue;
                }
            };
            status[i] = Some(answer);
            match self.migrate(pid, &std::mem::take(&mut list), to) {
                Ok(0) => status[first..i].iter_mut().for_each(|slot| {
                    slot.get_or_insert(Spot::On(to));
                }),
                Ok(failed) => {
                    let result = Ok(failed + count - i as u64 - 1);
                    return Moved { status, result };
                }
                Err(errno) => return Moved { status, result: Err(errno) },
            }
        }
        let result = self.migrate(pid, &list, to);
        if result == Ok(0) && !list.is_empty() {
            status[first..].iter_mut().for_each(|slot| {
                slot.get_or_insert(Spot::On(to));
            });
        }
        Moved { status, result }
    }
}

impl Kernel for SimulatedKernel {
    fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, Errno> {
        let mut state = self.state();
        state.clock += 1_000;
        if let Some(errno) = state.failure.filter(|errno| *errno != Errno::EACCES) {
            return Err(errno);
        }
        let spot = |addr| match state.page(pid, addr) {
            Some((_, page, _)) => Spot::On(page.node),
            None => Spot::Not(Errno::ENOENT),
        };
        Ok(pages.iter().map(|addr| spot(*addr)).collect())
    }

    fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId, shared: bool) -> Moved {
        {
            let mut state = self.state();
            state.calls += 1;
            state.inside += 1;
            state.most_inside = state.most_inside.max(state.inside);
        }
        // Lets other threads in, as a call that takes its time would.
        std::thread::yield_now();
        let mut state = self.state();
        state.inside -= 1;
        state.clock += 10_000 * pages.len() as u64;
        if let Some(errno) = state.failure {
            return Moved { status: vec![None; pages.len()], result: Err(errno) };
        }
        state.move_pages(pid, pages, to, shared)
    }

    fn sharing(&self, mappings: &[Mapping]) -> Sharing {
        let state = self.state();
        let shared = |of: &Mapping| state.page(of.pid, of.start).is_some_and(|it| it.1.shared);
        if mappings.iter().any(shared) { Sharing::Outside } else { Sharing::Apart }
    }

    fn room(&self, node: NodeId) -> NodeRoom {
        let state = self.state();
        let free = state.nodes.get(&node).map_or(0, |(_, free)| *free);
        let none = state.fragmented.contains(&node) && !state.deceiving.contains(&node);
        let huge_blocks = if none { 0 } else { free / HUGE };
        let idle_cache = Bytes(state.idle_cache.get(&node).map_or(0, |pages| pages << 12));
        let free = Bytes(free << 12);
        NodeRoom { free, huge_blocks, floor: Bytes(0), full: Bytes(0), idle_cache }
    }

    /// A node without free blocks has some afterwards, if any are asked for: one huge page of ours is split on the way.
    fn make_room(&self, node: NodeId, pages: u64, huge: u64, _: &dyn Fn() -> bool) -> Made {
        let mut state = self.state();
        let had_none = state.fragmented.len();
        state.fragmented.retain(|fragmented| *fragmented != node || huge == 0);
        let splits = (had_none - state.fragmented.len()) as u64;
        state.splits += splits;
        let stays = state.cache_stays;
        let cache = state.idle_cache.entry(node).or_default();
        let made = if stays { 0 } else { pages.min(*cache) };
        *cache -= made;
        if let Some((_, free)) = state.nodes.get_mut(&node) {
            *free += made;
        }
        Made { pages: made, refused: stays, splits }
    }

    fn reads(&self) -> Option<Reads> {
        Some(self.state().reads)
    }

    fn splits(&self) -> u64 {
        self.state().splits
    }

    fn now_ns(&self) -> u64 {
        self.state().clock
    }
}
