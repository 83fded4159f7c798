//! Totals at even times, whatever the length of the epochs between which they are known.

/// How much some totals grew in every period: in between two epochs' ends they are taken to grow
/// evenly.
#[derive(Clone, Debug)]
pub(crate) struct Ticks<const N: usize> {
    period_s: f64,
    /// When, and what the totals were.
    last: (f64, [f64; N]),
    /// When the last period ended, and what they were then.
    begun: (f64, [f64; N]),
}

impl<const N: usize> Ticks<N> {
    /// The first period begins now.
    pub(crate) fn new(period_s: f64, now_s: f64, totals: [f64; N]) -> Self {
        Self { period_s, last: (now_s, totals), begun: (now_s, totals) }
    }

    /// By how much the totals grew in each of the periods that ended since the last call.
    pub(crate) fn advance(&mut self, now_s: f64, totals: [f64; N]) -> Vec<[f64; N]> {
        let mut grown = Vec::new();
        let (from_s, from) = std::mem::replace(&mut self.last, (now_s, totals));
        // Epochs that sum up to a period but for rounding end one.
        while now_s - self.begun.0 > self.period_s * (1.0 - 1e-9) && now_s > from_s {
            let end_s = self.begun.0 + self.period_s;
            let part = ((end_s - from_s) / (now_s - from_s)).min(1.0);
            let at = std::array::from_fn(|i| from[i] + (totals[i] - from[i]) * part);
            grown.push(std::array::from_fn(|i| at[i] - self.begun.1[i]));
            self.begun = (end_s, at);
        }
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A total of 3 per second, in epochs of this length.
    fn grown(length_s: f64, epochs: u32) -> Vec<f64> {
        let mut ticks = Ticks::new(2.0, 0.0, [0.0]);
        let epochs = (1..=epochs).map(|epoch| f64::from(epoch) * length_s);
        epochs.flat_map(|now_s| ticks.advance(now_s, [3.0 * now_s])).map(|[of]| of).collect()
    }

    #[test]
    fn periods_are_seconds_whatever_the_length_of_an_epoch() {
        for (length_s, epochs) in [(0.2, 100), (1.5, 14), (2.0, 10), (5.0, 4), (20.0, 1)] {
            let grown = grown(length_s, epochs);
            assert_eq!(grown.len(), 10, "{length_s}");
            assert!(grown.iter().all(|of| (of - 6.0).abs() < 1e-6), "{length_s}: {grown:?}");
        }
    }

    #[test]
    fn in_between_two_epochs_totals_grow_evenly() {
        let mut ticks = Ticks::new(2.0, 10.0, [100.0, 0.0]);
        assert!(ticks.advance(11.0, [100.0, 0.0]).is_empty());
        assert_eq!(ticks.advance(15.0, [140.0, 4.0]), [[10.0, 1.0], [20.0, 2.0]]);
    }
}
