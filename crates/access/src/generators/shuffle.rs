//! A random permutation without a table: a Feistel network over the next power of two, walked
//! until it falls below n (Black and Rogaway 2002). It scatters keys over memory without using
//! memory of its own.

use super::mix;

const ROUNDS: u32 = 4;

/// A permutation of the numbers below `n`, chosen by a seed.
#[derive(Clone, Debug)]
pub struct Shuffle {
    n: u64,
    /// Bits of the low half; the high half has as many, or one fewer.
    low_bits: u32,
    low: u64,
    high: u64,
    keys: [u64; ROUNDS as usize],
}

impl Shuffle {
    /// A permutation of 0..n, for n up to 2^62.
    #[must_use]
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = n.next_power_of_two().trailing_zeros().max(2);
        let low_bits = bits.div_ceil(2);
        let mut key = seed;
        let keys = std::array::from_fn(|_| {
            key = mix(key);
            key
        });
        let (low, high) = ((1 << low_bits) - 1, (1 << (bits - low_bits)) - 1);
        Self { n, low_bits, low, high, keys }
    }

    /// The number that `i`, below n, becomes.
    #[inline]
    #[must_use]
    pub fn at(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mut x = i;
        loop {
            x = self.once(x);
            if x < self.n {
                return x;
            }
        }
    }

    #[inline]
    fn once(&self, x: u64) -> u64 {
        let (mut low, mut high) = (x & self.low, x >> self.low_bits);
        for pair in self.keys.chunks_exact(2) {
            high ^= spread(low, pair[0]) & self.high;
            low ^= spread(high, pair[1]) & self.low;
        }
        high << self.low_bits | low
    }
}

/// One multiplication, its middle bits: enough per round for scattering (not for secrecy).
#[inline]
fn spread(half: u64, key: u64) -> u64 {
    let product = (half ^ key).wrapping_mul(0xd6e8_feb8_6659_fd93);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for n in [1, 2, 3, 5, 64, 1000, 4097] {
            for seed in 0..3 {
                let shuffle = Shuffle::new(n, seed);
                let mut all: Vec<u64> = (0..n).map(|i| shuffle.at(i)).collect();
                all.sort_unstable();
                assert_eq!(all, (0..n).collect::<Vec<_>>(), "n {n}, seed {seed}");
            }
        }
    }

    #[test]
    fn neighbours_are_scattered_evenly() {
        // The first 1,000 of 256,000 fall into 512 equal parts as balls into bins do.
        let shuffle = Shuffle::new(256_000, 9);
        let mut parts = [0u32; 512];
        for i in 0..51_200 {
            parts[usize::try_from(shuffle.at(i) / 500).unwrap()] += 1;
        }
        let chi: f64 = parts.iter().map(|n| (f64::from(*n) - 100.0).powi(2) / 100.0).sum();
        // Drawn without replacement, a fifth of the whole: 0.8 of a chi-squared with 511 degrees.
        assert!((300.0..520.0).contains(&chi), "{chi}");
    }
}
