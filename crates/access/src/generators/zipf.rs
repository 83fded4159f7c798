//! Zipf-distributed ranks from a table of a few kilobytes, exact for every exponent.
//!
//! Ranks are put in buckets some 3 % wide; an alias table (Walker 1977) picks the bucket, a
//! uniform draw the rank in it, and rejection corrects the little that weights differ within a
//! bucket; only where that is in doubt (3 % of the draws at most) is a power computed.
//! `benches/generators.rs` compares it with `rand_distr`'s rejection-inversion, which needs no
//! table but several logarithms per draw.

use super::{Rng, index, scale, threshold};

/// One column of the alias table: a bucket of ranks, and what to take instead of it.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Below: this bucket; else the alias.
    keep: u64,
    alias: u64,
    first: u64,
    width: u64,
    /// A draw below is accepted whichever rank it is.
    surely: u64,
}

/// Ranks 1 to `n`, rank k with a weight of k^-exponent.
#[derive(Clone, Debug)]
pub struct Zipf {
    buckets: Vec<Bucket>,
    exponent: f64,
}

impl Zipf {
    /// `n` ranks (at least one); the exponent is finite and not negative.
    #[must_use]
    pub fn new(n: u64, exponent: f64) -> Self {
        let mut buckets = vec![];
        let mut weights = vec![];
        let mut first = 1;
        while first <= n {
            let width = (first / 32).max(1).min(n - first + 1);
            let last = first + width - 1;
            let surely = threshold((last as f64 / first as f64).powf(-exponent));
            buckets.push(Bucket { keep: u64::MAX, alias: 0, first, width, surely });
            weights.push(width as f64 * (first as f64).powf(-exponent));
            first += width;
        }
        alias(&mut buckets, &weights);
        Self { buckets, exponent }
    }

    /// A rank, from 1 on.
    #[inline]
    pub fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let (column, coin) = scale(rng.word(), self.buckets.len() as u64);
            let Bucket { keep, alias, .. } = self.buckets[index(column)];
            // No jump that the processor would have to guess.
            let chosen = std::hint::select_unpredictable(coin < keep, column, alias);
            let bucket = &self.buckets[index(chosen)];
            let (within, coin) = scale(rng.word(), bucket.width);
            let rank = bucket.first + within;
            if coin < bucket.surely || self.accepts(rank, bucket.first, coin) {
                return rank;
            }
        }
    }

    #[cold]
    fn accepts(&self, rank: u64, first: u64, coin: u64) -> bool {
        coin < threshold((rank as f64 / first as f64).powf(-self.exponent))
    }
}

/// Fills in `keep` and `alias` by Vose's method (1991): linear, and exact up to rounding.
fn alias(buckets: &mut [Bucket], weights: &[f64]) {
    let total: f64 = weights.iter().sum();
    let mut share: Vec<f64> = weights.iter().map(|w| w / total * weights.len() as f64).collect();
    let (mut poor, mut rich): (Vec<u32>, Vec<u32>) =
        (0u32..).take(share.len()).partition(|i| share[*i as usize] < 1.0);
    while let (Some(p), Some(r)) = (poor.pop(), rich.last().copied()) {
        let (p, rich_at) = (p as usize, r as usize);
        buckets[p].keep = threshold(share[p]);
        buckets[p].alias = r.into();
        share[rich_at] -= 1.0 - share[p];
        if share[rich_at] < 1.0 {
            rich.pop();
            poor.push(r);
        }
    }
    // What is left is full up to rounding, and its own alias where it is not.
    for i in poor.into_iter().chain(rich) {
        buckets[i as usize].alias = i.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(n: u64, exponent: f64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-exponent)).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    }

    /// Chi-squared of `draws` draws against the formula, over its degrees of freedom.
    fn misfit(n: u64, exponent: f64, draws: u64) -> f64 {
        let zipf = Zipf::new(n, exponent);
        let mut rng = Rng::new(3, 0);
        let mut seen = vec![0u64; index(n)];
        for _ in 0..draws {
            seen[index(zipf.rank(&mut rng) - 1)] += 1;
        }
        let chi: f64 = expected(n, exponent)
            .iter()
            .zip(&seen)
            .map(|(p, n)| (*n as f64 - p * draws as f64).powi(2) / (p * draws as f64))
            .sum();
        chi / (n.max(2) - 1) as f64
    }

    #[test]
    fn follows_the_formula() {
        for (n, exponent) in [(1, 1.0), (2, 0.99), (40, 0.0), (500, 0.5), (1000, 0.99), (200, 1.6)]
        {
            let misfit = misfit(n, exponent, 2_000_000);
            assert!(misfit < 1.3, "n {n}, exponent {exponent}: {misfit}");
        }
    }

    #[test]
    fn stays_within_its_ranks_when_they_are_many() {
        let n = 1 << 40;
        let zipf = Zipf::new(n, 0.9);
        assert!(zipf.buckets.len() < 1500, "{}", zipf.buckets.len());
        let mut rng = Rng::new(1, 0);
        let ranks: Vec<u64> = (0..100_000).map(|_| zipf.rank(&mut rng)).collect();
        assert!(ranks.iter().all(|rank| (1..=n).contains(rank)));
        assert!(ranks.iter().any(|rank| *rank > n / 2));
    }
}
