//! One device from memory back to storage: its blocks are emptied and taken out of use, and it is zeroed, for
//! what was memory holds other programs' secrets. The second half may come later: memory that nobody needs is gone
//! with the first, and until the second begins the device has no driver, so that nobody can look at what is on it.

use crate::{
    Event, Identity, Kernel, Refusal, Shifter, State,
    refusal::first_of,
    release::{FREE_FACTOR, Releasing, Until, behind, free, is_on_dram},
};
use pagetide_host::{BlockState, DaxDevice, DaxDriver, MemoryBlock};
use pagetide_types::Bytes;
use std::{cell::RefCell, time::Duration};

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
        match self.release_all(&device, &blocks, all, how) {
            Ok(moved) => {
                self.unbind_memory(id)?;
                Ok(GaveBack { memory: all, moved })
            }
            Err(refusal) => Err(refusal.after(self.undo_release(&device, &blocks, id))),
        }
    }

    /// Takes all blocks of a device out of use, and looks meanwhile after what is zeroed beside; how much we moved off
    /// them.
    fn release_all(
        &mut self,
        device: &DaxDevice,
        blocks: &[MemoryBlock],
        all: Bytes,
        how: GiveBack,
    ) -> Result<Bytes, Refusal> {
        let Self { kernel, journal, beside } = self;
        let kernel = &*kernel;
        let least = |used_up: Bytes| free(kernel, device).saturating_sub(all + used_up);
        let least = how.unless_used_up.map(least);
        let until = Until { time: kernel.now() + how.limit, free: least };
        let beside = RefCell::new((journal, beside));
        let look = || {
            let mut both = beside.borrow_mut();
            let (journal, beside) = &mut *both;
            if let Some(beside) = beside {
                beside.look(kernel, journal, Duration::ZERO, &|| false);
            }
        };
        let releasing = Releasing { kernel, device, until, look: &look };
        blocks.iter().map(|block| releasing.release(block)).sum()
    }

    /// Whether somebody heeds that a device leaves, and it may, as far as can be told before: what is refused is not
    /// announced. On DRAM's own node it is no slow memory.
    pub(crate) fn is_worth_telling(&self, device: &DaxDevice, how: GiveBack) -> bool {
        device.driver == DaxDriver::Memory
            && !is_on_dram(&self.kernel, device)
            && !self.kernel.heeding().is_empty()
            && self.blocks(device).is_ok_and(|blocks| self.has_room(device, &blocks, how).is_ok())
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
        if is_on_dram(&self.kernel, device) {
            free = free.saturating_sub(own);
        } else if self.kernel.demotes() {
            free += behind(&self.kernel, device).saturating_sub(own);
        }
        if !how.evict && free.0 / FREE_FACTOR < used.0 {
            return Err(Refusal::NoRoom { device: device.name.clone(), used, free });
        }
        Ok(())
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
