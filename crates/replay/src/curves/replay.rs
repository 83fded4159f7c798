//! Replays a stream of epochs through several policies at once: one curve per policy, every
//! capacity in one pass where the policy allows it.

use crate::curves::entry::{MAX_PAGES, MAX_UNITS};
use crate::curves::evaluation::{Cue, Evaluation};
use crate::curves::grid::{Grid, OneCut};
use crate::curves::per_capacity;
use crate::curves::sample::{Sample, scaled, scaled_epoch};
use crate::curves::simulation::Simulation;
use crate::curves::stream::{AnySimulation, Job, Stream};
use crate::curves::tally::{Reached, Tally, Totals, curve};
use crate::{ReplayError, ReplayOptions, Replayed, Told, Traffic};
use pagetide_policy::{Fixed, Policy, PolicySpec};
use pagetide_types::{Bytes, EpochHeat};

/// A replay under way; epochs are pushed in order, and one is held back so that clairvoyant
/// policies see the next.
///
/// A decision is made at the end of every epoch from the heat up to it, is in force in the next
/// epoch, and is charged with that epoch's traffic; the last epoch ends without one. The moves of
/// the one that the first evaluated epoch begins with do not count: they put memory in place once
/// in the program's life, and a plan is for a program that goes on as in the evaluated epochs.
pub struct Replay {
    options: ReplayOptions,
    grid: Grid,
    specs: Vec<PolicySpec>,
    /// All units: the policies that get every capacity in one pass, and if there is no sample,
    /// the others too.
    all: Stream,
    /// A sample of the units, for the others.
    sample: Option<(Sample, Stream)>,
    held: Option<Held>,
    evaluation: Evaluation,
    /// Epochs pushed.
    pushed: usize,
}

/// The epoch held back.
struct Held {
    cue: Cue,
    heat: EpochHeat,
    /// The part of it that is in the sample.
    sample: Option<EpochHeat>,
    length_s: f64,
}

impl Replay {
    /// A replay of `specs`, one curve for each.
    #[must_use]
    pub fn new(specs: &[PolicySpec], options: ReplayOptions) -> Self {
        let grid = Grid::new(options.unit, options.footprint);
        let units = options.footprint.0.div_ceil(options.unit.bytes().0);
        let sample = Sample::of(units, options.most_units);
        let mut all = Stream::default();
        let mut sampled = sample.map(|sample| (sample, Stream::of(sample)));
        for (i, spec) in specs.iter().enumerate() {
            let job = |simulation| Job { spec: i, simulation };
            let stream = match &mut sampled {
                Some((_, stream)) if spec.info().needs.placement => stream,
                _ => &mut all,
            };
            stream.jobs.extend(simulations(spec, grid, &options, sample).into_iter().map(job));
        }
        let sample = sampled.filter(|(_, stream)| !stream.jobs.is_empty());
        let evaluation = Evaluation::new(options.first_epoch, options.ran_before);
        let specs = specs.to_vec();
        Self { options, grid, specs, all, sample, held: None, evaluation, pushed: 0 }
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
        let cue = self.evaluation.cue(self.pushed);
        self.pushed += 1;
        let sample = self.sample.as_ref().map(|(sample, _)| sample.take(&heat));
        let next = Held { cue, heat, sample, length_s };
        if let Some(before) = self.held.take() {
            self.step(before, Some(&next));
        }
        self.held = Some(next);
        Ok(())
    }

    /// Ends the stream: what every policy achieved, in their order.
    #[must_use]
    pub fn finish(mut self) -> Vec<Replayed> {
        if let Some(last) = self.held.take() {
            self.step(last, None);
        }
        (0..self.specs.len()).map(|spec| self.replayed(spec)).collect()
    }

    fn step(&mut self, now: Held, next: Option<&Held>) {
        let (cue, length_s) = (now.cue, now.length_s);
        let (all, sample) = (&mut self.all, &mut self.sample);
        rayon::join(
            || all.step(now.heat, length_s, cue, next.map(|next| &next.heat)),
            || {
                if let (Some((_, stream)), Some(heat)) = (sample, now.sample) {
                    stream.step(heat, length_s, cue, next.and_then(|next| next.sample.as_ref()));
                }
            },
        );
    }

    fn replayed(&self, spec: usize) -> Replayed {
        let name = self.specs[spec].to_string();
        let all = &self.all.totals;
        let (mut bins, mut reached, mut told) = (Vec::new(), Vec::new(), Vec::new());
        // What was fast epoch by epoch: at some entries in one pass, or at one entry each.
        let mut by_epoch = (Vec::new(), Vec::new());
        let mut of_bins: Vec<Vec<Traffic>> = Vec::new();
        let stretches = || all.stretches.values().iter().map(|stretch| stretch.all);
        let sampled = self.sample.as_ref().filter(|_| self.specs[spec].info().needs.placement);
        let (one_in, stream) = match sampled {
            Some((sample, stream)) => (sample.one_in(), stream),
            None => (1, &self.all),
        };
        for job in stream.jobs.iter().filter(|job| job.spec == spec) {
            match &job.simulation {
                AnySimulation::Stack(simulation) => {
                    reached = simulation.tally.reached().collect();
                    let (at, fast) = simulation.tally.by_epoch();
                    by_epoch = (at, fast.to_vec());
                }
                AnySimulation::At(bin, simulation) => {
                    bins.push(*bin);
                    let part = (one_in > 1).then_some(&stream.totals);
                    let (at, epochs) = at_one_capacity(&simulation.tally, part, all);
                    reached.push(at);
                    of_bins.push(epochs);
                    if !simulation.told.is_empty() {
                        let capacity = Bytes(self.grid.step().0 * u64::from(*bin));
                        told.push(Told { capacity, decisions: simulation.told.clone() });
                    }
                }
                AnySimulation::Ignores(Fixed::AllFast) => {
                    let everything = Reached { hits: all.all, ..Reached::default() };
                    reached = vec![everything; self.grid.len];
                    by_epoch = (vec![0], stretches().collect());
                }
                AnySimulation::Ignores(_) => {
                    reached = vec![Reached::default(); self.grid.len];
                    by_epoch = (vec![0], stretches().map(|_| Traffic::default()).collect());
                }
            }
        }
        if !bins.is_empty() {
            reached = per_capacity::fill(&bins, &reached);
            let stretches = 0..all.stretches.values().len();
            let fast = stretches.flat_map(|s| of_bins.iter().filter_map(move |fast| fast.get(s)));
            by_epoch = (bins.clone(), fast.copied().collect());
        }
        let mut curve = curve(name, self.grid.step(), all, reached.into_iter(), by_epoch);
        if bins.len() < self.grid.len {
            curve.replayed_at = bins;
        }
        curve.one_unit_in = one_in;
        Replayed { curve, told }
    }
}

/// What one simulation of one capacity reached, and in every stretch of epochs; where it was shown
/// a `part` of the units, as a part of `all`.
pub(crate) fn at_one_capacity(
    tally: &Tally,
    part: Option<&Totals>,
    all: &Totals,
) -> (Reached, Vec<Traffic>) {
    let reached = tally.reached().next().unwrap_or_default();
    let (at, fast) = tally.by_epoch();
    let fast = fast.iter().step_by(at.len()).copied();
    let Some(part) = part else { return (reached, fast.collect()) };
    let stretches = std::iter::zip(part.stretches.values(), all.stretches.values());
    let epochs = fast
        .zip(stretches)
        .map(|(fast, (part, all))| scaled_epoch(fast, &part.all, &all.all))
        .collect();
    (scaled(reached, part, all), epochs)
}

fn simulations(
    spec: &PolicySpec,
    grid: Grid,
    options: &ReplayOptions,
    sample: Option<Sample>,
) -> Vec<AnySimulation> {
    let needs = spec.info().needs;
    let ranked = |policy| match policy {
        Policy::Rank(rank) => Some(rank),
        Policy::Fixed(_) => None,
    };
    match spec.build() {
        Policy::Fixed(fixed) if fixed != Fixed::Born => vec![AnySimulation::Ignores(fixed)],
        _ if needs.placement => per_capacity::choose(grid.len, options.capacities)
            .into_iter()
            .map(|bin| {
                let pages = u64::from(bin) * (grid.step().0 >> 12);
                // In the largest everything is fast, also a sample that is more than its part.
                let pages = match sample {
                    Some(sample) if bin as usize + 1 < grid.len => pages / sample.one_in(),
                    _ => pages,
                };
                AnySimulation::At(
                    bin,
                    Simulation::new(OneCut { pages }, 2, ranked(spec.build()), needs),
                )
            })
            .collect(),
        policy => {
            vec![AnySimulation::Stack(Simulation::new(grid, grid.len, ranked(policy), needs))]
        }
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
) -> Result<Vec<Replayed>, E> {
    let mut replay = Replay::new(specs, options);
    for epoch in epochs {
        let (heat, length_s) = epoch?;
        replay.push(heat, length_s)?;
    }
    Ok(replay.finish())
}
