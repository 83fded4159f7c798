//! What the simulated kernel does when it is asked.

use crate::simulated::{BLOCK, SECRET, SimKernel, ZEROING};
use crate::{Answer, Driver, Fault, FreeBlocks, Heeding, Kernel, Leaving, Why};
use pagetide_host::{
    AutoOnline, BlockId, BlockState, DaxDevice, DaxDriver, FrameCounts, MemoryBlock,
};
use pagetide_types::{Bytes, NodeId};
use std::time::Duration;

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
        if matches!(self.kill.get(), Some((0, _))) {
            return Err(Fault { doing: "look at a block".into(), why: Why::Killed });
        }
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
            return Err(Fault { doing: "read it".into(), why: Why::Errno(libc::EIO) });
        }
        let mut machine = self.machine.borrow_mut();
        self.sleep(machine.reading);
        let it = machine.of(&device.name)?;
        assert_eq!(it.device.driver, DaxDriver::Storage, "read while not storage");
        Ok(it.contents.iter().position(|byte| *byte != 0).map(|at| at as u64 * BLOCK.0))
    }
    fn first_nonzero_alone(&self, device: &DaxDevice) -> Answer<Option<u64>> {
        let first = self.first_nonzero(device)?;
        let mut machine = self.machine.borrow_mut();
        if machine.opened_reading {
            // What was read is not what is there.
            machine.of(&device.name)?.contents[0] = 7;
            return Err(busy("read it"));
        }
        Ok(first)
    }
    fn zero(&self, device: &DaxDevice, from: u64, limit: Option<Duration>) -> Answer<u64> {
        // In parts, so that a kill leaves it half done.
        let mut left = limit;
        for part in from / BLOCK.0..4 {
            self.change("zero", |machine| {
                self.sleep(ZEROING);
                machine.free_dram = machine.free_dram.saturating_sub(machine.used_up_zeroing);
                let opened = machine.opened_zeroing.then(|| "db (3)".to_owned());
                let lost = machine.fails.contains(&"writes are lost");
                let it = machine.of(&device.name)?;
                assert_eq!(it.device.driver, DaxDriver::Storage, "zeroed while not storage");
                assert!(part > 0 || it.users.is_empty(), "zeroed under its users: {:?}", it.users);
                it.users.extend(opened);
                if !lost {
                    it.contents[usize::try_from(part).unwrap()] = 0;
                }
                Ok(())
            })?;
            left = left.map(|left| left.saturating_sub(ZEROING));
            if left == Some(Duration::ZERO) {
                return Ok(((part + 1) * BLOCK.0).min(device.size.0));
            }
        }
        Ok(device.size.0)
    }
    fn begin_zeroing(&self, device: &DaxDevice, from: u64) -> Answer<()> {
        assert!(self.beside.borrow().is_none(), "one at a time");
        self.change("begin to zero", |machine| {
            if machine.one_by_one { Err(busy("start a helper")) } else { Ok(()) }
        })?;
        self.beside.replace(Some((device.name.clone(), from / BLOCK.0 * 2)));
        Ok(())
    }
    fn zeroed(&self, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<Option<u64>> {
        let mut left = limit;
        loop {
            let Some((name, halves)) = self.beside.borrow().clone() else { return Ok(None) };
            let mut machine = self.machine.borrow_mut();
            if machine.fails.contains(&"zero beside") {
                self.beside.take();
                return Err(busy("clear it"));
            }
            if halves == 8 {
                self.beside.take();
                let written = std::mem::take(&mut machine.written_zeroing);
                let it = machine.of(&name)?;
                if written {
                    it.contents[2] = 7;
                }
                let first = it.contents.iter().position(|byte| *byte != 0);
                return Ok(Some(first.map_or(it.device.size.0, |at| at as u64 * BLOCK.0)));
            }
            drop(machine);
            if left == Duration::ZERO || stop() {
                return Ok(None);
            }
            left = left.saturating_sub(ZEROING);
            self.sleep(ZEROING);
            self.change("wait", |machine| {
                // One half went with the change.
                self.go_on_beside(machine);
                machine.free_dram = machine.free_dram.saturating_sub(machine.used_up_zeroing);
                Ok(())
            })?;
        }
    }
    fn end_zeroing(&self) -> Answer<()> {
        self.beside.take();
        Ok(())
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
            let policy = machine.auto_online;
            let it = machine.of(&device.name)?;
            if it.stranded || it.device.driver != DaxDriver::None {
                return Err(busy(doing));
            }
            it.device.driver = DaxDriver::Storage;
            if to == Driver::Memory {
                it.device.driver = DaxDriver::Memory;
                it.add_blocks(policy);
            }
            Ok(())
        })
    }
    fn online_movable(&self, id: BlockId) -> Answer<()> {
        self.change(&format!("online {id}"), |machine| {
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
    fn offline(&self, id: BlockId, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<()> {
        let (mut takes, used_up) = {
            let machine = self.machine.borrow();
            (machine.offlining, machine.used_up_meanwhile)
        };
        if self.machine.borrow_mut().block(id).is_some_and(|block| block.pinned) {
            takes = Duration::MAX;
        }
        if let Err(spent) = self.spend(takes, used_up, limit, stop) {
            return self.change(&format!("offline {id}"), |machine| {
                machine.block(id).ok_or_else(|| busy("offline"))?.leaving = true;
                Err(Fault { doing: "offline".into(), why: Why::TimeUp(spent) })
            });
        }
        self.change(&format!("offline {id}"), |machine| {
            let block = machine.block(id).ok_or_else(|| busy("offline"))?;
            (block.online, block.used) = (false, 0);
            machine.free_dram = machine.free_dram.saturating_sub(machine.used_up);
            Ok(())
        })
    }
    fn frames(&self, id: BlockId) -> Answer<FrameCounts> {
        let mut machine = self.machine.borrow_mut();
        machine.looked.push(id);
        let block = machine.block(id).ok_or_else(|| busy("frames"))?;
        Ok(FrameCounts {
            movable: block.used,
            unmovable: block.unmovable,
            ..FrameCounts::default()
        })
    }
    fn empty(
        &self,
        id: BlockId,
        at_most: Bytes,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<Bytes> {
        let (emptying, used_up) = {
            let machine = self.machine.borrow();
            (machine.emptying, machine.used_up_meanwhile)
        };
        // What is over its limit ends by itself.
        let spent = self.spend(emptying.min(limit), used_up, limit, stop);
        spent.map_err(|spent| Fault { doing: "empty".into(), why: Why::TimeUp(spent) })?;
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
    fn has_cpus(&self, node: NodeId) -> bool {
        node == NodeId(0)
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
    fn announce(&self, node: NodeId, bytes: Bytes) -> Answer<Leaving> {
        self.change("announce", |machine| {
            let leaving = Leaving { since: machine.announced.len() as u64 + 1, node, bytes };
            machine.announced.push(Some(leaving));
            Ok(leaving)
        })
    }
    fn announced(&self) {
        self.edit(|machine| machine.announced.push(None));
    }
    fn heeding(&self) -> Vec<Heeding> {
        self.machine.borrow().heeding.clone()
    }
    fn rest(&self, time: Duration) {
        self.sleep(time);
    }
    fn now(&self) -> Duration {
        if let Some(others) = self.others.borrow_mut().as_mut() {
            others();
        }
        self.now.get()
    }
}
