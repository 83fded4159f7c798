//! One device from memory back to storage: its blocks are emptied and taken out of use, and it is zeroed, for
//! what was memory holds other programs' secrets. The second half may come later: memory that nobody needs is gone
//! with the first, and until the second begins the device has no driver, so that nobody can look at what is on it.

use crate::{Event, Identity, Kernel, Refusal, Shifter, State, refusal::first_of};
use pagetide_host::{BlockId, BlockState, DaxDevice, DaxDriver, MemoryBlock};
use pagetide_types::Bytes;
use std::time::Duration;

/// So many bytes of used pages are moved at a time (section 4.2.2: up to 100 MB).
const AT_A_TIME: Bytes = Bytes(100_000_000);
/// So many times the used memory must be free in DRAM (section 4.2.2).
const FREE_FACTOR: u64 = 3;

/// How a device is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiveBack {
    /// Time for all of its blocks.
    pub limit: Duration,
    /// Give back although DRAM has less than three times what is used: the kernel swaps what does not fit.
    pub evict: bool,
    /// Its owner wants it: it is not converted again until it is offered.
    pub withdraw: bool,
    /// Most that programs may use up of what is free before its blocks are offline: then it stays memory. None: it
    /// is given back whatever they do.
    pub unless_used_up: Option<Bytes>,
}

/// The end of a give-back.
#[derive(Clone, Copy)]
struct Until {
    time: Duration,
    /// With less free than this it is given up.
    free: Option<Bytes>,
}

/// What a give-back brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaveBack {
    /// How much memory the device had.
    pub memory: Bytes,
    /// Of programs' pages on it, what we moved to DRAM; the kernel's own offlining moved the rest.
    pub moved: Bytes,
}

impl<K: Kernel> Shifter<K> {
    /// Gives a device back as storage, zeroed; what that brought. One whose memory went before is zeroed.
    ///
    /// # Errors
    /// Every [`Refusal`]; the device is memory as before then, or `recover` makes it right.
    pub fn to_storage(&mut self, id: &Identity, how: GiveBack) -> Result<GaveBack, Refusal> {
        let device = self.find(id)?;
        let in_use = device.driver == DaxDriver::Memory && self.is_in_use(&device)?;
        let gave = if self.journal.state(id) == Some(State::ToStorage) && !in_use {
            if how.withdraw {
                self.journal.is_wanted_by_its_owner(id)?;
            }
            GaveBack::default()
        } else {
            self.leave(id, how)?
        };
        self.finish_storage(id, false)?;
        Ok(gave)
    }

    /// Takes the memory of a device out of use, and leaves it without a driver: `to_storage`, [`zero`](Self::zero) or
    /// `recover` does the rest.
    ///
    /// # Errors
    /// Every [`Refusal`]; the device is memory as before then, or `recover` makes it right.
    pub fn leave(&mut self, id: &Identity, how: GiveBack) -> Result<GaveBack, Refusal> {
        let device = self.find(id)?;
        let name = device.name.as_str();
        match self.journal.state(id) {
            None => return Err(Refusal::NotOurs(name.into())),
            // Or what a kill left in the middle.
            Some(State::Memory | State::ToStorage) if device.driver == DaxDriver::Memory => {}
            Some(state) => {
                let is = format!("{state:?} by the journal and driven by {:?}", device.driver);
                return Err(Refusal::WrongState { device: name.into(), is, must: "memory" });
            }
        }
        if !self.is_in_use(&device)? {
            self.must_be_the_same(id, &device)?;
        }
        let blocks = self.blocks(&device)?;
        let block_size = self.block_size(name)?;
        if let Err(refusal) = self.has_room(&device, &blocks, how) {
            if self.journal.state(id) == Some(State::ToStorage) {
                self.undo_release(&device, &blocks, id)?;
            }
            return Err(refusal);
        }
        self.journal.write_of(Event::ToStorage, id, &device)?;
        if how.withdraw {
            self.journal.is_wanted_by_its_owner(id)?;
        }
        let all = Bytes(block_size.0 * blocks.len() as u64);
        let least = |used_up: Bytes| self.free(&device).saturating_sub(all + used_up);
        let free = how.unless_used_up.map(least);
        let until = Until { time: self.kernel.now() + how.limit, free };
        let mut moved = Bytes(0);
        for block in &blocks {
            self.look_beside(Duration::ZERO, &|| false);
            match self.release(&device, block, until) {
                Ok(bytes) => moved += bytes,
                Err(refusal) => return Err(refusal.after(self.undo_release(&device, &blocks, id))),
            }
        }
        self.unbind_memory(id)?;
        Ok(GaveBack { memory: all, moved })
    }

    /// Whether everything on a device moves, and would fit into DRAM without it, or into what stays behind it where the
    /// kernel demotes: then DRAM's cold pages make room.
    fn has_room(
        &self,
        device: &DaxDevice,
        blocks: &[MemoryBlock],
        how: GiveBack,
    ) -> Result<(), Refusal> {
        let block_size = self.block_size(&device.name)?;
        let (mut used, mut own) = (Bytes(0), Bytes(0));
        for block in blocks {
            let frames = self.kernel.frames(block.id).map_err(Refusal::of(&device.name))?;
            if frames.unmovable > 0 {
                let (device, block) = (device.name.clone(), block.id);
                return Err(Refusal::Unmovable { device, block, pages: frames.unmovable });
            }
            let here = Bytes(frames.used() * 4096);
            used += here;
            if block.state != BlockState::Offline {
                own += block_size.saturating_sub(here);
            }
        }
        let mut free = self.kernel.free_dram();
        if self.is_on_dram(device) {
            free = free.saturating_sub(own);
        } else if self.kernel.demotes() {
            free += self.behind(device).saturating_sub(own);
        }
        if !how.evict && free.0 / FREE_FACTOR < used.0 {
            return Err(Refusal::NoRoom { device: device.name.clone(), used, free });
        }
        Ok(())
    }

    /// What programs could be given of DRAM, and of the device's node.
    fn free(&self, device: &DaxDevice) -> Bytes {
        self.kernel.free_dram() + self.behind(device)
    }

    /// And of the latter alone; nothing where that is DRAM.
    fn behind(&self, device: &DaxDevice) -> Bytes {
        let behind = device.target.filter(|_| !self.is_on_dram(device));
        behind.map_or(Bytes(0), |node| self.kernel.available(node))
    }

    /// Whether a device's node has CPUs, as where the firmware gives it none of its own.
    fn is_on_dram(&self, device: &DaxDevice) -> bool {
        device.target.is_some_and(|node| self.kernel.has_cpus(node))
    }

    /// Whether programs want what is being given back.
    fn is_wanted(&self, device: &DaxDevice, until: Until) -> bool {
        until.free.is_some_and(|least| self.free(device) < least)
    }

    /// Empties a block and takes it out of use; how much we moved off it.
    fn release(
        &self,
        device: &DaxDevice,
        block: &MemoryBlock,
        until: Until,
    ) -> Result<Bytes, Refusal> {
        if block.state == BlockState::Offline {
            return Ok(Bytes(0));
        }
        let moved = self.empty(device, block.id, until);
        let wanted = || self.is_wanted(device, until);
        if wanted() {
            return Err(Refusal::Wanted(device.name.clone()));
        }
        let left = until.time.saturating_sub(self.kernel.now());
        match self.kernel.offline(block.id, left, &wanted) {
            Ok(()) => Ok(moved),
            Err(_) if wanted() => Err(Refusal::Wanted(device.name.clone())),
            Err(fault) => {
                let (device, block) = (device.name.clone(), block.id);
                Err(Refusal::Stuck { device, block, fault })
            }
        }
    }

    /// Moves programs' pages off a block, a hundred megabytes at a time, as long as that gets on and DRAM has three
    /// times as much free; where the kernel demotes, less at a time, for it makes room meanwhile. The kernel's
    /// offlining does what is left: nothing here is a reason to give up.
    fn empty(&self, device: &DaxDevice, block: BlockId, until: Until) -> Bytes {
        let mut moved = Bytes(0);
        // Half of the time is for offlining.
        let end = self.kernel.now() + until.time.saturating_sub(self.kernel.now()) / 2;
        loop {
            let left = end.saturating_sub(self.kernel.now());
            let used = self.kernel.frames(block).map_or(0, |frames| frames.used() * 4096);
            let mut step = Bytes(used.min(AT_A_TIME.0));
            let fits = Bytes(self.kernel.free_dram().0 / FREE_FACTOR);
            if self.kernel.demotes() {
                step = step.min(fits);
            }
            if step == Bytes(0)
                || fits < step
                || left == Duration::ZERO
                || self.is_wanted(device, until)
            {
                return moved;
            }
            let stop = || self.is_wanted(device, until);
            match self.kernel.empty(block, step, left, &stop) {
                Ok(Bytes(0)) => return moved,
                Ok(bytes) => moved += bytes,
                Err(fault) => {
                    tracing::debug!(%fault, "left to the kernel");
                    return moved;
                }
            }
        }
    }

    /// Takes all blocks into use again after a give-back that did not work out.
    fn undo_release(
        &mut self,
        device: &DaxDevice,
        blocks: &[MemoryBlock],
        id: &Identity,
    ) -> Result<(), Refusal> {
        first_of(blocks.iter().map(|block| self.online(device, block.id)))?;
        Ok(self.journal.write(Event::Memory, id)?)
    }
}
