//! Makes right what a crash, a kill or a reboot left: every device that was ours is memory or zeroed
//! storage afterwards, or it is said why not.

use crate::{Event, Identity, Kernel, Refusal, Shifter, State};
use pagetide_host::{BlockState, DaxDevice, DaxDriver};
use serde::Serialize;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Memory, all of it.
    Memory,
    /// Storage; it was zeroed.
    Storage,
}

impl<K: Kernel> Shifter<K> {
    /// Looks at every device that the journal calls anything but storage, and brings it to one of
    /// both: on to memory where some of it is in use, else back to storage, zeroed.
    pub fn recover(&mut self) -> Vec<Recovered> {
        let dirty: Vec<(Identity, State)> = self
            .journal
            .devices()
            .iter()
            .filter(|(_, entry)| entry.state.is_dirty())
            .map(|(id, entry)| (id.clone(), entry.state))
            .collect();
        dirty
            .into_iter()
            .map(|(device, was)| {
                let found = self.find(&device);
                let name = found.as_ref().ok().map(|device| device.name.clone());
                let is = found.and_then(|found| self.recover_one(&device, &found));
                Recovered { device, name, was, is }
            })
            .collect()
    }

    fn recover_one(&mut self, id: &Identity, device: &DaxDevice) -> Result<Outcome, Refusal> {
        let blocks = self.blocks(device)?;
        let in_use = blocks.iter().any(|block| block.state != BlockState::Offline);
        if device.driver == DaxDriver::Memory && in_use {
            for block in &blocks {
                self.online(device, block.id)?;
            }
            let known = self.journal.devices().get(id);
            // After a reboot it says so in this boot's words.
            if known.is_none_or(|entry| entry.state != State::Memory) {
                self.journal.write(Event::Memory, id)?;
            }
            return Ok(Outcome::Memory);
        }
        self.finish_storage(id, Event::Storage)?;
        Ok(Outcome::Storage)
    }
}
