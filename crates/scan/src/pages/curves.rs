//! What a sighting tells of a rate. An access at rate r was seen to happen within a time d: its
//! log-likelihood is ln(1 - exp(-x)) with x = r d. Its first two derivatives at r are those of `w`
//! accesses in a time of (w - g) / r, where
//!
//! g = x / (exp(x) - 1)  and  w = x^2 exp(x) / (exp(x) - 1)^2.
//!
//! Short times (x near 0) count as one access half way; long ones (x large) tell nothing.

use std::sync::LazyLock;

/// Cells per factor of 2: 2^4, from the first bits of the mantissa.
const CELL_BITS: u32 = 23 - 4;
const LOW: f32 = 1.0 / 128.0;
const HIGH: f32 = 32.0;

/// g and w by the exponent and first bits of x; within 0.015 of the true values.
static TABLE: LazyLock<Vec<(f32, f32)>> = LazyLock::new(|| {
    (cell(LOW)..cell(HIGH))
        .map(|cell| {
            let (from, to) =
                (f32::from_bits(cell << CELL_BITS), f32::from_bits((cell + 1) << CELL_BITS));
            exact(f64::from(f32::midpoint(from, to)))
        })
        .collect()
});

fn cell(x: f32) -> u32 {
    x.to_bits() >> CELL_BITS
}

#[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
fn exact(x: f64) -> (f32, f32) {
    let g = x / x.exp_m1();
    ((g) as f32, (g * g * x.exp()) as f32)
}

/// The table, to be looked up often.
#[derive(Clone, Copy)]
pub(crate) struct Curves(&'static [(f32, f32)]);

impl Curves {
    pub(crate) fn get() -> Self {
        Self(&TABLE)
    }

    /// g and w of x > 0.
    pub(crate) fn of(self, x: f32) -> (f32, f32) {
        if x < LOW {
            return (1.0 - x / 2.0, 1.0);
        }
        self.0.get((cell(x) - cell(LOW)) as usize).copied().unwrap_or((0.0, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_near_the_formula() {
        let curves = Curves::get();
        for step in -100..60 {
            let x = 1.1f32.powi(step);
            let (g, w) = curves.of(x);
            let (true_g, true_w) = exact(f64::from(x));
            assert!((g - true_g).abs() < 0.015 && (w - true_w).abs() < 0.015, "{x}: {g} {w}");
        }
    }
}
