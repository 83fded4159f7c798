//! From a recording to a plan: read for what it is as a whole and where its warm-up ends, and once
//! more through every policy; where that was at a choice of sizes, once more with what it seems to need; then, with a recommendation, through that policy at that size alone.

use crate::answer::confirm::{Asked, confirm};
use crate::answer::plan::cost_model;
use crate::recording::regions::Regions;
use crate::{
    CpuCache, Overview, Plan, PlanInput, PlanOptions, PolicyCurve, RecordingFacts, ReplayError,
    ReplayOptions, Replayed, Replicates, Role, epochs_at, plan, replay,
};
use pagetide_machine::Machine;
use pagetide_policy::{Class, PolicySpec, REGISTRY};
use pagetide_trace::{Recording, Source};
use pagetide_types::{Bytes, EpochHeat, UnitSize};

/// Why no plan could be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] pagetide_trace::Error),
    /// Its epochs make no sense.
    #[error("{name}: {source}")]
    Replay {
        /// The recording.
        name: String,
        /// What is wrong.
        source: ReplayError,
    },
}

/// What a stream of epochs can fail with, before the recording's name is known to it.
enum Broken {
    Recording(pagetide_trace::Error),
    Replay(ReplayError),
}

impl From<ReplayError> for Broken {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error)
    }
}

/// Every policy of the registry with its defaults, the simplest first, bounds last.
#[must_use]
pub fn all_policies() -> Vec<PolicySpec> {
    REGISTRY.iter().map(|info| PolicySpec::from(*info)).collect()
}

/// Plans for a recording: replays it through `policies` and recommends one of those that can be
/// run. Order them from the simplest to the most complex, as [`all_policies`] does.
///
/// # Errors
/// A recording that cannot be read, or whose epochs make no sense.
pub fn plan_recording(
    recording: &Recording,
    policies: &[PolicySpec],
    machine: &Machine,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    let (cache, rows) = (CpuCache::of(machine), options.heatmap_rows);
    let mut info = Overview::of(recording, recording.records(), rows, cache)?;
    let replay_options = replay_options(recording, &info);
    let broken = |broken| named(broken, &info.facts.name);
    let looked_at = info.warm_up.looked_at(recording.epochs().len());
    let all = epochs(recording, cache).take(looked_at);
    let curves = replay(all, policies, replay_options).map_err(broken)?;
    if let Some(first) = curves.first() {
        info.facts.evaluated_epochs = first.curve.epochs as usize;
        info.facts.seconds = first.curve.seconds;
    }
    let curves = std::iter::zip(policies, curves).map(|(spec, curve)| policy_curve(spec, curve));
    let mut input = PlanInput {
        curves: curves.collect(),
        facts: info.facts,
        warm_up: info.warm_up,
        heatmap: info.heatmap,
        areas: info.areas,
        replicates: Some(Replicates::Epochs),
    };
    let asked = asked(&input.facts, machine, options);
    let again = || epochs(recording, cache).take(looked_at);
    confirm(&mut input.curves, policies, &asked, &replay_options, again)
        .map_err(|broken| named(broken, &input.facts.name))?;
    let mut plan = plan(input, machine, options);
    if let Some(answer) = &plan.recommendation
        && let Some(spec) = policies.iter().find(|spec| spec.to_string() == answer.policy)
    {
        plan.epochs = epochs_at(again(), spec, &replay_options, answer.fast_bytes)
            .map_err(|broken| named(broken, &plan.recording.name))?;
    }
    if by_pages(recording) {
        plan.fast_bytes_by_regions =
            need_by_regions(recording, policies, machine, options, &plan, replay_options)?;
    }
    Ok(plan)
}

/// Whether pages were told apart one by one and counted, so that what placing by regions of 2 MiB
/// would need is known as well.
fn by_pages(recording: &Recording) -> bool {
    let header = recording.header();
    header.unit == UnitSize::Base && header.source == Source::Exact
}

/// What the recommendation would be, were memory placed by regions of 2 MiB.
fn need_by_regions(
    recording: &Recording,
    policies: &[PolicySpec],
    machine: &Machine,
    options: &PlanOptions,
    by_pages: &Plan,
    replay_options: ReplayOptions,
) -> Result<Option<Bytes>, PlanError> {
    let regions = Regions::of(&recording.units()?);
    let epochs = || {
        epochs(recording, CpuCache::of(machine))
            .take(by_pages.warm_up.looked_at(recording.epochs().len()))
            .map(|epoch| epoch.map(|(heat, length_s)| (regions.heat(&heat), length_s)))
    };
    let replay_options = ReplayOptions { unit: UnitSize::Huge, ..replay_options };
    let broken = |broken| named(broken, &by_pages.recording.name);
    let curves = replay(epochs(), policies, replay_options).map_err(broken)?;
    let curves = std::iter::zip(policies, curves).map(|(spec, curve)| policy_curve(spec, curve));
    let mut input = PlanInput {
        curves: curves.collect(),
        facts: RecordingFacts { unit: UnitSize::Huge, ..by_pages.recording.clone() },
        warm_up: by_pages.warm_up.clone(),
        heatmap: by_pages.heatmap.clone(),
        areas: by_pages.areas.clone(),
        replicates: None,
    };
    let asked = asked(&input.facts, machine, options);
    confirm(&mut input.curves, policies, &asked, &replay_options, epochs).map_err(broken)?;
    Ok(plan(input, machine, options).recommendation.map(|answer| answer.fast_bytes))
}

/// What every policy is asked to keep.
fn asked(facts: &RecordingFacts, machine: &Machine, options: &PlanOptions) -> Asked {
    Asked {
        cost: cost_model(facts, machine, options),
        unit: facts.unit.bytes(),
        target: options.target_slowdown,
    }
}

fn replay_options(recording: &Recording, info: &Overview) -> ReplayOptions {
    ReplayOptions {
        unit: info.facts.unit,
        footprint: info.peak_bytes,
        first_epoch: info.warm_up.epochs,
        ran_before: !recording.header().began_with_target,
        ..ReplayOptions::default()
    }
}

/// The epochs of a recording with their lengths in seconds, charged with what `cache` lets through.
fn epochs(
    recording: &Recording,
    cache: CpuCache,
) -> impl Iterator<Item = Result<(EpochHeat, f64), Broken>> {
    std::iter::zip(recording.heat(), recording.epochs()).map(move |(heat, epoch)| {
        let mut heat = heat.map_err(Broken::Recording)?;
        cache.filter_epoch(&mut heat, epoch);
        Ok((heat, epoch.length_s))
    })
}

fn named(broken: Broken, name: &str) -> PlanError {
    match broken {
        Broken::Recording(error) => PlanError::Recording(error),
        Broken::Replay(source) => PlanError::Replay { name: name.to_owned(), source },
    }
}

fn policy_curve(spec: &PolicySpec, replayed: Replayed) -> PolicyCurve {
    let info = spec.info();
    let role = match info.class {
        Class::Runnable => Role::Candidate,
        Class::Bound => Role::Bound,
    };
    let Replayed { curve, told } = replayed;
    PolicyCurve { curve, about: info.summary.to_owned(), role, told, figures: info.figures }
}
