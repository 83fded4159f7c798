//! What a replay adds up: totals over all units, and per bin of capacities what becomes fast
//! there (hits) or starts and stops being moved there (difference arrays over the capacities).

use crate::curves::by_epoch::{Coarse, Log};
use crate::curves::demand::{Counted, Demand, Demands};
use crate::{ByEpoch, Curve, Stretch, Traffic};
use pagetide_types::{Bytes, EpochHeat, HeatFlags};

/// Sums over units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hits {
    pub(crate) accesses: f64,
    pub(crate) saturated: f64,
    /// All accesses where leads are not counted.
    pub(crate) leads: f64,
    pub(crate) writes: f64,
    pub(crate) unseen: u64,
    pub(crate) accessed: u64,
}

impl Hits {
    /// Those of one unit in one epoch, as it reads in the specification.
    pub(crate) fn of(heat: &EpochHeat, row: usize, length_s: f64) -> Self {
        let flags = heat.flags[row];
        let accesses = f64::from(heat.memory_rate(row)).max(0.0) * length_s;
        let counted = |rate: Option<&f32>| rate.map(|rate| f64::from(*rate).max(0.0) * length_s);
        let saturated = flags.has(HeatFlags::SATURATED);
        Self {
            accesses,
            saturated: if saturated { accesses } else { 0.0 },
            leads: counted(heat.leads.get(row)).unwrap_or(accesses),
            writes: counted(heat.writes.get(row)).unwrap_or(0.0),
            unseen: u64::from(flags.has(HeatFlags::UNSEEN)),
            accessed: u64::from(flags.has(HeatFlags::ACCESSED)),
        }
    }

    /// Adds one unit in one second of an epoch, but for leads and writes. Without branches: what was
    /// seen is hard to predict.
    #[inline]
    pub(crate) fn add(&mut self, unit: Demand) {
        let (rate, flags) = (f64::from(unit.rate), unit.flags);
        self.accesses += rate;
        self.saturated += if flags.has(HeatFlags::SATURATED) { rate } else { 0.0 };
        self.unseen += u64::from(flags.has(HeatFlags::UNSEEN));
        self.accessed += u64::from(flags.has(HeatFlags::ACCESSED));
    }

    /// Adds its leads and writes.
    #[inline]
    pub(crate) fn add_counted(&mut self, unit: Counted) {
        self.leads += f64::from(unit.leads);
        self.writes += f64::from(unit.writes);
    }

    /// What was added, over a whole epoch; whether leads were `counted`.
    pub(crate) fn over(self, length_s: f64, counted: bool) -> Self {
        Self {
            accesses: self.accesses * length_s,
            saturated: self.saturated * length_s,
            leads: if counted { self.leads } else { self.accesses } * length_s,
            writes: self.writes * length_s,
            ..self
        }
    }

    pub(crate) fn traffic(self) -> Traffic {
        let Self { accesses, saturated, leads, writes, .. } = self;
        Traffic { accesses, saturated, leads, writes }
    }

    pub(crate) fn sum(self, other: Self) -> Self {
        Self {
            accesses: self.accesses + other.accesses,
            saturated: self.saturated + other.saturated,
            leads: self.leads + other.leads,
            writes: self.writes + other.writes,
            unseen: self.unseen + other.unseen,
            accessed: self.accessed + other.accessed,
        }
    }
}

/// Whether a move of the unit is that of one huge page.
pub(crate) fn moves_whole(flags: HeatFlags, pages: u16) -> bool {
    flags.has(HeatFlags::HUGE) && pages >= 512
}

/// Totals that do not depend on a policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) epochs: u32,
    pub(crate) seconds: f64,
    pub(crate) all: Hits,
    /// Base pages resident, summed over the epochs.
    pub(crate) pages: u64,
    /// Epochs in which leads and writes were counted.
    pub(crate) counted: u32,
    pub(crate) stretches: Log<Stretch>,
}

impl Totals {
    /// Adds one evaluated epoch.
    pub(crate) fn add(&mut self, demands: &Demands, length_s: f64) {
        self.epochs += 1;
        self.seconds += length_s;
        self.pages += demands.units.iter().map(|unit| u64::from(unit.pages)).sum::<u64>();
        let counted = !demands.counted.is_empty();
        self.counted += u32::from(counted || demands.units.is_empty());
        let mut sum = Hits::default();
        demands.units.iter().for_each(|unit| sum.add(*unit));
        demands.counted.iter().for_each(|unit| sum.add_counted(*unit));
        let sum = sum.over(length_s, counted);
        self.all = self.all.sum(sum);
        self.stretches.push(&[Stretch { seconds: length_s, all: sum.traffic() }]);
    }
}

/// Base pages that begin or end to be promoted (0) and demoted (1) at a bin, and of them those in
/// huge pages (2, 3).
type Steps = [i64; 4];

/// What one policy adds up at every bin of capacities.
#[derive(Debug)]
pub(crate) struct Tally {
    hits: Vec<Hits>,
    steps: Vec<Steps>,
    coarse: Coarse,
    /// This epoch's traffic, per position of `coarse`.
    epoch: Vec<Traffic>,
    by_epoch: Log<Traffic>,
}

/// What one policy achieved at one capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reached {
    pub(crate) hits: Hits,
    pub(crate) promoted: u64,
    pub(crate) demoted: u64,
    /// Of these, the bytes in huge pages.
    pub(crate) promoted_huge: u64,
    pub(crate) demoted_huge: u64,
}

impl Tally {
    pub(crate) fn new(bins: usize) -> Self {
        let coarse = Coarse::new(bins);
        let width = coarse.entries().len();
        Self {
            hits: vec![Hits::default(); bins],
            steps: vec![[0; 4]; bins],
            coarse,
            epoch: vec![Traffic::default(); width],
            by_epoch: Log::new(width),
        }
    }

    /// Units that are fast from `bin` on were accessed so in the epoch under way.
    #[inline]
    pub(crate) fn charge(&mut self, bin: u32, hits: Hits) {
        let sum = &mut self.hits[bin as usize];
        *sum = sum.sum(hits);
        self.epoch[self.coarse.position(bin)] += hits.traffic();
    }

    /// All units of the epoch were charged.
    pub(crate) fn end_epoch(&mut self) {
        let mut sum = Traffic::default();
        for traffic in &mut self.epoch {
            sum += *traffic;
            *traffic = sum;
        }
        self.by_epoch.push(&self.epoch);
        self.epoch.fill(Traffic::default());
    }

    /// The entries at which epochs are told apart, and what was fast there, epoch by epoch.
    pub(crate) fn by_epoch(&self) -> (Vec<u32>, &[Traffic]) {
        (self.coarse.entries(), self.by_epoch.values())
    }

    /// A unit of `pages` that was fast from bin `old` on is now so from bin `new` on. Without
    /// branches; if the bins are equal nothing changes.
    #[inline]
    pub(crate) fn moved(&mut self, old: u32, new: u32, pages: u64, huge: bool) {
        let down = usize::from(old < new);
        let pages = pages.cast_signed();
        let whole = pages * i64::from(huge);
        let first = &mut self.steps[old.min(new) as usize];
        first[down] += pages;
        first[2 + down] += whole;
        let last = &mut self.steps[old.max(new) as usize];
        last[down] -= pages;
        last[2 + down] -= whole;
    }

    /// What was reached at every bin.
    pub(crate) fn reached(&self) -> impl Iterator<Item = Reached> + '_ {
        let (mut hits, mut moves) = (Hits::default(), [0; 4]);
        self.hits.iter().zip(&self.steps).map(move |(more, step)| {
            hits = hits.sum(*more);
            for (sum, step) in moves.iter_mut().zip(step) {
                *sum += step;
            }
            let [promoted, demoted, promoted_huge, demoted_huge] =
                moves.map(|pages: i64| pages.unsigned_abs() << 12);
            Reached { hits, promoted, demoted, promoted_huge, demoted_huge }
        })
    }
}

/// Puts totals and what was reached at every capacity together.
pub(crate) fn curve(
    policy: String,
    step: Bytes,
    totals: &Totals,
    reached: impl Iterator<Item = Reached>,
    (at, fast): (Vec<u32>, Vec<Traffic>),
) -> Curve {
    let counted = totals.epochs > 0 && totals.counted == totals.epochs;
    let mut curve = Curve {
        policy,
        step,
        epochs: totals.epochs,
        seconds: totals.seconds,
        accesses: totals.all.accesses,
        saturated: totals.all.saturated,
        unseen_bound: totals.all.unseen as f64,
        accessed_units: totals.all.accessed,
        leads: if counted { totals.all.leads } else { 0.0 },
        writes: if counted { totals.all.writes } else { 0.0 },
        by_epoch: ByEpoch { at, stretches: totals.stretches.values().to_vec(), fast },
        ..Curve::default()
    };
    for at in reached {
        curve.fast_accesses.push(at.hits.accesses);
        curve.fast_saturated.push(at.hits.saturated);
        curve.fast_unseen_bound.push(at.hits.unseen as f64);
        curve.fast_accessed_units.push(at.hits.accessed);
        curve.promoted.push(at.promoted);
        curve.demoted.push(at.demoted);
        curve.promoted_huge.push(at.promoted_huge);
        curve.demoted_huge.push(at.demoted_huge);
        if counted {
            curve.fast_leads.push(at.hits.leads);
            curve.fast_writes.push(at.hits.writes);
        }
    }
    curve
}
