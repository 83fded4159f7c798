//! Rates are estimates with errors of ten percent and more; their last bits are noise that no
//! compressor can shrink, so a recording keeps five bits after the leading one.

/// Bits of an `f32`'s 23-bit mantissa that a recording drops.
const DROPPED: u32 = 23 - 5;

/// The nearest rate that a recording holds: 5 bits of mantissa, so within 1/64 (1.6 %) of `rate`.
/// Ties go to even. Rounding twice changes nothing; it never yields infinity.
#[must_use]
pub fn round_rate(rate: f32) -> f32 {
    let bits = rate.to_bits();
    let even = (bits >> DROPPED) & 1;
    let rounded = f32::from_bits((bits + (1 << (DROPPED - 1)) - 1 + even) >> DROPPED << DROPPED);
    if rounded.is_finite() { rounded } else { f32::from_bits(bits >> DROPPED << DROPPED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_values_stay() {
        for rate in [0.0, 1.0, 1.5, 63.0, 1024.0, f32::MIN_POSITIVE] {
            assert_eq!(round_rate(rate), rate);
        }
    }

    #[test]
    fn the_middle_goes_to_even_and_the_largest_stays_finite() {
        assert_eq!(round_rate(65.0), 64.0);
        assert_eq!(round_rate(67.0), 68.0);
        assert_eq!(round_rate(f32::MAX).to_bits(), 0x7f7c_0000);
    }

    proptest! {
        #[test]
        fn error_is_within_one_part_in_64(rate in 1e-30f32..1e30) {
            let rounded = round_rate(rate);
            prop_assert!((rounded - rate).abs() <= rate / 64.0);
            prop_assert_eq!(round_rate(rounded), rounded);
        }

        #[test]
        fn order_is_kept(a in 0f32..1e9, b in 0f32..1e9) {
            prop_assert!(round_rate(a.min(b)) <= round_rate(a.max(b)));
        }
    }
}
