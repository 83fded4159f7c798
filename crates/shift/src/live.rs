//! The kernel that runs: sysfs, `/dev/daxN.M`, and a helper for what may take for ever.
//!
//! The steps of daxctl(1) are a few files of sysfs, so they are written here and not left to the tool,
//! whose own policies (taking memory into use as the kernel likes, waiting for udev) are in the way;
//! what is more than that, labels of namespaces, is left to ndctl(1) (`prepare`).

use crate::{
    Answer, Driver, Fault, FreeBlocks, Heeding, Helper, Kernel, Leaving, Why, leaving,
    notice::Notice, staying::Staying, users,
};
use pagetide_host::{
    AutoOnline, BlockId, BlockState, DaxDevice, DaxDriver, DeviceKind, Error, FrameCounts, Host,
    MemoryBlock, Pfn,
};
use pagetide_types::{Bytes, NodeId};
use std::{
    cell::RefCell,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Reading or clearing a device goes at least at this speed, in bytes per second; what is slower is
/// given up.
pub(crate) const SLOWEST: u64 = 10 << 20;

/// What the kernel is given for a step that takes a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// And it adds or removes memory at least at this speed, in bytes per second.
const ADDED: u64 = 1 << 30;

/// A device is zeroed beside other things for so long at a time; what is longer is left to the pieces between checks.
const BESIDE: Duration = Duration::from_secs(1);

/// What ends on time has so much time to say so.
const GRACE: Duration = Duration::from_secs(1);

/// The machine that we run on.
#[derive(Debug)]
pub struct LiveKernel {
    host: Host,
    pub(crate) helpers: Staying,
    start: Instant,
    free_only: bool,
    /// When a process did not say what it has open, and what came of that.
    pub(crate) blind: RefCell<Option<(Instant, Fault)>>,
    /// What was said to be about to leave.
    announced: RefCell<Option<Notice>>,
    /// Time for a step that takes a moment.
    pub(crate) patience: Duration,
}

impl LiveKernel {
    /// A machine, and how helpers are started on it. `free_only`: page cache does not count as
    /// memory that programs could be given, as in the paper.
    #[must_use]
    pub fn new(host: Host, helper: Helper, free_only: bool) -> Self {
        Self {
            host,
            helpers: Staying::new(helper),
            start: Instant::now(),
            free_only,
            blind: RefCell::default(),
            announced: RefCell::default(),
            patience: PATIENCE,
        }
    }

    /// The machine.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Starts the helpers that are asked while devices are given back, so that nobody waits for that then.
    ///
    /// # Errors
    /// When they cannot be started.
    pub fn be_ready(&self) -> Answer<()> {
        self.helpers.start()
    }

    /// Asks the helper that stays.
    fn ask(&self, doing: &str, question: &str, limit: Duration) -> Answer<Option<u64>> {
        self.helpers.ask(doing, question, limit, &|| false)
    }

    /// A word into a file of sysfs, about so much memory. The helper does it, for the kernel acts on it meanwhile.
    fn write(&self, path: &Path, word: &str, about: Bytes) -> Answer<()> {
        let doing = format!("write {word} to {}", path.display());
        let limit = self.patience + Duration::from_secs(about.0 / ADDED);
        self.ask(&doing, &format!("write {} {word}", path.display()), limit).map(|_| ())
    }

    /// The helper on all of a device, which must be what its name says.
    fn on_device(&self, device: &DaxDevice, what: &[&str], doing: &str) -> Answer<Option<u64>> {
        let (doing, question, limit) = self.about(device, what, doing)?;
        self.ask(&doing, &question, limit)
    }

    /// What is done then, the question, and the time for it.
    fn about(
        &self,
        device: &DaxDevice,
        what: &[&str],
        doing: &str,
    ) -> Answer<(String, String, Duration)> {
        let path = self.host.path(format!("dev/{}", device.name));
        let is = |number| self.host.is_device(&path, number, DeviceKind::Character);
        let same = device.dev.map_or(Ok(false), is).map_err(fault(doing))?;
        if !same {
            let said = format!("{} is not the device that the kernel calls so", path.display());
            return Err(Fault { doing: doing.to_owned(), why: Why::Said(said) });
        }
        let limit = Duration::from_secs(30 + device.size.0 / SLOWEST);
        let size = device.size.0.to_string();
        let doing = format!("{doing} {}", path.display());
        let name = path.to_string_lossy();
        Ok((doing, [what, &[&name, &size]].concat().join(" "), limit))
    }

    fn must_be(&self, device: &DaxDevice, driver: &DaxDriver, doing: &str) -> Answer<()> {
        let is = self.host.dax_driver(&device.name);
        if is == *driver {
            return Ok(());
        }
        let said = format!("its driver is {is:?} then, not {driver:?}; see `dmesg`");
        Err(Fault { doing: doing.to_owned(), why: Why::Said(said) })
    }
}

pub(crate) fn fault(doing: &str) -> impl Fn(Error) -> Fault + '_ {
    move |error| Fault { doing: doing.to_owned(), why: Why::Said(error.to_string()) }
}

fn called(driver: Driver) -> &'static str {
    match driver {
        Driver::Storage => "device_dax",
        Driver::Memory => "kmem",
    }
}

impl Kernel for LiveKernel {
    fn devices(&self) -> Answer<Vec<DaxDevice>> {
        self.host.dax_devices().map_err(fault("list the dax devices"))
    }
    fn block_size(&self) -> Answer<Option<Bytes>> {
        self.host.block_size().map_err(fault("read the size of memory blocks"))
    }
    fn block(&self, block: BlockId) -> Answer<Option<MemoryBlock>> {
        self.host.memory_block(block).map_err(fault("read a memory block"))
    }
    fn auto_online(&self) -> Option<AutoOnline> {
        self.host.auto_online()
    }
    fn has(&self, driver: Driver) -> bool {
        self.host.has_dax_driver(called(driver))
    }
    fn users(&self, device: &DaxDevice) -> Answer<Vec<String>> {
        let number = device.dev.ok_or_else(users::unknown)?;
        self.users_of(number, DeviceKind::Character)
    }
    fn first_nonzero(&self, device: &DaxDevice) -> Answer<Option<u64>> {
        self.on_device(device, &["first-nonzero"], "read")
    }
    fn first_nonzero_alone(&self, device: &DaxDevice) -> Answer<Option<u64>> {
        self.on_device(device, &["first-nonzero-alone"], "read")
    }
    fn zero(&self, device: &DaxDevice, from: u64, limit: Option<Duration>) -> Answer<u64> {
        let most = limit.map_or(u128::MAX, |limit| limit.as_millis()).to_string();
        let ended = self.on_device(device, &["zero", &from.to_string(), &most], "clear")?;
        ended.ok_or_else(|| Fault {
            doing: format!("clear {}", device.name),
            why: Why::Said("the helper did not say how far it got".into()),
        })
    }
    fn begin_zeroing(&self, device: &DaxDevice, from: u64) -> Answer<()> {
        let (from, most) = (from.to_string(), BESIDE.as_millis().to_string());
        let what = ["zero-and-read", from.as_str(), most.as_str()];
        let (doing, question, limit) = self.about(device, &what, "clear and read")?;
        self.helpers.begin(doing, &question, limit)
    }
    fn zeroed(&self, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<Option<u64>> {
        self.helpers.answer(limit, stop)
    }
    fn end_zeroing(&self) -> Answer<()> {
        self.helpers.end()
    }
    fn memmap_on_itself(&self, device: &DaxDevice) -> Answer<bool> {
        if device.memmap_on_memory.is_none() || !self.host.memmap_on_memory() {
            return Ok(false);
        }
        self.write(&self.host.dax_memmap_path(&device.name), "1", Bytes(0)).map(|()| true)
    }
    fn unbind(&self, device: &DaxDevice, from: Driver) -> Answer<()> {
        let path = |file| self.host.dax_driver_path(called(from), file);
        self.write(&path("unbind"), &device.name, device.size)?;
        // Else the driver takes it again by itself. It may not have been there by its name.
        let _ = self.write(&path("remove_id"), &device.name, Bytes(0));
        self.must_be(device, &DaxDriver::None, &format!("take {} from its driver", device.name))
    }
    fn bind(&self, device: &DaxDevice, to: Driver) -> Answer<()> {
        let name = &device.name;
        let write =
            |file| self.write(&self.host.dax_driver_path(called(to), file), name, device.size);
        let unbound = || self.host.dax_driver(name) == DaxDriver::None;
        if to == Driver::Storage
            && let Err(fault) = write("bind")
            && fault.why != Why::Errno(libc::ENODEV)
        {
            return Err(fault);
        }
        // Memory as CXL's is for kmem by its type (since Linux 6.3), and persistent memory for device_dax: the other one
        // takes none but those that it was told of. Being told, it takes them at once.
        if unbound() {
            let told = write("new_id");
            if unbound()
                && let Err(fault) = told.and(write("bind"))
            {
                let _ = write("remove_id");
                return Err(fault);
            }
        }
        let driver = match to {
            Driver::Storage => DaxDriver::Storage,
            Driver::Memory => DaxDriver::Memory,
        };
        self.must_be(device, &driver, &format!("give {name} to {}", called(to)))
    }
    fn online_movable(&self, block: BlockId) -> Answer<()> {
        self.write(&self.host.block_state_path(block), "online_movable", Bytes(0))
    }
    fn offline(&self, block: BlockId, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<()> {
        let doing = format!("take block {block} offline");
        let question = format!("offline {block}");
        let Err(fault) = self.helpers.ask(&doing, &question, limit, stop) else {
            return Ok(());
        };
        // The helper may have been ended when it was done, and had not said so.
        match self.block(block)? {
            Some(MemoryBlock { state: BlockState::Offline, .. }) => Ok(()),
            _ => Err(fault),
        }
    }
    fn frames(&self, block: BlockId) -> Answer<FrameCounts> {
        let pages = self.block_size()?.unwrap_or_default().0 / 4096;
        let start = Pfn(block.0.saturating_mul(pages));
        self.host.frames(start, pages).map_err(fault("look what a block is used for"))
    }
    fn empty(
        &self,
        block: BlockId,
        at_most: Bytes,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<Bytes> {
        let doing = format!("move programs' pages off block {block}");
        let question = format!("empty {block} {} {}", at_most.0, limit.as_millis());
        let moved = self.helpers.ask(&doing, &question, limit + GRACE, stop)?;
        Ok(Bytes(moved.unwrap_or(0)))
    }
    fn free_dram(&self) -> Bytes {
        let nodes = self.host.nodes().unwrap_or_default();
        nodes.iter().filter(|node| !node.cpus.is_empty()).map(|it| self.available(it.id)).sum()
    }
    fn has_cpus(&self, node: NodeId) -> bool {
        let nodes = self.host.nodes().unwrap_or_default();
        nodes.iter().any(|it| it.id == node && !it.cpus.is_empty())
    }
    fn available(&self, node: NodeId) -> Bytes {
        if self.free_only { self.host.room(node).free } else { self.host.available(node) }
    }
    fn demotes(&self) -> bool {
        self.host.demotes() == Some(true)
    }
    fn free_blocks(&self, node: NodeId) -> FreeBlocks {
        let room = self.host.room(node);
        FreeBlocks { free: room.free, blocks: room.huge_blocks }
    }
    fn compact(&self, node: NodeId, limit: Duration) -> Answer<()> {
        let doing = format!("compact node {node}");
        let path = self.host.path(format!("sys/devices/system/node/node{node}/compact"));
        if !path.exists() {
            let why = "this kernel compacts nothing on request (CONFIG_COMPACTION)";
            return Err(Fault { doing, why: Why::Said(why.to_owned()) });
        }
        let words = ["write", &path.to_string_lossy(), "1"];
        self.helpers.helper().run(&doing, &words, Some(limit)).map(|_| ())
    }
    fn announce(&self, node: NodeId, bytes: Bytes) -> Answer<Leaving> {
        let (leaving, notice) = leaving::say(&self.host, node, bytes)?;
        self.announced.replace(Some(notice));
        Ok(leaving)
    }
    fn announced(&self) {
        self.announced.take();
    }
    fn heeding(&self) -> Vec<Heeding> {
        leaving::heeding(&self.host)
    }
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
    fn rest(&self, time: Duration) {
        thread::sleep(time);
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
