//! What every epoch asked of memory, and how much of it fast memory served, at a few capacities.
//!
//! Queueing is not linear: a burst that fills a memory's bandwidth for a second waits longer than
//! the same accesses spread over a minute. So a cost model needs demand epoch by epoch, which at
//! every capacity would be capacities x epochs numbers. At 33 to 65 capacities in equal steps, with
//! lines between them, it is a few hundred bytes per epoch and policy, and above [`MOST`] epochs neighbours
//! are put together. The sums over all epochs stay those of every capacity.

use serde::Serialize;
use std::ops::{Add, AddAssign};

/// Most stretches kept; in longer recordings 2, 4, 8, ... epochs in a row are one stretch.
pub(crate) const MOST: usize = 4096;
/// Most steps between the capacities at which epochs are told apart.
const STEPS: u32 = 64;

/// Accesses past the CPU caches to some units in some time; see [`crate::Curve`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// All of them.
    pub accesses: f64,
    /// Of these, those to saturated units.
    pub saturated: f64,
    /// Of these, those that no prefetcher can have fetched; all of them where that is not counted.
    pub leads: f64,
    /// Lines written back; 0 where that is not counted.
    pub writes: f64,
}

impl Traffic {
    /// So large a part of it.
    #[must_use]
    pub(crate) fn part(self, part: f64) -> Self {
        Self {
            accesses: self.accesses * part,
            saturated: self.saturated * part,
            leads: self.leads * part,
            writes: self.writes * part,
        }
    }
}

impl Add for Traffic {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Self {
            accesses: self.accesses + more.accesses,
            saturated: self.saturated + more.saturated,
            leads: self.leads + more.leads,
            writes: self.writes + more.writes,
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

/// One epoch, or a few in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stretch {
    /// Its length.
    pub seconds: f64,
    /// What all units were asked for.
    pub all: Traffic,
}

impl AddAssign for Stretch {
    fn add_assign(&mut self, more: Self) {
        self.seconds += more.seconds;
        self.all += more.all;
    }
}

/// The evaluated epochs one by one, at some capacities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ByEpoch {
    /// The curve's entries that follow, ascending, with the first and the last.
    pub at: Vec<u32>,
    /// The epochs; neighbours are put together where they are very many.
    pub stretches: Vec<Stretch>,
    /// What fast memory served: for every stretch one value for each of `at`.
    pub fast: Vec<Traffic>,
}

impl ByEpoch {
    /// What fast memory served in stretch `s` at the `j`-th of `at`.
    #[must_use]
    pub fn fast(&self, s: usize, j: usize) -> Traffic {
        self.fast[s * self.at.len() + j]
    }

    /// The two of `at` around the curve's entry `i`, and how far it lies between them, 0 to 1.
    /// `None` without any.
    #[must_use]
    pub fn around(&self, i: usize) -> Option<(usize, usize, f64)> {
        let after = self.at.partition_point(|at| (*at as usize) < i);
        let last = self.at.len().checked_sub(1)?;
        let (low, high) = (after.saturating_sub(1), after.min(last));
        if self.at[high] as usize <= i || low == high {
            return Some((high, high, 0.0));
        }
        let [from, to] = [low, high].map(|j| f64::from(self.at[j]));
        Some((low, high, (i as f64 - from) / (to - from)))
    }

    /// Tells the epochs apart at entry `i` as well: what fast memory served there, a value for every stretch.
    pub(crate) fn insert(&mut self, i: u32, fast: &[Traffic]) {
        let (width, j) = (self.at.len(), self.at.partition_point(|at| *at < i));
        let known = usize::from(self.at.get(j) == Some(&i));
        let rows = std::iter::zip(self.fast.chunks(width.max(1)), fast);
        self.fast =
            rows.flat_map(|(row, new)| [&row[..j], &[*new], &row[j + known..]].concat()).collect();
        self.at.splice(j..j + known, [i]);
    }

    /// What fast memory served in stretch `s` at the curve's entry `i`.
    #[must_use]
    pub fn fast_at(&self, s: usize, i: usize) -> Traffic {
        let Some((low, high, part)) = self.around(i) else { return Traffic::default() };
        self.fast(s, low).part(1.0 - part) + self.fast(s, high).part(part)
    }
}

/// The entries at which epochs are told apart: every `2^shift`-th and the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coarse {
    shift: u32,
    last: u32,
}

impl Coarse {
    /// Of a grid of `len` entries.
    pub(crate) fn new(len: usize) -> Self {
        let last = u32::try_from(len.saturating_sub(1)).unwrap_or(u32::MAX);
        let shift = (0..u32::BITS).find(|shift| last >> shift < STEPS).unwrap_or(0);
        Self { shift, last }
    }

    /// The position, among [`Self::entries`], of the first at which a unit is fast that is so from
    /// entry `bin` on.
    #[inline]
    pub(crate) fn position(self, bin: u32) -> usize {
        // Rounded up; bins are at most as many as a grid has.
        ((bin + ((1 << self.shift) - 1)) >> self.shift) as usize
    }

    /// The entries, ascending.
    pub(crate) fn entries(self) -> Vec<u32> {
        let last = self.position(self.last);
        (0..).take(last + 1).map(|j: u32| (j << self.shift).min(self.last)).collect()
    }
}

/// Values per epoch, `width` of them each, for at most [`MOST`] stretches of epochs.
#[derive(Clone, Debug)]
pub(crate) struct Log<T> {
    width: usize,
    /// Epochs per stretch, and those in the last one.
    each: u32,
    in_last: u32,
    values: Vec<T>,
}

impl<T: Copy + AddAssign> Log<T> {
    pub(crate) fn new(width: usize) -> Self {
        Self { width: width.max(1), each: 1, in_last: 1, values: Vec::new() }
    }

    /// Adds an epoch's values.
    pub(crate) fn push(&mut self, values: &[T]) {
        if self.in_last < self.each && !self.values.is_empty() {
            let last = self.values.len() - self.width;
            std::iter::zip(&mut self.values[last..], values).for_each(|(sum, more)| *sum += *more);
            self.in_last += 1;
            return;
        }
        if self.values.len() == MOST * self.width {
            self.halve();
        }
        self.values.extend_from_slice(values);
        self.in_last = 1;
    }

    /// Puts neighbours together.
    fn halve(&mut self) {
        let (width, stretches) = (self.width, self.values.len() / self.width);
        for s in 0..stretches / 2 {
            for k in 0..width {
                let mut sum = self.values[2 * s * width + k];
                sum += self.values[(2 * s + 1) * width + k];
                self.values[s * width + k] = sum;
            }
        }
        self.values.truncate(stretches / 2 * width);
        self.each *= 2;
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T: Copy + AddAssign> Default for Log<T> {
    fn default() -> Self {
        Self::new(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_are_put_together_and_nothing_is_lost() {
        let mut log: Log<f64> = Log::new(2);
        let epochs = 5u32 * 4096 + 3;
        for epoch in 0..epochs {
            log.push(&[1.0, f64::from(epoch)]);
        }
        let stretches = log.values().len() / 2;
        assert!(stretches <= MOST && stretches > MOST / 2, "{stretches}");
        let sum = |k: usize| log.values().iter().skip(k).step_by(2).sum::<f64>();
        assert_eq!(sum(0), f64::from(epochs));
        assert_eq!(sum(1), f64::from(epochs) * f64::from(epochs - 1) / 2.0);
        let ascend = log.values().chunks(2).map(|pair| pair[1] / pair[0]);
        assert!(ascend.clone().zip(ascend.skip(1)).all(|(a, b)| a < b));
    }

    proptest! {
        #[test]
        fn a_unit_is_fast_from_the_first_entry_that_holds_it(
            len in 1u32..70_000,
            bins in proptest::collection::vec(any::<u32>(), 1..20),
        ) {
            let coarse = Coarse::new(len as usize);
            let entries = coarse.entries();
            prop_assert!(entries.len() <= STEPS as usize + 1);
            prop_assert_eq!(entries.last().copied(), Some(len - 1));
            prop_assert!(entries.windows(2).all(|pair| pair[0] < pair[1]));
            for bin in bins.into_iter().map(|bin| bin % len) {
                let first = entries.iter().position(|entry| *entry >= bin);
                prop_assert_eq!(first, Some(coarse.position(bin)));
            }
        }

        #[test]
        fn lines_meet_what_is_known(len in 1usize..3_000, i in any::<usize>()) {
            let at = Coarse::new(len).entries();
            let all = Traffic { accesses: len as f64 - 1.0, ..Traffic::default() };
            let fast = at.iter().map(|at| Traffic { accesses: f64::from(*at), ..all }).collect();
            let epochs = ByEpoch { at, stretches: vec![Stretch { seconds: 1.0, all }], fast };
            let fast = epochs.fast_at(0, i % len).accesses;
            prop_assert!((fast - (i % len) as f64).abs() < 1e-9, "{fast}");
        }

        #[test]
        fn what_is_known_later_is_known_as_well(
            at in proptest::collection::btree_set(0u32..40, 1..9),
            new in 0u32..40,
        ) {
            let traffic = |accesses| Traffic { accesses: f64::from(accesses), ..Traffic::default() };
            let at: Vec<u32> = at.into_iter().collect();
            let row = |s: u32| at.iter().map(move |at| traffic(100 * s + at));
            let fast = (0..3).flat_map(row).collect();
            let stretches = vec![Stretch::default(); 3];
            let before = ByEpoch { at: at.clone(), stretches, fast };
            let mut after = before.clone();
            after.insert(new, &[traffic(7), traffic(8), traffic(9)]);
            prop_assert!(after.at.windows(2).all(|pair| pair[0] < pair[1]));
            for (s, fresh) in [7, 8, 9].map(traffic).into_iter().enumerate() {
                prop_assert_eq!(after.fast_at(s, new as usize), fresh);
                for i in at.iter().filter(|at| **at != new) {
                    prop_assert_eq!(after.fast_at(s, *i as usize), before.fast_at(s, *i as usize));
                }
            }
        }
    }
}
