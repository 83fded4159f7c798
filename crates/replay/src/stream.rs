//! A stream of epochs on its way through the lanes: what they share is found once.

use crate::demand::Demands;
use crate::evaluation::Cue;
use crate::grid::{Grid, OneCut};
use crate::lane::{EpochInput, Lane};
use crate::population::{Change, Population};
use crate::tally::Totals;
use pagetide_policy::{AccessHistory, Fixed};
use pagetide_types::EpochHeat;
use rayon::prelude::*;

/// One lane of one policy; what the policies share nothing of, so that they run in parallel.
pub(crate) struct Job {
    /// Position of the policy.
    pub(crate) spec: usize,
    pub(crate) lane: AnyLane,
}

pub(crate) enum AnyLane {
    /// All capacities at once.
    Stack(Lane<Grid>),
    /// The capacity of one cell of the grid.
    At(u32, Lane<OneCut>),
    /// No order at all.
    Ignores(Fixed),
}

/// Lanes that are shown the same units, and what they share.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) jobs: Vec<Job>,
    history: AccessHistory,
    before: Population,
    change: Change,
    demands: Demands,
    pub(crate) totals: Totals,
}

impl Stream {
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

impl Job {
    fn step(&mut self, input: &EpochInput<'_>) {
        match &mut self.lane {
            AnyLane::Stack(lane) => lane.step(input),
            AnyLane::At(_, lane) => lane.step(input),
            AnyLane::Ignores(_) => {}
        }
    }
}
