//! A survey as Pagetide's recorder makes it: waves that clear accessed bits, flush translations, and
//! look at growing gaps how many of them are set again, so that it is seen how often units are accessed,
//! not only whether. It keeps to a share of the cores that the tenant has: where that does not reach for all units,
//! waves take them in turn, each some from everywhere, as the recorder's first waves do. Of a tenant that a
//! governor stopped it takes a tenth of the units, the same ones each time.
//!
//! A huge page has one bit: a visit sees when it was first accessed. Base pages have one each, of which a
//! visit sees some hundred; where memory is scaled down one of them stands for many, so that accesses
//! are counted, up to as many as those would have bits.
//!
//! What was seen fades as it does in the recorder, and is forgotten where a unit changed (`together.rs`).
//!
//! Simpler than the recorder: the waves of an interval follow each other, where a unit stands for 512 base pages or more what
//! is expected of it is what its own visits saw, not a mixture of rates, and a page that is touched again counts again.

mod mixture;
mod seen;
mod together;

use self::seen::Seen;
use self::together::Together;
use super::{Interval, Looked, Tracker, heat};
use crate::engine::{HUGE_PAGES, World, bit};
use crate::kernel::Units;
use pagetide_machine::Kernel;
use pagetide_policy::Watch;
use pagetide_types::UnitId;
use std::ops::Range;

/// The recorder's share of each core of the tenant in `pagetide run`, and the most of one core that it takes.
const BUDGET: f64 = 0.03;
const MOST: f64 = 0.5;
/// Waves in an interval.
const WAVES: f64 = 4.0;
/// Looks of a wave; each gap is twice the one before.
const LOOKS: u32 = 14;
/// The last gap, of a wave's time.
const LAST: f64 = 0.9;
/// Clearing an entry, over a kernel's scanning it, and a look at it, over clearing it: where the scan takes 60 ns a visit
/// takes 158 ns a page, as it does natively (docs/reproduction/adaptive.md); that a huge page's one entry costs as much more was not measured.
const CLEAR: f64 = 1.8;
const LOOK: f64 = 1.0 / 30.0;
/// A visit ends once this share of the bits is set: with more of them set less is learned.
const ENOUGH: f64 = 0.5;

/// A unit whose bits were cleared.
#[derive(Clone, Copy, Debug)]
struct Visit {
    unit: usize,
    /// Bits that it has, and those set again.
    bits: f64,
    set: f64,
    /// Touches, and those of pages that came in order.
    touches: [f64; 2],
}

/// Units under watch.
#[derive(Clone, Debug)]
struct Wave {
    open: Vec<Visit>,
    cleared_ns: f64,
    /// Looks taken, and the gap of the last one.
    looks: u32,
    gap_ns: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Survey {
    scan_ns: f64,
    interrupt_ns: f64,
    /// Base pages that one stands for.
    scale: f64,
    /// From wave to wave, ns.
    every_ns: f64,
    seen: Vec<Seen>,
    /// Those asked together, in order.
    together: Vec<Together>,
    /// The visits of this interval to units that are asked together, by unit: accesses, and seconds.
    visits: Vec<(usize, [f64; 2])>,
    /// The unit that is next.
    at: usize,
    wave: Option<Wave>,
    /// What it took since the last look, ns.
    spent_ns: f64,
    /// The part of the units that is watched, and of the budget that this takes.
    part: f64,
}

impl Survey {
    /// One with a kernel's costs, in intervals of so many seconds, where a base page stands for `scale`.
    #[must_use]
    pub fn new(costs: &Kernel, interval_s: f64, scale: f64) -> Self {
        Self {
            scan_ns: CLEAR * costs.scan_ns,
            interrupt_ns: costs.interrupt_us * 1e3,
            scale,
            every_ns: interval_s * 1e9 / WAVES,
            seen: Vec::new(),
            together: Vec::new(),
            visits: Vec::new(),
            at: 0,
            wave: None,
            spent_ns: 0.0,
            part: 1.0,
        }
    }

    /// CPU time for a wave, ns.
    fn budget_ns(&self, tenant: usize, world: &World) -> f64 {
        let cores = world.cores.count(tenant).max(1) as f64;
        (BUDGET * cores).min(MOST) * self.part * self.every_ns
    }

    /// Whether a unit is among those that are watched: by a hash of its number (Fibonacci hashing: Knuth 1998).
    fn is_watched(&self, unit: usize) -> bool {
        let hash = (unit as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        hash as f64 <= self.part * f64::from(u32::MAX)
    }

    /// How many units are asked together: those of 512 base pages.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 512")]
    fn asked_together(&self, units: &Units) -> usize {
        let pages = units.range(0).len().max(1) as f64 * self.scale;
        (HUGE_PAGES as f64 / pages).clamp(1.0, HUGE_PAGES as f64) as usize
    }

    /// Takes in the interval that ends now; of each unit, whether it was watched in it, and seen accessed.
    fn learn(&mut self, units: &Units, world: &World) -> Vec<Option<bool>> {
        self.seen.resize(units.len(), Seen::default());
        let size = self.asked_together(units);
        self.together.resize(units.len().div_ceil(size), Together::default());
        self.visits.sort_by_key(|(unit, _)| *unit);
        let mut visits = &self.visits[..];
        let mut accessed = Vec::with_capacity(units.len());
        for (seen, together) in self.seen.chunks_mut(size).zip(&mut self.together) {
            let first = accessed.len();
            let (theirs, others) =
                visits.split_at(visits.partition_point(|(unit, _)| *unit < first + size));
            visits = others;
            if is_huge(&units.range(first), world) {
                together.judge_huge(&mut seen[0]);
            } else {
                together.judge(seen);
            }
            let theirs: Vec<_> =
                theirs.iter().map(|(unit, visit)| (unit - first, *visit)).collect();
            accessed.extend(together.learn(seen, &theirs));
        }
        self.visits.clear();
        accessed
    }

    /// Begins a wave: clears as many units as can be paid for, the next ones; what that takes, ns.
    fn clear(&mut self, tenant: usize, units: &Units, now_ns: f64, world: &mut World) -> f64 {
        let count = units.len();
        self.seen.resize(count, Seen::default());
        let mut wave = Wave { open: Vec::new(), cleared_ns: now_ns, looks: 0, gap_ns: 0.0 };
        let (mut takes_ns, mut cleared) = (0.0, 0);
        let looks = LOOK * f64::from(LOOKS);
        let budget_ns = self.budget_ns(tenant, world);
        let step = apart(count);
        for _ in 0..count {
            if takes_ns * (1.0 + looks) >= budget_ns {
                break;
            }
            let unit = self.at % count;
            self.at = unit + step;
            if !self.is_watched(unit) {
                continue;
            }
            let pages = units.range(unit);
            let entries = entries(pages.clone(), world);
            if entries > 0 {
                world.pages.clear_all(pages.clone(), bit::ACCESSED);
                world.take_count(pages.clone());
                takes_ns += entries as f64 * self.scan_ns;
                cleared += pages.len();
                let bits = if is_huge(&pages, world) { 1.0 } else { entries as f64 * self.scale };
                wave.open.push(Visit { unit, bits, set: 0.0, touches: [0.0; 2] });
            }
        }
        // A flush for each 2 MiB.
        world.cores.flush(tenant);
        world.cores.interrupt(tenant, self.interrupt_ns * cleared as f64 / HUGE_PAGES as f64);
        self.wave = Some(wave);
        takes_ns
    }

    /// Looks at the wave's units; what that takes, ns.
    fn look_again(&mut self, units: &Units, now_ns: f64, world: &mut World) -> f64 {
        let Some(mut wave) = self.wave.take() else { return 0.0 };
        let before_ns = std::mem::replace(&mut wave.gap_ns, now_ns - wave.cleared_ns);
        wave.looks += 1;
        let (gap_ns, last) = (wave.gap_ns, wave.looks == LOOKS);
        let mut looked = 0;
        let many = self.asked_together(units) > 1;
        wave.open.retain_mut(|visit| {
            let pages = units.range(visit.unit);
            looked += entries(pages.clone(), world);
            let seen = &mut self.seen[visit.unit];
            if is_huge(&pages, world) {
                let accessed =
                    pages.into_iter().any(|page| world.pages.entry(page) & bit::ACCESSED != 0);
                if accessed {
                    // At some time since the last look.
                    seen.visited(before_ns, Some(gap_ns));
                } else if last {
                    seen.visited(gap_ns, None);
                }
                return !accessed;
            }
            let [alone, in_order] = world.take_touches(pages).map(|count| count as f64);
            visit.touches = [visit.touches[0] + alone, visit.touches[1] + in_order];
            visit.set = visit.touches.iter().sum::<f64>().min(visit.bits);
            let enough = last || visit.set >= ENOUGH * visit.bits;
            if enough {
                let all = visit.touches.iter().sum::<f64>().max(1.0);
                // Of one bit it is known between which looks it was set.
                let alone = visit.bits == 1.0 && visit.set == 1.0;
                let for_ns = if alone { f64::midpoint(before_ns, gap_ns) } else { gap_ns };
                seen.watched(visit.touches.map(|touches| visit.set * touches / all), for_ns);
                if many {
                    self.visits.push((visit.unit, [visit.set, for_ns * 1e-9]));
                }
            }
            !enough
        });
        if !last {
            self.wave = Some(wave);
        }
        looked as f64 * self.scan_ns * LOOK
    }
}

impl Tracker for Survey {
    fn begin(&mut self, world: &mut World) {
        world.count_touches();
    }

    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked {
        let accessed = self.learn(interval.units, world);
        let seen = &self.seen;
        let mut heat = heat(interval, world, |unit, _| (accessed[unit], seen[unit].rate()));
        let least = heat.unit.iter().map(|unit| seen[unit.index()].least()).collect();
        heat.least = least;
        heat.in_order = heat.unit.iter().map(|unit| seen[unit.index()].in_order()).collect();
        // Those that were watched stand for the others.
        let watched = heat.watched.iter().filter(|pages| **pages > 0).count();
        let each = heat.len() as f64 / watched.max(1) as f64;
        let traffic = |unit: &UnitId| seen[unit.index()].traffic(each);
        heat.traffic = heat.unit.iter().map(traffic).collect();
        heat.cores = world.cores.count(interval.tenant) as f32;
        Looked { heat, cpu_ns: 0.0, thread_ns: std::mem::take(&mut self.spent_ns) }
    }

    fn watch(&mut self, watch: Watch) {
        self.part = watch.budget_share();
    }

    fn has_thread(&self) -> bool {
        true
    }

    fn work(&mut self, tenant: usize, units: &Units, now_ns: f64, world: &mut World) -> f64 {
        let takes_ns = if self.wave.is_none() {
            self.clear(tenant, units, now_ns, world)
        } else {
            self.look_again(units, now_ns, world)
        };
        world.cores.kernel(now_ns, takes_ns);
        self.spent_ns += takes_ns;
        let next_ns = self.wave.as_ref().map_or(0.0, |wave| {
            let gap = LAST * self.every_ns / 2_f64.powi((LOOKS - 1 - wave.looks).cast_signed());
            wave.cleared_ns + gap
        });
        // The next wave begins in the rest of this one's time.
        let next_ns =
            if self.wave.is_none() { now_ns + (1.0 - LAST) * self.every_ns } else { next_ns };
        next_ns.max(now_ns + takes_ns)
    }
}

/// From one of so many units to the one that is next, so that each has its turn and any few in a row are spread over
/// all: no common factor, about the golden section (Fibonacci hashing again).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count")]
fn apart(count: usize) -> usize {
    let coprime = |step: &usize| {
        let (mut a, mut b) = (*step, count);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    let from = (count as f64 * 0.618_034) as usize;
    (from..).find(coprime).unwrap_or(1)
}

fn is_huge(pages: &Range<usize>, world: &World) -> bool {
    world.pages.entry(pages.start) & bit::HUGE != 0
}

/// Entries that map something.
fn entries(pages: Range<usize>, world: &World) -> usize {
    if is_huge(&pages, world) {
        return 1;
    }
    pages.filter(|page| world.pages.entry(*page) & bit::ABSENT == 0).count()
}

#[cfg(test)]
mod tests;
