//! One policy at one capacity, an entry per evaluated epoch: what tells how sure a hit ratio is,
//! for epochs are samples of the program's time.

use crate::curves::evaluation::Evaluation;
use crate::curves::grid::OneCut;
use crate::curves::simulation::Simulation;
use crate::curves::stream::{AnySimulation, Job, Stream, live_through};
use crate::curves::tally::{Reached, Tally, Totals};
use crate::{ReplayError, ReplayOptions};
use pagetide_policy::{Fixed, Policy, PolicySpec};
use pagetide_types::{Bytes, EpochHeat};
use serde::Serialize;

/// What a policy achieved in one epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EpochResult {
    /// Position in the recording.
    pub epoch: usize,
    /// Its length.
    pub seconds: f64,
    /// Accesses that are charged.
    pub accesses: f64,
    /// Of them served by fast memory.
    pub fast_accesses: f64,
    /// Bytes that the decision at its end moves to fast memory, in which they were before.
    pub promoted_bytes: u64,
    /// Bytes that it moves out again, and those that made room for what was born in the epoch.
    pub demoted_bytes: u64,
}

/// Replays `epochs` (with their lengths in seconds) through one policy at one capacity, all units
/// whatever `options` says of samples. Their sums are those of the policy's curve where that
/// [is exact](crate::Curve::is_exact).
///
/// # Errors
/// The stream's own.
pub fn epochs_at<E: From<ReplayError>>(
    epochs: impl IntoIterator<Item = Result<(EpochHeat, f64), E>>,
    spec: &PolicySpec,
    options: &ReplayOptions,
    capacity: Bytes,
) -> Result<Vec<EpochResult>, E> {
    let evaluation = Evaluation::new(options.first_epoch, options.ran_before);
    let (mut stream, mut found) = (one(spec, capacity), Vec::new());
    live_through(&mut stream, epochs, evaluation, |stream, position| {
        found.push(taken(stream, position));
    })?;
    Ok(found)
}

fn one(spec: &PolicySpec, capacity: Bytes) -> Stream {
    let cut = OneCut { pages: capacity.0 >> 12 };
    let simulation = match spec.build() {
        Policy::Fixed(fixed) if fixed != Fixed::Born => AnySimulation::Ignores(fixed),
        Policy::Fixed(_) => AnySimulation::At(0, Simulation::new(cut, 2, None, spec.info().needs)),
        Policy::Rank(rank) => {
            AnySimulation::At(0, Simulation::new(cut, 2, Some(rank), spec.info().needs))
        }
    };
    let mut stream = Stream::default();
    stream.jobs.push(Job { spec: 0, simulation });
    stream
}

/// What was added up since the last time.
fn taken(stream: &mut Stream, epoch: usize) -> EpochResult {
    let totals = std::mem::take(&mut stream.totals);
    let reached = match stream.jobs.first_mut().map(|job| &mut job.simulation) {
        Some(AnySimulation::At(_, simulation)) => {
            simulation.told.clear();
            let tally = std::mem::replace(&mut simulation.tally, Tally::new(2));
            tally.reached().next().unwrap_or_default()
        }
        Some(AnySimulation::Ignores(Fixed::AllFast)) => everything(&totals),
        _ => Reached::default(),
    };
    EpochResult {
        epoch,
        seconds: totals.seconds,
        accesses: totals.all.accesses,
        fast_accesses: reached.hits.accesses,
        promoted_bytes: reached.promoted,
        demoted_bytes: reached.demoted,
    }
}

fn everything(totals: &Totals) -> Reached {
    Reached { hits: totals.all, ..Reached::default() }
}
