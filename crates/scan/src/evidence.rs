//! From looks to a rate. Each look at pages that were unseen until then is a binomial trial:
//! `seen` of `risk` pages were accessed within `dt`, with P = 1 - exp(-rate x dt). The rate is
//! the one of maximum likelihood over all trials; by the lack of memory of the exponential
//! distribution a ladder of looks after one clearing is a row of independent trials.

use std::fmt;

/// Rungs of the ladder of gaps, from 5 us by factors of 4 to 5.2 s.
pub(crate) const RUNGS: usize = 11;
const FIRST_GAP_NS: u64 = 5_000;
/// Seen pages that a population of pages must show before longer gaps are left out. More would
/// steady the single estimate, but the longer gaps that it takes hide the hottest pages.
const ENOUGH: f32 = 6.0;
/// The likeliest rate is too high when it rests on few seen pages: for uncensored times by
/// n / (n - 1). On this ladder, which is censored at both ends, by about half as much
/// (`burst_tests.rs` holds the corrected means to the true rates, from 400,000/s to 0.3/s).
const BIAS: f64 = 0.4;
/// What a trial counts for one epoch later.
const FADE: f32 = 0.85;
/// Times that a huge page was seen with which an epoch needs no older trials; many base pages
/// need none if enough were seen at the shortest gap.
const SPEAKS_FOR_ITSELF: f32 = 12.0;
/// Share of trials at the shortest gap that were seen, from which on a rate is a lower bound.
const SATURATED: f64 = 0.95;

/// The nominal gap of a rung, ns.
pub(crate) const fn gap_ns(rung: usize) -> u64 {
    FIRST_GAP_NS << (2 * rung)
}

/// The rung whose gap is nearest (in ratio) to `ns`.
pub(crate) fn rung_of(ns: u64) -> usize {
    // Half way between two rungs is a factor of 2.
    let steps = (ns / (FIRST_GAP_NS / 2)).max(1).ilog2() / 2;
    (steps as usize).min(RUNGS - 1)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slot {
    /// Pages asked for and pages seen; not whole where older trials count for less.
    risk: f32,
    seen: f32,
    /// Sum of risk x dt, seconds.
    exposure: f32,
}

/// All trials of one unit in one epoch. Trials straight after a clearing and trials between two
/// looks are kept apart, for their `dt` differ.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Evidence {
    slots: [[Slot; RUNGS]; 2],
}

/// `gap: seen/asked`, gaps in us; those between two looks with a `+`.
impl fmt::Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (ladder, plus) in self.slots.iter().zip(["", "+"]) {
            for slot in ladder.iter().filter(|slot| slot.risk > 0.0) {
                let gap = slot.exposure / slot.risk * 1e6;
                write!(f, " {plus}{gap:.0}: {:.0}/{:.0}", slot.seen, slot.risk)?;
            }
        }
        Ok(())
    }
}

/// Trials of one time after a clearing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Looked at last, and now; seconds after the clearing.
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    /// Pages not seen before, and those of them seen now.
    pub(crate) asked: f64,
    pub(crate) seen: f64,
}

/// What the evidence says of one page (or of one huge page) of the unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Estimate {
    /// No trial was made.
    Nothing,
    /// Never seen.
    Unseen,
    /// Accesses per second.
    Rate(f32),
    /// At least this many accesses per second.
    AtLeast(f32),
}

impl Evidence {
    /// Notes that `seen` of `risk` pages were newly seen `dt_ns` after they were last known to be
    /// unseen, `gap_ns` after they were cleared.
    pub(crate) fn note(&mut self, risk: u16, seen: u16, dt_ns: u64, gap_ns: u64, first: bool) {
        let slot = &mut self.slots[usize::from(!first)][rung_of(gap_ns)];
        slot.risk += f32::from(risk);
        slot.seen += f32::from(seen.min(risk));
        slot.exposure += f32::from(risk) * (dt_ns as f32 * 1e-9);
    }

    /// Adds the trials of an epoch to what older ones have left in `self`, and says what the rate
    /// was in that epoch. Where it saw enough it speaks for itself; else older trials help out.
    pub(crate) fn learn(&mut self, epoch: &Self, population: bool) -> Estimate {
        let told = if population {
            epoch.shortest().is_some_and(|slot| slot.seen >= ENOUGH)
        } else {
            let seen: f32 = epoch.slots.iter().flatten().map(|slot| slot.seen).sum();
            seen >= SPEAKS_FOR_ITSELF
        };
        for (old, new) in self.slots.iter_mut().flatten().zip(epoch.slots.iter().flatten()) {
            old.risk = old.risk * FADE + new.risk;
            old.seen = old.seen * FADE + new.seen;
            old.exposure = old.exposure * FADE + new.exposure;
        }
        let pooled = self.estimate(population);
        if told || self.contradicts(epoch, pooled, population) {
            if !told {
                // The program changed: what was is no help any more.
                self.clone_from(epoch);
            }
            return epoch.estimate(population);
        }
        pooled
    }

    /// Whether an epoch's trials are no plausible outcome of a rate: more than two standard
    /// deviations off in the number of pages seen.
    fn contradicts(&self, epoch: &Self, estimate: Estimate, population: bool) -> bool {
        let (Estimate::Rate(rate) | Estimate::AtLeast(rate)) = estimate else { return false };
        let cut = if population { self.cut() } else { RUNGS };
        let (mut seen, mut expected) = (0.0, 0.0);
        for slot in epoch.slots.iter().flat_map(|ladder| &ladder[..cut]) {
            if slot.risk > 0.0 {
                seen += slot.seen;
                expected += slot.risk * -(-rate * slot.exposure / slot.risk).exp_m1();
            }
        }
        let fewer = expected - seen > 2.0 * expected.sqrt() + 1.0;
        // More than a lower bound lets expect is no contradiction.
        let more = seen - expected > 2.0 * expected.sqrt() + 1.0;
        fewer || (more && matches!(estimate, Estimate::Rate(_)))
    }

    /// The rate of a single page. `population`: the trials are of many pages whose rates differ
    /// (a unit of base pages), so only gaps short enough not to saturate the hottest count.
    pub(crate) fn estimate(&self, population: bool) -> Estimate {
        let cut = if population { self.cut() } else { RUNGS };
        let trials: Vec<Slot> = self
            .slots
            .iter()
            .flat_map(|ladder| &ladder[..cut])
            .filter(|slot| slot.risk > 0.0)
            .copied()
            .collect();
        if trials.is_empty() {
            return Estimate::Nothing;
        }
        if trials.iter().all(|slot| slot.seen == 0.0) {
            return Estimate::Unseen;
        }
        let shortest = self.shortest();
        let seen: f32 = trials.iter().map(|slot| slot.seen).sum();
        match likeliest(&trials).map(|rate| rate * (1.0 - BIAS / f64::from(seen.max(1.0)))) {
            Some(rate)
                if shortest.is_none_or(|s| f64::from(s.seen) < SATURATED * f64::from(s.risk)) =>
            {
                Estimate::Rate(single(rate))
            }
            Some(rate) => Estimate::AtLeast(single(rate)),
            None => Estimate::AtLeast(single(median_bound(&trials))),
        }
    }

    /// How many rungs to use: up to the shortest gap by which enough pages were seen.
    fn cut(&self) -> usize {
        let mut seen = 0.0;
        for rung in 0..RUNGS {
            seen += self.slots[0][rung].seen + self.slots[1][rung].seen;
            if seen >= ENOUGH {
                return rung + 1;
            }
        }
        RUNGS
    }

    /// All trials, straight after a clearing first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> {
        let slots = self.slots.iter().zip([true, false]);
        slots.flat_map(|(ladder, first)| {
            ladder.iter().enumerate().filter(|(_, slot)| slot.risk > 0.0).map(
                move |(rung, slot)| {
                    let dt = f64::from(slot.exposure) / f64::from(slot.risk);
                    let to_s = if first { dt } else { dt.max(gap_ns(rung) as f64 * 1e-9) };
                    let (asked, seen) = (f64::from(slot.risk), f64::from(slot.seen));
                    Step { from_s: to_s - dt, to_s, asked, seen }
                },
            )
        })
    }

    fn shortest(&self) -> Option<Slot> {
        self.slots[0].iter().find(|slot| slot.risk > 0.0).copied()
    }
}

/// Rates lie between 1e-6 and 1e9: single precision holds them.
#[expect(clippy::cast_possible_truncation, reason = "in range")]
fn single(rate: f64) -> f32 {
    rate as f32
}

/// The rate of maximum likelihood, or None when everything was always seen (it is unbounded).
fn likeliest(trials: &[Slot]) -> Option<f64> {
    let unseen_time: f64 = trials
        .iter()
        .map(|slot| f64::from(slot.exposure) * (1.0 - f64::from(slot.seen) / f64::from(slot.risk)))
        .sum();
    if unseen_time <= 0.0 {
        return None;
    }
    // The derivative of the log-likelihood falls steadily in the rate: bisect its logarithm.
    let slope = |rate: f64| -> f64 {
        let seen_time: f64 = trials
            .iter()
            .map(|slot| {
                let dt = f64::from(slot.exposure) / f64::from(slot.risk);
                f64::from(slot.seen) * dt / (rate * dt).exp_m1()
            })
            .sum();
        seen_time - unseen_time
    };
    let (mut low, mut high) = (1e-6_f64.ln(), 1e9_f64.ln());
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if slope(middle.exp()) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high).exp())
}

/// The rate at which seeing everything, as it was seen, would have been an even bet.
fn median_bound(trials: &[Slot]) -> f64 {
    let all_seen = |rate: f64| -> f64 {
        trials
            .iter()
            .map(|slot| {
                let dt = f64::from(slot.exposure) / f64::from(slot.risk);
                f64::from(slot.risk) * (-(-rate * dt).exp_m1()).ln()
            })
            .sum()
    };
    let (mut low, mut high) = (1e-6_f64.ln(), 1e9_f64.ln());
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if all_seen(middle.exp()) < 0.5_f64.ln() {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
