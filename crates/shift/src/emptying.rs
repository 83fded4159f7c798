//! Moves programs' pages off a memory block before it goes offline: who maps its frames is looked up, and
//! the pages are moved to the nearest DRAM (PMShifter, APSys 2022, sections 4.2.2 and 4.3: DRAM before other
//! persistent memory, however near).
//!
//! Done in a process of its own ([`Worker`](crate::worker::Worker)): a process whose memory map is locked for long
//! holds up whoever reads it. What nobody maps (page cache), what is pinned, and what came meanwhile is left to
//! the kernel's own offlining.

use crate::{pair, resident::PagemapScan};
use pagetide_host::{BlockId, DaxDevice, Host, Identity, MappedPages, MappedSearch, Pfn};
use pagetide_migrate::{LiveKernel as Moving, Mover, Options, Order, Work};
use pagetide_types::{Bytes, NodeId, VirtAddr};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::{Duration, Instant},
};

const PAGE: u64 = 4096;
/// The processes are looked through for so much of a device at once: that takes as long for one block as for many.
const AHEAD: Bytes = Bytes::gib(2);
/// What was found is not used for longer.
const FRESH: Duration = Duration::from_secs(20);
/// Most pieces of memory that are remembered.
const MOST: usize = 1 << 20;

/// What is left to be moved off the blocks of a device.
#[derive(Debug)]
pub(crate) struct Emptying {
    host: Host,
    found: BTreeMap<BlockId, VecDeque<MappedPages>>,
    looked: Option<Instant>,
}

impl Emptying {
    pub(crate) fn new(host: Host) -> Self {
        Self { host, found: BTreeMap::new(), looked: None }
    }

    /// Forgets what was found on a block: it may come back with other pages.
    pub(crate) fn forget(&mut self, block: BlockId) {
        self.found.remove(&block);
    }

    /// Moves at most so many bytes, and begins nothing new once the limit is over; how many have moved.
    pub(crate) fn step(
        &mut self,
        block: BlockId,
        most: Bytes,
        limit: Duration,
    ) -> Result<Bytes, String> {
        let until = Instant::now() + limit;
        let (device, size) = self.device(block)?;
        if self.looked.is_none_or(|at| at.elapsed() > FRESH) || !self.found.contains_key(&block) {
            self.look(&device, size, block, until)?;
        }
        let pages = self.found.get_mut(&block).map_or(Vec::new(), |found| take(found, most));
        // Numbers of processes are used again.
        let processes: BTreeSet<Identity> = pages.iter().map(|it| it.process).collect();
        let alive: BTreeSet<Identity> =
            processes.into_iter().filter(|process| self.host.is_alive(*process)).collect();
        let pages: Vec<MappedPages> =
            pages.into_iter().filter(|it| alive.contains(&it.process)).collect();
        let from = device.target.ok_or("find its node")?;
        let nodes = self.host.nodes().map_err(|error| error.to_string())?;
        let targets: Vec<(NodeId, Bytes)> = pair::drams_of(&device, &nodes)
            .into_iter()
            .map(|node| {
                let room = self.host.room(node);
                (node, room.free.saturating_sub(room.floor))
            })
            .collect();
        let work = Work { promote: orders(&pages, from, &targets), demote: Vec::new() };
        if work.is_empty() {
            return Ok(Bytes(0));
        }
        let time = Some(until.saturating_duration_since(Instant::now()));
        let mut mover =
            Mover::new(Moving::new(self.host.clone()), Options { time, ..Options::default() });
        let report = mover.run(&work, &|| false);
        tracing::debug!(%block, moved = %report.promoted.bytes(), refused = ?report.refused, "emptied");
        Ok(report.promoted.bytes())
    }

    /// The device that a block is of, and the size of blocks.
    fn device(&self, block: BlockId) -> Result<(DaxDevice, Bytes), String> {
        let size = self.host.block_size().map_err(|error| error.to_string())?;
        let size = size.ok_or("find memory blocks")?;
        let devices = self.host.dax_devices().map_err(|error| error.to_string())?;
        let device = devices.into_iter().find(|device| device.blocks(size).contains(&block));
        Ok((device.ok_or(format!("find the device of block {block}"))?, size))
    }

    /// Looks who maps the frames of a block, and of those behind it.
    fn look(
        &mut self,
        device: &DaxDevice,
        size: Bytes,
        block: BlockId,
        until: Instant,
    ) -> Result<(), String> {
        let blocks = ahead(&device.blocks(size), block, size);
        let pages = size.0 / PAGE;
        let ranges: Vec<_> =
            blocks.iter().map(|it| Pfn(it.0 * pages)..Pfn((it.0 + 1) * pages)).collect();
        let search = MappedSearch {
            ranges: &ranges,
            resident: &PagemapScan,
            stop: &|| Instant::now() >= until,
            most: MOST,
        };
        let found = self.host.mapped(&search).map_err(|error| error.to_string())?;
        self.found = blocks.iter().map(|block| (*block, VecDeque::new())).collect();
        for pages in found.pages {
            if let Some(of_block) = self.found.get_mut(&blocks[pages.range]) {
                of_block.push_back(pages);
            }
        }
        self.looked = Some(Instant::now());
        Ok(())
    }
}

/// A block and those of its device behind it, [`AHEAD`] in all.
fn ahead(blocks: &[BlockId], from: BlockId, size: Bytes) -> Vec<BlockId> {
    let most = usize::try_from(AHEAD.0 / size.0.max(1)).unwrap_or(1).max(1);
    blocks.iter().copied().filter(|block| *block >= from).take(most).collect()
}

/// The first of the pages, at most so many bytes of them; huge pages stay whole.
fn take(found: &mut VecDeque<MappedPages>, most: Bytes) -> Vec<MappedPages> {
    let (mut taken, mut left) = (Vec::new(), most);
    while let Some(pages) = found.front_mut() {
        let first = cut(pages, left);
        if first.pages == 0 {
            break;
        }
        left = left.saturating_sub(first.bytes());
        if pages.pages == 0 {
            found.pop_front();
        }
        taken.push(first);
    }
    taken
}

/// Cuts the first pages off, at most so many bytes of whole pages.
fn cut(pages: &mut MappedPages, most: Bytes) -> MappedPages {
    let step = if pages.huge { 512 } else { 1 };
    let count = (most.0 / PAGE / step * step).min(pages.pages);
    let first = MappedPages { pages: count, ..*pages };
    pages.start = VirtAddr(pages.start.0 + count * PAGE);
    pages.pages -= count;
    first
}

/// The moves of pages from a node: to the first of the targets that has room. What fits nowhere stays.
fn orders(pages: &[MappedPages], from: NodeId, targets: &[(NodeId, Bytes)]) -> Vec<Order> {
    let mut targets = targets.to_vec();
    let mut orders = Vec::new();
    for of_process in pages {
        let mut rest = *of_process;
        for (to, room) in &mut targets {
            let here = cut(&mut rest, *room);
            if here.pages == 0 {
                continue;
            }
            *room = room.saturating_sub(here.bytes());
            orders.push(Order {
                tag: 0,
                pid: here.process.pid,
                start: here.start,
                end: VirtAddr(here.start.0 + here.bytes().0),
                huge: here.huge,
                from,
                to: *to,
                // Whoever else maps them: the block has to be empty.
                shared: true,
            });
        }
    }
    orders
}

#[cfg(test)]
#[path = "emptying_tests.rs"]
mod tests;
