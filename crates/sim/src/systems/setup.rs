//! What a system is made from, and what it tells afterwards.

use crate::engine::HUGE_PAGES;
use crate::kernel::{FirstTouch, Nodes, Share, Watermarks};
use crate::movers::MechanismChange;
use crate::trackers::{AccessedBits, EventSampling, Exact, HintFaults, SAMPLE_NS, Survey, Tracker};
use pagetide_machine::{Kernel, Machine};
use pagetide_policy::{Change, Decision, GovernorSpec, Observation, PolicySpec};
use pagetide_types::{Bytes, EpochHeat, HeatFlags};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Linux's default of `watermark_scale_factor`.
const WATERMARK_SCALE: u64 = 10;

/// A tenant, as a system sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TenantSetup {
    /// Its base pages.
    pub pages: Range<usize>,
    /// Fast memory that it may have.
    pub fast: Bytes,
}

impl TenantSetup {
    /// It may have no fast memory at all, also where tenants share it.
    pub(super) fn is_bound(&self) -> bool {
        self.fast.0 == 0
    }
}

/// All that a scenario says of a system.
#[derive(Clone, Debug)]
pub struct Given {
    /// The machine.
    pub machine: Machine,
    /// The tenants, by number.
    pub tenants: Vec<TenantSetup>,
    /// Memory comes in huge pages.
    pub huge_pages: bool,
    /// When it decides.
    pub period: Period,
    /// The policy of systems that let it be chosen.
    pub policy: Option<PolicySpec>,
    /// Whether pages move at all, of systems that can be governed; their own way if none.
    pub governor: Option<GovernorSpec>,
    /// How the scenario would have pages moved.
    pub mechanism: MechanismChange,
    /// What it would have them watched by.
    pub tracking: Option<Tracking>,
    /// What a sample of events takes, where they are sampled, ns.
    pub sample_ns: Option<f64>,
    /// Seconds of the program in which a move must have brought what it costs, of systems that ask for it.
    pub payback_s: Option<f64>,
    /// What may be promoted, MiB a second, where that is limited.
    pub promote_rate_limit: Option<f64>,
    /// Parts of each tenant's memory that a manual placement has fast, as shares of it.
    pub bind: Vec<(f64, f64)>,
    /// Where it tells what it did.
    pub told: Told,
}

/// How often a system decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// In simulated time, seconds.
    pub interval_s: f64,
    /// What policies are told that it is: simulated time times this.
    pub scale: f64,
}

/// What watches accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tracking {
    /// [`AccessedBits`].
    #[default]
    AccessedBits,
    /// [`HintFaults`] of all units in each interval.
    HintFaults,
    /// [`EventSampling`].
    EventSampling,
    /// [`Survey`].
    Survey,
    /// [`Exact`].
    Exact,
}

impl Tracking {
    pub(super) fn build(self, given: &Given, kernel: &Kernel) -> Box<dyn Tracker> {
        match self {
            Self::AccessedBits => Box::new(AccessedBits::new(kernel.scan_ns)),
            Self::HintFaults => Box::new(HintFaults::new(kernel.scan_ns)),
            Self::EventSampling => Box::new(given.event_sampling()),
            Self::Survey => {
                let Period { interval_s, scale } = given.period;
                Box::new(Survey::new(kernel, interval_s, scale))
            }
            Self::Exact => Box::new(Exact),
        }
    }
}

/// One decision of a system for one tenant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionLog {
    /// Which tenant.
    pub tenant: usize,
    /// When, in simulated time, seconds.
    pub at_s: f64,
    /// Bytes that were to go up and down.
    pub promote: u64,
    /// See [`Self::promote`].
    pub demote: u64,
    /// Bytes that went down since the decision before and had been promoted, where that is counted.
    pub promoted_then_demoted: u64,
    /// Bytes of its memory, of those accessed, of those fast, and of those both.
    pub memory: u64,
    /// See [`Self::memory`].
    pub accessed: u64,
    /// See [`Self::memory`].
    pub fast: u64,
    /// See [`Self::memory`].
    pub hits: u64,
    /// What the policy tells.
    pub observation: Option<Observation>,
    /// The governor stopped the tenant, or let it migrate again; sizes that it names are scaled.
    pub turn: Option<Change>,
}

impl DecisionLog {
    /// Of a decision on the heat of an interval: its bytes, and where they were. Whose and when is left
    /// open, and what was told.
    pub(super) fn of(heat: &EpochHeat, fast: &[bool], decision: &Decision) -> Self {
        let sum = |rows: &mut dyn Iterator<Item = usize>| rows.map(|row| heat.bytes(row).0).sum();
        let accessed = |row: &usize| heat.flags[*row].has(HeatFlags::ACCESSED);
        Self {
            promote: sum(&mut decision.chosen.promote.iter().copied()),
            demote: sum(&mut decision.chosen.demote.iter().copied()),
            memory: sum(&mut (0..heat.len())),
            accessed: sum(&mut (0..heat.len()).filter(accessed)),
            fast: sum(&mut (0..heat.len()).filter(|row| fast[*row])),
            hits: sum(&mut (0..heat.len()).filter(accessed).filter(|row| fast[*row])),
            ..Self::default()
        }
    }
}

/// Bytes that moved, by tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedBytes {
    /// To fast memory.
    pub promoted: u64,
    /// To slow memory.
    pub demoted: u64,
    /// Of those, what had been promoted before.
    pub promoted_then_demoted: u64,
}

/// What a system did, written while it runs, read afterwards.
#[derive(Clone, Debug, Default)]
pub struct Told(Arc<Mutex<Log>>);

/// See [`Told`].
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// All decisions, in order.
    pub decisions: Vec<DecisionLog>,
    /// By tenant.
    pub moved: Vec<MovedBytes>,
}

impl Told {
    /// Reads or writes the log.
    pub fn with<T>(&self, use_it: impl FnOnce(&mut Log) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(super) fn moved(&self, tenant: usize, bytes: u64, up: bool) {
        self.of(tenant, |moved| {
            *(if up { &mut moved.promoted } else { &mut moved.demoted }) += bytes;
        });
    }

    /// What of a tenant moved so far.
    pub(super) fn of<T>(&self, tenant: usize, use_it: impl FnOnce(&mut MovedBytes) -> T) -> T {
        self.with(|log| {
            if log.moved.len() <= tenant {
                log.moved.resize(tenant + 1, MovedBytes::default());
            }
            use_it(&mut log.moved[tenant])
        })
    }
}

impl Given {
    /// Base pages of all tenants, with what lies between them.
    pub(super) fn base_pages(&self) -> usize {
        self.tenants.iter().map(|tenant| tenant.pages.end).max().unwrap_or(0)
    }

    /// What the machine's kernel costs.
    pub(super) fn kernel(&self) -> Kernel {
        self.machine.kernel.clone().unwrap_or_default()
    }

    /// Sampling of events.
    pub(super) fn event_sampling(&self) -> EventSampling {
        EventSampling::new(self.sample_ns.unwrap_or(SAMPLE_NS), self.period.scale)
    }

    /// First touch by the tenants' limits, on a fast node that is as large as they need: what its tier holds
    /// is not less, else the scenario is refused.
    pub(super) fn first_touch(&self) -> FirstTouch {
        let pages = |bytes: Bytes| bytes.0 / 4096;
        let all: u64 = self.tenants.iter().map(|tenant| tenant.pages.len() as u64).sum();
        let limits: u64 = self
            .tenants
            .iter()
            .map(|tenant| pages(tenant.fast).min(tenant.pages.len() as u64))
            .sum();
        // Limits count what tenants have; what the node keeps free comes on top.
        let fast =
            (limits + Watermarks::of(2 * limits, 2 * limits + all, WATERMARK_SCALE).high + 1024)
                .max(1);
        let nodes = Nodes::new(&[fast, 2 * all + 1024], WATERMARK_SCALE);
        self.on(nodes, |tenant| pages(tenant.fast))
    }

    /// First touch on a fast node that is as large as all tenants may have together, and that all of
    /// them share: no limits, but the node's marks, which are those of the machine that is modelled, with room for twice
    /// what the tenants have. Who may have none is bound to the slow node, which is as large as its tier.
    pub(super) fn shared_node(&self) -> FirstTouch {
        let fast: u64 = self.tenants.iter().map(|tenant| tenant.fast.0 / 4096).sum();
        let fast = fast.max(1);
        let roomy =
            2 * self.tenants.iter().map(|tenant| tenant.pages.len() as u64).sum::<u64>() + 1024;
        let scale = self.period.scale;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages")]
        let full = |pages: u64| (pages as f64 * scale) as u64;
        let marks = |pages| {
            Watermarks::of(full(pages), full(fast + roomy), WATERMARK_SCALE).scaled_down(scale)
        };
        let slow = self.slow_pages(roomy, marks(fast).low + marks(roomy).low);
        let mut nodes = Nodes::new(&[fast, slow], WATERMARK_SCALE);
        nodes.set_marks(0, marks(fast));
        nodes.set_marks(1, marks(slow));
        self.on(nodes, |tenant| if tenant.is_bound() { 0 } else { u64::MAX })
    }

    /// Base pages of the slow node: as many as its tier holds, but no more than are plenty, and no fewer than first
    /// touch leaves for it, which stays above the marks.
    fn slow_pages(&self, plenty: u64, marks: u64) -> u64 {
        let left = |tenant: &TenantSetup| {
            let pages = tenant.pages.len() as u64;
            pages.saturating_sub(tenant.fast.0 / 4096)
        };
        let least = self.tenants.iter().map(left).sum::<u64>() + marks + HUGE_PAGES as u64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages")]
        let holds = |capacity: Bytes| (capacity.as_f64() / self.period.scale / 4096.0) as u64;
        self.machine.slow().capacity.map_or(plenty, |tier| holds(tier).max(least)).min(plenty)
    }

    fn on(&self, nodes: Nodes, capacity: impl Fn(&TenantSetup) -> u64) -> FirstTouch {
        let share = |tenant: &TenantSetup| Share {
            pages: tenant.pages.clone(),
            capacity: capacity(tenant),
            fast: 0,
            huge: self.huge_pages,
        };
        FirstTouch::new(nodes, self.tenants.iter().map(share).collect(), self.kernel())
    }
}
