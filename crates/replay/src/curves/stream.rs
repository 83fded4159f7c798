//! A stream of epochs on its way through the simulations: what they share is found once.

use crate::curves::demand::Demands;
use crate::curves::evaluation::{Cue, Evaluation};
use crate::curves::grid::{Grid, OneCut};
use crate::curves::population::{Change, Population};
use crate::curves::sample::Sample;
use crate::curves::simulation::{EpochInput, Simulation};
use crate::curves::tally::Totals;
use pagetide_policy::{AccessHistory, Fixed};
use pagetide_types::EpochHeat;
use rayon::prelude::*;

/// One simulation of one policy; what the policies share nothing of, so that they run in parallel.
pub(crate) struct Job {
    /// Position of the policy.
    pub(crate) spec: usize,
    pub(crate) simulation: AnySimulation,
}

pub(crate) enum AnySimulation {
    /// All capacities at once.
    Stack(Simulation<Grid>),
    /// The capacity of one bin of the grid.
    At(u32, Simulation<OneCut>),
    /// No order at all.
    Ignores(Fixed),
}

/// Simulations that are shown the same units, and what they share.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) jobs: Vec<Job>,
    /// Which units these are; none: all.
    sample: Option<Sample>,
    history: AccessHistory,
    before: Population,
    change: Change,
    demands: Demands,
    pub(crate) totals: Totals,
}

impl Stream {
    /// One of a part of the units.
    pub(crate) fn of(sample: Sample) -> Self {
        Self { sample: Some(sample), ..Self::default() }
    }

    /// Lives through one epoch, and decides at its end if there is a next.
    pub(crate) fn step(
        &mut self,
        heat: EpochHeat,
        length_s: f64,
        cue: Cue,
        next: Option<&EpochHeat>,
    ) {
        let (change, demands) = (&mut self.change, &mut self.demands);
        rayon::join(
            || self.history.update(&heat),
            || {
                change.find(&self.before, &heat);
                demands.find(&heat);
            },
        );
        let input = EpochInput {
            heat: &heat,
            next,
            history: &self.history,
            change: &self.change,
            demands: &self.demands,
            length_s,
            cue,
            one_unit_in: self.sample.map_or(1, Sample::one_in),
        };
        let totals = &mut self.totals;
        let count = || {
            if cue.counts {
                totals.add(input.demands, length_s);
            }
        };
        let jobs = &mut self.jobs;
        rayon::join(count, || jobs.par_iter_mut().for_each(|job| job.step(&input)));
        self.before = Population { unit: heat.unit, pages: heat.pages, flags: heat.flags };
    }
}

/// Lives through all epochs of a recording, with their lengths in seconds; `evaluated` is told of each that counts when it
/// has ended, with its position.
pub(crate) fn live_through<E>(
    stream: &mut Stream,
    epochs: impl IntoIterator<Item = Result<(EpochHeat, f64), E>>,
    evaluation: Evaluation,
    mut evaluated: impl FnMut(&mut Stream, usize),
) -> Result<(), E> {
    let mut epochs = epochs.into_iter();
    let mut now = epochs.next().transpose()?;
    let mut position = 0;
    while let Some((heat, length_s)) = now {
        let next = epochs.next().transpose()?;
        let cue = evaluation.cue(position);
        stream.step(heat, length_s, cue, next.as_ref().map(|(heat, _)| heat));
        if cue.counts {
            evaluated(stream, position);
        }
        now = next;
        position += 1;
    }
    Ok(())
}

impl Job {
    fn step(&mut self, input: &EpochInput<'_>) {
        match &mut self.simulation {
            AnySimulation::Stack(simulation) => simulation.step(input),
            AnySimulation::At(_, simulation) => simulation.step(input),
            AnySimulation::Ignores(_) => {}
        }
    }
}
