//! Heat: what is known of every unit after an epoch, as a struct of arrays.

use crate::{Bytes, EpochId, NodeId, UnitId};
use std::ops::{BitOr, BitOrAssign};

/// What was observed of a unit in one epoch; a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeatFlags(pub u8);

impl HeatFlags {
    /// Observed in this epoch. Without it the rate is carried over from the last epoch that
    /// observed the unit, and the absence of [`Self::ACCESSED`] says nothing.
    pub const SAMPLED: Self = Self(1);
    /// Some page of it was accessed in this epoch.
    pub const ACCESSED: Self = Self(2);
    /// Some page of it has been written since it was mapped or cleaned.
    pub const DIRTY: Self = Self(4);
    /// Seen at (nearly) every look at the shortest gap: the rate is a lower bound.
    pub const SATURATED: Self = Self(8);
    /// Looked at, and never seen: the rate is 0 with an upper bound of 1 / time watched.
    pub const UNSEEN: Self = Self(16);
    /// Its accessed bits cannot be cleared (shared, locked): its heat is unknown.
    pub const UNCLEARED: Self = Self(32);
    /// Mapped by a huge page (2 MiB or 1 GiB).
    pub const HUGE: Self = Self(64);
    /// New as a unit, not as memory: in the epoch before it was part of a unit of another size.
    pub const RENUMBERED: Self = Self(128);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// These bits, less those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for HeatFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
impl BitOrAssign for HeatFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// One unit's heat in one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatRow {
    /// Which unit.
    pub unit: UnitId,
    /// Accesses per second past the CPU caches that are to be expected of the unit by all that was
    /// seen of it so far; finite and not negative. What policies rank by.
    pub rate: f32,
    /// What was observed.
    pub flags: HeatFlags,
    /// Resident base pages, 1 to 512.
    pub pages: u16,
    /// How many of them were watched for accesses in this epoch (0 if not sampled).
    pub watched: u16,
    /// How many of the watched were seen accessed; a huge page counts with all its pages.
    pub touched: u16,
    /// The NUMA node that holds most of them.
    pub node: NodeId,
}

/// The heat of all live units in one epoch; columns of equal length, units strictly ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochHeat {
    /// Which epoch.
    pub epoch: EpochId,
    /// See [`HeatRow::unit`].
    pub unit: Vec<UnitId>,
    /// See [`HeatRow::rate`].
    pub rate: Vec<f32>,
    /// See [`HeatRow::flags`].
    pub flags: Vec<HeatFlags>,
    /// See [`HeatRow::pages`].
    pub pages: Vec<u16>,
    /// See [`HeatRow::watched`].
    pub watched: Vec<u16>,
    /// See [`HeatRow::touched`].
    pub touched: Vec<u16>,
    /// See [`HeatRow::node`].
    pub node: Vec<NodeId>,
    /// What the rate is at least, but for one chance in ten: little is sure of what was seen once. The
    /// recorder tells it, and no recording holds it: there it is empty, and the rate is sure.
    pub least: Vec<f32>,
    /// Of the rate, what comes in with pages that are accessed in a row, line after line: programs wait for
    /// those together, and for the memory's bandwidth where that is short. The recorder tells it, and no
    /// recording holds it; empty where nobody does.
    pub in_order: Vec<f32>,
    /// CPU seconds that who accesses it used per second of the epoch; 0 where nobody says so.
    pub cores: f32,
    /// Accesses per second past the CPU caches, measured in this epoch alone: what a plan charges.
    /// 0 for a unit that was not watched in it. Empty where the source does not measure it: the
    /// rate is charged.
    pub traffic: Vec<f32>,
    /// All accesses per second, those that the caches serve included; only of exact counts, else
    /// empty.
    pub accesses: Vec<f32>,
    /// Of the traffic, what no prefetcher can have fetched; only of exact counts, else empty.
    pub leads: Vec<f32>,
    /// Lines per second that the caches wrote back; only of exact counts, else empty.
    pub writes: Vec<f32>,
}

/// The hot set has this share of the accesses.
const HOT: f64 = 0.9;
/// Of more units none is looked for.
const HOT_SET_UNITS: usize = 1 << 18;

impl EpochHeat {
    /// An empty epoch.
    #[must_use]
    pub fn new(epoch: EpochId) -> Self {
        Self { epoch, ..Self::default() }
    }
    /// An empty epoch with room for so many units.
    #[must_use]
    pub fn with_capacity(epoch: EpochId, units: usize) -> Self {
        Self {
            epoch,
            unit: Vec::with_capacity(units),
            rate: Vec::with_capacity(units),
            flags: Vec::with_capacity(units),
            pages: Vec::with_capacity(units),
            watched: Vec::with_capacity(units),
            touched: Vec::with_capacity(units),
            node: Vec::with_capacity(units),
            ..Self::default()
        }
    }
    /// What a row's rate is at least: see [`Self::least`].
    #[must_use]
    pub fn least_rate(&self, row: usize) -> f32 {
        self.least.get(row).copied().unwrap_or(self.rate[row])
    }
    /// What of a row's rate comes in order: see [`Self::in_order`].
    #[must_use]
    pub fn in_order_rate(&self, row: usize) -> f64 {
        f64::from(self.in_order.get(row).copied().unwrap_or(0.0))
    }
    /// The number of live units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.unit.len()
    }
    /// Whether no unit is live.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unit.is_empty()
    }
    /// Appends a unit; units must come in ascending order.
    pub fn push(&mut self, row: HeatRow) {
        debug_assert!(self.unit.last().is_none_or(|last| *last < row.unit));
        self.unit.push(row.unit);
        self.rate.push(row.rate);
        self.flags.push(row.flags);
        self.pages.push(row.pages);
        self.watched.push(row.watched);
        self.touched.push(row.touched);
        self.node.push(row.node);
    }
    /// The row at position `i` (not the unit's number).
    #[must_use]
    pub fn row(&self, i: usize) -> HeatRow {
        HeatRow {
            unit: self.unit[i],
            rate: self.rate[i],
            flags: self.flags[i],
            pages: self.pages[i],
            watched: self.watched[i],
            touched: self.touched[i],
            node: self.node[i],
        }
    }
    /// Accesses per second of the unit at position `i` that a plan charges.
    #[must_use]
    pub fn memory_rate(&self, i: usize) -> f32 {
        self.traffic.get(i).copied().unwrap_or(self.rate[i])
    }
    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = HeatRow> + '_ {
        (0..self.len()).map(|i| self.row(i))
    }
    /// Resident bytes of the unit at position `i`.
    #[must_use]
    pub fn bytes(&self, i: usize) -> Bytes {
        Bytes(u64::from(self.pages[i]) << 12)
    }

    /// The least memory that has nine tenths of the accesses that a plan charges; none without accesses, and none of so
    /// many units that finding it (a sort) would take too long.
    #[must_use]
    pub fn hot_set(&self) -> Option<Bytes> {
        if self.len() > HOT_SET_UNITS {
            return None;
        }
        let mut rows: Vec<(f32, Bytes)> =
            (0..self.len()).map(|row| (self.memory_rate(row), self.bytes(row))).collect();
        rows.retain(|(rate, _)| *rate > 0.0);
        rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let all: f64 = rows.iter().map(|(rate, _)| f64::from(*rate)).sum();
        let mut left = all * HOT;
        let hot = rows.iter().take_while(|(rate, _)| {
            let more = left > 0.0;
            left -= f64::from(*rate);
            more
        });
        (all > 0.0).then(|| hot.map(|(_, bytes)| *bytes).sum())
    }

    /// Resident bytes of all units.
    #[must_use]
    pub fn resident(&self) -> Bytes {
        Bytes(self.pages.iter().map(|pages| u64::from(*pages) << 12).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hot_set_is_the_least_memory_with_nearly_all_traffic() {
        let mut heat = EpochHeat::new(EpochId(0));
        assert_eq!(heat.hot_set(), None, "nothing was accessed");
        for (unit, rate) in (0..).zip([1.0, 500.0, 1.0, 450.0, 48.0]) {
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate,
                flags: HeatFlags::SAMPLED | HeatFlags::ACCESSED,
                pages: 512,
                watched: 512,
                touched: 1,
                node: NodeId(0),
            });
        }
        assert_eq!(heat.hot_set(), Some(Bytes::mib(4)));
    }

    #[test]
    fn rows_come_back_as_pushed() {
        let row = HeatRow {
            unit: UnitId(7),
            rate: 1.5,
            flags: HeatFlags::SAMPLED | HeatFlags::ACCESSED,
            pages: 512,
            watched: 64,
            touched: 3,
            node: NodeId(1),
        };
        let mut heat = EpochHeat::new(EpochId(3));
        heat.push(row);
        assert_eq!(heat.rows().collect::<Vec<_>>(), [row]);
        assert_eq!(heat.resident(), Bytes::mib(2));
        assert!(row.flags.has(HeatFlags::SAMPLED) && !row.flags.has(HeatFlags::DIRTY));
    }
}
