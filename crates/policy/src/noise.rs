//! How noisy the estimate of an access rate is from one epoch to the next, learned from all units
//! of about the same rate together: from differences between one epoch and the next, which a
//! change of level enters only once (von Neumann 1941).

/// Bits of a rate's float within an octave.
pub(crate) const OCTAVE: u32 = f32::MANTISSA_DIGITS - 1;

/// A number of no great size or precision.
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) fn narrow(value: f64) -> f32 {
    value as f32
}

/// The noise of the square root of one epoch's rate, by octave of the unit's mean rate.
pub(crate) struct Noise {
    /// Sum of squared deviations over the mean, and how many; the first is that of rate 0, whose
    /// deviations are absolute.
    octaves: Vec<(f64, f64)>,
    /// As before this epoch, so that a change of all units at once is not taken for noise.
    known: Vec<f32>,
    /// The least rate seen: about that of a single access in an epoch.
    least: f32,
}

/// What is believed before anything was seen: a rate is known to 50 %, its root to half of that.
const BELIEVED: f32 = 0.25;
/// With the weight of so many observations.
const BELIEF: f64 = 8.0;
/// Weight of what was learned an epoch ago.
const REMEMBERED: f64 = 0.9;
/// No rate is known better than to twice this share.
const FINEST: f32 = 0.02;
/// Deviations count up to so many times the noise known.
const CLIP: f32 = 3.0;

impl Noise {
    /// Nothing learned yet.
    pub(crate) fn new() -> Self {
        Self { octaves: vec![(0.0, 0.0); 256], known: vec![BELIEVED; 256], least: f32::MAX }
    }

    /// Closes the epoch before; `rates` hold, by octave of this epoch's rates, the sum of their roots and how many; the first is rate 0.
    pub(crate) fn next_epoch(&mut self, rates: &[(f64, f64)], least: f32) {
        self.least = self.least.min(least);
        // Where none is as common as one, rates are counts of few: known no better than such.
        let counts = rates[0].1 > rates[octave(self.least)].1;
        let one = if counts { self.least / 4.0 } else { 0.0 };
        for (at, (sum, count)) in (0u32..).zip(&mut self.octaves) {
            let rate = f32::from_bits(at << OCTAVE);
            let (counted, believed) = if at == 0 {
                (one, self.least / 4.0)
            } else {
                ((one / rate).max(FINEST * FINEST), BELIEVED * BELIEVED)
            };
            let mean = (*sum + BELIEF * f64::from(believed)) / (*count + BELIEF);
            self.known[at as usize] = narrow(mean).max(counted).sqrt();
            (*sum, *count) = (*sum * REMEMBERED, *count * REMEMBERED);
        }
    }

    /// That of one epoch of a unit with this mean rate.
    pub(crate) fn of(&self, mean: f32) -> f32 {
        let known = self.known[octave(mean)];
        if mean > 0.0 { known * mean.sqrt() } else { known }
    }

    /// Takes in a squared deviation. How far off one beyond all noise is does not matter.
    pub(crate) fn learn(&mut self, mean: f32, squared: f32) {
        let at = octave(mean);
        let scale = if mean > 0.0 { mean } else { 1.0 };
        let most = CLIP * self.known[at];
        let (sum, count) = &mut self.octaves[at];
        *sum += f64::from((squared / scale).min(most * most));
        *count += 1.0;
    }
}

/// The place of a rate's octave among 256.
pub(crate) fn octave(rate: f32) -> usize {
    (rate.to_bits() >> OCTAVE) as usize & 0xff
}
