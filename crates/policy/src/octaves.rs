//! Sums by octave of a rate, and rates rounded to bands of octaves or parts of one. The bits of a
//! positive float order like the float: the exponent is its octave, the mantissa its place there.

/// Bits of a rate's float within an octave.
pub(crate) const OCTAVE: u32 = f32::MANTISSA_DIGITS - 1;
/// Octaves of all floats from 0 on; the first is that of 0.
pub(crate) const BY_OCTAVE: usize = 256;

/// Sums and counts by octave.
#[derive(Clone)]
pub(crate) struct ByOctave(Vec<(f64, f64)>);

impl Default for ByOctave {
    fn default() -> Self {
        Self(vec![(0.0, 0.0); BY_OCTAVE])
    }
}

impl ByOctave {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.fill((0.0, 0.0));
    }

    /// Takes in one value.
    pub(crate) fn add(&mut self, octave: usize, value: f64) {
        let (sum, count) = &mut self.0[octave];
        *sum += value;
        *count += 1.0;
    }

    /// Lets what was taken in count `weight` times as much.
    pub(crate) fn fade(&mut self, weight: f64) {
        for (sum, count) in &mut self.0 {
            (*sum, *count) = (*sum * weight, *count * weight);
        }
    }

    /// Values taken in, faded.
    pub(crate) fn count(&self, octave: usize) -> f64 {
        self.0[octave].1
    }

    /// The mean of an octave's values and `weight` more of `value`.
    pub(crate) fn mean_with(&self, octave: usize, weight: f64, value: f64) -> f64 {
        let (sum, count) = self.0[octave];
        (sum + weight * value) / (count + weight)
    }

    /// The mean over several octaves; `None` without values.
    pub(crate) fn mean(&self, octaves: std::ops::Range<usize>) -> Option<f64> {
        let of = &self.0[octaves.start..octaves.end.min(BY_OCTAVE)];
        let (sum, count) = of.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        (count > 0.0).then(|| sum / count)
    }
}

/// A number of no great size or precision.
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) fn narrow(value: f64) -> f32 {
    value as f32
}

/// The place of a rate's octave among [`BY_OCTAVE`].
pub(crate) fn octave(rate: f32) -> usize {
    (rate.to_bits() >> OCTAVE) as usize & (BY_OCTAVE - 1)
}

/// The lowest rate of an octave.
pub(crate) fn octave_start(octave: usize) -> f32 {
    f32::from_bits(u32::try_from(octave).unwrap_or(u32::MAX) << OCTAVE)
}

/// The width in octaves of a band of floats that differ in their lowest `bits` only: 2^(bits -
/// [`OCTAVE`]).
pub(crate) fn band(bits: u32) -> f32 {
    const EXPONENT_OF_ONE: u32 = 127;
    f32::from_bits((EXPONENT_OF_ONE + bits - OCTAVE) << OCTAVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_powers_of_two_of_an_octave() {
        assert_eq!([OCTAVE - 2, OCTAVE, OCTAVE + 3].map(band), [0.25, 1.0, 8.0]);
        assert_eq!(octave_start(octave(5.0)), 4.0);
        assert_eq!((octave(0.0), octave_start(0)), (0, 0.0));
        assert_eq!(octave(8.0) - octave(7.9), 1);
    }
}
