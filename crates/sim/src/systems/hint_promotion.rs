//! Promotion by hint faults, as Linux has it in several variants: a scanner has pages of the slow node
//! fault, a rule says at the fault whether the page goes up, and it does so inside the fault; `kswapd`
//! demotes from the inactive list's tail of the fast node, which all tenants share.

use super::setup::{Given, TenantSetup, Told};
use crate::engine::{Fault, HUGE_PAGES, System, World};
use crate::kernel::{
    Attempt, Demoted, FirstTouch, HintFaultCounts, HintScanner, Kind, Kswapd, Lru, Nodes, Rules,
    ScanPeriod,
};
use crate::movers::InFaultMover;
use pagetide_machine::Kernel;
use std::collections::BTreeMap;
use std::ops::Range;

/// Base pages of a scan (`numa_balancing_scan_size_mb`), and how long a walk of all memory takes at the
/// shortest and at the longest, seconds (`numa_balancing_scan_period_min_ms`, `_max_ms`).
const SCAN_PAGES: f64 = 65_536.0;
const SCAN_PERIOD_S: (f64, f64) = (1.0, 60.0);
/// The fast node.
const FAST: usize = 0;

/// A hint fault on a page of the slow node.
pub(super) struct HintFault {
    /// Which fault it was.
    pub(super) fault: Fault,
    /// What the entry maps.
    pub(super) pages: Range<usize>,
    /// How long after its marking, ns.
    pub(super) latency_ns: f64,
}

/// What the variants differ in.
pub(super) trait PromotionRule: Send {
    /// Whether the page goes up, if there is room for it (`should_numa_migrate_memory`).
    fn should_migrate(
        &mut self,
        hint: &HintFault,
        lru: &mut Lru,
        nodes: &Nodes,
        world: &World,
    ) -> bool;

    /// As what the fault counts for the period of the scans (`task_numa_fault`).
    fn counted(&mut self, hint: &HintFault, attempt: Attempt) -> HintFaultCounts;

    /// Base pages that one entry maps came to the slow node. They were demoted, and may be made to
    /// fault at the next access; or are new, or of a tenant that is stopped, and may not.
    fn arrived(&mut self, pages: Range<usize>, may_fault: bool, world: &mut World) {
        let _ = (pages, may_fault, world);
    }
}

/// See the module.
pub(super) struct HintPromotion<R> {
    pub(super) memory: FirstTouch,
    pub(super) lru: Lru,
    pub(super) kswapd: Kswapd,
    in_fault: InFaultMover,
    /// By first page of what goes up in faults, the list that it was on.
    isolated: BTreeMap<usize, Kind>,
    /// By tenant.
    pub(super) scanners: Vec<HintScanner>,
    /// By tenant: nothing of it is promoted, and it does not fault for that.
    pub(super) stopped: Vec<bool>,
    /// By base page, whether it was promoted (`PagePromoted` of Adaptive, section 4.2).
    promoted: Vec<bool>,
    pub(super) rule: R,
    costs: Kernel,
    pub(super) told: Told,
    /// How often the scanner of a stopped tenant looks whether it is one still, ns.
    look_ns: f64,
}

impl<R: PromotionRule> HintPromotion<R> {
    /// On a node with these marks.
    pub(super) fn new(given: &Given, memory: FirstTouch, rule: R) -> Self {
        let (costs, scale) = (given.kernel(), given.period.scale);
        let mechanism = given.mechanism.of(Kswapd::TOGETHER);
        Self {
            memory,
            lru: Lru::new(2, given.base_pages(), Rules::InactiveFirst, scale),
            kswapd: Kswapd::new(given.tenants.len(), mechanism, &costs).scaled(scale),
            in_fault: InFaultMover::new(&costs).scaled(scale),
            isolated: BTreeMap::new(),
            scanners: scanners(given),
            stopped: given.tenants.iter().map(TenantSetup::is_bound).collect(),
            promoted: vec![false; given.base_pages()],
            rule,
            costs,
            told: given.told.clone(),
            look_ns: 0.1e9 / scale,
        }
    }

    fn hint_fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        let done = fault.now_ns + self.costs.hint_fault_us * 1e3;
        let pages = world.pages.mapped_with(fault.page);
        if world.pages.tier(pages.start) == FAST || self.stopped[fault.tenant] {
            return done;
        }
        let latency_ns = self.scanners[fault.tenant].latency_ns(pages.start, fault.now_ns, world);
        let hint = HintFault { fault, pages, latency_ns };
        let hot = self.rule.should_migrate(&hint, &mut self.lru, self.memory.nodes(), world);
        let attempt = match hot {
            true if self.promote(&hint, world) => Attempt::Migrated,
            true => Attempt::Failed,
            false => Attempt::None,
        };
        self.scanners[fault.tenant].count(self.rule.counted(&hint, attempt));
        done
    }

    /// The thread begins to move the page up, if there is room (`migrate_misplaced_folio`); whether
    /// it does. The page has its new frame from now on.
    fn promote(&mut self, hint: &HintFault, world: &mut World) -> bool {
        let (fault, pages) = (&hint.fault, hint.pages.clone());
        let count = pages.len() as u64;
        if !self.memory.nodes().migrate_balanced(FAST, count) {
            self.kswapd.wake_up(count);
            return false;
        }
        let Some(kind) = self.lru.isolate(pages.start) else { return false };
        self.isolated.insert(pages.start, kind);
        self.memory.moved(fault.tenant, count, true);
        self.in_fault.begin(fault, pages, world);
        true
    }

    /// A page that a fault moved is in its place.
    fn arrived(&mut self, tenant: usize, pages: Range<usize>, world: &World) {
        if let Some(kind) = self.isolated.remove(&pages.start) {
            self.lru.add(pages.start, kind, world);
        }
        self.went_up(tenant, pages);
    }

    /// Takes note of a page that was promoted.
    pub(super) fn went_up(&mut self, tenant: usize, pages: Range<usize>) {
        self.told.moved(tenant, pages.len() as u64 * 4096, true);
        self.promoted[pages].fill(true);
    }

    /// Demotes; when it goes on, ns.
    fn reclaim(&mut self, now_ns: f64, world: &mut World) -> f64 {
        let Self { memory, lru, kswapd, rule, stopped, promoted, told, .. } = self;
        let next = kswapd.wake(now_ns, memory, lru, world);
        for Demoted { tenant, pages } in kswapd.take_demoted() {
            let again = promoted[pages.clone()].iter().filter(|promoted| **promoted).count();
            promoted[pages.clone()].fill(false);
            told.of(tenant, |moved| {
                moved.demoted += pages.len() as u64 * 4096;
                moved.promoted_then_demoted += again as u64 * 4096;
            });
            rule.arrived(pages, !stopped[tenant], world);
        }
        next
    }
}

impl<R: PromotionRule> System for HintPromotion<R> {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        if !fault.absent() {
            return self.hint_fault(fault, world);
        }
        let done = self.memory.map(&fault, world);
        self.lru.add_new(fault.page, world);
        if world.pages.tier(fault.page) != FAST {
            self.rule.arrived(world.pages.mapped_with(fault.page), false, world);
        }
        done
    }

    fn wait(&mut self, fault: Fault, world: &mut World) -> Option<f64> {
        if self.in_fault.moves(fault.page) {
            let again = self.in_fault.wait(&fault, world);
            if let Some(pages) = self.in_fault.take_moved() {
                self.arrived(fault.tenant, pages, world);
            }
            return again;
        }
        self.kswapd.blocks(fault.page, fault.core, fault.now_ns)
    }

    /// `kswapd`, and a scanner for each tenant.
    fn daemons(&self) -> usize {
        1 + self.scanners.len()
    }

    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        match daemon.checked_sub(1) {
            None => self.reclaim(now_ns, world),
            Some(tenant) if self.stopped[tenant] => now_ns + self.look_ns,
            Some(tenant) => self.scanners[tenant].wake(now_ns, world),
        }
    }
}

/// One for each tenant, that has pages of slow nodes fault.
pub(super) fn scanners(given: &Given) -> Vec<HintScanner> {
    let (costs, scale) = (given.kernel(), given.period.scale);
    // A scan ends with a block of the page tables, however much time and memory are scaled down.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages")]
    let size = ((SCAN_PAGES / scale) as usize).max(HUGE_PAGES);
    let period = ScanPeriod::between(SCAN_PERIOD_S.0 * 1e9 / scale, SCAN_PERIOD_S.1 * 1e9 / scale);
    let of = |(number, tenant): (usize, &TenantSetup)| {
        HintScanner::new(number, tenant.pages.clone(), &[1, 2, 3], &costs)
            .with_size(size)
            .with_period(period)
    };
    given.tenants.iter().enumerate().map(of).collect()
}
