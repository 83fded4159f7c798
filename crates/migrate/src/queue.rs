//! What waits to be moved, and what there is room for. Promotions and demotions run against each
//! other through the free memory of the nodes: a promotion goes when the fast node can take it and
//! keep its reserve, else a demotion goes first. Only where nothing can go otherwise, for the slow
//! node is full as well, a promotion takes from the reserve what the demotions will give back.

use crate::Refusal;
use crate::batch::Done;
use crate::kernel::Kernel;
use crate::order::{BASE_PER_HUGE, Page};
use crate::report::{Direction, Fate};
use pagetide_types::{Bytes, NodeId, Pid};
use std::collections::{BTreeMap, VecDeque};

/// One page that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Number of its order.
    pub(crate) order: usize,
    pub(crate) direction: Direction,
    pub(crate) pid: Pid,
    pub(crate) page: Page,
    /// Where it is thought to be.
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    /// Whoever else maps it.
    pub(crate) shared: bool,
}

/// What became of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// As what it waited.
    pub(crate) entry: Entry,
    /// The page; of a huge page that was found in pieces, each piece.
    pub(crate) page: Page,
    pub(crate) fate: Fate,
}

/// What a thread is to do next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Move these: of one process, one size, to one node, shared or not.
    Batch(Vec<Entry>),
    /// Wait until another thread is through with its batch.
    Wait,
    /// Nothing is left.
    Finished,
}

/// Free memory of a node as far as we know, in base pages.
#[derive(Clone, Copy, Debug)]
struct Tank {
    free: i64,
    /// Blocks of 2 MiB.
    huge: i64,
    floor: i64,
    reserve: i64,
    /// What queued and running moves will free.
    expected: i64,
    /// The kernel had to split a huge page although blocks seemed free: no more of them.
    splits: bool,
}

/// How much one call takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) huge: usize,
    pub(crate) base: usize,
    /// Huge pages may be moved in pieces.
    pub(crate) split: bool,
}

/// See the module.
pub(crate) struct Queue<'a> {
    kernel: &'a dyn Kernel,
    sizes: Sizes,
    lanes: [VecDeque<Entry>; 2],
    tanks: BTreeMap<NodeId, Tank>,
    running: usize,
    /// What became of the pages that are through.
    pub(crate) outcomes: Vec<Outcome>,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(
        kernel: &'a dyn Kernel,
        sizes: Sizes,
        reserve: &BTreeMap<NodeId, Bytes>,
        promote: VecDeque<Entry>,
        demote: VecDeque<Entry>,
    ) -> Self {
        let mut tanks = BTreeMap::new();
        for entry in promote.iter().chain(&demote) {
            for node in [entry.from, entry.to] {
                tanks.entry(node).or_insert_with(|| {
                    let room = kernel.room(node);
                    Tank {
                        free: pages(room.free),
                        huge: room.huge_blocks.cast_signed(),
                        floor: pages(room.floor),
                        reserve: reserve.get(&node).map_or(0, |bytes| pages(*bytes)),
                        expected: 0,
                        splits: false,
                    }
                });
            }
            if let Some(tank) = tanks.get_mut(&entry.from) {
                tank.expected += size(entry.page);
            }
        }
        Self { kernel, sizes, lanes: [promote, demote], tanks, running: 0, outcomes: Vec::new() }
    }

    /// The next batch. What can never go is refused on the way.
    pub(crate) fn next(&mut self) -> Next {
        loop {
            let mut blocked = None;
            for reserved in [true, false] {
                for lane in 0..self.lanes.len() {
                    match self.fits(lane, reserved) {
                        None => {}
                        Some(Ok(count)) => return Next::Batch(self.take(lane, count)),
                        Some(Err(why)) => {
                            blocked.get_or_insert((lane, why));
                        }
                    }
                }
                if self.running > 0 {
                    // What is under way may make room.
                    return Next::Wait;
                }
            }
            match blocked {
                None => return Next::Finished,
                Some((lane, why)) => self.refuse_head(lane, why),
            }
        }
    }

    /// How many of the first entries of a lane may go as one batch now; none if it is empty.
    /// `reserved`: the reserve is not touched.
    fn fits(&mut self, lane: usize, reserved: bool) -> Option<Result<usize, Refusal>> {
        let first = *self.lanes[lane].front()?;
        let huge = first.page.huge;
        let most = if huge { self.sizes.huge } else { self.sizes.base }.max(1);
        let kind = |entry: &Entry| (entry.pid, entry.to, entry.page.huge, entry.shared);
        let alike = |entry: &&Entry| kind(entry) == kind(&first);
        let run = self.lanes[lane].iter().take(most).take_while(alike).count();
        let whole = huge && !self.sizes.split;
        let tank = self.tanks.get_mut(&first.to)?;
        let above = if reserved { 0 } else { tank.expected };
        let room = (tank.free - tank.floor).min(tank.free + above - tank.reserve);
        let fit = usize::try_from(room.max(0) / size(first.page)).unwrap_or(usize::MAX).min(run);
        if fit == 0 {
            return Some(Err(Refusal::NoRoom));
        }
        if !whole {
            return Some(Ok(fit));
        }
        if tank.splits {
            return Some(Err(Refusal::NoHugePage));
        }
        // Not beside moves: what they are about to take would be counted once more.
        if tank.huge <= 0 && self.running == 0 {
            // Others free some, too; what is on its way to the free lists is not seen.
            tank.huge = self.kernel.room(first.to).huge_blocks.cast_signed();
        }
        match usize::try_from(tank.huge.max(0)).unwrap_or(0).min(fit) {
            0 => Some(Err(Refusal::NoHugePage)),
            fit => Some(Ok(fit)),
        }
    }

    fn take(&mut self, lane: usize, count: usize) -> Vec<Entry> {
        let batch: Vec<Entry> = self.lanes[lane].drain(..count).collect();
        for entry in &batch {
            self.fill(entry.to, entry.page, 1);
        }
        self.running += 1;
        batch
    }

    /// `pages` times the page more on the node, or less.
    fn fill(&mut self, node: NodeId, page: Page, times: i64) {
        if let Some(tank) = self.tanks.get_mut(&node) {
            tank.free -= times * size(page);
            tank.huge -= if page.huge { times } else { 0 };
        }
    }

    fn leave(&mut self, entry: &Entry) {
        if let Some(tank) = self.tanks.get_mut(&entry.from) {
            tank.expected -= size(entry.page);
        }
    }

    /// Gives up the entries at the head of a lane that are refused alike.
    fn refuse_head(&mut self, lane: usize, why: Refusal) {
        let Some(first) = self.lanes[lane].front().copied() else { return };
        while let Some(entry) = self.lanes[lane].front().copied() {
            // Smaller pages may still find room.
            if (entry.to, entry.page.huge) != (first.to, first.page.huge) {
                break;
            }
            self.lanes[lane].pop_front();
            self.leave(&entry);
            self.outcomes.push(Outcome { entry, page: entry.page, fate: Fate::Refused(why) });
        }
    }

    /// Takes in what became of a batch.
    pub(crate) fn finish(&mut self, batch: &[Entry], done: &[Done]) {
        self.running -= 1;
        for Done { entry, page, fate, from } in done.iter().copied() {
            let entry = batch[entry];
            match (fate, from) {
                (Fate::Moved, Some(from)) => self.fill(from, page, -1),
                (Fate::Moved, None) => {}
                _ => self.fill(entry.to, page, -1),
            }
            self.outcomes.push(Outcome { entry, page, fate });
        }
        for entry in batch {
            self.leave(entry);
        }
    }

    /// The kernel split huge pages in order to move them to this node.
    pub(crate) fn no_huge_page(&mut self, node: NodeId) {
        if let Some(tank) = self.tanks.get_mut(&node) {
            tank.splits = true;
        }
    }

    /// Refuses everything that still waits.
    pub(crate) fn give_up(&mut self, why: Refusal) {
        for lane in &mut self.lanes {
            let fate = Fate::Refused(why);
            let rest = lane.drain(..).map(|entry| Outcome { entry, page: entry.page, fate });
            self.outcomes.extend(rest);
        }
    }
}

fn size(page: Page) -> i64 {
    if page.huge { BASE_PER_HUGE.cast_signed() } else { 1 }
}

fn pages(bytes: Bytes) -> i64 {
    (bytes.0 >> 12).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Mapping, Moved, NodeRoom, Sharing, Spot};
    use nix::errno::Errno;
    use pagetide_types::VirtAddr;

    /// Much is free, and one block of 2 MiB.
    struct OneBlock;

    impl Kernel for OneBlock {
        fn locate(&self, _: Pid, _: &[VirtAddr]) -> Result<Vec<Spot>, Errno> {
            Err(Errno::ENOSYS)
        }
        fn relocate(&self, _: Pid, pages: &[VirtAddr], _: NodeId, _: bool) -> Moved {
            Moved { status: vec![None; pages.len()], result: Err(Errno::ENOSYS) }
        }
        fn sharing(&self, _: &[Mapping]) -> Sharing {
            Sharing::Outside
        }
        fn room(&self, _: NodeId) -> NodeRoom {
            NodeRoom { free: Bytes::mib(100), huge_blocks: 1, ..NodeRoom::default() }
        }
        fn splits(&self) -> u64 {
            0
        }
        fn now_ns(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_block_that_a_batch_under_way_is_about_to_take_is_nobody_elses() {
        let page = |number: u64| Entry {
            order: 0,
            direction: Direction::Promote,
            pid: Pid(7),
            page: Page { addr: VirtAddr(number << 21), huge: true },
            from: NodeId(1),
            to: NodeId(0),
            shared: false,
        };
        let sizes = Sizes { huge: 8, base: 512, split: false };
        let promote = (0..4).map(page).collect();
        let mut queue = Queue::new(&OneBlock, sizes, &BTreeMap::new(), promote, VecDeque::new());
        let first = queue.next();
        assert!(matches!(&first, Next::Batch(entries) if entries.len() == 1), "{first:?}");
        // The kernel's lists show the block still.
        assert!(matches!(queue.next(), Next::Wait));
    }
}
