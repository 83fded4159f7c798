//! The cost of every placement of one curve.
//!
//! Latency adds up: every access that slow memory serves costs the same, whenever it comes, so the
//! sums over the run do. Queues do not, and are solved for epoch by epoch at the entries at which the
//! curve tells epochs apart; what they add to the run time is a straight line between these.

use crate::cost::model::{Demand, Reading};
use crate::cost::move_cost::Moves;
use crate::cost::queue::Load;
use crate::{Band, CostModel, Curve, EpochHits, Stretch, Traffic};
use std::cell::OnceCell;

/// Accesses that a unit never seen may have had all the same (95 %: -ln 0.05).
const UNSEEN_ACCESSES: f64 = 3.0;

/// As many as there are readings.
const READINGS: usize = 4;

/// What a curve's placements cost; see [`CostModel::of`].
#[derive(Clone, Debug)]
pub struct CurveCost<'a> {
    model: &'a CostModel,
    curve: &'a Curve,
    /// Greatest possible accesses of saturated units over those measured.
    most: f64,
    ratio: Band,
    /// What queues add, at the entries of `by_epoch`: per reading, for the high and the low end.
    queues: [[OnceCell<Vec<f64>>; READINGS]; 2],
}

/// Accesses of which some wait and all take bandwidth.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    waiting: f64,
    demand: Demand,
}

/// In a run or an epoch, as one reading has it.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    all: Asked,
    fast: Asked,
    slow: Asked,
}

impl Served {
    /// Share of the waiting that is for slow memory.
    fn missed(&self) -> f64 {
        if self.all.waiting > 0.0 { self.slow.waiting / self.all.waiting } else { 0.0 }
    }
}

impl<'a> CurveCost<'a> {
    pub(crate) fn new(model: &'a CostModel, curve: &'a Curve) -> Self {
        let most = model.saturated_multiple(curve);
        let ratio = model.ratio_of(curve);
        Self { model, curve, most, ratio, queues: Default::default() }
    }

    /// The curve.
    #[must_use]
    pub fn curve(&self) -> &'a Curve {
        self.curve
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &'a CostModel {
        self.model
    }

    /// The program's slowdown at the curve's entry `i`, against all memory fast.
    ///
    /// A curve without accesses costs nothing but its moves. With stall counters both ends agree.
    #[must_use]
    pub fn slowdown(&self, i: usize) -> Band {
        let reading =
            |saturated_at_most, unseen_charged| Reading { saturated_at_most, unseen_charged };
        if self.model.is_point() {
            let point = self.high(i, reading(false, false));
            return Band { low: point, high: point };
        }
        let high = self.high(i, reading(false, true)).max(self.high(i, reading(true, true)));
        let low = self.low(i, reading(false, false)).min(self.low(i, reading(true, false)));
        Band { low: low.min(high), high }
    }

    /// The high end, were the observation to be read in this one way: what tells how far an
    /// answer depends on saturation and on unseen units, the program's share left alone.
    pub(crate) fn slowdown_as(&self, i: usize, reading: Reading) -> f64 {
        self.high(i, reading)
    }

    /// Whether the program waits for leads alone; the other misses take bandwidth.
    pub(crate) fn charges_leads(&self) -> bool {
        self.model.charges_leads(self.curve)
    }

    /// The slowdown of a program all of whose waiting is for slow memory, without queues.
    pub(crate) fn per_miss(&self) -> f64 {
        let (share, ratio) = self.end(true);
        share * (ratio - 1.0).max(0.0)
    }

    /// What every epoch waited for, and what of it was for fast memory of the curve's entry `i`.
    pub(crate) fn hits(&self, i: usize) -> Vec<EpochHits> {
        let epochs = &self.curve.by_epoch;
        let leads = self.charges_leads();
        let waiting = |of: Traffic| if leads { of.leads } else { of.accesses };
        let hits = |(s, stretch): (usize, &Stretch)| EpochHits {
            accesses: waiting(stretch.all),
            fast: waiting(epochs.fast_at(s, i)),
        };
        epochs.stretches.iter().enumerate().map(hits).collect()
    }

    /// The greatest possible accesses of saturated units over what was measured of them.
    pub(crate) fn saturated_multiple(&self) -> f64 {
        self.most
    }

    /// The slowdown when slow memory serves a fixed share of all accesses, without moves: for
    /// placements that no curve holds.
    #[must_use]
    pub fn slowdown_of_share(&self, slow_share: f64) -> Band {
        let fast = 1.0 - slow_share.clamp(0.0, 1.0);
        let run = Stretch { seconds: self.curve.seconds, all: self.all() };
        let reading = Reading { saturated_at_most: false, unseen_charged: false };
        let part = |high: bool| {
            let served = |all: Traffic| self.served(all, all.part(fast), 0.0, high, reading);
            let whole = served(run.all).all.waiting;
            let queue = |stretch: &Stretch| {
                self.queue(stretch, &served(stretch.all), whole, Moves::default(), high)
            };
            let queues: f64 = match &self.curve.by_epoch.stretches[..] {
                [] => queue(&run),
                all => all.iter().map(queue).sum(),
            };
            let (share, ratio) = self.end(high);
            share * served(run.all).missed() * (ratio - 1.0).max(0.0) + queues
        };
        let high = part(true);
        Band { low: part(false).min(high), high }
    }

    fn high(&self, i: usize, reading: Reading) -> f64 {
        let moves = self.model.moves(self.curve, i).time;
        self.latency(i, reading, true) + moves + self.queues(i, reading, true)
    }

    /// Moves are hidden, and nothing queues; but no memory gives more than its bandwidth.
    fn low(&self, i: usize, reading: Reading) -> f64 {
        self.latency(i, reading, false) + self.queues(i, reading, false)
    }

    /// Share of the time that waits for memory, and ratio of the latencies, at one end.
    fn end(&self, high: bool) -> (f64, f64) {
        let share = self.model.share();
        if high { (share.high, self.ratio.high) } else { (share.low, self.ratio.low) }
    }

    /// What slow memory's latency costs the run.
    fn latency(&self, i: usize, reading: Reading, high: bool) -> f64 {
        let (share, ratio) = self.end(high);
        share * self.run(i, reading, high).missed() * (ratio - 1.0).max(0.0)
    }

    /// All accesses of the run.
    fn all(&self) -> Traffic {
        let curve = self.curve;
        Traffic {
            accesses: curve.accesses,
            saturated: curve.saturated,
            leads: if curve.fast_leads.is_empty() { curve.accesses } else { curve.leads },
            writes: curve.writes,
        }
    }

    /// The run at entry `i`.
    fn run(&self, i: usize, reading: Reading, high: bool) -> Served {
        let curve = self.curve;
        let at = |of: &[f64]| of.get(i).copied();
        let accesses = curve.fast_accesses[i];
        let fast = Traffic {
            accesses,
            saturated: curve.fast_saturated[i],
            leads: at(&curve.fast_leads).unwrap_or(accesses),
            writes: at(&curve.fast_writes).unwrap_or(0.0),
        };
        self.served(self.all(), fast, self.unseen(i, reading), high, reading)
    }

    /// Accesses to unseen units in slow memory over the whole run.
    fn unseen(&self, i: usize, reading: Reading) -> f64 {
        if !reading.unseen_charged {
            return 0.0;
        }
        // The curve bounds every epoch by one access; together they are bounded better.
        let together = (UNSEEN_ACCESSES / f64::from(self.curve.epochs.max(1))).min(1.0);
        together * (self.curve.unseen_bound - self.curve.fast_unseen_bound[i]).max(0.0)
    }

    /// What was served by which memory, as a reading has it.
    fn served(
        &self,
        all: Traffic,
        fast: Traffic,
        unseen: f64,
        high: bool,
        reading: Reading,
    ) -> Served {
        let extra = if reading.saturated_at_most { self.most - 1.0 } else { 0.0 };
        let leads = self.charges_leads();
        let counted = !self.curve.fast_writes.is_empty();
        let asked = |of: Traffic, more: f64| {
            let more = more + extra * of.saturated;
            let accesses = of.accesses + more;
            let writes =
                if counted { of.writes } else { accesses * CostModel::writes_unknown(high) };
            let waiting = if leads { of.leads + more } else { accesses };
            Asked { waiting, demand: Demand { accesses, writes } }
        };
        let rest = Traffic {
            accesses: (all.accesses - fast.accesses).max(0.0),
            saturated: (all.saturated - fast.saturated).max(0.0),
            leads: (all.leads - fast.leads).max(0.0),
            writes: (all.writes - fast.writes).max(0.0),
        };
        Served { all: asked(all, unseen), fast: asked(fast, 0.0), slow: asked(rest, unseen) }
    }

    /// What queues add to the run time at entry `i`, over it.
    fn queues(&self, i: usize, reading: Reading, high: bool) -> f64 {
        let epochs = &self.curve.by_epoch;
        let Some((low, above, part)) = epochs.around(i) else {
            // Nothing is known of the epochs: they are alike.
            let run = Stretch { seconds: self.curve.seconds, all: self.all() };
            let served = self.run(i, reading, high);
            return self.queue(&run, &served, served.all.waiting, self.moves(i, high), high);
        };
        let number =
            usize::from(reading.saturated_at_most) + 2 * usize::from(reading.unseen_charged);
        let known = self.queues[usize::from(high)][number].get_or_init(|| {
            (0..epochs.at.len()).map(|j| self.queues_at(j, reading, high)).collect()
        });
        known[low] + (known[above] - known[low]) * part
    }

    /// The same at the `j`-th of the entries at which epochs are told apart.
    fn queues_at(&self, j: usize, reading: Reading, high: bool) -> f64 {
        let epochs = &self.curve.by_epoch;
        let i = epochs.at[j] as usize;
        let unseen = self.unseen(i, reading) / self.curve.seconds;
        let (whole, moves) = (self.run(i, reading, high).all.waiting, self.moves(i, high));
        let of = |(s, stretch): (usize, &Stretch)| {
            let unseen = unseen * stretch.seconds;
            let served = self.served(stretch.all, epochs.fast(s, j), unseen, high, reading);
            self.queue(stretch, &served, whole, moves, high)
        };
        if self.curve.seconds > 0.0 {
            epochs.stretches.iter().enumerate().map(of).sum()
        } else {
            0.0
        }
    }

    /// The moves of entry `i`; at the low end nothing waits for them.
    fn moves(&self, i: usize, high: bool) -> Moves {
        let moves = self.model.moves(self.curve, i);
        Moves { time: if high { moves.time } else { 0.0 }, ..moves }
    }

    /// What queues add to the run time in one stretch of it, over the run time; `whole` is what the
    /// run has of [`Asked::waiting`].
    fn queue(
        &self,
        stretch: &Stretch,
        served: &Served,
        whole: f64,
        moves: Moves,
        high: bool,
    ) -> f64 {
        let (seconds, run) = (stretch.seconds, self.curve.seconds);
        if seconds <= 0.0 || run <= 0.0 {
            return 0.0;
        }
        let per_s = |demand: Demand| Demand {
            accesses: demand.accesses / seconds,
            writes: demand.writes / seconds,
        };
        let (share, ratio) = self.end(high);
        // An access waits as long in every epoch; but no epoch waits longer than it lasts.
        let busy = if whole > 0.0 { served.all.waiting / seconds / (whole / run) } else { 0.0 };
        let waits = (share * busy).min(1.0);
        let load = Load {
            slow_waits: waits * served.missed(),
            fast_waits: waits * (1.0 - served.missed()),
            ratio,
            slow_used: self.model.slow_used(per_s(served.slow.demand), moves),
            fast_used: self.model.fast_used(per_s(served.fast.demand), moves),
            fast_used_before: self.model.fast_used(per_s(served.all.demand), Moves::default()),
            moves: moves.time,
        };
        let slowdown = if high { load.slowdown() } else { load.slow_used - 1.0 };
        (slowdown - load.idle()).max(0.0) * seconds / run
    }
}
