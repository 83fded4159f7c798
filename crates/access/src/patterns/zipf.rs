//! Objects of unequal popularity, as in caches and key-value stores.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::{
    generators::{Rng, Shuffle, Zipf as Ranks},
    named_values::choice,
    parameter::{Result, refuse},
};
use pagetide_types::Bytes;
use std::{sync::Arc, time::Duration};

/// Reads objects of equal size, the k-th most popular with a probability of k^-exponent.
#[derive(Clone, Debug)]
pub struct Zipf {
    /// 0 is uniform, 0.99 a usual key-value store.
    pub exponent: f64,
    /// Size of an object; an access reads one word somewhere in it.
    pub object: Bytes,
    /// Where popular objects lie.
    pub keys: Keys,
}

choice! {
    /// Where popular objects lie.
    pub enum Keys {
        /// The most popular first, the others in order behind it.
        InOrder = "in-order",
        /// All over the memory, by a permutation that the seed chooses.
        Scattered = "scattered",
    }
}

/// One thread of [`Zipf`].
#[derive(Clone, Debug)]
pub struct ZipfWalk {
    rng: Rng,
    ranks: Arc<Ranks>,
    /// None where popular objects lie in order.
    shuffle: Option<Shuffle>,
    object: u64,
}

impl Zipf {
    /// How many objects there are in so much memory.
    #[must_use]
    pub fn objects(&self, size: Bytes) -> u64 {
        size.0 / self.object.0
    }
}

impl Pattern for Zipf {
    type Walk = ZipfWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        if !(0.0..=20.0).contains(&self.exponent) {
            return refuse("exponent", self.exponent, "give a number from 0 (uniform) to 20");
        }
        let object = self.object.0;
        if object < 8 || self.object > setup.size() || !object.is_multiple_of(8) {
            let remedy = format!("give a multiple of 8 bytes, at most `size`, {}", setup.size());
            return refuse("object", object, remedy);
        }
        Ok(())
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<ZipfWalk>> {
        self.check(setup)?;
        let (objects, seed) = (self.objects(setup.size()), setup.seed());
        let ranks = Arc::new(Ranks::new(objects, self.exponent));
        Ok(each(setup, |number| ZipfWalk {
            rng: Rng::new(seed, number.into()),
            ranks: Arc::clone(&ranks),
            shuffle: (self.keys == Keys::Scattered).then(|| Shuffle::new(objects, seed)),
            object: self.object.0,
        }))
    }
}

impl Walk for ZipfWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        for _ in 0..n {
            let rank = self.ranks.rank(&mut self.rng) - 1;
            let key = self.shuffle.as_ref().map_or(rank, |shuffle| shuffle.at(rank));
            memory.read(key * self.object + self.rng.below(self.object));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    fn zipf(exponent: f64, keys: Keys) -> Zipf {
        Zipf { exponent, object: Bytes::kib(4), keys }
    }

    /// Accesses to each of 1,024 objects.
    fn per_object(zipf: &Zipf) -> Vec<f64> {
        let mut objects = vec![0.0; 1024];
        for step in steps(zipf, &setup(4 << 20, 1), 400_000) {
            objects[index(step.offset / 4096)] += 1.0;
        }
        objects
    }

    #[test]
    fn popularity_follows_the_formula() {
        let weights: Vec<f64> = (1..=1024).map(|k| f64::from(k).powf(-0.99)).collect();
        let shares: Vec<f64> = weights.iter().map(|w| w / weights.iter().sum::<f64>()).collect();
        let in_order = per_object(&zipf(0.99, Keys::InOrder));
        assert!(misfit(&in_order, &shares) < 1.2);
        // Scattered, the same counts of the same draws elsewhere.
        let scattered = per_object(&zipf(0.99, Keys::Scattered));
        let shuffle = Shuffle::new(1024, setup(1, 1).seed());
        assert!((0u64..).zip(&in_order).all(|(rank, n)| scattered[index(shuffle.at(rank))] == *n));
        assert_ne!(scattered, in_order);
    }

    #[test]
    fn the_most_popular_have_the_share_of_the_formula() {
        // What fast memory of that size hits, if it holds the right objects.
        let harmonic = |n: u32| (1..=n).map(|k| 1.0 / f64::from(k)).sum::<f64>();
        let objects = per_object(&zipf(1.0, Keys::InOrder));
        for held in [1, 16, 128, 512] {
            let hits = objects[..held as usize].iter().sum::<f64>() / 400_000.0;
            let expected = harmonic(held) / harmonic(1024);
            assert!((hits - expected).abs() < 0.005, "{held}: {hits}, expected {expected}");
        }
    }

    #[test]
    fn every_word_of_an_object_is_read() {
        let zipf = Zipf { exponent: 20.0, object: Bytes(64), keys: Keys::InOrder };
        let mut words = [0.0; 8];
        for step in steps(&zipf, &setup(4096, 1), 20_000) {
            words[index(step.offset % 64 / 8)] += 1.0;
        }
        assert!(misfit(&words, &[0.125; 8]) < 3.0, "{words:?}");
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let of = |exponent, object| Zipf { exponent, object: Bytes(object), keys: Keys::InOrder };
        refused(&of(-1.0, 64), &setup(4096, 1), "exponent -1: give a number from 0 (uniform)");
        refused(&of(f64::NAN, 64), &setup(4096, 1), "exponent NaN");
        refused(&of(1.0, 12), &setup(4096, 1), "object 12: give a multiple of 8");
        refused(&of(1.0, 8192), &setup(4096, 1), "at most `size`, 4.00 KiB");
    }
}
