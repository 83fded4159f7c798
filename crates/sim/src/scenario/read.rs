//! Reads a scenario from TOML. What is wrong is said with the file, the line and the nearest known key.

use super::error::{ScenarioError, hint};
use super::spec::{Input, Scenario, TenantSpec};
use pagetide_machine::{Machine, model};
use pagetide_types::Bytes;

/// The most threads that a scenario has.
pub(super) const MOST_THREADS: u32 = 4096;
/// The most memory, of all tenants, that is simulated: a byte for each page is kept.
pub(super) const MOST_MEMORY: u64 = 1 << 44;

/// A scenario from its text; `origin` names it in errors.
///
/// # Errors
/// Unknown and missing keys, values that make no sense, each in words.
pub fn parse(text: &str, origin: &str) -> Result<Scenario, ScenarioError> {
    let scenario: Scenario = toml::from_str(text).map_err(|source| ScenarioError::Syntax {
        origin: origin.to_owned(),
        hint: hint(source.message()),
        source: Box::new(source),
    })?;
    match problem(&scenario) {
        Some(problem) => Err(ScenarioError::Value { origin: origin.to_owned(), problem }),
        None => Ok(scenario),
    }
}

/// The machine that a scenario names or holds.
pub(super) fn machine(scenario: &Scenario, origin: &str) -> Result<Machine, ScenarioError> {
    let wrong = |source| ScenarioError::Machine { origin: origin.to_owned(), source };
    match &scenario.machine {
        toml::Value::String(name) => Machine::load(name).map_err(wrong),
        toml::Value::Table(table) => model::of_table(table, "the table").map_err(wrong),
        other => {
            let problem = format!("machine must be a name, a path or a table, not {other}");
            Err(ScenarioError::Value { origin: origin.to_owned(), problem })
        }
    }
}

/// The first value that makes no sense.
fn problem(scenario: &Scenario) -> Option<String> {
    let Scenario { scale, seconds, warm_up, tenants, system, .. } = scenario;
    let above = |key: &str, value: f64, least: f64, most: f64| {
        let right = value.is_finite() && value >= least && value <= most;
        (!right).then(|| format!("{key} must be a number from {least} to {most}, not {value}"))
    };
    above("scale", *scale, 1.0, 1e6)
        .or_else(|| above("seconds", *seconds, 1e-6, 3.2e8))
        .or_else(|| above("warm_up", *warm_up, 0.0, 3.2e8))
        .or_else(|| above("system.interval", system.interval, 1e-6, 3.2e8))
        .or_else(|| {
            (warm_up >= seconds)
                .then(|| format!("warm_up = {warm_up} leaves nothing of seconds = {seconds}"))
        })
        .or_else(|| tenants.is_empty().then(|| "there is no [[tenant]]; give one or more".into()))
        .or_else(|| {
            let limit = system.promote_rate_limit.unwrap_or(0.0);
            above("system.promote_rate_limit", limit, 0.0, 1e9)
        })
        .or_else(|| above("system.payback", system.payback.unwrap_or(0.0), 0.0, 3.2e8))
        .or_else(|| above("system.sample_ns", system.sample_ns.unwrap_or(0.0), 0.0, 1e9))
        .or_else(|| {
            (system.threads == Some(0))
                .then(|| "system.threads = 0: nobody copies; give 1 or more".into())
        })
        .or_else(|| {
            (system.name == "bind" && system.bind.is_empty()).then(|| {
                "system 'bind' has nothing to bind; give for example bind = [[0.0, 0.25]]".into()
            })
        })
        .or_else(|| twice(scenario))
        .or_else(|| {
            let wrong =
                system.bind.iter().find(|(from, to)| !(0.0 <= *from && from < to && *to <= 1.0));
            wrong.map(|(from, to)| {
                format!("system.bind: [{from}, {to}] is no part of a memory, as [0.0, 0.5] is")
            })
        })
        .or_else(|| {
            let threads: u64 =
                tenants.iter().map(|tenant| u64::from(tenant.threads.unwrap_or(1))).sum();
            let most = u64::from(MOST_THREADS);
            (threads > most).then(|| format!("{threads} threads; at most {most} are simulated"))
        })
        .or_else(|| {
            let memory = tenants.iter().filter_map(|tenant| tenant.memory);
            let memory = memory.map(|memory| u128::from(memory.0)).sum::<u128>();
            let scaled = memory as f64 / scale;
            (scaled > MOST_MEMORY as f64).then(|| {
                let most = Bytes(MOST_MEMORY);
                format!("the tenants' memory over scale is more than {most}; give a larger scale")
            })
        })
        .or_else(|| tenants.iter().enumerate().find_map(|(number, _)| tenant(scenario, number)))
}

/// Two tenants of one name.
fn twice(scenario: &Scenario) -> Option<String> {
    let names: Vec<String> =
        (0..scenario.tenants.len()).map(|number| scenario.name(number)).collect();
    let second = (1..names.len()).find(|at| names[..*at].contains(&names[*at]))?;
    Some(format!("two tenants are called '{}'; give each a name of its own", names[second]))
}

fn tenant(scenario: &Scenario, number: usize) -> Option<String> {
    let tenant = &scenario.tenants[number];
    let name = scenario.name(number);
    let said = |what: &str| Some(format!("tenant '{name}': {what}"));
    let right = |value: f64, most: f64| value.is_finite() && (0.0..=most).contains(&value);
    let wrong = match tenant.input() {
        None => Some("give a pattern or a stream, one of them"),
        Some(Input::Pattern(_)) => not_of_pattern(tenant),
        Some(Input::Stream(_)) => not_of_stream(tenant, scenario.scale),
    };
    if let Some(wrong) = wrong {
        return said(wrong);
    }
    if tenant.threads == Some(0) {
        return said("threads = 0: nobody touches the memory; give 1 or more");
    }
    if tenant.memory.is_some_and(|memory| memory.as_f64() / scenario.scale < 4096.0) {
        return said("memory over scale is less than a page; give more");
    }
    if tenant.fast.is_some() && tenant.fast_share.is_some() {
        return said("fast and fast_share say the same thing; give one of them");
    }
    if tenant.fast_share.is_some_and(|share| !right(share, 1.0)) {
        return said("fast_share must be from 0 to 1");
    }
    if !right(tenant.start, 3.2e8) || tenant.start >= scenario.seconds {
        return said("start must be 0 or above, and before the end of the scenario");
    }
    if !right(f64::from(tenant.instruction_ns.unwrap_or(0.0)), 1e6) {
        return said("instruction_ns must be from 0 to 1e6");
    }
    if !right(f64::from(tenant.compute_ns), 1e9) {
        return said("compute_ns must be from 0 to 1e9");
    }
    if tenant.accesses == Some(0) {
        return said(
            "accesses = 0: it would have ended before it starts; leave it out or give more",
        );
    }
    if tenant.barrier == Some(0) {
        return said("barrier = 0: nobody would get past it; leave it out or give accesses");
    }
    None
}

/// What a tenant with a pattern lacks, or has for nothing.
fn not_of_pattern(tenant: &TenantSpec) -> Option<&'static str> {
    match () {
        () if tenant.memory.is_none() => {
            Some("memory is missing; give for example memory = \"1G\"")
        }
        () if tenant.repeat.is_some() => {
            Some("repeat: a pattern has no end; only a stream begins again")
        }
        () if tenant.instruction_ns.is_some() => {
            Some("instruction_ns: a pattern counts no instructions; give compute_ns")
        }
        () => None,
    }
}

/// The same of one with a stream.
fn not_of_stream(tenant: &TenantSpec, scale: f64) -> Option<&'static str> {
    match () {
        () if tenant.threads.is_some() => Some("threads: a stream has its own; leave it out"),
        () if tenant.barrier.is_some() => {
            Some("barrier: a stream's threads do what they did; leave it out")
        }
        () if scale > 1.0 => {
            Some("a stream's memory cannot be scaled down; leave scale out, and give shorter times")
        }
        () => None,
    }
}

impl Scenario {
    /// What a tenant is called.
    #[must_use]
    pub fn name(&self, tenant: usize) -> String {
        match self.tenants[tenant].name.as_str() {
            "" => tenant.to_string(),
            name => name.to_owned(),
        }
    }
}
