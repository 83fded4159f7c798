//! A process on a simulated machine of two tiers, and the tracker that sees it.

use pagetide_host::Host;
use pagetide_manager::{Amount, Budget, EpochLine, Manager, Settings, Tiers, Tracker, Watched};
use pagetide_migrate::{Mover, Options, SimPage, SimulatedKernel};
use pagetide_policy::{GovernorSpec, Governors};
use pagetide_scan::{Meanwhile, Place, Range, ScanError};
use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{
    Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, MayBring, NodeId, Pid, UnitId, VirtAddr,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const FAST: NodeId = NodeId(0);
pub(crate) const SLOW: NodeId = NodeId(1);
pub(crate) const PID: Pid = Pid(42);
const HUGE: u64 = 2 << 20;

/// A unit of that rate is not watched.
pub(crate) const UNWATCHED: f32 = -1.0;

/// What a unit of 2 MiB is, and how hot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) rate: f32,
    pub(crate) page: SimPage,
}

/// A unit on a node.
pub(crate) fn unit(rate: f32, node: NodeId) -> Unit {
    Unit { rate, page: SimPage::on(node) }
}

/// Sees the rates as they are, and where the pages lie on the kernel.
pub(crate) struct Truth {
    kernel: Arc<SimulatedKernel>,
    pub(crate) rates: Vec<f32>,
    pub(crate) epochs: u32,
    pub(crate) length_s: f64,
    /// Between two epochs.
    pub(crate) gap_s: f64,
    /// Cores that the process keeps busy.
    pub(crate) cores: f64,
    /// How often it was told that pages had moved.
    pub(crate) told: u32,
    /// How often it was told that the target has changed.
    pub(crate) changed: u32,
    pub(crate) hurried: u32,
    /// What it was told that deciding took last.
    pub(crate) decided: Duration,
    /// What it was told that the best placement would bring.
    pub(crate) may_bring: Option<MayBring>,
    /// The next epoch sees the target change.
    pub(crate) changes: bool,
    /// For so long pages may move in each of its epochs.
    pub(crate) lasts: Duration,
    /// What it was told of whom to watch sparsely, epoch by epoch.
    pub(crate) sparse: Vec<Vec<Pid>>,
    /// Whether only units of even numbers have rows, as was asked for.
    pub(crate) glances: bool,
}

impl Tracker for Truth {
    fn epoch(
        &mut self,
        _: &dyn Fn() -> bool,
        moved: bool,
        meanwhile: &mut dyn Meanwhile,
    ) -> Result<Watched, ScanError> {
        self.told += u32::from(moved);
        let mut heat = EpochHeat::new(EpochId(self.epochs));
        let (mut places, mut resident) = (Vec::new(), Bytes(0));
        for (number, rate) in (0u32..).zip(&self.rates) {
            let start = u64::from(number) * HUGE;
            let mut nodes = BTreeMap::new();
            for page in (start..start + HUGE).step_by(4096) {
                if let Some(node) = self.kernel.at(PID, VirtAddr(page)) {
                    *nodes.entry(node).or_insert(0) += 1;
                }
            }
            let Some((&node, _)) = nodes.iter().max_by_key(|(_, pages)| **pages) else { continue };
            resident += Bytes(HUGE);
            if self.glances && number % 2 == 1 {
                continue;
            }
            // One that lies on both nodes is of base pages.
            let huge = nodes.len() == 1;
            let seen = match *rate {
                UNWATCHED => HeatFlags::default(),
                0.0 => HeatFlags::SAMPLED | HeatFlags::UNSEEN,
                _ => HeatFlags::SAMPLED | HeatFlags::ACCESSED,
            };
            heat.push(HeatRow {
                unit: UnitId(number),
                rate: rate.max(0.0),
                flags: if huge { HeatFlags::HUGE | seen } else { seen },
                pages: 512,
                watched: 512,
                touched: 512,
                node,
            });
            let range = Range { start, end: start + HUGE };
            places.push(Place::new(UnitId(number), PID, range, huge, nodes));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a few")]
        let cores = self.cores as f32;
        heat.cores = cores;
        meanwhile.begin();
        std::thread::sleep(self.lasts);
        let epoch = Epoch {
            epoch: EpochId(self.epochs),
            start_s: f64::from(self.epochs) * (self.length_s + self.gap_s),
            length_s: self.length_s,
            watched_share: 1.0,
            ..Epoch::default()
        };
        self.epochs += 1;
        let record = EpochRecord { epoch, heat, ..EpochRecord::default() };
        let changed = std::mem::take(&mut self.changes);
        let glance = self.glances.then_some(resident);
        Ok(Watched { record: Some(record), places, glance, changed, end: None })
    }

    fn cpu(&self, process: Pid) -> Option<Duration> {
        let passed_s = f64::from(self.epochs) * (self.length_s + self.gap_s);
        (process == PID).then(|| Duration::from_secs_f64(passed_s * self.cores))
    }

    fn may_bring(&mut self, may_bring: Option<MayBring>) {
        self.may_bring = may_bring;
    }

    fn decided(&mut self, cpu: Duration) {
        self.decided = cpu;
    }

    fn hurry(&mut self) {
        self.hurried += 1;
    }

    fn changed(&mut self) {
        self.changed += 1;
    }

    fn watch_sparsely(&mut self, processes: &[Pid], share: f64) {
        assert!(processes.is_empty() || share == 0.1);
        self.sparse.push(processes.to_vec());
    }

    fn glances(&mut self, glances: bool) {
        self.glances = glances;
    }
}

/// Two nodes with so many huge pages, as sysfs shows them.
pub(crate) fn tiers(fast: u64, slow: u64) -> Tiers {
    Tiers::read(&Host::new(machine(fast, slow).path()), &[], &[]).unwrap()
}

/// Their files.
pub(crate) fn machine(fast: u64, slow: u64) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: String| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let nodes = "sys/devices/system/node";
    write(&format!("{nodes}/online"), "0-1\n".into());
    for (node, pages, cpus) in [(0, fast, "0\n"), (1, slow, "\n")] {
        let dir = format!("{nodes}/node{node}");
        write(&format!("{dir}/meminfo"), format!("Node {node} MemTotal: {} kB\n", pages * 2048));
        write(&format!("{dir}/cpulist"), cpus.into());
        write(&format!("{dir}/distance"), if node == 0 { "10 20\n" } else { "20 10\n" }.into());
    }
    root
}

/// All that is free but 16 MiB.
pub(crate) const EVERYTHING: Budget = Budget {
    fast: None,
    reserve: Some(Amount::Bytes(Bytes::mib(16))),
    rate: None,
    batch: None,
    keep_page_cache: false,
};

/// Rates as they are seen, at once.
pub(crate) fn settings(budget: Budget) -> Settings {
    Settings {
        policy: "rate:steps=256,interval=0".parse().unwrap(),
        budget,
        cost_benefit: None,
        dry_run: false,
        target: "test".into(),
    }
}

/// A process of these units, and its manager.
pub(crate) struct World {
    pub(crate) kernel: Arc<SimulatedKernel>,
    pub(crate) manager: Manager<Truth, Arc<SimulatedKernel>>,
}

impl World {
    /// `fast` and `slow`: huge pages of the nodes.
    pub(crate) fn new(fast: u64, slow: u64, units: &[Unit], settings: Settings) -> Self {
        Self::governed(fast, slow, units, settings, (&GovernorSpec::default()).into())
    }

    pub(crate) fn governed(
        fast: u64,
        slow: u64,
        units: &[Unit],
        settings: Settings,
        governors: Governors,
    ) -> Self {
        let kernel = Arc::new(SimulatedKernel::two_tiers(fast * 512, slow * 512));
        for (number, unit) in (0..).zip(units) {
            let (start, end) = (VirtAddr(number * HUGE), VirtAddr((number + 1) * HUGE));
            kernel.map(PID, start, end, true, unit.page);
        }
        let rates = units.iter().map(|unit| unit.rate).collect();
        let tracker = Truth {
            kernel: Arc::clone(&kernel),
            rates,
            epochs: 0,
            length_s: 1.0,
            gap_s: 0.0,
            cores: 0.0,
            told: 0,
            changed: 0,
            hurried: 0,
            decided: Duration::ZERO,
            may_bring: None,
            changes: false,
            lasts: Duration::ZERO,
            sparse: vec![],
            glances: false,
        };
        let mover = Mover::new(Arc::clone(&kernel), Options::default());
        let manager = Manager::new(tracker, mover, tiers(fast, slow), governors, settings);
        Self { kernel, manager }
    }

    /// One epoch, which takes no time: hardly anything moves in it, but after it.
    pub(crate) fn epoch(&mut self) -> EpochLine {
        self.manager.epoch(&|| false).unwrap().0.unwrap()
    }

    /// Which units are in fast memory.
    pub(crate) fn fast(&self) -> Vec<u64> {
        let here = |number: &u64| self.kernel.at(PID, VirtAddr(number * HUGE)) == Some(FAST);
        (0..64).filter(here).collect()
    }

    /// Free memory of the fast node.
    pub(crate) fn free(&self) -> Bytes {
        Bytes(self.kernel.free(FAST).0 << 12)
    }
}

/// Sixteen cold units in fast memory, sixteen hot ones in slow memory.
pub(crate) fn upside_down() -> Vec<Unit> {
    let cold = (0..16).map(|_| unit(1.0, FAST));
    cold.chain((0..16).map(|_| unit(1000.0, SLOW))).collect()
}
