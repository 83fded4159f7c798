//! Blocks of a device that is given back, one after the other: emptied, and taken out of use. While that takes its time it
//! is looked what else is to be done.

use crate::{Kernel, Refusal};
use pagetide_host::{BlockId, BlockState, DaxDevice, MemoryBlock};
use pagetide_types::Bytes;
use std::time::Duration;

/// So many bytes of used pages are moved at a time (section 4.2.2: up to 100 MB).
const AT_A_TIME: Bytes = Bytes(100_000_000);
/// So many times the used memory must be free in DRAM (section 4.2.2).
pub(crate) const FREE_FACTOR: u64 = 3;

/// The end of a give-back.
#[derive(Clone, Copy)]
pub(crate) struct Until {
    pub(crate) time: Duration,
    /// With less free than this it is given up.
    pub(crate) free: Option<Bytes>,
}

/// A device whose blocks are taken out of use.
pub(crate) struct Releasing<'a, K> {
    pub(crate) kernel: &'a K,
    pub(crate) device: &'a DaxDevice,
    pub(crate) until: Until,
    /// Called again and again meanwhile.
    pub(crate) look: &'a dyn Fn(),
}

/// What programs could be given of DRAM, and of a device's node.
pub(crate) fn free(kernel: &impl Kernel, device: &DaxDevice) -> Bytes {
    kernel.free_dram() + behind(kernel, device)
}

/// And of the latter alone; nothing where that is DRAM.
pub(crate) fn behind(kernel: &impl Kernel, device: &DaxDevice) -> Bytes {
    let behind = device.target.filter(|_| !is_on_dram(kernel, device));
    behind.map_or(Bytes(0), |node| kernel.available(node))
}

/// Whether a device's node has CPUs, as where the firmware gives it none of its own.
pub(crate) fn is_on_dram(kernel: &impl Kernel, device: &DaxDevice) -> bool {
    device.target.is_some_and(|node| kernel.has_cpus(node))
}

impl<K: Kernel> Releasing<'_, K> {
    /// Empties a block and takes it out of use; how much we moved off it.
    pub(crate) fn release(&self, block: &MemoryBlock) -> Result<Bytes, Refusal> {
        (self.look)();
        if block.state == BlockState::Offline {
            return Ok(Bytes(0));
        }
        let moved = self.empty(block.id);
        if self.is_wanted() {
            return Err(Refusal::Wanted(self.device.name.clone()));
        }
        let left = self.until.time.saturating_sub(self.kernel.now());
        match self.kernel.offline(block.id, left, &|| self.is_wanted()) {
            Ok(()) => Ok(moved),
            Err(_) if self.is_wanted() => Err(Refusal::Wanted(self.device.name.clone())),
            Err(fault) => {
                let (device, block) = (self.device.name.clone(), block.id);
                Err(Refusal::Stuck { device, block, fault })
            }
        }
    }

    /// Whether programs want what is being given back. Asked again and again.
    fn is_wanted(&self) -> bool {
        (self.look)();
        self.until.free.is_some_and(|least| free(self.kernel, self.device) < least)
    }

    /// Moves programs' pages off a block, a hundred megabytes at a time, as long as that gets on and DRAM has three
    /// times as much free; where the kernel demotes, less at a time, for it makes room meanwhile. The kernel's
    /// offlining does what is left: nothing here is a reason to give up.
    fn empty(&self, block: BlockId) -> Bytes {
        let mut moved = Bytes(0);
        // Half of the time is for offlining.
        let end = self.kernel.now() + self.until.time.saturating_sub(self.kernel.now()) / 2;
        loop {
            let left = end.saturating_sub(self.kernel.now());
            let used = self.kernel.frames(block).map_or(0, |frames| frames.used() * 4096);
            let mut step = Bytes(used.min(AT_A_TIME.0));
            let fits = Bytes(self.kernel.free_dram().0 / FREE_FACTOR);
            if self.kernel.demotes() {
                step = step.min(fits);
            }
            if step == Bytes(0) || fits < step || left == Duration::ZERO || self.is_wanted() {
                return moved;
            }
            match self.kernel.empty(block, step, left, &|| self.is_wanted()) {
                Ok(Bytes(0)) => return moved,
                Ok(bytes) => moved += bytes,
                Err(fault) => {
                    tracing::debug!(%fault, "left to the kernel");
                    return moved;
                }
            }
        }
    }
}
