//! Points: a compactor at work on some memory, 200 MB every 5 s (section 5.2).

use super::states::{State, scaled, times};
use crate::{Context, Key, ReproduceError, Values};
use pagetide_sim::frames::{Compactor, MODEL, Moved, PaperCompactor, Rules, Side, Stock};

/// 200 MB in frames.
const BUDGET: usize = 200_000_000 / 4096;
/// Seconds between rounds.
pub(super) const EVERY: u32 = 5;
/// Longer than the paper's 3 minutes: its text names second 272.
pub(super) const SECONDS: u32 = 600;

/// Who compacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Who {
    Stock(Rules),
    /// The paper's for DRAM: the emptiest blocks first.
    Dram,
    /// The paper's for persistent memory: the left end first.
    Pm,
}

/// The compactors of figure 3, as its legend has them.
pub(super) const COMPACTORS: [(&str, Who); 3] =
    [("Linux", Who::Stock(Rules::PAPER)), ("DRAM compactor", Who::Dram), ("PM compactor", Who::Pm)];

/// What a compactor recovers over time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) who: Who,
    pub(super) state: State,
}

/// A point's values: blocks of 2 MiB that are free beyond those at the start, after each round.
#[derive(Clone, Debug)]
pub(super) struct Recovered {
    pub(super) blocks: Vec<f64>,
    /// Pages that were isolated in vain, and pages that were moved.
    pub(super) failed: f64,
    pub(super) moved: f64,
}

impl Recovered {
    /// After so many seconds, a multiple of [`EVERY`].
    pub(super) fn at(&self, seconds: u32) -> f64 {
        let round = (seconds / EVERY) as usize;
        if round == 0 { 0.0 } else { self.blocks.get(round - 1).copied().unwrap_or(f64::NAN) }
    }

    /// When the first block was there; none: never.
    pub(super) fn first(&self) -> Option<u32> {
        (EVERY..=SECONDS).step_by(EVERY as usize).find(|seconds| self.at(*seconds) > 0.0)
    }
}

/// What points came to, in their order; those that are not known yet are computed.
pub(super) fn recovered(
    context: &Context,
    points: &[Point],
) -> Result<Vec<Recovered>, ReproduceError> {
    let keyed = |point: &Point| {
        let key = Key::new("pmshifter/3", MODEL, context.scale)
            .with("small", u8::from(context.small))
            .with("state", point.state.words())
            .with("who", format!("{:?}", point.who));
        (key, *point)
    };
    let points: Vec<(Key, Point)> = points.iter().map(keyed).collect();
    let found = context.store.points(&points, |(_, point)| Ok(run(context, point)))?;
    found.iter().map(read).collect()
}

fn run(context: &Context, point: &Point) -> Values {
    let mut memory = point.state.memory(times(context));
    let mut compactor: Box<dyn Compactor> = match point.who {
        Who::Stock(rules) => Box::new(Stock::new(&memory, rules)),
        Who::Dram => Box::new(PaperCompactor::new(Side::Emptiest)),
        Who::Pm => Box::new(PaperCompactor::new(Side::Left)),
    };
    let start = memory.free_pageblocks() as f64;
    let mut values = Values::from([("start".to_owned(), start)]);
    // Two rounds without a move that went over all of memory: so are all that follow.
    let goes_over_all = !matches!(point.who, Who::Stock(Rules { scanned_counts: true, .. }));
    let (mut all, mut idle) = (Moved::default(), 0);
    for seconds in (EVERY..=SECONDS).step_by(EVERY as usize) {
        if idle < 2 || !goes_over_all {
            let done = compactor.round(&mut memory, scaled(BUDGET, times(context)));
            idle = if done.moved == 0 { idle + 1 } else { 0 };
            all += done;
        }
        values.insert(name(seconds), memory.free_pageblocks() as f64 - start);
    }
    for (name, count) in [
        ("moved", all.moved),
        ("failed", all.failed),
        ("released", all.released),
        ("scanned", all.scanned),
    ] {
        values.insert(name.to_owned(), count as f64);
    }
    values
}

fn name(seconds: u32) -> String {
    format!("at-{seconds}")
}

fn read(values: &Values) -> Result<Recovered, ReproduceError> {
    let of = |name: String| values.get(&name).copied().ok_or(ReproduceError::Missing(name));
    Ok(Recovered {
        blocks: (EVERY..=SECONDS)
            .step_by(EVERY as usize)
            .map(|seconds| of(name(seconds)))
            .collect::<Result<_, _>>()?,
        failed: of("failed".to_owned())? + of("released".to_owned())?,
        moved: of("moved".to_owned())?,
    })
}
