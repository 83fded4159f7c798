//! Further entries of curves that were replayed at a choice of capacities: where an answer lies between two of these.

use crate::curves::evaluation::Evaluation;
use crate::curves::grid::OneCut;
use crate::curves::per_capacity::insert;
use crate::curves::replay::at_one_capacity;
use crate::curves::simulation::Simulation;
use crate::curves::stream::{AnySimulation, Job, Stream, live_through};
use crate::{Curve, ReplayError, ReplayOptions, Told};
use pagetide_policy::{Policy, PolicySpec};
use pagetide_types::{Bytes, EpochHeat};

/// A policy, what is known of it, and the entries of its curve at which it is replayed as well.
pub(crate) struct More<'a> {
    pub(crate) spec: &'a PolicySpec,
    pub(crate) curve: &'a mut Curve,
    pub(crate) told: &'a mut Vec<Told>,
    pub(crate) bins: Vec<u32>,
}

/// Replays `epochs` (with their lengths in seconds) at further entries, all units whatever `options` says of samples, and puts
/// what is found into the curves.
///
/// # Errors
/// The stream's own.
pub(crate) fn replay_more<E: From<ReplayError>>(
    epochs: impl IntoIterator<Item = Result<(EpochHeat, f64), E>>,
    mut wanted: Vec<More<'_>>,
    options: &ReplayOptions,
) -> Result<(), E> {
    let mut stream = Stream::default();
    for (i, more) in wanted.iter().enumerate() {
        for bin in &more.bins {
            // What is fixed has no need to be replayed at single capacities.
            let Policy::Rank(rank) = more.spec.build() else { continue };
            let pages = more.curve.capacity(*bin as usize).0 >> 12;
            let simulation =
                Simulation::new(OneCut { pages }, 2, Some(rank), more.spec.info().needs);
            stream.jobs.push(Job { spec: i, simulation: AnySimulation::At(*bin, simulation) });
        }
    }
    let evaluation = Evaluation::new(options.first_epoch, options.ran_before);
    live_through(&mut stream, epochs, evaluation, |_, _| {})?;
    for job in stream.jobs {
        let AnySimulation::At(bin, simulation) = job.simulation else { continue };
        let More { curve, told, .. } = &mut wanted[job.spec];
        let (reached, fast) = at_one_capacity(&simulation.tally, None, &stream.totals);
        insert(curve, bin, reached, &fast);
        if !simulation.told.is_empty() {
            let capacity: Bytes = curve.capacity(bin as usize);
            told.retain(|told| told.capacity != capacity);
            let at = told.partition_point(|told| told.capacity < capacity);
            told.insert(at, Told { capacity, decisions: simulation.told });
        }
    }
    Ok(())
}
