//! Random numbers for simulated heat.

/// Random numbers: the constants of Knuth's MMIX, the upper bits.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Evenly from 0 to 1.
    pub(crate) fn even(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from((self.0 >> 32) as u32) / f64::from(u32::MAX)
    }

    /// About normal: mean 0, standard deviation 1 (the sum of twelve, Irwin-Hall).
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }

    /// A Poisson count (Knuth); a normal one where counts are many.
    pub(crate) fn count(&mut self, mean: f64) -> f64 {
        if mean > 100.0 {
            return (mean + mean.sqrt() * self.normal()).round();
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.even(), 0.0);
        while product > limit {
            product *= self.even();
            count += 1.0;
        }
        count
    }
}
