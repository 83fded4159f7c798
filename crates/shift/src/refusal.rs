//! Why a device is not converted, with the remedy.

use crate::{Fault, JournalError};
use pagetide_host::BlockId;
use pagetide_types::Bytes;

/// Why a conversion was refused, or given up with everything as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No such device.
    #[error("device {0} is not there; `pagetide shift status` lists what is")]
    Gone(String),
    /// It was never offered.
    #[error(
        "{0} was never prepared: what is on it may be wanted. `pagetide shift prepare --device {0}` offers it if it is empty"
    )]
    NotOurs(String),
    /// It cannot be given back.
    #[error("{0} is no memory of ours; `pagetide shift status` lists what is")]
    NoMemory(String),
    /// It was taken back by its owner.
    #[error("{0} was given back as storage; `pagetide shift prepare --device {0}` offers it again")]
    Withdrawn(String),
    /// Somebody uses it.
    #[error("{device} is in use by {}; end them first", users.join(", "))]
    InUse {
        /// The device.
        device: String,
        /// Who.
        users: Vec<String>,
    },
    /// There is something on it.
    #[error(
        "{device} holds data (the first at byte {offset}); whoever owns it must clear it, or keep it out of here"
    )]
    HoldsData {
        /// The device.
        device: String,
        /// Where.
        offset: u64,
    },
    /// It may be another device at the same place.
    #[error(
        "{device} is known by its place alone, and the machine was booted, or a device made anew there, since it was memory: what \
         is on it (the first at byte {offset}) may be somebody's. If nobody wants it, `pagetide shift recover --zero {device}` zeroes it"
    )]
    Unsure {
        /// The device.
        device: String,
        /// Where something is on it.
        offset: u64,
    },
    /// Its state is not what it must be.
    #[error("{device} is {is}, not {must}; `pagetide shift recover` makes right what a crash left")]
    WrongState {
        /// The device.
        device: String,
        /// What it is.
        is: String,
        /// What it must be.
        must: &'static str,
    },
    /// The kernel took it into use by itself.
    #[error(
        "{0} is memory already: the kernel has taken it into use. If it was prepared before, `pagetide shift recover` makes \
         it ours; else `daxctl offline-memory {0}` takes it out of use"
    )]
    IsMemory(String),
    /// The kernel cannot turn devices into memory.
    #[error(
        "this kernel has no driver {0} for dax devices; load it with `modprobe {0}`, or use a kernel with CONFIG_DEV_DAX_KMEM"
    )]
    NoDriver(&'static str),
    /// The kernel cannot add memory.
    #[error("this kernel cannot add memory while it runs; use one with CONFIG_MEMORY_HOTPLUG")]
    NoHotplug,
    /// The kernel takes added memory by itself.
    #[error(
        "the kernel takes added memory into use by itself, for pages that never move, and it could not be given back; \
         `echo offline >/sys/devices/system/memory/auto_online_blocks` stops that"
    )]
    AutoOnline,
    /// The firmware does not say which node it belongs to.
    #[error(
        "the firmware does not say to which node the memory of {0} belongs; it cannot become memory"
    )]
    NoNode(String),
    /// It is smaller than what the kernel takes.
    #[error("{device} holds no whole memory block of {block}; prepare it with a larger --size")]
    TooSmall {
        /// The device.
        device: String,
        /// Size of a block.
        block: Bytes,
    },
    /// It does not lie in one piece.
    #[error(
        "{device} lies in {ranges} ranges of addresses, and only a device of one is converted; `daxctl destroy-device` and \
         `daxctl create-device --size` make one that fits into a free range of its region"
    )]
    InRanges {
        /// The device.
        device: String,
        /// How many.
        ranges: usize,
    },
    /// Pages on it do not move.
    #[error(
        "block {block} of {device} holds {pages} pages that do not move; it stays memory until they are freed, or until a reboot"
    )]
    Unmovable {
        /// The device.
        device: String,
        /// The block.
        block: BlockId,
        /// How many.
        pages: u64,
    },
    /// What is on it would not fit.
    #[error(
        "{device} has {used} in use, and only {free} are free elsewhere, less than three times that; end programs, or \
         give back with --evict, which may swap"
    )]
    NoRoom {
        /// The device.
        device: String,
        /// In use.
        used: Bytes,
        /// Free.
        free: Bytes,
    },
    /// A block did not go offline, or not in time; it is in use as before.
    #[error(
        "block {block} of {device} did not go offline ({fault}); the device is memory as before. Pinned pages do that; see --time, or end the programs that pin"
    )]
    Stuck {
        /// The device.
        device: String,
        /// The block.
        block: BlockId,
        /// What the kernel answered.
        fault: Fault,
    },
    /// Programs use up memory while it is being given back; it is in use as before.
    #[error("{0} stays memory: what is free is being used up meanwhile")]
    Wanted(String),
    /// The kernel lost the device while it had memory in use.
    #[error(
        "the memory of {0} is in use by the kernel, which has no driver for it any more (somebody unbound it); only a reboot frees it"
    )]
    Stranded(String),
    /// A conversion was given up, and not all that it had done could be undone.
    #[error(
        "{why} (but {undo}: not all of it is as before; `pagetide shift recover` makes it right)"
    )]
    NotUndone {
        /// Why it was given up.
        why: Box<Refusal>,
        /// What came of the first step that could not be undone.
        undo: Box<Refusal>,
    },
    /// Something could not be found out, or done.
    #[error("{device}: {fault}; the device is left as it is, `pagetide shift status` shows how")]
    Kernel {
        /// The device.
        device: String,
        /// What.
        fault: Fault,
    },
    /// The journal cannot be written: nothing was changed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Refusal {
    /// Whether it is for what the machine is, and so of every device.
    #[must_use]
    pub fn is_of_the_machine(&self) -> bool {
        matches!(self, Self::NoDriver(_) | Self::NoHotplug | Self::AutoOnline)
    }

    /// A fault, of a device.
    pub(crate) fn of(device: &str) -> impl Fn(Fault) -> Self + '_ {
        move |fault| Self::Kernel { device: device.to_owned(), fault }
    }

    /// Why a conversion was given up, after what it had done was undone.
    pub(crate) fn after(self, undo: Result<(), Self>) -> Self {
        match undo {
            Ok(()) => self,
            Err(journal @ Self::Journal(_)) => journal,
            Err(undo) => Self::NotUndone { why: Box::new(self), undo: Box::new(undo) },
        }
    }
}

/// The first of several steps that did not work out; all are tried.
pub(crate) fn first_of(
    steps: impl IntoIterator<Item = Result<(), Refusal>>,
) -> Result<(), Refusal> {
    steps.into_iter().fold(Ok(()), Result::and)
}
