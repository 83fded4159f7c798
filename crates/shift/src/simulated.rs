//! A kernel that is not there: dax devices, memory blocks, refusals on request, and a kill at any step.

use crate::{Answer, Driver, Fault, FreeBlocks, Kernel, Why};
use pagetide_host::{
    AutoOnline, BlockId, BlockState, DaxDevice, DaxDriver, FrameCounts, MemoryBlock,
};
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
    leaving: bool,
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
    /// And while a block's worth is zeroed.
    pub(crate) used_up_zeroing: Bytes,
    /// And somebody opens the device then.
    pub(crate) opened_zeroing: bool,
    /// Calls that fail, by the beginning of what they do.
    pub(crate) fails: Vec<&'static str>,
    /// Blocks that were to be emptied, how much was asked for, and how much moved.
    pub(crate) emptied: Vec<(BlockId, Bytes, Bytes)>,
    /// Reading a device takes so long.
    pub(crate) reading: Duration,
    /// How free memory lies, on every node.
    pub(crate) free_blocks: FreeBlocks,
    /// Nodes that were compacted, and the time for it.
    pub(crate) compacted: Vec<(NodeId, Duration)>,
}

/// The machine as a process sees it, which can be killed.
#[derive(Clone)]
pub(crate) struct SimKernel {
    pub(crate) machine: Rc<RefCell<Machine>>,
    /// Changes until the process is killed, and whether the last one still happens.
    pub(crate) kill: Rc<Cell<Option<(u32, bool)>>>,
    /// It is a helper that is killed, and not the process.
    pub(crate) helper: Rc<Cell<bool>>,
    now: Rc<Cell<Duration>>,
}

pub(crate) fn device(number: u64) -> DaxDevice {
    DaxDevice {
        name: format!("dax1.{number}"),
        // Blocks 4n + 1 to 4n + 3 lie in it whole.
        start: PhysAddr((number * 512 + 10) << 20),
        size: Bytes::mib(502),
        target: Some(NodeId(1)),
        near: Some(NodeId(0)),
        driver: DaxDriver::Storage,
        dev: None,
        uuid: Some(format!("uuid-{number}")),
        namespace: Some(format!("namespace1.{number}")),
        memmap_on_memory: Some(false),
    }
}

impl SimKernel {
    pub(crate) fn new(devices: u64) -> Self {
        let devices = (0..devices).map(|number| SimDevice {
            device: device(number + 1),
            contents: vec![0; 4],
            users: Vec::new(),
            blocks: BTreeMap::new(),
            stranded: false,
        });
        let machine = Machine {
            devices: devices.collect(),
            auto_online: AutoOnline::Offline,
            drivers: true,
            free_dram: Bytes::gib(1),
            demotes_to: None,
            used_up: Bytes(0),
            used_up_zeroing: Bytes(0),
            opened_zeroing: false,
            fails: Vec::new(),
            emptied: Vec::new(),
            reading: Duration::ZERO,
            free_blocks: FreeBlocks::default(),
            compacted: Vec::new(),
        };
        Self {
            machine: Rc::new(RefCell::new(machine)),
            kill: Rc::default(),
            helper: Rc::default(),
            now: Rc::default(),
        }
    }

    pub(crate) fn sleep(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }

    /// Everything that is not storage is lost; devices come up as storage, with what was on them.
    pub(crate) fn reboot(&self) {
        for device in &mut self.machine.borrow_mut().devices {
            device.blocks.clear();
            device.stranded = false;
            device.device.driver = DaxDriver::Storage;
        }
        self.kill.set(None);
    }

    pub(crate) fn edit(&self, change: impl FnOnce(&mut Machine)) {
        change(&mut self.machine.borrow_mut());
    }

    /// One change of the machine: done, or failed, or the end of us before or after it.
    fn change<T>(&self, doing: &str, act: impl FnOnce(&mut Machine) -> Answer<T>) -> Answer<T> {
        let fault = |why| Fault { doing: doing.to_owned(), why };
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
        if machine.fails.iter().any(|begins| doing.starts_with(begins)) {
            return Err(fault(Why::Errno(libc::EBUSY)));
        }
        let answer = act(&mut machine);
        if after { Err(fault(Why::Killed)) } else { answer }
    }
}

impl Machine {
    fn of(&mut self, name: &str) -> Answer<&mut SimDevice> {
        let found = self.devices.iter_mut().find(|device| device.device.name == name);
        found.ok_or_else(|| Fault { doing: format!("find {name}"), why: Why::Errno(libc::ENODEV) })
    }

    fn block(&mut self, id: BlockId) -> Option<&mut SimBlock> {
        self.devices.iter_mut().find_map(|device| device.blocks.get_mut(&id))
    }
}

fn busy(doing: &str) -> Fault {
    Fault { doing: doing.to_owned(), why: Why::Errno(libc::EBUSY) }
}

impl Kernel for SimKernel {
    fn devices(&self) -> Answer<Vec<DaxDevice>> {
        Ok(self.machine.borrow().devices.iter().map(|device| device.device.clone()).collect())
    }
    fn block_size(&self) -> Answer<Option<Bytes>> {
        Ok(Some(BLOCK))
    }
    fn block(&self, id: BlockId) -> Answer<Option<MemoryBlock>> {
        let mut machine = self.machine.borrow_mut();
        Ok(machine.block(id).map(|block| MemoryBlock {
            id,
            state: match (block.online, block.leaving) {
                (true, true) => BlockState::GoingOffline,
                (true, false) => BlockState::Online,
                (false, _) => BlockState::Offline,
            },
            node: Some(NodeId(1)),
            zones: vec![block.zone.to_owned()],
        }))
    }
    fn auto_online(&self) -> Option<AutoOnline> {
        Some(self.machine.borrow().auto_online)
    }
    fn has(&self, _driver: Driver) -> bool {
        self.machine.borrow().drivers
    }
    fn users(&self, device: &DaxDevice) -> Answer<Vec<String>> {
        if self.machine.borrow().fails.contains(&"users") {
            return Err(busy("look who uses it"));
        }
        Ok(self.machine.borrow_mut().of(&device.name)?.users.clone())
    }
    fn first_nonzero(&self, device: &DaxDevice) -> Answer<Option<u64>> {
        if self.machine.borrow().fails.contains(&"read") {
            return Err(busy("read it"));
        }
        let mut machine = self.machine.borrow_mut();
        self.sleep(machine.reading);
        let it = machine.of(&device.name)?;
        assert_eq!(it.device.driver, DaxDriver::Storage, "read while not storage");
        Ok(it.contents.iter().position(|byte| *byte != 0).map(|at| at as u64 * BLOCK.0))
    }
    fn zero(&self, device: &DaxDevice, from: u64, limit: Option<Duration>) -> Answer<u64> {
        // In parts, so that a kill leaves it half done.
        let mut left = limit;
        for part in from / BLOCK.0..4 {
            self.change("zero", |machine| {
                self.sleep(ZEROING);
                machine.free_dram = machine.free_dram.saturating_sub(machine.used_up_zeroing);
                let opened = machine.opened_zeroing.then(|| "db (3)".to_owned());
                let it = machine.of(&device.name)?;
                assert_eq!(it.device.driver, DaxDriver::Storage, "zeroed while not storage");
                assert!(part > 0 || it.users.is_empty(), "zeroed under its users: {:?}", it.users);
                it.users.extend(opened);
                it.contents[usize::try_from(part).unwrap()] = 0;
                Ok(())
            })?;
            left = left.map(|left| left.saturating_sub(ZEROING));
            if left == Some(Duration::ZERO) {
                return Ok(((part + 1) * BLOCK.0).min(device.size.0));
            }
        }
        Ok(device.size.0)
    }
    fn memmap_on_itself(&self, device: &DaxDevice) -> Answer<bool> {
        self.change("memmap", |machine| {
            machine.of(&device.name)?.device.memmap_on_memory = Some(true);
            Ok(true)
        })
    }
    fn unbind(&self, device: &DaxDevice, from: Driver) -> Answer<()> {
        self.change("unbind", |machine| {
            let it = machine.of(&device.name)?;
            let has = if from == Driver::Memory { DaxDriver::Memory } else { DaxDriver::Storage };
            assert_eq!(it.device.driver, has, "unbound from a driver that it has not");
            it.device.driver = DaxDriver::None;
            it.stranded = it.blocks.values().any(|block| block.online);
            if !it.stranded {
                it.blocks.clear();
            }
            Ok(())
        })
    }
    fn bind(&self, device: &DaxDevice, to: Driver) -> Answer<()> {
        let doing = if to == Driver::Memory { "bind kmem" } else { "bind device_dax" };
        self.change(doing, |machine| {
            let online = machine.auto_online == AutoOnline::Movable;
            let it = machine.of(&device.name)?;
            if it.stranded || it.device.driver != DaxDriver::None {
                return Err(busy(doing));
            }
            it.device.driver = DaxDriver::Storage;
            if to == Driver::Memory {
                it.device.driver = DaxDriver::Memory;
                let new = SimBlock { online, zone: "Movable", ..SimBlock::default() };
                it.blocks = device.blocks(BLOCK).into_iter().map(|id| (id, new.clone())).collect();
            }
            Ok(())
        })
    }
    fn online_movable(&self, id: BlockId) -> Answer<()> {
        self.change("online", |machine| {
            if machine.block(id).is_some_and(|block| std::mem::take(&mut block.leaving)) {
                // It waits for that to end, and then there is nothing to do (drivers/base/memory.c).
                let why = Why::Errno(libc::EINVAL);
                return Err(Fault { doing: "online".into(), why });
            }
            let it = machine
                .devices
                .iter_mut()
                .find(|device| device.blocks.contains_key(&id))
                .ok_or_else(|| busy("online"))?;
            // Programs write at once.
            it.contents.iter_mut().for_each(|byte| *byte = SECRET);
            it.blocks.entry(id).and_modify(|block| block.online = true);
            Ok(())
        })
    }
    fn offline(&self, id: BlockId, limit: Duration) -> Answer<()> {
        self.change("offline", |machine| {
            let block = machine.block(id).ok_or_else(|| busy("offline"))?;
            if block.pinned {
                self.now.set(self.now.get() + limit);
                block.leaving = true;
                return Err(Fault { doing: "offline".into(), why: Why::TimeUp(limit) });
            }
            (block.online, block.used) = (false, 0);
            machine.free_dram = machine.free_dram.saturating_sub(machine.used_up);
            Ok(())
        })
    }
    fn frames(&self, id: BlockId) -> Answer<FrameCounts> {
        let mut machine = self.machine.borrow_mut();
        let block = machine.block(id).ok_or_else(|| busy("frames"))?;
        Ok(FrameCounts {
            movable: block.used,
            unmovable: block.unmovable,
            ..FrameCounts::default()
        })
    }
    fn empty(&self, id: BlockId, at_most: Bytes, limit: Duration) -> Answer<Bytes> {
        self.now.set(self.now.get() + Duration::from_millis(100).min(limit));
        self.change("empty", |machine| {
            let block = machine.block(id).ok_or_else(|| busy("empty"))?;
            let mapped = block.used.saturating_sub(block.unmapped);
            let moved = if block.pinned { 0 } else { mapped.min(at_most.0 / 4096) };
            block.used -= moved;
            let filled = machine.demotes_to.as_mut().unwrap_or(&mut machine.free_dram);
            filled.0 -= moved * 4096;
            machine.emptied.push((id, at_most, Bytes(moved * 4096)));
            Ok(Bytes(moved * 4096))
        })
    }
    fn free_dram(&self) -> Bytes {
        self.machine.borrow().free_dram
    }
    fn available(&self, node: NodeId) -> Bytes {
        let machine = self.machine.borrow();
        machine.demotes_to.filter(|_| node == NodeId(1)).unwrap_or(machine.free_dram)
    }
    fn demotes(&self) -> bool {
        self.machine.borrow().demotes_to.is_some()
    }
    fn free_blocks(&self, _node: NodeId) -> FreeBlocks {
        self.machine.borrow().free_blocks
    }
    fn compact(&self, node: NodeId, limit: Duration) -> Answer<()> {
        self.change("compact", |machine| {
            machine.compacted.push((node, limit));
            machine.free_blocks.blocks = machine.free_blocks.free.0 / crate::compaction::BLOCK.0;
            Ok(())
        })
    }
    fn now(&self) -> Duration {
        self.now.get()
    }
}
