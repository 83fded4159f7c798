//! One device from storage to memory, so that it can be made right from any point; back: `give_back`.
//!
//! A device is several memory blocks, so a conversion is several steps. Before the first one the
//! journal says what begins; after the last one, what was reached. Whatever it says, the machine
//! itself is asked how far it got ([`recover`](mod@crate::recover)).
//!
//! The steps are those of `daxctl reconfigure-device` (drivers/dax/bus.c, drivers/dax/kmem.c). A device
//! must never be taken from `kmem` while a block is online: the kernel could not remove its memory until
//! the next reboot.

use crate::{
    Answer, Driver, Event, Identity, Journal, Kernel, Refusal, State, Why, beside::Beside,
    refusal::first_of,
};
use pagetide_host::{AutoOnline, BlockId, BlockState, DaxDevice, DaxDriver, MemoryBlock};
use pagetide_types::Bytes;
use std::time::Duration;

/// Converts devices of one machine; holds the lock on its journal.
#[derive(Debug)]
pub struct Shifter<K> {
    pub(crate) kernel: K,
    pub(crate) journal: Journal,
    /// What is zeroed beside the change at hand.
    pub(crate) beside: Option<Beside>,
}

impl<K: Kernel> Shifter<K> {
    /// A machine and its journal.
    pub fn new(kernel: K, journal: Journal) -> Self {
        Self { kernel, journal, beside: None }
    }

    /// The machine.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The device meant, as it is now.
    pub(crate) fn find(&self, id: &Identity) -> Result<DaxDevice, Refusal> {
        let name = id.to_string();
        let devices = self.kernel.devices().map_err(Refusal::of(&name))?;
        in_one_range(devices.into_iter().find(|device| id.is(device)).ok_or(Refusal::Gone(name))?)
    }

    pub(crate) fn block_size(&self, device: &str) -> Result<Bytes, Refusal> {
        self.kernel.block_size().map_err(Refusal::of(device))?.ok_or(Refusal::NoHotplug)
    }

    /// The memory blocks of a device that the kernel knows just now.
    pub(crate) fn blocks(&self, device: &DaxDevice) -> Result<Vec<MemoryBlock>, Refusal> {
        let size = self.block_size(&device.name)?;
        let all: Answer<Vec<Option<MemoryBlock>>> =
            device.blocks(size).into_iter().map(|block| self.kernel.block(block)).collect();
        Ok(all.map_err(Refusal::of(&device.name))?.into_iter().flatten().collect())
    }

    /// Offers a device that is storage and empty for conversion.
    ///
    /// # Errors
    /// When it is in use, holds data, or cannot become memory here.
    pub fn offer(&mut self, name: &str) -> Result<DaxDevice, Refusal> {
        let device = self.may_offer(name)?;
        let id = self.known_as(&device);
        let device = self.as_storage(&id)?;
        self.is_empty(&device)?;
        self.journal.write_of(Event::Offered, &id, &device)?;
        Ok(device)
    }

    /// As [`offer`](Self::offer), and changes nothing: what the driver of memory has is not read.
    ///
    /// # Errors
    /// As [`offer`](Self::offer).
    pub fn could_offer(&self, name: &str) -> Result<DaxDevice, Refusal> {
        let device = self.may_offer(name)?;
        if device.driver == DaxDriver::Storage {
            self.is_empty(&device)?;
        }
        Ok(device)
    }

    /// What the journal calls a device: one with labels may have been at another address then.
    fn known_as(&self, device: &DaxDevice) -> Identity {
        let known = self.journal.devices().keys().find(|id| id.is(device));
        known.cloned().unwrap_or_else(|| Identity::of(device))
    }

    /// A device that could be offered if it is empty.
    fn may_offer(&self, name: &str) -> Result<DaxDevice, Refusal> {
        let devices = self.kernel.devices().map_err(Refusal::of(name))?;
        let device = devices
            .into_iter()
            .find(|device| device.name == name)
            .ok_or_else(|| Refusal::Gone(name.to_owned()))?;
        let device = in_one_range(device)?;
        let id = self.known_as(&device);
        match self.journal.state(&id) {
            Some(state) if state.is_dirty() => {
                let is = "being converted, or memory".to_owned();
                return Err(Refusal::WrongState { device: device.name, is, must: "storage" });
            }
            _ => {}
        }
        self.can_be_memory(&device)?;
        Ok(device)
    }

    /// Turns a device into memory; how much that brought.
    ///
    /// # Errors
    /// Every [`Refusal`]; the device is storage then, or `recover` makes it right.
    pub fn to_memory(&mut self, id: &Identity) -> Result<Bytes, Refusal> {
        let device = self.find(id)?;
        let name = device.name.clone();
        match self.journal.state(id) {
            Some(State::Storage) => {}
            None => return Err(Refusal::NotOurs(name)),
            Some(State::Withdrawn) => return Err(Refusal::Withdrawn(name)),
            Some(state) => {
                let is = format!("{state:?} by the journal");
                return Err(Refusal::WrongState { device: name, is, must: "storage" });
            }
        }
        check_policies(&self.kernel)?;
        self.can_be_memory(&device)?;
        let device = self.as_storage(id)?;
        self.is_empty(&device)?;
        self.journal.write_of(Event::ToMemory, id, &device)?;
        match self.take(&device) {
            Ok(gained) => {
                self.journal.write(Event::Memory, id)?;
                Ok(gained)
            }
            // Nobody has had time to use it: back to storage, as it was.
            Err(refusal) => Err(refusal.after(self.undo_take(&device, id))),
        }
    }

    /// Whether a device could become memory at all, and is none now.
    fn can_be_memory(&self, device: &DaxDevice) -> Result<(), Refusal> {
        let name = || device.name.clone();
        has_drivers(&self.kernel)?;
        let block = self.block_size(&device.name)?;
        if device.target.is_none() {
            return Err(Refusal::NoNode(name()));
        }
        if device.blocks(block).is_empty() {
            return Err(Refusal::TooSmall { device: name(), block });
        }
        match &device.driver {
            DaxDriver::Memory if self.is_in_use(device)? => Err(Refusal::IsMemory(name())),
            DaxDriver::Storage | DaxDriver::None if !self.blocks(device)?.is_empty() => {
                Err(Refusal::Stranded(name()))
            }
            DaxDriver::Other(driver) => {
                let is = format!("driven by {driver}");
                Err(Refusal::WrongState { device: name(), is, must: "storage" })
            }
            _ => Ok(()),
        }
    }

    /// Whether some of a device is memory in use.
    pub(crate) fn is_in_use(&self, device: &DaxDevice) -> Result<bool, Refusal> {
        Ok(self.blocks(device)?.iter().any(|block| block.state != BlockState::Offline))
    }

    /// Whether nobody uses a device and nothing is on it. The reading takes time: who has it open afterwards is looked
    /// for again, and who has closed it by then is noticed.
    pub(crate) fn is_empty(&self, device: &DaxDevice) -> Result<(), Refusal> {
        let fault = Refusal::of(&device.name);
        let in_use = |users| Refusal::InUse { device: device.name.clone(), users };
        let unused = || match self.kernel.users(device).map_err(&fault)? {
            users if users.is_empty() => Ok(()),
            users => Err(in_use(users)),
        };
        unused()?;
        let first = self.kernel.first_nonzero_alone(device).map_err(|error| match error.why {
            Why::Errno(libc::EBUSY) => in_use(vec!["somebody who opened or closed it now".into()]),
            _ => fault(error),
        })?;
        if let Some(offset) = first {
            return Err(Refusal::HoldsData { device: device.name.clone(), offset });
        }
        unused()
    }

    /// The steps to memory, from wherever they were left.
    pub(crate) fn take(&self, device: &DaxDevice) -> Result<Bytes, Refusal> {
        let fault = Refusal::of(&device.name);
        // The driver of memory may have taken one that has none by itself (CXL memory, where another is bound).
        if device.driver != DaxDriver::Memory {
            if device.driver != DaxDriver::None {
                self.kernel.unbind(device, Driver::Storage).map_err(&fault)?;
            }
            // It saves DRAM where the kernel can; where it cannot, memory is memory.
            if let Err(fault) = self.kernel.memmap_on_itself(device) {
                tracing::debug!(%fault, "page structures lie in DRAM");
            }
            self.kernel.bind(device, Driver::Memory).map_err(&fault)?;
        }
        let block_size = self.block_size(&device.name)?;
        let blocks = device.blocks(block_size);
        for block in &blocks {
            self.online(device, *block)?;
        }
        Ok(Bytes(block_size.0 * blocks.len() as u64))
    }

    /// Takes a block into use for movable pages, if it is not yet.
    pub(crate) fn online(&self, device: &DaxDevice, block: BlockId) -> Result<(), Refusal> {
        let fault = Refusal::of(&device.name);
        let is_online = || -> Answer<bool> {
            Ok(self.kernel.block(block)?.is_some_and(|now| now.state == BlockState::Online))
        };
        if !is_online().map_err(&fault)? {
            let tried = self.kernel.online_movable(block);
            // An attempt to take it out of use that was stopped may have ended meanwhile, and then the kernel refuses
            // to do what is done (EINVAL).
            if !is_online().map_err(&fault)? {
                tried.map_err(&fault)?;
            }
        }
        // Somebody else (a rule of udev's) may have been faster, and taken it for pages that stay.
        match self.kernel.block(block).map_err(&fault)? {
            Some(now) if now.movable() => Ok(()),
            Some(now) => Err(Refusal::WrongState {
                device: format!("block {block} of {}", device.name),
                is: format!("in zone {}", now.zones.join(" ")),
                must: "movable only",
            }),
            None => Err(Refusal::Gone(format!("block {block} of {}", device.name))),
        }
    }

    /// Back to storage after a conversion that did not work out.
    pub(crate) fn undo_take(&mut self, device: &DaxDevice, id: &Identity) -> Result<(), Refusal> {
        let limit = Duration::from_secs(10);
        let blocks = self.blocks(device)?.into_iter();
        let online = blocks.filter(|block| block.state != BlockState::Offline);
        let fault = Refusal::of(&device.name);
        first_of(online.map(|it| self.kernel.offline(it.id, limit, &|| false).map_err(&fault)))?;
        self.finish_storage(id, false)
    }
}

/// Which blocks a device of several ranges has is not known: they could be another device's, or DRAM.
fn in_one_range(device: DaxDevice) -> Result<DaxDevice, Refusal> {
    match device.ranges {
        0 | 1 => Ok(device),
        ranges => Err(Refusal::InRanges { device: device.name, ranges }),
    }
}

/// Whether a machine could shift anything once it has devices.
///
/// # Errors
/// When its kernel cannot turn them into memory that can be given back.
pub fn can_run(kernel: &impl Kernel) -> Result<(), Refusal> {
    if kernel.block_size().map_err(Refusal::of("this machine"))?.is_none() {
        return Err(Refusal::NoHotplug);
    }
    check_policies(kernel)
}

/// Whether a kernel can turn devices into memory that can be given back.
fn check_policies(kernel: &impl Kernel) -> Result<(), Refusal> {
    has_drivers(kernel)?;
    match kernel.auto_online() {
        Some(AutoOnline::Offline | AutoOnline::Movable) | None => Ok(()),
        Some(AutoOnline::Online | AutoOnline::Kernel) => Err(Refusal::AutoOnline),
    }
}

fn has_drivers(kernel: &impl Kernel) -> Result<(), Refusal> {
    for (driver, called) in [(Driver::Memory, "kmem"), (Driver::Storage, "device_dax")] {
        if !kernel.has(driver) {
            return Err(Refusal::NoDriver(called));
        }
    }
    Ok(())
}
