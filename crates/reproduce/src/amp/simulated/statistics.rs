//! Pearson's correlation and how likely it is by chance.

/// Pearson's coefficient; 0 where one of both does not vary.
pub(super) fn pearson(points: &[(f64, f64)]) -> f64 {
    let count = points.len().max(1) as f64;
    let x_mean = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let y_mean = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(x, y)| of(x - x_mean, y - y_mean)).sum()
    };
    let both = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    if both > 0.0 { sum(&|x, y| x * y) / both } else { 0.0 }
}

/// How likely a coefficient as far from 0 is where there is no correlation: two-sided, by Student's
/// t with `count - 2` degrees of freedom.
pub(super) fn p_value(r: f64, count: usize) -> f64 {
    let freedom = count as f64 - 2.0;
    if freedom < 1.0 || r.abs() >= 1.0 {
        return if r.abs() >= 1.0 { 0.0 } else { 1.0 };
    }
    // The tails of t beyond it are the incomplete beta function of 1 - r^2.
    incomplete_beta(1.0 - r * r, freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function for b = 1/2, by Simpson's rule: with x = s^2 the
/// integrand is smooth at 0, and with 1 - x = c^2 at 1. Both are so in the angle between them.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    let part = |to: f64| {
        const STEPS: u32 = 2000;
        let width = to / f64::from(STEPS);
        let at = |step: u32| {
            let angle = f64::from(step) * width;
            angle.sin().powf(2.0 * a - 1.0) * angle.cos().powf(2.0 * b - 1.0)
        };
        let weight = |step: u32| match step {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=STEPS).map(|step| weight(step) * at(step)).sum::<f64>() * width / 3.0
    };
    part(x.sqrt().asin()) / part(std::f64::consts::FRAC_PI_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_coefficients_have_the_published_p_values_at_44_points() {
        for (r, p) in [(-0.8194, 1.0505e-11), (0.0322, 0.8355), (-0.4975, 0.0006)] {
            let found = p_value(r, 44);
            assert!((found / p - 1.0).abs() < 0.03, "{r}: {found}, not {p}");
        }
    }

    #[test]
    fn a_line_correlates() {
        let line = |slope: f64| (0..9).map(|x| (f64::from(x), slope * f64::from(x))).collect();
        let (up, down, flat): (Vec<_>, Vec<_>, Vec<_>) = (line(2.0), line(-0.1), line(0.0));
        assert!((pearson(&up) - 1.0).abs() < 1e-12 && (pearson(&down) + 1.0).abs() < 1e-12);
        assert_eq!((pearson(&flat), pearson(&[]), p_value(0.0, 9)), (0.0, 0.0, 1.0));
    }
}
