//! From a recording to a plan: read once for what it is as a whole and where its warm-up ends,
//! once more through every policy.

use crate::{
    Curve, Machine, Overview, Plan, PlanInput, PlanOptions, PolicyCurve, ReplayError,
    ReplayOptions, Role, plan, replay,
};
use pagetide_policy::{Class, PolicySpec, REGISTRY};
use pagetide_trace::Recording;

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
    let mut info = Overview::read(recording, options.heatmap_rows)?;
    let curves = curves(recording, policies, &info)?;
    if let Some(curve) = curves.first() {
        info.facts.evaluated_epochs = curve.epochs as usize;
        info.facts.seconds = curve.seconds;
    }
    let curves = std::iter::zip(policies, curves).map(|(spec, curve)| policy_curve(spec, curve));
    let input = PlanInput {
        curves: curves.collect(),
        facts: info.facts,
        warm_up: info.warm_up,
        heatmap: info.heatmap,
        areas: info.areas,
    };
    Ok(plan(input, machine, options))
}

fn curves(
    recording: &Recording,
    policies: &[PolicySpec],
    info: &Overview,
) -> Result<Vec<Curve>, PlanError> {
    let options = ReplayOptions {
        unit: info.facts.unit,
        footprint: info.peak_bytes,
        first_epoch: info.warm_up.epochs,
        ..ReplayOptions::default()
    };
    let lengths = recording.epochs().iter().map(|epoch| epoch.length_s);
    let epochs = std::iter::zip(recording.heat(), lengths)
        .map(|(heat, length)| heat.map(|heat| (heat, length)).map_err(Broken::Recording));
    replay(epochs, policies, options).map_err(|broken| match broken {
        Broken::Recording(error) => PlanError::Recording(error),
        Broken::Replay(source) => PlanError::Replay { name: info.facts.name.clone(), source },
    })
}

fn policy_curve(spec: &PolicySpec, curve: Curve) -> PolicyCurve {
    let info = spec.info();
    let role = match info.class {
        Class::Runnable => Role::Candidate,
        Class::Bound => Role::Bound,
    };
    PolicyCurve { curve, about: info.summary.to_owned(), role }
}
