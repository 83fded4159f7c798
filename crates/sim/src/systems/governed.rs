//! Hint faults under governors, one for each tenant (Adaptive, sections 4.2 to 4.4): a tenant that is
//! stopped is not made to fault any more, and what still faults is not promoted. It is watched sparsely
//! until its governor has it migrate again. Demotion goes on for all.

use super::hint_promotion::{HintPromotion, PromotionRule};
use super::setup::{DecisionLog, Given, MovedBytes, TenantSetup};
use crate::engine::{Fault, System, World};
use crate::kernel::{SparseScanner, SparselySeen};
use pagetide_policy::{Change, Counters, Governor, GovernorSpec, Observation, Verdict};
use pagetide_types::Bytes;

/// Seconds between two questions to the governor of a tenant that migrates (`kevaluated`), and of one
/// that is stopped (`krestartd`): the option that says it, and how many if it has none.
const ASK_S: [(&str, f64); 2] = [("every", 2.0), ("watch", 5.0)];

/// See the module.
pub(super) struct Governed<R> {
    base: HintPromotion<R>,
    /// By number.
    tenants: Vec<Asked>,
    /// See [`ASK_S`].
    ask_s: [f64; 2],
    /// Times and memory are so many times smaller than those of the machine that is modelled.
    scale: f64,
}

/// A tenant, and what its governor was told last.
struct Asked {
    governor: Box<dyn Governor>,
    watch: SparseScanner,
    verdict: Verdict,
    /// When its memory was first seen, and when its governor was asked last, ns.
    begun_ns: Option<f64>,
    asked_ns: f64,
    moved: MovedBytes,
    /// Base pages that the scanner for hint faults had passed.
    passed: u64,
}

/// A base under the governor that the scenario names, or else its own one, if it has any.
pub(super) fn governed<R: PromotionRule + 'static>(
    given: &Given,
    base: HintPromotion<R>,
    own: GovernorSpec,
) -> Box<dyn System> {
    let governor = given.governor.clone().unwrap_or(own);
    if governor.info().name == GovernorSpec::default().info().name {
        Box::new(base)
    } else {
        Box::new(Governed::new(given, base, &governor))
    }
}

impl<R: PromotionRule> Governed<R> {
    fn new(given: &Given, base: HintPromotion<R>, governor: &GovernorSpec) -> Self {
        let (costs, scale) = (given.kernel(), given.period.scale);
        let asked = |(number, tenant): (usize, &TenantSetup)| Asked {
            governor: governor.build(),
            watch: SparseScanner::new(number, tenant.pages.clone(), scale, &costs),
            verdict: Verdict::default(),
            begun_ns: None,
            asked_ns: 0.0,
            moved: MovedBytes::default(),
            passed: 0,
        };
        let tenants = given.tenants.iter().enumerate().map(asked).collect();
        let ask_s = ASK_S.map(|(option, otherwise)| governor.option(option).unwrap_or(otherwise));
        Self { base, tenants, ask_s, scale }
    }

    /// Asks a tenant's governor; when next, ns.
    fn ask(&mut self, number: usize, now_ns: f64, world: &mut World) -> f64 {
        let Self { base, tenants, ask_s, scale } = self;
        let asked = &mut tenants[number];
        let stopped = asked.verdict == Verdict::StandStill;
        let passed = base.scanners[number].passed();
        let share = &base.memory.share(number).pages;
        let seen = if stopped {
            asked.watch.scan(now_ns, world)
        } else {
            // What hint faults say of accesses is the rule's; a governor learns how much was watched.
            let resident = world.pages.mapped_in(share.clone());
            let watched = (passed - asked.passed).min(resident);
            SparselySeen { watched, resident, ..SparselySeen::default() }
        };
        let every = |stopped: bool| now_ns + ask_s[usize::from(stopped)] * 1e9 / *scale;
        let moved = base.told.of(number, |moved| *moved);
        let begun_ns = match asked.begun_ns {
            Some(begun_ns) => begun_ns,
            None if seen.resident == 0 => return every(false),
            None => *asked.begun_ns.insert(now_ns),
        };
        let seconds = |ns: f64| ns * 1e-9 * *scale;
        let counters = Counters {
            now_s: seconds(now_ns - begun_ns),
            length_s: seconds(now_ns - asked.asked_ns),
            promoted: full(moved.promoted, *scale),
            demoted: full(moved.demoted, *scale),
            promoted_then_demoted: full(moved.promoted_then_demoted, *scale),
            watch: asked.verdict.watch(),
            resident: full(seen.resident * 4096, *scale),
            watched: full(seen.watched * 4096, *scale),
            accessed: full(seen.accessed * 4096, *scale),
            accessed_fast: full(seen.accessed_fast * 4096, *scale),
            ..Counters::default()
        };
        let before = std::mem::replace(&mut asked.verdict, asked.governor.judge(&counters));
        let turn = (asked.verdict != before).then(|| Change {
            process: 0,
            at_s: counters.now_s,
            verdict: asked.verdict,
            reason: asked.governor.reason(),
        });
        let fast = base.memory.share(number).fast * 4096;
        let log = DecisionLog { fast, turn, ..asked.log(number, now_ns, moved, seen) };
        base.told.with(|all| all.decisions.push(log));
        (asked.asked_ns, asked.moved, asked.passed) = (now_ns, moved, passed);
        let stands_still = asked.verdict == Verdict::StandStill;
        base.stopped[number] = stands_still || base.memory.share(number).capacity == 0;
        every(stands_still)
    }
}

impl Asked {
    /// What moved since it was asked last, and its governor's answer.
    fn log(
        &self,
        tenant: usize,
        now_ns: f64,
        moved: MovedBytes,
        seen: SparselySeen,
    ) -> DecisionLog {
        let choice = match self.verdict {
            Verdict::Migrate => "migrate",
            Verdict::StandStill => "stand-still",
        };
        let again = moved.promoted_then_demoted - self.moved.promoted_then_demoted;
        DecisionLog {
            tenant,
            at_s: now_ns * 1e-9,
            promote: moved.promoted - self.moved.promoted,
            demote: moved.demoted - self.moved.demoted,
            promoted_then_demoted: again,
            memory: seen.resident * 4096,
            accessed: seen.accessed * 4096,
            hits: seen.accessed_fast * 4096,
            observation: Some(Observation { choice: Some(choice), figures: Vec::new() }),
            ..DecisionLog::default()
        }
    }
}

/// Bytes of the machine that is modelled.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
fn full(bytes: u64, scale: f64) -> Bytes {
    Bytes((bytes as f64 * scale) as u64)
}

impl<R: PromotionRule> System for Governed<R> {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        self.base.fault(fault, world)
    }

    fn wait(&mut self, fault: Fault, world: &mut World) -> Option<f64> {
        self.base.wait(fault, world)
    }

    /// Those of the base, and one for each tenant that asks its governor.
    fn daemons(&self) -> usize {
        self.base.daemons() + self.tenants.len()
    }

    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        match daemon.checked_sub(self.base.daemons()) {
            None => self.base.wake(daemon, now_ns, world),
            Some(tenant) => self.ask(tenant, now_ns, world),
        }
    }
}
