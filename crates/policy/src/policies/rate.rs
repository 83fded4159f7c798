//! By access rate, with hysteresis. Ours: accessed bits say *whether* a unit was accessed in an
//! epoch, rates estimated from several gaps say *how often*, which age and frequency cannot tell
//! apart once everything is accessed in every epoch. But a rate is an estimate, and to order equal
//! units by the noise of their estimates costs moves in every epoch and gains nothing. So
//!
//! - the rate of a unit is its mean since it last changed, old epochs fading slowly;
//! - it has changed when several epochs in a row lie outside the noise, or one does by far;
//! - what orders is the *ranked* rate: a round figure, as fine as the evidence, replaced only once
//!   the mean has left it by more than its standard error allows (a Schmitt trigger), and once
//!   what that has cost is what a move costs (to rent until it has cost as much as to buy);
//!   while nobody pays for moves, at once. What was ranked on little evidence is put right as the
//!   evidence doubles;
//! - it decides every two seconds at most.
//!
//! Rates may also be pooled over epochs before, and then differ little from one to the next: what
//! was learned of the noise then says how far they wander, and a step beyond it is a change, however
//! long they stood still.
//!
//! How noisy one epoch is, is learned from all units (`noise`). Square
//! roots are compared: the noise of a count is the same for all rates there (Bartlett 1936), and
//! a fall to nothing stands out as clearly as a rise.

use crate::noise::Noise;
use crate::octaves::{ByOctave, OCTAVE, band, narrow, octave};
use crate::options::OptionInfo;
use crate::period::Period;
use crate::policy::{COLDEST, UNKNOWN, fill_unknown, rate_key};
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy, observed};
use pagetide_types::{EpochHeat, HeatFlags};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "rate",
    summary: "the highest rate per page first; differences within the noise move nothing",
    source: "ours",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[
        OptionInfo {
            name: "half-life",
            summary: "epochs after which an observation of an unchanged unit counts half; 0: only \
                      the last counts",
            default: 16.0,
            range: (0.0, 1e6),
            whole: false,
        },
        OptionInfo {
            name: "steps",
            summary: "steps per doubling of the rate (rounded to a power of two) between which \
                      the best known units are told apart",
            default: 2.0,
            range: (1.0, 256.0),
            whole: true,
        },
        OptionInfo {
            name: "sure",
            summary: "standard errors by which a rate must have changed to count; 0: any change",
            default: 3.0,
            range: (0.0, 100.0),
            whole: false,
        },
        OptionInfo {
            name: "worth",
            summary: "accesses by which a 4 KiB page must have missed its rank before it is worth a \
                      move; a 2 MiB page 32 times that",
            default: 160.0,
            range: (0.0, 1e9),
            whole: false,
        },
        OptionInfo {
            name: "interval",
            summary: "seconds between two decisions, in whole epochs; 0: one after every epoch",
            default: 2.0,
            range: (0.0, 1e6),
            whole: false,
        },
    ],
    figures: &[],
    build: |settings| {
        let half_life = settings.get("half-life");
        Policy::Rank(Box::new(Rate {
            fade: Fade::new(if half_life > 0.0 { narrow((-1.0 / half_life).exp2()) } else { 0.0 }),
            finest: OCTAVE - settings.whole("steps").ilog2(),
            sure: narrow(settings.get("sure")),
            move_cost: narrow(settings.get("worth")),
            noise: Noise::new(),
            roots: ByOctave::default(),
            units: Vec::new(),
            period: Period::new(settings.get("interval"), 0.0),
            keys: Vec::new(),
        }))
    },
};

/// Widest band that little evidence is rounded to: four octaves. A choice: what is known to no
/// better than a factor of 16 is known as well as not at all.
const WIDEST: u32 = OCTAVE + 2;
/// An octave of the rate, as a share of its root: 2^(1/2) - 1.
const ROOT_OCTAVE: f32 = std::f32::consts::SQRT_2 - 1.0;
/// Base pages that cost as much to move as one huge page does: 32 x 12 us are about the 370 us of a
/// huge page (`machines/cxl.toml`).
const HUGE_AS_BASE: f32 = 32.0;
/// What a base page's worth of a huge page costs to move, of which there are 512.
const PART_OF_HUGE: f32 = HUGE_AS_BASE / 512.0;
/// In the first epochs every one decides: little is known, and much is to be put in place.
const LEARNING: u32 = 6;
/// So many times the evidence that a unit was ranked on correct its rank for nothing.
const MORE_EVIDENCE: f32 = 2.0;
/// The variance of the difference of two epochs, over that of one.
const OF_DIFFERENCE: f32 = 2.0;

struct Rate {
    period: Period,
    /// By unit number, as of the last decision.
    keys: Vec<u32>,
    fade: Fade,
    /// Low bits of a rate's float that do not count, however well it is known.
    finest: u32,
    sure: f32,
    move_cost: f32,
    noise: Noise,
    /// The square roots of this epoch's rates.
    roots: ByOctave,
    /// By unit number.
    units: Vec<Unit>,
}

/// What weight an epoch keeps over time.
struct Fade {
    /// Over one epoch.
    keep: f32,
    /// Over 0, 1, 2 ... epochs: powers are dear, and a run is mostly short.
    powers: [f32; 32],
}

impl Fade {
    fn new(keep: f32) -> Self {
        let mut epochs = 0.0;
        let powers = std::array::from_fn(|_| {
            let power = keep.powf(epochs);
            epochs += 1.0;
            power
        });
        Self { keep, powers }
    }

    /// Over so many epochs, a whole number.
    fn over(&self, epochs: f32) -> f32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let power = self.powers.get(epochs as usize).copied();
        power.unwrap_or_else(|| self.keep.powf(epochs))
    }
}

/// What is known of a unit; rates in accesses/s.
#[derive(Clone, Copy, Default)]
struct Unit {
    /// Weighted mean since the last change, without the run.
    mean: f32,
    /// Epochs that it stands on; 0: nothing is known.
    weight: f32,
    /// The last observation.
    last: f32,
    /// The run: the last epochs in a row above the mean, or below it (negative).
    run: f32,
    /// Their mean.
    run_mean: f32,
    /// What orders.
    ranked: f32,
    /// The weight of the evidence that it was ranked on.
    ranked_on: f32,
    /// What holding it has missed since it was found wrong, accesses.
    missed: f32,
}

impl Unit {
    /// Takes `epochs` with a mean of `rate` into the mean.
    fn average_in(&mut self, rate: f32, epochs: f32, fade: &Fade) {
        self.weight = fade.over(epochs) * self.weight + epochs;
        self.mean += (rate - self.mean) * epochs / self.weight;
    }

    /// Ends the run.
    fn end_run(&mut self, fade: &Fade) {
        if self.run != 0.0 {
            self.average_in(self.run_mean, self.run.abs(), fade);
            self.run = 0.0;
        }
    }
}

impl RankPolicy for Rate {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let heat = view.heat;
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.units.len() < len {
            self.units.resize(len, Unit::default());
            self.keys.resize(len, UNKNOWN);
        }
        for unit in view.history.newborn() {
            (self.units[unit.index()], self.keys[unit.index()]) = (Unit::default(), UNKNOWN);
        }
        let least = self.survey(heat);
        self.noise.next_epoch(&self.roots, least);
        let learning = view.history.epochs() <= LEARNING;
        let decides = self.period.due(view.length_s) || learning || view.free_moves;
        let mut unknown = 0;
        let rows = heat.unit.iter().zip(&heat.flags).zip(&heat.rate).zip(&heat.pages);
        for (key, (((unit, flags), seen), pages)) in keys.iter_mut().zip(rows) {
            let mut now = self.units[unit.index()];
            if observed(*flags) {
                let each = if flags.has(HeatFlags::HUGE) { PART_OF_HUGE } else { 1.0 };
                // What is only being put in place costs nothing.
                let move_cost =
                    if view.free_moves { 0.0 } else { self.move_cost * each * f32::from(*pages) };
                self.observe(&mut now, seen.clamp(0.0, f32::MAX), move_cost, narrow(view.length_s));
                self.units[unit.index()] = now;
            }
            let ranked = &mut self.keys[unit.index()];
            if now.weight > 0.0 && (decides || *ranked == UNKNOWN) {
                // Per page: a small unit that is as hot gives more for the same memory. Rounded, so
                // that a page more or less moves nothing.
                *ranked = rate_key(now.ranked / f32::from(pages.max(&1).next_power_of_two()));
            }
            unknown += usize::from(*ranked == UNKNOWN);
            *key = *ranked;
        }
        fill_unknown(keys, unknown);
    }
}

impl Rate {
    fn observe(&mut self, unit: &mut Unit, seen: f32, move_cost: f32, length_s: f32) {
        let first = unit.weight <= 0.0;
        let mut since = 0.0;
        if first {
            *unit = Unit { mean: seen, weight: 1.0, last: seen, ..Unit::default() };
        } else if self.sure <= 0.0 {
            unit.average_in(seen, 1.0, &self.fade);
        } else {
            if self.test(unit, seen) {
                since = unit.run.abs();
                *unit = Unit { mean: unit.run_mean, weight: unit.run.abs(), run: 0.0, ..*unit };
            }
        }
        let mut whole = *unit;
        whole.end_run(&self.fade);
        let (mean, root) = (whole.mean, whole.mean.sqrt());
        let error = self.sure * self.noise.of(mean) / whole.weight.sqrt();
        // Half a step more, lest a unit at the border of two goes back and forth.
        let step = if self.sure > 0.0 { root * ROOT_OCTAVE * band(self.finest) } else { 0.0 };
        let wrong = (root - unit.ranked.sqrt()).abs() > error + step / 2.0;
        // To wait until the loss is that of a move is at most twice as dear as to know (ski rental).
        unit.missed = if wrong || since > 0.0 {
            unit.missed + (mean - unit.ranked).abs() * since.max(1.0) * length_s
        } else {
            0.0
        };
        // What was ranked on little evidence is put right as evidence doubles, whatever moves cost.
        let more = whole.weight >= MORE_EVIDENCE * unit.ranked_on;
        let surer = wrong && more;
        if more {
            unit.ranked_on = whole.weight;
        }
        if first
            || surer
            || self.sure <= 0.0 && wrong
            || unit.missed > 0.0 && unit.missed >= move_cost
        {
            (unit.ranked, unit.missed) = (self.rounded(mean, error), 0.0);
        }
    }

    /// Whether the run of epochs on one side of the mean that `seen` continues shows a change:
    /// its mean lies further off than noise allows, and the shorter the run the further.
    ///
    /// A step beyond the noise begins a run of its own: a long run of rates that were pooled, and so
    /// all lie on one side by a little, would water it down.
    fn test(&mut self, unit: &mut Unit, seen: f32) -> bool {
        let jump = seen.sqrt() - unit.last.sqrt();
        self.noise.learn(unit.mean, jump * jump / OF_DIFFERENCE);
        unit.last = seen;
        let steps = jump * jump > self.far(unit.mean, 1.0).powi(2) * OF_DIFFERENCE;
        if (seen - unit.mean) * unit.run <= 0.0 || steps {
            unit.end_run(&self.fade);
            unit.run_mean = seen;
        }
        unit.run += if seen < unit.mean { -1.0 } else { 1.0 };
        let epochs = unit.run.abs();
        unit.run_mean += (seen - unit.run_mean) / epochs;
        let off = unit.run_mean.sqrt() - unit.mean.sqrt();
        // Variances of two means, of so many epochs each.
        off * off > self.far(unit.mean, epochs).powi(2) * (1.0 / epochs + 1.0 / unit.weight)
    }

    /// How far off, in standard deviations of one epoch, a run of so many epochs must be to be a
    /// change. A single one twice as far: every epoch begins a run somewhere, so that short ones
    /// have many chances.
    fn far(&self, mean: f32, epochs: f32) -> f32 {
        self.sure * self.noise.of(mean) * (1.0 + 1.0 / epochs)
    }

    /// The band of rates that holds `mean`, about as wide as two `error`s of its square root, in
    /// powers of two of a step: its middle, or over several octaves, what units in it have.
    fn rounded(&self, mean: f32, error: f32) -> f32 {
        let mean = mean.clamp(COLDEST, f32::MAX);
        let octaves = 2.0 * error / mean.sqrt() / ROOT_OCTAVE;
        let mut drop = self.finest;
        while drop < WIDEST && band(drop) < octaves {
            drop += 1;
        }
        let low = mean.to_bits() >> drop << drop;
        if drop > OCTAVE {
            return self.usual(low, drop).max(f32::from_bits(low));
        }
        f32::from_bits(low + (1 << drop >> 1)).min(f32::MAX)
    }

    /// The usual rate in this epoch of units from `low` on that differ in `drop` bits only.
    fn usual(&self, low: u32, drop: u32) -> f32 {
        let (first, many) = ((low >> OCTAVE) as usize, 1 << (drop - OCTAVE));
        self.roots.mean(first..first + many).map_or(0.0, |root| narrow(root).powi(2))
    }

    /// Sums up this epoch's rates by octave, and gives the least above 0.
    fn survey(&mut self, heat: &EpochHeat) -> f32 {
        self.roots.clear();
        for (rate, flags) in heat.rate.iter().zip(&heat.flags) {
            if observed(*flags) {
                let rate = rate.clamp(0.0, f32::MAX);
                self.roots.add(octave(rate), f64::from(rate.sqrt()));
            }
        }
        heat.rate.iter().copied().filter(|rate| *rate > 0.0).fold(f32::MAX, f32::min)
    }
}
