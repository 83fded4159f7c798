//! Makes right what a crash, a kill or a reboot left: every device that was ours is memory or zeroed
//! storage afterwards, or it is said why not.

use crate::{Event, GiveBack, Identity, Kernel, Refusal, Shifter, State};
use pagetide_host::{DaxDevice, DaxDriver};
use pagetide_types::Bytes;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// What became of a device.
#[derive(Debug)]
pub struct Recovered {
    /// Which.
    pub device: Identity,
    /// Its name now; none where it is gone.
    pub name: Option<String>,
    /// What the journal said.
    pub was: State,
    /// What it is.
    pub is: Result<Outcome, Refusal>,
}

/// What a device is after recovering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Memory, all of it: so much.
    Memory(Bytes),
    /// Storage; it was zeroed.
    Storage,
    /// Storage as before: it had lost the driver of storage, and has it again.
    Rebound,
}

/// How a give-back goes on that was left in the middle. What does not go is memory as before.
const FOR_ITS_OWNER: GiveBack =
    GiveBack { limit: Duration::from_secs(30), evict: false, withdraw: true, unless_used_up: None };

impl<K: Kernel> Shifter<K> {
    /// [`recover_device`](Self::recover_device) of every device.
    #[cfg(test)]
    pub(crate) fn recover(&mut self) -> Vec<Recovered> {
        let all: Vec<Identity> = self.journal.devices().keys().cloned().collect();
        all.into_iter().filter_map(|id| self.recover_device(&id, false)).collect()
    }

    /// Looks at a device that the journal calls anything but storage, and brings it to one of both: on to memory where
    /// some of it is in use and its owner does not want it, else back to storage, zeroed. What the journal calls storage, and the driver of memory took by
    /// itself as it does with CXL memory at each boot, is adopted if some of it is in use, else storage again as it was.
    /// None where it is storage by the journal and the machine, its owner's, or not ours.
    ///
    /// What its place alone tells from others may be another device after a reboot, or when one was made anew there: if
    /// anything is on it, it is zeroed only if `sure`.
    pub fn recover_device(&mut self, id: &Identity, sure: bool) -> Option<Recovered> {
        let was = self.journal.state(id)?;
        let found = self.find(id);
        let lost =
            |device: &DaxDevice| matches!(device.driver, DaxDriver::Memory | DaxDriver::None);
        let is_lost = was == State::Storage && found.as_ref().is_ok_and(lost);
        if !was.is_dirty() && !is_lost {
            return None;
        }
        let name = found.as_ref().ok().map(|device| device.name.clone());
        let is = found.and_then(|found| self.recover_one(id, &found, sure));
        Some(Recovered { device: id.clone(), name, was, is })
    }

    fn recover_one(
        &mut self,
        id: &Identity,
        device: &DaxDevice,
        sure: bool,
    ) -> Result<Outcome, Refusal> {
        if self.leaves_for_its_owner(id, device)? {
            self.to_storage(id, FOR_ITS_OWNER)?;
            return Ok(Outcome::Storage);
        }
        if let Some(bytes) = self.on_to_memory(id, device)? {
            return Ok(Outcome::Memory(bytes));
        }
        if self.journal.state(id) == Some(State::Storage) {
            self.as_storage(id)?;
            return Ok(Outcome::Rebound);
        }
        self.finish_storage(id, sure)?;
        Ok(Outcome::Storage)
    }

    /// Whether its owner wants a device of which some is still in use.
    fn leaves_for_its_owner(&self, id: &Identity, device: &DaxDevice) -> Result<bool, Refusal> {
        let wanted = self.journal.is_for_owner(id) && device.driver == DaxDriver::Memory;
        Ok(wanted && self.is_in_use(device)?)
    }

    /// Whether another device may lie where this one did when that was written down: only its place tells it from others,
    /// and since then the machine was booted, or a device was made anew there.
    pub(crate) fn may_be_another(&self, id: &Identity, device: &DaxDevice) -> bool {
        id.uuid.is_none() && !self.journal.is_of(id, device)
    }

    /// A refusal where it may be: `recover` tells it apart.
    pub(crate) fn must_be_the_same(
        &self,
        id: &Identity,
        device: &DaxDevice,
    ) -> Result<(), Refusal> {
        if !self.may_be_another(id, device) {
            return Ok(());
        }
        let (device, is) = (device.name.clone(), "perhaps another device at the same place".into());
        Err(Refusal::WrongState { device, is, must: "the one that was memory" })
    }

    /// All of a device's memory into use, where some of it is; how much that is, if it is.
    fn on_to_memory(
        &mut self,
        id: &Identity,
        device: &DaxDevice,
    ) -> Result<Option<Bytes>, Refusal> {
        if device.driver != DaxDriver::Memory || !self.is_in_use(device)? {
            return Ok(None);
        }
        if self.journal.state(id) == Some(State::Storage) {
            // Other programs' memory is on it, whoever took it into use.
            self.journal.write_of(Event::ToMemory, id, device)?;
        }
        let blocks = self.blocks(device)?;
        for block in &blocks {
            self.online(device, block.id)?;
        }
        // After a reboot it says so in this boot's words.
        if self.journal.state(id) != Some(State::Memory) || !self.journal.is_of(id, device) {
            self.journal.write_of(Event::Memory, id, device)?;
        }
        Ok(Some(Bytes(self.block_size(&device.name)?.0 * blocks.len() as u64)))
    }

    /// The first step of [`recover_device`](Self::recover_device), of a device whose conversion was left in the middle, or that
    /// was memory and is not any more: on to memory where some of it is in use and its owner does not want it; else
    /// [`zero`](Self::zero) is to be called until it is storage.
    ///
    /// # Errors
    /// Every [`Refusal`]; the device is as it was.
    pub(crate) fn go_on(&mut self, id: &Identity) -> Result<GoOn, Refusal> {
        let device = self.find(id)?;
        let state = self.journal.state(id);
        let was_memory = state == Some(State::Memory) && device.driver != DaxDriver::Memory;
        if !(was_memory || state.is_some_and(State::is_between)) {
            return Ok(GoOn::Done);
        }
        if self.may_be_another(id, &device) {
            return Ok(GoOn::Unsure);
        }
        if self.leaves_for_its_owner(id, &device)? {
            self.leave(id, FOR_ITS_OWNER)?;
            return Ok(GoOn::Zero);
        }
        if let Some(bytes) = self.on_to_memory(id, &device)? {
            return Ok(GoOn::Memory(bytes));
        }
        if state != Some(State::ToStorage) {
            self.journal.write_of(Event::ToStorage, id, &device)?;
        }
        Ok(GoOn::Zero)
    }
}

/// Its name alone.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Memory(_) => "memory",
            Self::Storage | Self::Rebound => "storage",
        })
    }
}

/// How a conversion that was left in the middle goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoOn {
    /// It is memory now, so much.
    Memory(Bytes),
    /// None of it is in use: it is to be zeroed.
    Zero,
    /// Another has brought it to its end.
    Done,
    /// It may be another device: `recover` tells.
    Unsure,
}
