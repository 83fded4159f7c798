//! The second half of giving back: a device whose memory was taken out of use is zeroed, and storage then; or it is
//! memory again, where programs want it before.

use crate::{Driver, Event, Identity, Journal, Kernel, Refusal, Shifter, State};
use pagetide_host::{BlockState, DaxDevice, DaxDriver};
use pagetide_types::Bytes;
use std::time::Duration;

impl<K: Kernel> Shifter<K> {
    /// Takes a device that has no block in use any more from the driver of memory.
    pub(crate) fn unbind_memory(&self, id: &Identity) -> Result<DaxDevice, Refusal> {
        let device = self.find(id)?;
        let name = device.name.clone();
        if device.driver == DaxDriver::Memory {
            // Looked up as late as can be: somebody may have taken a block into use again.
            let online = self.blocks(&device)?;
            if let Some(block) = online.iter().find(|block| block.state != BlockState::Offline) {
                let is = format!("in use again (block {})", block.id);
                return Err(Refusal::WrongState { device: name, is, must: "offline" });
            }
            self.kernel.unbind(&device, Driver::Memory).map_err(Refusal::of(&name))?;
        }
        if !self.blocks(&device)?.is_empty() {
            return Err(Refusal::Stranded(name));
        }
        self.find(id)
    }

    /// The last steps to storage, from wherever they were left: no block is in use.
    ///
    /// What may be another device is zeroed only if `sure`: if anything is on it, that is a refusal.
    pub(crate) fn finish_storage(&mut self, id: &Identity, sure: bool) -> Result<(), Refusal> {
        let mut zeroed = 0;
        while !self.zero_on(id, &mut zeroed, None, sure)? {}
        Ok(())
    }

    /// Zeroes a device whose memory was taken out of use, from an offset on, for so long; whether it is storage now.
    /// What was zeroed to its end is read before, to see that it is.
    ///
    /// # Errors
    /// When somebody uses it, or it cannot be done; `recover` makes it right.
    pub fn zero(
        &mut self,
        id: &Identity,
        zeroed: &mut u64,
        limit: Duration,
    ) -> Result<bool, Refusal> {
        self.must_be_left(id)?;
        self.zero_on(id, zeroed, Some(limit), false)
    }

    fn zero_on(
        &mut self,
        id: &Identity,
        zeroed: &mut u64,
        limit: Option<Duration>,
        sure: bool,
    ) -> Result<bool, Refusal> {
        let device = self.to_be_zeroed(id, *zeroed)?;
        if !sure && self.may_be_another(id, &device) {
            self.is_empty(&device).map_err(|refusal| match refusal {
                Refusal::HoldsData { device, offset } => Refusal::Unsure { device, offset },
                other => other,
            })?;
            now_storage(&mut self.journal, id)?;
            return Ok(true);
        }
        let name = device.name.clone();
        let fault = Refusal::of(&name);
        *zeroed = self.kernel.zero(&device, *zeroed, limit).map_err(&fault)?;
        if *zeroed < device.size.0 {
            return Ok(false);
        }
        if let Some(offset) = self.kernel.first_nonzero(&device).map_err(&fault)? {
            return Err(Refusal::HoldsData { device: name.clone(), offset });
        }
        now_storage(&mut self.journal, id)?;
        Ok(true)
    }

    /// A device whose memory was taken out of use, driven as storage, and used by nobody when its zeroing begins.
    pub(crate) fn to_be_zeroed(&self, id: &Identity, zeroed: u64) -> Result<DaxDevice, Refusal> {
        let device = self.as_storage(id)?;
        if zeroed == 0 {
            let name = device.name.clone();
            let users = self.kernel.users(&device).map_err(Refusal::of(&name))?;
            if !users.is_empty() {
                return Err(Refusal::InUse { device: name, users });
            }
        }
        Ok(device)
    }

    /// Gives a device that has no block in use to the driver of storage, with what is on it: from the driver of memory,
    /// which takes CXL memory by itself, or from none.
    pub(crate) fn as_storage(&self, id: &Identity) -> Result<DaxDevice, Refusal> {
        let device = self.unbind_memory(id)?;
        match &device.driver {
            DaxDriver::Storage => {}
            DaxDriver::None => {
                let bound = self.kernel.bind(&device, Driver::Storage);
                bound.map_err(Refusal::of(&device.name))?;
            }
            other => {
                let is = format!("driven by {other:?}");
                return Err(Refusal::WrongState { device: device.name, is, must: "storage" });
            }
        }
        Ok(DaxDevice { driver: DaxDriver::Storage, ..device })
    }

    /// Takes a device whose memory was taken out of use into use again, as it is: what is on it was memory of this
    /// machine's, and nobody gets a page that the kernel has not cleared. None: its owner wants it, somebody has it open
    /// by now, or it may be another.
    ///
    /// # Errors
    /// Every [`Refusal`]; the device is storage then, or `recover` makes it right.
    pub fn again(&mut self, id: &Identity) -> Result<Option<Bytes>, Refusal> {
        let device = self.must_be_left(id)?;
        if self.journal.is_for_owner(id) || self.may_be_another(id, &device) {
            return Ok(None);
        }
        if device.driver == DaxDriver::Storage {
            let users = self.kernel.users(&device).map_err(Refusal::of(&device.name))?;
            if !users.is_empty() {
                return Ok(None);
            }
        }
        match self.take(&device) {
            Ok(bytes) => {
                self.journal.write(Event::Memory, id)?;
                Ok(Some(bytes))
            }
            Err(refusal) => Err(refusal.after(self.undo_take(&device, id))),
        }
    }

    /// A device that is not memory any more by the journal, and not storage yet.
    pub(crate) fn must_be_left(&self, id: &Identity) -> Result<DaxDevice, Refusal> {
        let device = self.find(id)?;
        match self.journal.state(id) {
            Some(State::ToStorage) => Ok(device),
            state => {
                let is = format!("{state:?} by the journal");
                Err(Refusal::WrongState { device: device.name, is, must: "being given back" })
            }
        }
    }
}

/// Writes down that a device is storage and zeroed, its owner's if he wants it.
pub(crate) fn now_storage(journal: &mut Journal, id: &Identity) -> Result<(), Refusal> {
    let event = if journal.is_for_owner(id) { Event::Withdrawn } else { Event::Storage };
    Ok(journal.write(event, id)?)
}
