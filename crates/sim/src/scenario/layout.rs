//! Lays the tenants' memory out, and makes their programs: patterns, and streams that are read once
//! beforehand.

use super::error::ScenarioError;
use super::pattern::PatternSpec;
use super::read::MOST_MEMORY;
use super::spec::{Input, Scenario, TenantSpec};
use super::stream::{Failure, StreamProblem, Streamed, Thread, Wanted};
use crate::engine::{HUGE_PAGES, Pages};
use crate::systems::TenantSetup;
use pagetide_access::patterns::Setup;
use pagetide_types::Bytes;
use std::path::Path;

/// What an instruction of a stream takes, ns [I]: four in a nanosecond, as a core does that computes.
pub(crate) const INSTRUCTION_NS: f32 = 0.25;

/// Where each tenant's memory is, and what it runs.
pub(super) struct Layout {
    pub(super) tenants: Vec<Laid>,
    pub(super) bytes: u64,
}

/// A tenant.
pub(super) struct Laid {
    pub(super) setup: TenantSetup,
    pub(super) threads: Vec<Thread>,
    /// Base pages, in the order in which they are touched before it starts; some come twice.
    pub(super) populated: Box<dyn Iterator<Item = usize>>,
    /// What an instruction takes, ns.
    pub(super) instruction_ns: f32,
    /// Of a stream, where it says what went wrong while it ran.
    pub(super) failure: Option<Failure>,
}

impl Layout {
    pub(super) fn of(scenario: &Scenario, origin: &str) -> Result<Self, ScenarioError> {
        let mut first = 0;
        let mut tenants = Vec::new();
        for (number, tenant) in scenario.tenants.iter().enumerate() {
            let laid = match tenant.input() {
                Some(Input::Pattern(spec)) => pattern(scenario, number, (first, spec), origin)?,
                Some(Input::Stream(path)) => stream(scenario, number, (first, path), origin)?,
                // Refused when it was read.
                None => continue,
            };
            first += laid.setup.pages.len().next_multiple_of(HUGE_PAGES);
            tenants.push(laid);
        }
        let bytes = (first as u64) << 12;
        // Every tenant's is rounded up to whole blocks.
        if bytes > MOST_MEMORY + ((tenants.len() as u64) << 21) {
            let most = Bytes(MOST_MEMORY);
            let problem = format!("the tenants' memory is more than {most}");
            return Err(ScenarioError::Value { origin: origin.to_owned(), problem });
        }
        Ok(Self { tenants, bytes })
    }

    /// All threads of all tenants.
    pub(super) fn threads(&self) -> usize {
        self.tenants.iter().map(|tenant| tenant.threads.len()).sum()
    }
}

/// A tenant with a pattern, whose memory begins at a page.
fn pattern(
    scenario: &Scenario,
    number: usize,
    (first, pattern): (usize, &PatternSpec),
    origin: &str,
) -> Result<Laid, ScenarioError> {
    let tenant = &scenario.tenants[number];
    let size = scaled(tenant.memory.unwrap_or_default(), scenario.scale);
    let threads = tenant.threads.unwrap_or(1);
    let setup = Setup::new(size, threads, scenario.seed + number as u64);
    let built = setup.and_then(|setup| pattern.build(&setup)).map_err(|source| {
        let (origin, tenant) = (origin.to_owned(), scenario.name(number));
        ScenarioError::Pattern { origin, tenant, source }
    })?;
    let pages = usize::try_from(size.0.div_ceil(4096)).unwrap_or(usize::MAX);
    let thread = |source| Thread { source, begins_s: 0.0 };
    Ok(Laid {
        setup: TenantSetup {
            pages: first..first + pages,
            fast: fast(tenant, size, scenario.scale),
        },
        threads: built.sources.into_iter().map(thread).collect(),
        populated: if tenant.populate.unwrap_or(true) {
            Box::new(built.first_touch.into_iter().map(Pages::page).chain(0..pages))
        } else {
            Box::new(std::iter::empty())
        },
        instruction_ns: 0.0,
        failure: None,
    })
}

/// A tenant with a stream.
fn stream(
    scenario: &Scenario,
    number: usize,
    (first, path): (usize, &Path),
    origin: &str,
) -> Result<Laid, ScenarioError> {
    let tenant = &scenario.tenants[number];
    let wanted = Wanted { huge: scenario.huge_pages, repeat: tenant.repeat };
    let streamed = Streamed::open(path, wanted);
    let streamed = streamed.map_err(|source| failed(scenario, number, source, origin))?;
    let touched = Bytes(streamed.pages << 12);
    let size = tenant.memory.unwrap_or(touched);
    if size < touched {
        let name = scenario.name(number);
        let problem = format!(
            "tenant '{name}': memory is {size}, and its stream touches {touched}; leave it out"
        );
        return Err(ScenarioError::Value { origin: origin.to_owned(), problem });
    }
    let pages = usize::try_from(streamed.pages).unwrap_or(usize::MAX);
    Ok(Laid {
        setup: TenantSetup { pages: first..first + pages, fast: fast(tenant, size, 1.0) },
        threads: streamed.threads,
        populated: Box::new(0..if tenant.populate.unwrap_or(false) { pages } else { 0 }),
        instruction_ns: tenant.instruction_ns.unwrap_or(INSTRUCTION_NS),
        failure: Some(streamed.failure),
    })
}

/// What a tenant's stream cannot do.
pub(super) fn failed(
    scenario: &Scenario,
    number: usize,
    source: StreamProblem,
    origin: &str,
) -> ScenarioError {
    let path = scenario.tenants[number].stream.clone().unwrap_or_default();
    ScenarioError::Stream { origin: origin.to_owned(), tenant: scenario.name(number), path, source }
}

/// A size on the scaled machine: whole pages.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
fn scaled(bytes: Bytes, scale: f64) -> Bytes {
    Bytes(((bytes.as_f64() / scale) as u64).next_multiple_of(4096))
}

/// What of that may be fast: whole pages.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
fn fast(tenant: &TenantSpec, size: Bytes, scale: f64) -> Bytes {
    Bytes(tenant.fast_of(size, scale) as u64 / 4096 * 4096)
}
