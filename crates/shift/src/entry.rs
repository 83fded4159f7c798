//! What the journal says of a device.

use serde::{Deserialize, Serialize};

/// What a line says of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// It may be converted; it is storage and holds zeros.
    Offered,
    /// Its conversion to memory begins: from here on its contents are lost.
    ToMemory,
    /// It is memory.
    Memory,
    /// Its conversion to storage begins.
    ToStorage,
    /// It is storage and holds zeros.
    Storage,
    /// It is storage, and not to be converted any more.
    Withdrawn,
}

/// What a device is by the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Storage that holds zeros and may become memory.
    Storage,
    /// Between storage and memory.
    ToMemory,
    /// Memory.
    Memory,
    /// Between memory and storage.
    ToStorage,
    /// Storage of somebody's.
    Withdrawn,
}

impl State {
    /// Whether other programs' memory may lie on it.
    #[must_use]
    pub fn is_dirty(self) -> bool {
        self.is_between() || self == Self::Memory
    }

    /// Whether a conversion was begun and not ended.
    #[must_use]
    pub fn is_between(self) -> bool {
        matches!(self, Self::ToMemory | Self::ToStorage)
    }
}

impl From<Event> for State {
    fn from(event: Event) -> Self {
        match event {
            Event::Offered | Event::Storage => Self::Storage,
            Event::ToMemory => Self::ToMemory,
            Event::Memory => Self::Memory,
            Event::ToStorage => Self::ToStorage,
            Event::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<State> for Event {
    fn from(state: State) -> Self {
        match state {
            State::Storage => Self::Storage,
            State::ToMemory => Self::ToMemory,
            State::Memory => Self::Memory,
            State::ToStorage => Self::ToStorage,
            State::Withdrawn => Self::Withdrawn,
        }
    }
}

/// What the journal knows of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub state: State,
    /// The boot in which that was written.
    pub boot: String,
    /// [`made`](pagetide_host::DaxDevice::made) of the device that was there then; none where that was not written down.
    pub made: Option<u64>,
    /// It is on its way to storage because its owner wants it, and will be his.
    pub for_owner: bool,
}

/// Which machine, and which boot of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The machine.
    pub machine: String,
    /// The boot.
    pub boot: String,
}
