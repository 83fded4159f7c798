//! A kernel that is not there: dax devices, memory blocks, refusals on request, and a kill at any step.

use crate::{Answer, Fault, FreeBlocks, Heeding, Leaving, Why};
use pagetide_host::{AutoOnline, BlockId, DaxDevice, DaxDriver};
use pagetide_types::{Bytes, NodeId, PhysAddr};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

pub(crate) const BLOCK: Bytes = Bytes::mib(128);
/// How long it takes to zero a block's worth.
pub(crate) const ZEROING: Duration = Duration::from_millis(700);
/// What programs leave in memory.
pub(crate) const SECRET: u8 = 0x5a;

/// A device and what is on it.
#[derive(Clone, Debug)]
pub(crate) struct SimDevice {
    pub(crate) device: DaxDevice,
    /// One byte for each block's worth of it.
    pub(crate) contents: Vec<u8>,
    pub(crate) users: Vec<String>,
    pub(crate) blocks: BTreeMap<BlockId, SimBlock>,
    /// What takes it by itself when the machine is booted.
    pub(crate) boots_as: DaxDriver,
    /// The kernel lost it while it was in use.
    pub(crate) stranded: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SimBlock {
    pub(crate) online: bool,
    pub(crate) zone: &'static str,
    pub(crate) used: u64,
    pub(crate) unmovable: u64,
    /// Of what is used, nobody maps so much: it moves by offlining alone.
    pub(crate) unmapped: u64,
    /// It never goes offline.
    pub(crate) pinned: bool,
    /// An attempt that was stopped has not ended yet.
    pub(crate) leaving: bool,
}

/// What outlives a process: the machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) devices: Vec<SimDevice>,
    pub(crate) auto_online: AutoOnline,
    pub(crate) drivers: bool,
    pub(crate) free_dram: Bytes,
    /// The kernel demotes, at once, and so much is free on the node of the devices.
    pub(crate) demotes_to: Option<Bytes>,
    /// What programs use up of it while a block is taken out of use.
    pub(crate) used_up: Bytes,
    /// And in each tenth of a second in which pages are moved off a block, or it goes offline, which takes so long.
    pub(crate) used_up_meanwhile: Bytes,
    pub(crate) emptying: Duration,
    pub(crate) offlining: Duration,
    /// And while a block's worth is zeroed.
    pub(crate) used_up_zeroing: Bytes,
    /// And somebody opens the device then.
    pub(crate) opened_zeroing: bool,
    /// Somebody opens devices while they are read, writes to what has been read, and closes them.
    pub(crate) opened_reading: bool,
    /// And writes to what has been zeroed, once.
    pub(crate) written_zeroing: bool,
    /// Nothing can be zeroed beside other changes.
    pub(crate) one_by_one: bool,
    /// Where a change begins so, the devices are gone before it.
    pub(crate) vanish_at: Option<&'static str>,
    pub(crate) vanished: Vec<SimDevice>,
    /// Calls that fail, by the beginning of what they do.
    pub(crate) fails: Vec<&'static str>,
    /// Blocks that were to be emptied, how much was asked for, and how much moved.
    pub(crate) emptied: Vec<(BlockId, Bytes, Bytes)>,
    /// Blocks of which was asked what their pages are used for.
    pub(crate) looked: Vec<BlockId>,
    /// Reading a device takes so long.
    pub(crate) reading: Duration,
    /// How free memory lies, on every node.
    pub(crate) free_blocks: FreeBlocks,
    /// Nodes that were compacted, and the time for it.
    pub(crate) compacted: Vec<(NodeId, Duration)>,
    /// Who heeds what is about to leave, and all that was said of that; none: nothing is any more.
    pub(crate) heeding: Vec<Heeding>,
    pub(crate) announced: Vec<Option<Leaving>>,
}

/// What other processes do.
pub(crate) type Others = Rc<RefCell<Option<Box<dyn FnMut()>>>>;

/// The machine as a process sees it, which can be killed.
#[derive(Clone)]
pub(crate) struct SimKernel {
    pub(crate) machine: Rc<RefCell<Machine>>,
    /// Changes until the process is killed, and whether the last one still happens.
    pub(crate) kill: Rc<Cell<Option<(u32, bool)>>>,
    /// It is a helper that is killed, and not the process.
    pub(crate) helper: Rc<Cell<bool>>,
    pub(crate) now: Rc<Cell<Duration>>,
    /// What others do whenever the time is looked at, which is not in the middle of a change.
    pub(crate) others: Others,
    /// What is zeroed beside other changes, a block's worth in two of them: the device, and how many halves of blocks.
    pub(crate) beside: Rc<RefCell<Option<(String, u64)>>>,
}

pub(crate) fn device(number: u64) -> DaxDevice {
    DaxDevice {
        name: format!("dax1.{number}"),
        // Blocks 4n + 1 to 4n + 3 lie in it whole.
        start: PhysAddr((number * 512 + 10) << 20),
        size: Bytes::mib(502),
        ranges: 1,
        target: Some(NodeId(1)),
        near: Some(NodeId(0)),
        driver: DaxDriver::Storage,
        dev: None,
        uuid: Some(format!("uuid-{number}")),
        namespace: Some(format!("namespace1.{number}")),
        memmap_on_memory: Some(false),
        made: Some(number),
    }
}

impl SimKernel {
    pub(crate) fn new(devices: u64) -> Self {
        let devices = (0..devices).map(|number| SimDevice {
            device: device(number + 1),
            contents: vec![0; 4],
            users: Vec::new(),
            blocks: BTreeMap::new(),
            boots_as: DaxDriver::Storage,
            stranded: false,
        });
        let machine = Machine {
            devices: devices.collect(),
            auto_online: AutoOnline::Offline,
            drivers: true,
            free_dram: Bytes::gib(1),
            demotes_to: None,
            used_up: Bytes(0),
            used_up_meanwhile: Bytes(0),
            emptying: Duration::from_millis(100),
            offlining: Duration::ZERO,
            used_up_zeroing: Bytes(0),
            opened_zeroing: false,
            opened_reading: false,
            written_zeroing: false,
            one_by_one: false,
            vanish_at: None,
            vanished: Vec::new(),
            fails: Vec::new(),
            emptied: Vec::new(),
            looked: Vec::new(),
            reading: Duration::ZERO,
            free_blocks: FreeBlocks::default(),
            compacted: Vec::new(),
            heeding: Vec::new(),
            announced: Vec::new(),
        };
        Self {
            machine: Rc::new(RefCell::new(machine)),
            kill: Rc::default(),
            helper: Rc::default(),
            now: Rc::default(),
            others: Rc::default(),
            beside: Rc::default(),
        }
    }

    pub(crate) fn sleep(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }

    /// Lets so much time pass, as programs use so much up in each tenth of a second; how much had passed when the limit was
    /// over, or it was to stop, before.
    pub(crate) fn spend(
        &self,
        time: Duration,
        used_up: Bytes,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Duration> {
        let mut spent = Duration::ZERO;
        while spent < time {
            let step = (time.min(limit) - spent).min(Duration::from_millis(100));
            self.sleep(step);
            spent += step;
            self.edit(|machine| {
                machine.free_dram = machine.free_dram.saturating_sub(used_up);
                if spent.as_millis().is_multiple_of(400) {
                    self.go_on_beside(machine);
                }
            });
            if spent < time && (spent >= limit || stop()) {
                return Err(spent);
            }
        }
        Ok(())
    }

    /// Everything that is not storage is lost; devices come up as they do, with what was on them.
    pub(crate) fn reboot(&self) {
        let mut machine = self.machine.borrow_mut();
        let policy = machine.auto_online;
        for device in &mut machine.devices {
            device.come_up(policy);
        }
        self.kill.set(None);
        self.beside.take();
    }

    /// The first device is taken away, and another with this on it lies at the same place.
    pub(crate) fn exchange(&self, contents: [u8; 4]) {
        let mut machine = self.machine.borrow_mut();
        let policy = machine.auto_online;
        let device = &mut machine.devices[0];
        device.contents = contents.into();
        device.device.made = device.device.made.map(|made| made + 1000);
        device.come_up(policy);
    }

    /// Devices that were gone are there again, as storage, with what was on them.
    pub(crate) fn come_back(&self) {
        let mut machine = self.machine.borrow_mut();
        machine.vanish_at = None;
        let back = std::mem::take(&mut machine.vanished);
        for mut device in back {
            device.blocks.clear();
            device.device.driver = DaxDriver::Storage;
            machine.devices.push(device);
        }
    }

    pub(crate) fn edit(&self, change: impl FnOnce(&mut Machine)) {
        change(&mut self.machine.borrow_mut());
    }

    /// One change of the machine: done, or failed, or the end of us before or after it.
    pub(crate) fn change<T>(
        &self,
        doing: &str,
        act: impl FnOnce(&mut Machine) -> Answer<T>,
    ) -> Answer<T> {
        let fault = |why| Fault { doing: doing.to_owned(), why };
        if matches!(self.kill.get(), Some((0 | 1, _))) {
            // Who zeroes beside us dies with us.
            self.beside.take();
        }
        let after = match self.kill.get() {
            Some((0, _)) => return Err(fault(Why::Killed)),
            Some((1, after)) => {
                self.kill.set((!self.helper.get()).then_some((0, after)));
                if !after {
                    return Err(fault(Why::Killed));
                }
                true
            }
            Some((left, after)) => {
                self.kill.set(Some((left - 1, after)));
                false
            }
            None => false,
        };
        let mut machine = self.machine.borrow_mut();
        self.go_on_beside(&mut machine);
        if machine.vanish_at.is_some_and(|begins| doing.starts_with(begins)) {
            machine.vanish_at = None;
            machine.vanished = std::mem::take(&mut machine.devices);
        }
        if machine.fails.iter().any(|begins| doing.starts_with(begins)) {
            return Err(fault(Why::Errno(libc::EBUSY)));
        }
        let answer = act(&mut machine);
        if after { Err(fault(Why::Killed)) } else { answer }
    }

    /// Half a block's worth of what is zeroed beside.
    pub(crate) fn go_on_beside(&self, machine: &mut Machine) {
        if let Some((name, halves)) = self.beside.borrow_mut().as_mut()
            && let Ok(it) = machine.of(name)
        {
            assert_eq!(it.device.driver, DaxDriver::Storage, "zeroed while not storage");
            *halves = (*halves + 1).min(8);
            for part in it.contents.iter_mut().take(usize::try_from(*halves / 2).unwrap()) {
                *part = 0;
            }
        }
    }
}

impl SimDevice {
    /// It is found anew by a kernel that takes memory into use so.
    fn come_up(&mut self, policy: AutoOnline) {
        self.blocks.clear();
        self.stranded = false;
        self.device.driver = self.boots_as.clone();
        if self.boots_as == DaxDriver::Memory {
            self.add_blocks(policy);
            if policy != AutoOnline::Offline {
                self.contents.fill(SECRET);
            }
        }
    }

    /// The driver of memory has it.
    pub(crate) fn add_blocks(&mut self, policy: AutoOnline) {
        let online = policy != AutoOnline::Offline;
        let stays = matches!(policy, AutoOnline::Online | AutoOnline::Kernel);
        let zone = if stays { "Normal" } else { "Movable" };
        let new = SimBlock { online, zone, ..SimBlock::default() };
        let ids = self.device.blocks(BLOCK).into_iter();
        self.blocks = ids.map(|id| (id, new.clone())).collect();
    }
}

impl Machine {
    pub(crate) fn of(&mut self, name: &str) -> Answer<&mut SimDevice> {
        let found = self.devices.iter_mut().find(|device| device.device.name == name);
        found.ok_or_else(|| Fault { doing: format!("find {name}"), why: Why::Errno(libc::ENODEV) })
    }

    pub(crate) fn block(&mut self, id: BlockId) -> Option<&mut SimBlock> {
        self.devices.iter_mut().find_map(|device| device.blocks.get_mut(&id))
    }
}
