//! How noisy the estimate of an access rate is from one epoch to the next, learned from all units
//! of about the same rate together: from differences between one epoch and the next, which a
//! change of level enters only once (von Neumann 1941).

use crate::octaves::{BY_OCTAVE, ByOctave, narrow, octave, octave_start};

/// The noise of the square root of one epoch's rate, by octave of the unit's mean rate.
pub(crate) struct Noise {
    /// Squared deviations over the mean; of rate 0 they are absolute.
    squares: ByOctave,
    /// As before this epoch, so that a change of all units at once is not taken for noise.
    known: Vec<f32>,
    /// The least rate seen: about that of a single access in an epoch.
    least: f32,
}

/// The variance of the square root of a Poisson count, in counts, whatever its mean (Bartlett
/// 1936). An error of a rate is twice that of its root, both relative.
const VARIANCE_OF_ROOT: f32 = 0.25;
/// What is believed before anything was seen: a rate is known to 50 %, its root to half of that.
/// A choice, on the safe side: rates of few sightings are that noisy.
const BELIEVED: f32 = 0.25;
/// With the weight of so many observations. A choice: a handful of units that are alike speak
/// louder after two epochs.
const BELIEF: f64 = 8.0;
/// Weight of what was learned an epoch ago; it counts half after 7 epochs. A choice: the noise of a
/// recording changes with its budget, not from epoch to epoch.
const REMEMBERED: f64 = 0.9;
/// No root is known better than to this share, no rate better than to 4 %. A choice: about twice the
/// 1.6 % to which recordings round, and programs are no steadier.
const FINEST: f32 = 0.02;
/// Deviations count up to so many times the noise known: what lies beyond is a change. The usual
/// three standard deviations.
const CLIP: f32 = 3.0;

impl Noise {
    /// Nothing learned yet.
    pub(crate) fn new() -> Self {
        Self { squares: ByOctave::default(), known: vec![BELIEVED; BY_OCTAVE], least: f32::MAX }
    }

    /// Closes the epoch before. `roots` are those of this epoch's rates, `least` the lowest of
    /// these above 0.
    pub(crate) fn next_epoch(&mut self, roots: &ByOctave, least: f32) {
        self.least = self.least.min(least);
        // Where none is as common as one, rates are counts of few: known no better than such.
        let counts = roots.count(0) > roots.count(octave(self.least));
        let of_one_access = self.least * VARIANCE_OF_ROOT;
        for at in 0..BY_OCTAVE {
            let (finest, believed) = if at == 0 {
                (if counts { of_one_access } else { 0.0 }, of_one_access)
            } else {
                let counted = if counts { of_one_access / octave_start(at) } else { 0.0 };
                (counted.max(FINEST * FINEST), BELIEVED * BELIEVED)
            };
            let mean = self.squares.mean_with(at, BELIEF, f64::from(believed));
            self.known[at] = narrow(mean).max(finest).sqrt();
        }
        self.squares.fade(REMEMBERED);
    }

    /// That of one epoch of a unit with this mean rate, as a standard deviation of its root.
    pub(crate) fn of(&self, mean: f32) -> f32 {
        let known = self.known[octave(mean)];
        if mean > 0.0 { known * mean.sqrt() } else { known }
    }

    /// Takes in a squared deviation of the root. How far off one beyond all noise is does not
    /// matter.
    pub(crate) fn learn(&mut self, mean: f32, squared: f32) {
        let at = octave(mean);
        let scale = if mean > 0.0 { mean } else { 1.0 };
        let most = CLIP * self.known[at];
        self.squares.add(at, f64::from((squared / scale).min(most * most)));
    }
}
