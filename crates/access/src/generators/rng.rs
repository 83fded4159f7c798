//! Random numbers for access loops: one or two nanoseconds each, the same on every machine
//! for a seed.

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng as _, SeedableRng},
};

/// A stream of random numbers, determined by a seed and the stream's number.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Stream `stream` of `seed`: streams of one seed do not overlap in practice.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ mix(stream))))
    }

    /// 64 random bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n` (0 if `n` is 0). Its bias, at most n / 2^64, is not measurable.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        scale(self.word(), n).0
    }
}

/// A random word as (a number below `n`, what is left of the randomness as 64 bits).
#[inline]
#[must_use]
pub fn scale(word: u64, n: u64) -> (u64, u64) {
    let product = u128::from(word) * u128::from(n);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
    let halves = ((product >> 64) as u64, product as u64);
    halves
}

/// A probability as a threshold: `word < threshold` holds with that probability.
#[must_use]
pub fn threshold(probability: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates at both ends, as it should"
    )]
    let threshold = (probability * 2f64.powi(64)) as u64;
    threshold
}

/// Spreads the bits of a word over all of it (the finaliser of splitmix64, Steele et al. 2014).
#[inline]
#[must_use]
pub fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut rng = Rng::new(1, 0);
        let first: Vec<u64> = (0..3).map(|_| rng.word()).collect();
        let mut again = Rng::new(1, 0);
        assert_eq!(first, (0..3).map(|_| again.word()).collect::<Vec<_>>());
        assert_ne!(first[0], Rng::new(2, 0).word());
        assert_ne!(first[0], Rng::new(1, 1).word());
    }

    #[test]
    fn numbers_below_n_are_even() {
        let mut rng = Rng::new(7, 0);
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[usize::try_from(rng.below(10)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 500), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn thresholds_hold_at_the_ends() {
        assert_eq!(threshold(0.0), 0);
        assert_eq!(threshold(1.0), u64::MAX);
        assert_eq!(threshold(0.5), 1 << 63);
    }
}
