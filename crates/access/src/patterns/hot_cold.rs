//! A hot set of known size in a larger footprint: what a knee of a curve is checked against.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::{
    generators::{Rng, index, scale, threshold},
    named_values::choice,
    parameter::{Result, positive, refuse},
};
use pagetide_types::{Bytes, UnitSize};
use std::{sync::Arc, time::Duration};

/// A hot set in a larger footprint: random reads, hot memory `ratio` times as often as cold.
#[derive(Clone, Debug)]
pub struct HotCold {
    /// How much of the memory is hot.
    pub hot: Bytes,
    /// How much more rarely a cold unit is accessed than a hot one.
    pub ratio: f64,
    /// Where the hot set lies.
    pub place: Place,
    /// Size of the pieces of a randomly placed hot set.
    pub granule: UnitSize,
}

choice! {
    /// Where a hot set lies.
    pub enum Place {
        /// In one piece at the start of the memory.
        Contiguous = "contiguous",
        /// In granules all over the memory, chosen by the seed.
        Random = "random",
    }
}

/// One thread of [`HotCold`].
#[derive(Clone, Debug)]
pub struct HotColdWalk {
    rng: Rng,
    /// Where each granule lies, in order of heat.
    granules: Arc<[u32]>,
    shift: u32,
    is_hot: u64,
    hot: u64,
    cold: u64,
}

impl HotCold {
    /// The probability that an access is a hot one.
    #[must_use]
    pub fn hot_share(&self, size: Bytes) -> f64 {
        let (hot, cold) = (self.hot.as_f64() * self.ratio, size.saturating_sub(self.hot).as_f64());
        hot / (hot + cold)
    }

    fn granules(&self, setup: &Setup) -> Result<Vec<u32>> {
        let Ok(count) = u32::try_from(setup.size().0.div_ceil(self.granule.bytes().0)) else {
            let remedy = "too small for this `size`; give `granule` 2M";
            return refuse("granule", self.granule, remedy);
        };
        let mut granules: Vec<u32> = (0..count).collect();
        if self.place == Place::Random {
            let mut rng = Rng::new(setup.seed(), u64::MAX);
            for last in (1..granules.len()).rev() {
                granules.swap(last, index(rng.below(last as u64 + 1)));
            }
        }
        Ok(granules)
    }
}

impl Pattern for HotCold {
    type Walk = HotColdWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        positive("ratio", self.ratio, 1e12)?;
        if self.ratio < 1.0 {
            return refuse("ratio", self.ratio, "cold memory would be the hotter; give 1 or more");
        }
        if self.hot.0 == 0 || self.hot > setup.size() {
            let remedy = format!("give more than 0 and at most `size`, {}", setup.size());
            return refuse("hot", self.hot, remedy);
        }
        let granule = self.granule.bytes().0;
        for (parameter, bytes) in [("hot", self.hot), ("size", setup.size())] {
            if !bytes.0.is_multiple_of(granule) {
                let near = bytes.0.next_multiple_of(granule) >> 10;
                let remedy = format!(
                    "not a multiple of `granule` {}; give {near}K or a smaller `granule`",
                    self.granule
                );
                return refuse(parameter, bytes.0, remedy);
            }
        }
        Ok(())
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<HotColdWalk>> {
        self.check(setup)?;
        let granules: Arc<[u32]> = self.granules(setup)?.into();
        let (size, hot, seed) = (setup.size(), self.hot.0, setup.seed());
        Ok(each(setup, |number| HotColdWalk {
            rng: Rng::new(seed, number.into()),
            granules: Arc::clone(&granules),
            shift: self.granule.shift(),
            is_hot: threshold(self.hot_share(size)),
            hot,
            cold: size.0 - hot,
        }))
    }
}

impl HotColdWalk {
    /// Where byte `offset` in order of heat lies.
    #[inline]
    fn place(&self, offset: u64) -> u64 {
        let granule = u64::from(self.granules[index(offset >> self.shift)]);
        granule << self.shift | offset & ((1 << self.shift) - 1)
    }
}

impl Walk for HotColdWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        let (hot, cold) = (self.hot, self.cold);
        for _ in 0..n {
            let (coin, word) = (self.rng.word(), self.rng.word());
            let offset =
                if coin < self.is_hot { scale(word, hot).0 } else { hot + scale(word, cold).0 };
            memory.read(self.place(offset));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    fn hot_cold(hot_kib: u64, ratio: f64, place: Place) -> HotCold {
        HotCold { hot: Bytes::kib(hot_kib), ratio, place, granule: UnitSize::Base }
    }

    /// Accesses to each of 1,024 pages.
    fn per_page(pattern: &HotCold) -> Vec<f64> {
        let mut pages = vec![0.0; 1024];
        for step in steps(pattern, &setup(4 << 20, 1), 400_000) {
            pages[index(step.offset >> 12)] += 1.0;
        }
        pages
    }

    #[test]
    fn the_hot_set_has_its_share_and_each_part_is_even() {
        for (hot, ratio) in [(400, 100.0), (2048, 3.0), (4, 1e6), (4096, 7.0)] {
            let pattern = hot_cold(hot, ratio, Place::Contiguous);
            let share = pattern.hot_share(Bytes::mib(4));
            let (n, all) = (hot / 4, 1024);
            assert!((share - 1.0 / (1.0 + (all - n) as f64 / (n as f64 * ratio))).abs() < 1e-12);
            let expected: Vec<f64> = (0..all)
                .map(|i| if i < n { share / n as f64 } else { (1.0 - share) / (all - n) as f64 })
                .collect();
            let pages = per_page(&pattern);
            let hits: f64 = pages[..index(n)].iter().sum();
            assert!((hits / 400_000.0 - share).abs() < 0.003, "{hits}, expected {share}");
            // Where cold pages are all but never accessed, a chi-squared says nothing.
            if ratio < 1000.0 {
                assert!(misfit(&pages, &expected) < 1.2, "{hot} KiB, ratio {ratio}");
            }
        }
    }

    #[test]
    fn a_random_place_is_the_same_set_elsewhere() {
        let pattern = hot_cold(64, 1000.0, Place::Random);
        let pages = per_page(&pattern);
        let hot: Vec<usize> = (0..1024).filter(|page| pages[*page] > 5000.0).collect();
        assert_eq!(hot.len(), 16);
        assert!(hot.windows(2).any(|pair| pair[1] - pair[0] > 20), "{hot:?}");
        let placed = pattern.granules(&setup(4 << 20, 1)).unwrap();
        let mut expected: Vec<usize> = placed[..16].iter().map(|page| *page as usize).collect();
        expected.sort_unstable();
        assert_eq!(hot, expected);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let mut pattern = hot_cold(3, 100.0, Place::Random);
        refused(&pattern, &setup(4 << 20, 1), "hot 3072: not a multiple of `granule` 4K; give 4K");
        pattern.hot = Bytes::kib(4);
        refused(&pattern, &setup(4097, 1), "size 4097: not a multiple of `granule` 4K; give 8K");
        refused(&pattern, &setup(1 << 60, 1), "granule 4K: too small for this `size`");
        for (hot, reason) in [(0, "hot 0 B: give more than 0"), (8 << 20, "at most `size`")] {
            pattern.hot = Bytes(hot);
            refused(&pattern, &setup(4 << 20, 1), reason);
        }
        for (ratio, reason) in [(0.5, "1 or more"), (f64::NAN, "above 0"), (1e13, "at most")] {
            pattern.ratio = ratio;
            refused(&pattern, &setup(4 << 20, 1), reason);
        }
    }
}
