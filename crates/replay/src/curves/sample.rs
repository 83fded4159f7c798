//! A sample of the units, for policies that are replayed at one capacity after the other: in a
//! large recording one unit of `k` stands for all, and every capacity is a `k`-th (miniature
//! simulation: Waldspurger, Saemundsson, Ahmad, Park, ATC 2017; SHARDS, FAST 2015).
//!
//! Units are numbered in order of first sight, so neighbours in memory are mostly neighbours in
//! number. Of every `k` numbers in a row one is taken, so that every area has its part, and not
//! always the same one of them, so that no regular pattern is met in one phase only.

use crate::Traffic;
use crate::curves::tally::{Hits, Reached, Totals};
use pagetide_types::{EpochHeat, HeatRow, UnitId};

/// Which units are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// log2 of `k`.
    shift: u32,
}

impl Sample {
    /// At most about `most` of `units`; `None` if that is all of them.
    pub(crate) fn of(units: u64, most: usize) -> Option<Self> {
        let most = most.max(1) as u64;
        let shift = (0..32).find(|shift| units.div_ceil(1 << shift) <= most).unwrap_or(32);
        (shift > 0).then_some(Self { shift })
    }

    /// One unit in how many is taken.
    pub(crate) fn one_in(self) -> u64 {
        1 << self.shift
    }

    /// The number that a unit has in the sample, if it is in it.
    #[expect(clippy::cast_possible_truncation, reason = "below 2^shift")]
    fn number(self, unit: UnitId) -> Option<UnitId> {
        let block = unit.0.checked_shr(self.shift).unwrap_or(0);
        // Multiples of the golden ratio fill an interval evenly (Knuth, volume 3, section 6.4).
        let turn = u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.shift);
        (unit.0 == block.checked_shl(self.shift).unwrap_or(0) | turn as u32)
            .then_some(UnitId(block))
    }

    /// The part of an epoch that is in the sample, its units numbered anew.
    pub(crate) fn take(self, heat: &EpochHeat) -> EpochHeat {
        let mut taken = EpochHeat::new(heat.epoch);
        for (row, unit) in heat.unit.iter().enumerate() {
            if let Some(unit) = self.number(*unit) {
                taken.push(HeatRow { unit, ..heat.row(row) });
                taken.traffic.extend(heat.traffic.get(row));
                taken.accesses.extend(heat.accesses.get(row));
                taken.leads.extend(heat.leads.get(row));
                taken.writes.extend(heat.writes.get(row));
            }
        }
        taken
    }
}

/// What was reached with a sample, as a part of all: accesses by the sample's share of them, moves
/// by its share of the memory.
pub(crate) fn scaled(reached: Reached, sample: &Totals, all: &Totals) -> Reached {
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let real = |part: f64, of: f64, all: f64| share(part, of) * all;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a u64")]
    let whole = |part: u64, of: u64, all: u64| real(part as f64, of as f64, all as f64) as u64;
    let (part, of, all_hits) = (reached.hits, sample.all, all.all);
    Reached {
        hits: Hits {
            accesses: real(part.accesses, of.accesses, all_hits.accesses),
            saturated: real(part.saturated, of.saturated, all_hits.saturated),
            leads: real(part.leads, of.leads, all_hits.leads),
            writes: real(part.writes, of.writes, all_hits.writes),
            unseen: whole(part.unseen, of.unseen, all_hits.unseen),
            accessed: whole(part.accessed, of.accessed, all_hits.accessed),
        },
        promoted: whole(reached.promoted, sample.pages, all.pages),
        demoted: whole(reached.demoted, sample.pages, all.pages),
        promoted_huge: whole(reached.promoted_huge, sample.pages, all.pages),
        demoted_huge: whole(reached.demoted_huge, sample.pages, all.pages),
    }
}

/// The same for the accesses of one epoch.
pub(crate) fn scaled_epoch(fast: Traffic, sample: &Traffic, all: &Traffic) -> Traffic {
    let real = |part: f64, of: f64, all: f64| if of > 0.0 { part / of * all } else { 0.0 };
    Traffic {
        accesses: real(fast.accesses, sample.accesses, all.accesses),
        saturated: real(fast.saturated, sample.saturated, all.saturated),
        leads: real(fast.leads, sample.leads, all.leads),
        writes: real(fast.writes, sample.writes, all.writes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatFlags, NodeId};

    #[test]
    fn one_of_every_k_in_a_row_is_taken_and_not_always_the_same() {
        for (units, most, one_in) in [(100, 100, None), (101, 100, Some(2)), (800, 100, Some(8))] {
            assert_eq!(Sample::of(units, most).map(Sample::one_in), one_in);
        }
        let Some(sample) = Sample::of(8000, 1000) else { panic!("8 in 1000") };
        let taken: Vec<u32> =
            (0..8000).filter(|unit| sample.number(UnitId(*unit)).is_some()).collect();
        let numbers: Vec<_> =
            taken.iter().filter_map(|unit| sample.number(UnitId(*unit))).collect();
        assert!(numbers.iter().copied().eq((0..1000).map(UnitId)));
        for turn in 0..8 {
            let there = taken.iter().filter(|unit| **unit % 8 == turn).count();
            assert!((120..=130).contains(&there), "{there} of 1000 at place {turn}");
        }
    }

    #[test]
    fn every_column_is_taken() {
        let mut heat = EpochHeat::new(EpochId(3));
        for unit in 0..8 {
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate: unit as f32,
                flags: HeatFlags::SAMPLED,
                pages: 1,
                watched: 0,
                touched: 0,
                node: NodeId(0),
            });
        }
        heat.traffic = heat.rate.iter().map(|rate| rate / 2.0).collect();
        let taken = Sample::of(8, 2).map(|sample| sample.take(&heat)).unwrap();
        assert_eq!((taken.epoch, taken.unit.as_slice()), (EpochId(3), &[UnitId(0), UnitId(1)][..]));
        assert!(taken.rate[0] < 4.0 && taken.rate[1] >= 4.0);
        assert_eq!(taken.traffic, taken.rate.iter().map(|rate| rate / 2.0).collect::<Vec<_>>());
    }

    #[test]
    fn parts_become_parts_of_all_and_all_becomes_all() {
        let hits = |accesses, accessed| Hits { accesses, accessed, ..Hits::default() };
        let sample = Totals { all: hits(0.3, 3), pages: 10, ..Totals::default() };
        let all = Totals { all: hits(70.0, 26), pages: 80, ..Totals::default() };
        let reached = Reached { hits: hits(0.15, 1), promoted: 40_960, ..Reached::default() };
        let found = scaled(reached, &sample, &all);
        assert!((found.hits.accesses - 35.0).abs() < 1e-9);
        assert_eq!((found.hits.accessed, found.promoted, found.demoted), (8, 327_680, 0));
        let whole = Reached { hits: sample.all, ..Reached::default() };
        assert_eq!(scaled(whole, &sample, &all).hits, all.all);
        assert_eq!(scaled(whole, &Totals::default(), &all).hits, Hits::default());
    }
}
