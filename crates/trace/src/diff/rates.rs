//! How well two columns of rates agree: in order (Spearman) and in size (quantiles of the ratio).

use serde::Serialize;

/// Agreement of the mean rates of matched units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RateAgreement {
    /// Spearman's rank correlation, -1 to 1, ties sharing their mean rank; none with fewer than
    /// two units, or if all rates of one side are equal.
    pub spearman: Option<f64>,
    /// Units that have a rate above 0 on both sides: those of the quantiles below.
    pub ratio_units: usize,
    /// log2(a / b), 10 % quantile.
    pub log2_ratio_p10: Option<f64>,
    /// log2(a / b), median: 0 means no bias, 1 that `a` is twice `b`.
    pub log2_ratio_p50: Option<f64>,
    /// log2(a / b), 90 % quantile.
    pub log2_ratio_p90: Option<f64>,
}

impl RateAgreement {
    pub(super) fn of(pairs: &[(f64, f64)]) -> Self {
        let mut ratios: Vec<f64> = pairs
            .iter()
            .filter(|(a, b)| *a > 0.0 && *b > 0.0)
            .map(|(a, b)| (a / b).log2())
            .collect();
        ratios.sort_by(f64::total_cmp);
        Self {
            spearman: spearman(pairs),
            ratio_units: ratios.len(),
            log2_ratio_p10: quantile(&ratios, 0.1),
            log2_ratio_p50: quantile(&ratios, 0.5),
            log2_ratio_p90: quantile(&ratios, 0.9),
        }
    }
}

/// The value at share `q` of a sorted list, between neighbours by proportion.
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to last")]
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// Ranks from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let equal = order[start..].iter().take_while(|i| values[**i] == value).count();
        let mean = start as f64 + (equal as f64 + 1.0) / 2.0;
        for i in &order[start..start + equal] {
            ranks[*i] = mean;
        }
        start += equal;
    }
    ranks
}

fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (ranks(&a), ranks(&b));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (product(&a, &a) * product(&b, &b)).sqrt();
    (spread > 0.0).then(|| product(&a, &b) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 0.0]), [3.5, 2.0, 3.5, 1.0]);
    }

    #[test]
    fn spearman_without_ties_is_the_textbook_formula() {
        // Without ties it is 1 - 6 S / (n^3 - n), S the sum of the squared rank differences.
        let first = [7, 4, 3, 10, 6, 2, 9, 8, 1, 5];
        let second = [5, 7, 3, 10, 1, 9, 6, 2, 8, 4];
        let pairs: Vec<(f64, f64)> =
            first.iter().zip(second).map(|(a, b)| (f64::from(*a), f64::from(b))).collect();
        let squares: f64 = pairs.iter().map(|(a, b)| (a - b).powi(2)).sum();
        let formula = 1.0 - 6.0 * squares / 990.0;
        assert!((spearman(&pairs).unwrap() - formula).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_compare_is_no_correlation() {
        assert_eq!(spearman(&[]), None);
        assert_eq!(spearman(&[(1.0, 2.0)]), None);
        assert_eq!(spearman(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let sorted = [0.0, 1.0, 2.0, 4.0];
        assert_eq!(quantile(&sorted, 0.5), Some(1.5));
        assert_eq!(quantile(&sorted, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
