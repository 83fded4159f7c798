//! What shifting needs of a kernel, so that it can be tried on a simulated one.

use crate::{FreeBlocks, Heeding, Leaving};
use pagetide_host::{AutoOnline, BlockId, DaxDevice, FrameCounts, MemoryBlock};
use pagetide_types::{Bytes, NodeId};
use std::{fmt, time::Duration};

/// The two drivers of a dax device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// `device_dax`.
    Storage,
    /// `kmem`.
    Memory,
}

/// Why the kernel did not do, or did not say, something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was tried.
    pub doing: String,
    /// What came of it.
    pub why: Why,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The kernel's answer.
    Errno(i32),
    /// It took longer than it was given, and was stopped.
    TimeUp(Duration),
    /// Another reason.
    Said(String),
    /// The simulated kernel ends us here.
    #[cfg(test)]
    Killed,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doing, why } = self;
        match why {
            Why::Errno(errno) => {
                write!(f, "cannot {doing}: {}", nix::errno::Errno::from_raw(*errno).desc())
            }
            Why::TimeUp(limit) => {
                write!(f, "cannot {doing} within {:.0} s", limit.as_secs_f64())
            }
            Why::Said(what) => write!(f, "cannot {doing}: {what}"),
            #[cfg(test)]
            Why::Killed => write!(f, "killed while trying to {doing}"),
        }
    }
}

impl std::error::Error for Fault {}

/// What a call answers.
pub type Answer<T> = Result<T, Fault>;

/// Dax devices and memory blocks, and changing them.
///
/// A call that changes something has done so when it returns `Ok`, and may have done so when it
/// returns a fault: callers look again. Implementations change exactly what is named, end within the
/// limits that they are given, and never decide.
pub trait Kernel {
    /// The dax devices, by address.
    fn devices(&self) -> Answer<Vec<DaxDevice>>;

    /// Size of a memory block; none where memory cannot be added.
    fn block_size(&self) -> Answer<Option<Bytes>>;

    /// A memory block; none where there is no memory.
    fn block(&self, block: BlockId) -> Answer<Option<MemoryBlock>>;

    /// What the kernel does by itself with memory that is added.
    fn auto_online(&self) -> Option<AutoOnline>;

    /// Whether the kernel has a driver.
    fn has(&self, driver: Driver) -> bool;

    /// Who has a device open or mapped, as `NAME (PID)`.
    ///
    /// A fault where that cannot be found out of every process.
    fn users(&self, device: &DaxDevice) -> Answer<Vec<String>>;

    /// Offset of the first byte of a device that is not zero. The device must be driven as storage.
    fn first_nonzero(&self, device: &DaxDevice) -> Answer<Option<u64>>;

    /// The same; `EBUSY` if anybody else opens or closes it meanwhile.
    fn first_nonzero_alone(&self, device: &DaxDevice) -> Answer<Option<u64>>;

    /// Writes zeros over a device from an offset on and makes them last, as far as it gets within the limit; where it
    /// ended: the device's size if that was all. It gets on at each call. The device must be driven as storage.
    fn zero(&self, device: &DaxDevice, from: u64, limit: Option<Duration>) -> Answer<u64>;

    /// Begins to write zeros over a device from an offset on, and to read it when all of it is zeroed, beside whatever is
    /// asked of the kernel meanwhile. One device at a time; it must be driven as storage until that has ended.
    fn begin_zeroing(&self, device: &DaxDevice, from: u64) -> Answer<()>;

    /// How far the device is zeros on which that was begun: its size if all of it was read. None: it has not ended within the
    /// limit, or before it is to stop waiting, which is asked again and again; it goes on.
    fn zeroed(&self, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<Option<u64>>;

    /// Ends it: when this returns `Ok` nothing writes to the device any more.
    fn end_zeroing(&self) -> Answer<()>;

    /// Has page structures lie on the device itself; whether they will.
    fn memmap_on_itself(&self, device: &DaxDevice) -> Answer<bool>;

    /// Takes a device from the driver that it has.
    fn unbind(&self, device: &DaxDevice, from: Driver) -> Answer<()>;

    /// Gives a device that has no driver to one.
    fn bind(&self, device: &DaxDevice, to: Driver) -> Answer<()>;

    /// Takes a block into use, for movable pages only.
    fn online_movable(&self, block: BlockId) -> Answer<()>;

    /// Moves everything off a block and takes it out of use; stopped when the limit is over, or when it is to stop, which
    /// is asked again and again.
    fn offline(&self, block: BlockId, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<()>;

    /// What the pages of a block are used for.
    fn frames(&self, block: BlockId) -> Answer<FrameCounts>;

    /// Moves programs' pages off a block to DRAM as far as that goes, at most so many bytes, within the limit, and
    /// until it is to stop, which is asked again and again; how many have left it. What stays is left to
    /// [`offline`](Self::offline).
    fn empty(
        &self,
        block: BlockId,
        at_most: Bytes,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<Bytes>;

    /// Memory that programs could be given on the nodes with CPUs.
    fn free_dram(&self) -> Bytes;

    /// Whether a node has CPUs.
    fn has_cpus(&self, node: NodeId) -> bool;

    /// Memory of a node that programs could be given.
    fn available(&self, node: NodeId) -> Bytes;

    /// Whether the kernel moves pages that DRAM has no room for to slower memory.
    fn demotes(&self) -> bool;

    /// A node's free memory, and how much of it lies in whole blocks of 2 MiB.
    fn free_blocks(&self, node: NodeId) -> FreeBlocks;

    /// Moves the pages of a node together, until that is done or the limit is over.
    fn compact(&self, node: NodeId, limit: Duration) -> Answer<()>;

    /// Says that so much of a node is about to leave, in the place of what was said before; until
    /// [`announced`](Self::announced).
    fn announce(&self, node: NodeId, bytes: Bytes) -> Answer<Leaving>;

    /// Says that nothing is about to leave any more.
    fn announced(&self);

    /// Those who heed what is about to leave.
    fn heeding(&self) -> Vec<Heeding>;

    /// A clock that only goes forward.
    fn now(&self) -> Duration;

    /// Lets so much time pass.
    fn rest(&self, time: Duration);
}

impl<K: Kernel + ?Sized> Kernel for &K {
    fn devices(&self) -> Answer<Vec<DaxDevice>> {
        (**self).devices()
    }
    fn block_size(&self) -> Answer<Option<Bytes>> {
        (**self).block_size()
    }
    fn block(&self, block: BlockId) -> Answer<Option<MemoryBlock>> {
        (**self).block(block)
    }
    fn auto_online(&self) -> Option<AutoOnline> {
        (**self).auto_online()
    }
    fn has(&self, driver: Driver) -> bool {
        (**self).has(driver)
    }
    fn users(&self, device: &DaxDevice) -> Answer<Vec<String>> {
        (**self).users(device)
    }
    fn first_nonzero(&self, device: &DaxDevice) -> Answer<Option<u64>> {
        (**self).first_nonzero(device)
    }
    fn first_nonzero_alone(&self, device: &DaxDevice) -> Answer<Option<u64>> {
        (**self).first_nonzero_alone(device)
    }
    fn zero(&self, device: &DaxDevice, from: u64, limit: Option<Duration>) -> Answer<u64> {
        (**self).zero(device, from, limit)
    }
    fn begin_zeroing(&self, device: &DaxDevice, from: u64) -> Answer<()> {
        (**self).begin_zeroing(device, from)
    }
    fn zeroed(&self, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<Option<u64>> {
        (**self).zeroed(limit, stop)
    }
    fn end_zeroing(&self) -> Answer<()> {
        (**self).end_zeroing()
    }
    fn memmap_on_itself(&self, device: &DaxDevice) -> Answer<bool> {
        (**self).memmap_on_itself(device)
    }
    fn unbind(&self, device: &DaxDevice, from: Driver) -> Answer<()> {
        (**self).unbind(device, from)
    }
    fn bind(&self, device: &DaxDevice, to: Driver) -> Answer<()> {
        (**self).bind(device, to)
    }
    fn online_movable(&self, block: BlockId) -> Answer<()> {
        (**self).online_movable(block)
    }
    fn offline(&self, block: BlockId, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<()> {
        (**self).offline(block, limit, stop)
    }
    fn frames(&self, block: BlockId) -> Answer<FrameCounts> {
        (**self).frames(block)
    }
    fn empty(
        &self,
        block: BlockId,
        at_most: Bytes,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<Bytes> {
        (**self).empty(block, at_most, limit, stop)
    }
    fn free_dram(&self) -> Bytes {
        (**self).free_dram()
    }
    fn has_cpus(&self, node: NodeId) -> bool {
        (**self).has_cpus(node)
    }
    fn available(&self, node: NodeId) -> Bytes {
        (**self).available(node)
    }
    fn demotes(&self) -> bool {
        (**self).demotes()
    }
    fn free_blocks(&self, node: NodeId) -> FreeBlocks {
        (**self).free_blocks(node)
    }
    fn compact(&self, node: NodeId, limit: Duration) -> Answer<()> {
        (**self).compact(node, limit)
    }
    fn announce(&self, node: NodeId, bytes: Bytes) -> Answer<Leaving> {
        (**self).announce(node, bytes)
    }
    fn announced(&self) {
        (**self).announced();
    }
    fn heeding(&self) -> Vec<Heeding> {
        (**self).heeding()
    }
    fn now(&self) -> Duration {
        (**self).now()
    }
    fn rest(&self, time: Duration) {
        (**self).rest(time);
    }
}
