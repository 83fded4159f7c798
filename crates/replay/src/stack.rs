//! Replays a stream of epochs through several policies at once: one curve per policy, every
//! capacity in one pass where the policy allows it.

use crate::grid::{Grid, OneCut};
use crate::lane::{EpochInput, Lane};
use crate::place::MAX_PAGES;
use crate::population::{Change, Population};
use crate::radix::MAX_UNITS;
use crate::tally::{Reached, Totals, curve};
use crate::{Curve, per_capacity};
use pagetide_policy::{Fixed, Policy, PolicySpec, UnitBook};
use pagetide_types::{Bytes, EpochHeat, UnitSize};
use rayon::prelude::*;

/// What a replay needs to know beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// The recording's unit; the distance between two capacities while they are few.
    pub unit: UnitSize,
    /// Largest resident memory of any epoch; the curves end there.
    pub footprint: Bytes,
    /// Position in the stream of the first epoch to evaluate. Epochs before it are shown to the
    /// policies and not counted; the very first never counts, since no decision is in force.
    pub first_epoch: usize,
    /// Steps between the capacities at which policies are replayed whose order depends on the
    /// capacity; the others get every capacity.
    pub capacities: usize,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self { unit: UnitSize::Huge, footprint: Bytes(0), first_epoch: 0, capacities: 16 }
    }
}

/// Why an epoch cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// More is resident than was announced.
    #[error("epoch {epoch}: {resident} are resident, more than the footprint of {footprint}")]
    Footprint {
        /// Position in the stream.
        epoch: usize,
        /// Resident in it.
        resident: Bytes,
        /// As announced in the options.
        footprint: Bytes,
    },
    /// A unit that is larger than any unit can be.
    #[error("epoch {epoch}: a unit of {pages} pages; at most {} make sense", MAX_PAGES)]
    Pages {
        /// Position in the stream.
        epoch: usize,
        /// Its resident pages.
        pages: u16,
    },
    /// More units than can be told apart.
    #[error("epoch {epoch}: {units} units; at most {MAX_UNITS} can be replayed")]
    Units {
        /// Position in the stream.
        epoch: usize,
        /// Alive in it.
        units: usize,
    },
    /// An epoch without a proper length.
    #[error("epoch {epoch}: a length of {length_s} s makes no sense")]
    Length {
        /// Position in the stream.
        epoch: usize,
        /// As given.
        length_s: f64,
    },
}

/// A replay under way; epochs are pushed in order, and one is held back so that clairvoyant
/// policies see the next.
///
/// A decision is made at the end of every epoch from the heat up to it, is in force in the next
/// epoch, and is charged with that epoch's accesses; the last epoch ends without one. The moves of
/// the one that the first evaluated epoch begins with do not count: they put memory in place once
/// in the program's life, however long that is, and would count the more the shorter a recording.
pub struct Replay {
    options: ReplayOptions,
    grid: Grid,
    specs: Vec<PolicySpec>,
    jobs: Vec<Job>,
    book: UnitBook,
    before: Population,
    change: Change,
    totals: Totals,
    /// The epoch held back, with its length.
    held: Option<(EpochHeat, f64)>,
    /// Epochs pushed.
    pushed: usize,
}

/// One lane of one policy; what the policies share nothing of, so that they run in parallel.
struct Job {
    spec: usize,
    lane: AnyLane,
}

enum AnyLane {
    /// All capacities at once.
    Stack(Lane<Grid>),
    /// The capacity of one cell of the grid.
    At(u32, Lane<OneCut>),
    /// No order at all.
    Ignores(Fixed),
}

impl Replay {
    /// A replay of `specs`, one curve for each.
    #[must_use]
    pub fn new(specs: &[PolicySpec], options: ReplayOptions) -> Self {
        let grid = Grid::new(options.unit, options.footprint);
        let jobs = specs
            .iter()
            .enumerate()
            .flat_map(|(spec, made)| {
                lanes(made, grid, &options).into_iter().map(move |lane| Job { spec, lane })
            })
            .collect();
        Self {
            options,
            grid,
            specs: specs.to_vec(),
            jobs,
            book: UnitBook::default(),
            before: Population::default(),
            change: Change::default(),
            totals: Totals::default(),
            held: None,
            pushed: 0,
        }
    }

    /// Takes in the next epoch.
    ///
    /// # Errors
    /// More resident memory than announced, units beyond all sizes or numbers, or a length that
    /// is no time; nothing is taken in.
    pub fn push(&mut self, heat: EpochHeat, length_s: f64) -> Result<(), ReplayError> {
        let (epoch, resident, footprint) = (self.pushed, heat.resident(), self.options.footprint);
        if resident > footprint {
            return Err(ReplayError::Footprint { epoch, resident, footprint });
        }
        let pages = heat.pages.iter().copied().max().unwrap_or(0);
        if pages > MAX_PAGES {
            return Err(ReplayError::Pages { epoch, pages });
        }
        if heat.len() >= MAX_UNITS {
            return Err(ReplayError::Units { epoch, units: heat.len() });
        }
        if !length_s.is_finite() || length_s < 0.0 {
            return Err(ReplayError::Length { epoch, length_s });
        }
        if let Some((before, length_s)) = self.held.take() {
            self.step(before, length_s, Some(&heat));
        }
        self.held = Some((heat, length_s));
        self.pushed += 1;
        Ok(())
    }

    /// Ends the stream: one curve per policy, in their order.
    #[must_use]
    pub fn finish(mut self) -> Vec<Curve> {
        if let Some((last, length_s)) = self.held.take() {
            self.step(last, length_s, None);
        }
        (0..self.specs.len()).map(|spec| self.curve(spec)).collect()
    }

    /// Lives through the epoch that was pushed last but is no longer held.
    fn step(&mut self, heat: EpochHeat, length_s: f64, next: Option<&EpochHeat>) {
        let epoch = self.pushed - 1;
        let first = self.options.first_epoch.max(1);
        rayon::join(|| self.book.update(&heat), || self.change.find(&self.before, &heat));
        let input = EpochInput {
            heat: &heat,
            next,
            book: &self.book,
            before: &self.before,
            change: &self.change,
            length_s,
            charged: epoch >= first,
            counted: epoch >= first,
        };
        let totals = &mut self.totals;
        let count = || {
            if input.charged {
                totals.add(&heat, length_s);
            }
        };
        let jobs = &mut self.jobs;
        rayon::join(count, || jobs.par_iter_mut().for_each(|job| job.step(&input)));
        self.before = Population { unit: heat.unit, pages: heat.pages };
    }

    fn curve(&self, spec: usize) -> Curve {
        let name = self.specs[spec].to_string();
        let all = Reached { hits: self.totals.all, ..Reached::default() };
        let mut cells = Vec::new();
        let mut at_cells = Vec::new();
        let mut reached = Vec::new();
        for job in self.jobs.iter().filter(|job| job.spec == spec) {
            match &job.lane {
                AnyLane::Stack(lane) => reached = lane.tally.reached().collect(),
                AnyLane::At(cell, lane) => {
                    cells.push(*cell);
                    at_cells.extend(lane.tally.reached().next());
                }
                AnyLane::Ignores(Fixed::AllFast) => reached = vec![all; self.grid.len],
                AnyLane::Ignores(_) => reached = vec![Reached::default(); self.grid.len],
            }
        }
        if !cells.is_empty() {
            reached = per_capacity::fill(&cells, &at_cells);
        }
        let mut curve = curve(name, self.grid.step(), &self.totals, reached.into_iter());
        if cells.len() < self.grid.len {
            curve.exact_at = cells;
        }
        curve
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

fn lanes(spec: &PolicySpec, grid: Grid, options: &ReplayOptions) -> Vec<AnyLane> {
    let needs = spec.info().needs;
    let ranked = |policy| match policy {
        Policy::Rank(rank) => Some(rank),
        Policy::Fixed(_) => None,
    };
    match spec.build() {
        Policy::Fixed(fixed) if fixed != Fixed::Born => vec![AnyLane::Ignores(fixed)],
        _ if needs.placement => per_capacity::choose(grid.len, options.capacities)
            .into_iter()
            .map(|cell| {
                let cuts = OneCut { pages: u64::from(cell) * (grid.step().0 >> 12) };
                AnyLane::At(cell, Lane::new(cuts, 2, ranked(spec.build()), needs))
            })
            .collect(),
        policy => vec![AnyLane::Stack(Lane::new(grid, grid.len, ranked(policy), needs))],
    }
}

/// Replays a stream of epochs with their lengths in seconds; see [`Replay`].
///
/// # Errors
/// The stream's own, and those of [`Replay::push`].
pub fn replay<E: From<ReplayError>>(
    epochs: impl IntoIterator<Item = Result<(EpochHeat, f64), E>>,
    specs: &[PolicySpec],
    options: ReplayOptions,
) -> Result<Vec<Curve>, E> {
    let mut replay = Replay::new(specs, options);
    for epoch in epochs {
        let (heat, length_s) = epoch?;
        replay.push(heat, length_s)?;
    }
    Ok(replay.finish())
}
