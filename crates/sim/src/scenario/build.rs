//! Runs a scenario: lays the tenants' memory out, has it touched, starts their threads, and counts.

use super::check::{decides, fits, governs, sizes};
use super::error::ScenarioError;
use super::hardware::hardware;
use super::layout::{INSTRUCTION_NS, Laid, Layout, failed};
use super::outcome::{Outcome, TenantOutcome, Turn};
use super::read::machine;
use super::spec::Scenario;
use super::stream::Failure;
use crate::engine::{AnySource, Core, Engine, Pages, WalkProgram, World};
use crate::systems::{self, Given, Period, SystemInfo, Told};
use pagetide_machine::Machine;
use pagetide_policy::GovernorSpec;
use pagetide_types::Bytes;

/// Runs a scenario under its system, or under another one by name.
///
/// # Errors
/// Whatever of it makes no sense; `origin` names it.
pub fn run(
    scenario: &Scenario,
    system: Option<&str>,
    origin: &str,
) -> Result<Outcome, ScenarioError> {
    run_watched(scenario, system, origin, &mut |_| true)
}

/// The same, that tells again and again which share of it is done, and ends when the answer is false.
///
/// # Errors
/// As [`run`], and [`ScenarioError::Stopped`].
pub fn run_watched(
    scenario: &Scenario,
    system: Option<&str>,
    origin: &str,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Outcome, ScenarioError> {
    let machine = machine(scenario, origin)?;
    let name = system.unwrap_or(&scenario.system.name);
    let info = systems::find(name)
        .map_err(|source| ScenarioError::System { origin: origin.to_owned(), source })?;
    decides(scenario, info)
        .map_err(|problem| ScenarioError::Value { origin: origin.to_owned(), problem })?;
    let layout = Layout::of(scenario, origin)?;
    let laid = layout.tenants.iter().zip(&scenario.tenants).map(|(laid, tenant)| {
        let touched = Bytes((laid.setup.pages.len() as u64) << 12);
        sizes(tenant, tenant.memory.unwrap_or(touched))
    });
    fits(laid, &machine)
        .map_err(|problem| ScenarioError::Value { origin: origin.to_owned(), problem })?;
    let hardware = hardware(scenario, &machine, layout.bytes, origin)?;
    let policy = |source| ScenarioError::Policy { origin: origin.to_owned(), source };
    // Of another system than the scenario's own it says nothing, but to the one that has none.
    let meant = name == scenario.system.name || name == "policy";
    let named = scenario.system.policy.as_deref().filter(|_| meant);
    let given = Given {
        tenants: layout.tenants.iter().map(|tenant| tenant.setup.clone()).collect(),
        huge_pages: scenario.huge_pages,
        period: Period {
            interval_s: scenario.system.interval / scenario.scale,
            scale: scenario.scale,
        },
        policy: named.map(str::parse).transpose().map_err(policy)?,
        governor: governor(scenario, meant, info, origin)?,
        mechanism: scenario.system.mechanism(),
        tracking: scenario.system.tracker,
        payback_s: scenario.system.payback.filter(|_| meant),
        sample_ns: scenario.system.sample_ns,
        promote_rate_limit: scenario.system.promote_rate_limit,
        bind: scenario.system.bind.clone(),
        told: Told::default(),
        machine: machine.clone(),
    };
    let system = (info.build)(&given).map_err(policy)?;
    let world = World::new(&machine, Pages::absent(layout.bytes)).behind(hardware).with(system);
    let mut running = Running { scenario, engine: Engine::new(world), actors: Vec::new() };
    let spare = scenario.spare_cores.unwrap_or_else(|| spare(&layout, &machine));
    running.engine.world().cores.set_spare(spare as usize);
    running.engine.world().cores.set_scale(scenario.scale);
    let core = machine.core.clone().unwrap_or_default();
    let core = Core {
        outstanding: core.outstanding,
        reorder: core.reorder,
        issue_ns: core.issue_ns,
        ahead_ns: f64::from(core.instructions) * f64::from(INSTRUCTION_NS),
    };
    let (all_ns, mut stopped) = (scenario.seconds / scenario.scale * 1e9, false);
    running.engine.watch(|now_ns| {
        stopped |= !watch((now_ns / all_ns).min(1.0));
        !stopped
    });
    let failures: Vec<_> = layout.tenants.iter().map(|tenant| tenant.failure.clone()).collect();
    let outcome = running.finish(layout, core, name, &given.told);
    if stopped {
        return Err(ScenarioError::Stopped);
    }
    let failure = |(number, failure): (usize, Option<Failure>)| Some((number, failure?.take()?));
    match failures.into_iter().enumerate().find_map(failure) {
        Some((number, problem)) => Err(failed(scenario, number, problem, origin)),
        None => Ok(outcome),
    }
}

/// The governor of the scenario's own system; none for another one.
fn governor(
    scenario: &Scenario,
    meant: bool,
    info: &SystemInfo,
    origin: &str,
) -> Result<Option<GovernorSpec>, ScenarioError> {
    let named = scenario.system.governor.as_deref().filter(|_| meant);
    let wrong = |source| ScenarioError::Governor { origin: origin.to_owned(), source };
    let governor = named.map(|text| text.parse().map_err(wrong)).transpose()?;
    if let Some(governor) = &governor {
        governs(governor, info)
            .map_err(|problem| ScenarioError::Value { origin: origin.to_owned(), problem })?;
    }
    Ok(governor)
}

/// Cores that no thread of a program has.
fn spare(layout: &Layout, machine: &Machine) -> u32 {
    let threads = u32::try_from(layout.threads()).unwrap_or(u32::MAX);
    machine.core.clone().unwrap_or_default().count.saturating_sub(threads)
}

struct Running<'s> {
    scenario: &'s Scenario,
    engine: Engine<'s>,
    /// By tenant, the numbers of its threads.
    actors: Vec<Vec<usize>>,
}

impl Running<'_> {
    fn finish(mut self, layout: Layout, core: Core, name: &str, told: &Told) -> Outcome {
        let scenario = self.scenario;
        let ns = |seconds: f64| seconds / scenario.scale * 1e9;
        let count = layout.tenants.len();
        self.actors = vec![Vec::new(); count];
        let mut waiting: Vec<(usize, Laid)> = layout.tenants.into_iter().enumerate().collect();
        waiting.sort_by(|a, b| scenario.tenants[a.0].start.total_cmp(&scenario.tenants[b.0].start));
        let mut before = None;
        for (number, laid) in waiting {
            let start = scenario.tenants[number].start;
            if start > scenario.warm_up && before.is_none() {
                self.engine.run(ns(scenario.warm_up));
                before = Some(self.counted(count));
            }
            self.engine.run(ns(start));
            self.start(number, laid, core, ns(start));
        }
        if before.is_none() {
            self.engine.run(ns(scenario.warm_up));
        }
        let before = before.unwrap_or_else(|| self.counted(count));
        self.engine.run(ns(scenario.seconds));
        let after = self.counted(count);
        self.outcome(name, &before, &after, told)
    }

    /// Touches a tenant's memory if it is to be there, and starts its threads.
    fn start(&mut self, number: usize, laid: Laid, core: Core, start_ns: f64) {
        let tenant = &self.scenario.tenants[number];
        let base = laid.setup.pages.start;
        for page in laid.populated {
            self.engine.world().first_touch(number, base + page);
        }
        if let Some(barrier) = tenant.barrier {
            let every = (barrier as f64 / self.scenario.scale).round();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            self.engine.world().meet(number, every as u64);
        }
        let threads = laid.threads.len().max(1) as u64;
        let each = tenant.accesses.map_or(u64::MAX, |all| all.div_ceil(threads));
        for thread in laid.threads {
            let (source, ns) = (AnySource(thread.source), laid.instruction_ns);
            let start_ns = start_ns + thread.begins_s * 1e9;
            let program = WalkProgram::new(source, each, (base as u64) << 12, ns)
                .computing(tenant.compute_ns)
                .with_clock(start_ns, self.scenario.scale);
            self.actors[number].push(self.engine.thread(program, number, core, start_ns));
        }
    }

    fn counted(&mut self, tenants: usize) -> Counted {
        let world = self.engine.world();
        Counted {
            served: (0..tenants).map(|tenant| world.served(tenant)).collect(),
            hits: (0..tenants).map(|tenant| world.hits(tenant)).collect(),
            kernel_ns: world.cores.kernel_ns(),
            stolen_ns: world.cores.stolen_ns(),
            busy_ns: world.memory.iter().map(crate::engine::Channel::busy_ns).collect(),
        }
    }

    fn outcome(self, name: &str, before: &Counted, after: &Counted, told: &Told) -> Outcome {
        let scenario = self.scenario;
        let ended = |actors: &Vec<usize>| actors.iter().all(|actor| self.engine.ended(*actor));
        let end_of = |actors: &Vec<usize>| {
            actors.iter().map(|actor| self.engine.clock_ns(*actor)).fold(0.0, f64::max)
        };
        let all_ended = self.actors.iter().all(ended);
        let last = self.actors.iter().map(end_of).fold(0.0, f64::max) * 1e-9 * scenario.scale;
        let end = if all_ended { last } else { scenario.seconds };
        let seconds = (end - scenario.warm_up).max(1e-9);
        let (moved, decisions) = told.with(|log| (log.moved.clone(), log.decisions.clone()));
        let tenant = |number: usize| {
            let spec = &scenario.tenants[number];
            let ended = ended(&self.actors[number]);
            let of = end_of(&self.actors[number]) * 1e-9 * scenario.scale;
            let from = spec.start.max(scenario.warm_up);
            let time = (if ended { of } else { end } - from).max(1e-9);
            let served: Vec<u64> = (0..4)
                .map(|tier| after.served[number][tier] - before.served[number][tier])
                .collect();
            let misses: u64 = served.iter().sum();
            let accesses = misses + after.hits[number] - before.hits[number];
            let per_s = accesses as f64 / (time / scenario.scale);
            let moved = moved.get(number).copied().unwrap_or_default().unscaled(scenario.scale);
            TenantOutcome {
                name: scenario.name(number),
                accesses,
                accesses_per_s: per_s,
                ns_per_access: (accesses > 0)
                    .then(|| self.actors[number].len() as f64 / per_s * 1e9),
                fast_share: served[0] as f64 / misses.max(1) as f64,
                promoted: moved.promoted,
                demoted: moved.demoted,
                ended_s: ended.then_some(of - spec.start),
                turns: decisions
                    .iter()
                    .filter(|log| log.tenant == number)
                    .filter_map(|log| Turn::of(log, scenario.scale))
                    .collect(),
            }
        };
        let counted_ns = seconds / scenario.scale * 1e9;
        Outcome {
            system: name.to_owned(),
            seconds,
            tenants: (0..scenario.tenants.len()).map(tenant).collect(),
            kernel_cores: (after.kernel_ns - before.kernel_ns) / counted_ns,
            stolen_cores: (after.stolen_ns - before.stolen_ns) / counted_ns,
            busy: after
                .busy_ns
                .iter()
                .zip(&before.busy_ns)
                .map(|(a, b)| (a - b) / counted_ns)
                .collect(),
            decisions,
            simulated: after.served.iter().flatten().chain(&after.hits).sum(),
        }
    }
}

/// What was counted so far.
struct Counted {
    served: Vec<[u64; 4]>,
    hits: Vec<u64>,
    kernel_ns: f64,
    stolen_ns: f64,
    busy_ns: Vec<f64>,
}
