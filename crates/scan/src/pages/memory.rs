//! What is remembered of a single page, and its rate. A page has few trials of its own, and the
//! luckiest of many pages would look hot: so each is taken to be one of the pages of its piece,
//! whose rates follow a gamma distribution, and gets its expected rate given what was seen of it
//! (empirical Bayes; B. Efron, Large-Scale Inference, 2010, chapter 1). What is remembered has
//! the form of that prior: accesses in a time.

use super::curves::Curves;
use super::trials::{BINS, Trial};

/// What a trial counts for at the next one, as in `evidence.rs`.
const FADE: f32 = 0.85;
/// A rate found by iteration is within this of the solution.
const PRECISE: f32 = 0.005;
const MOST_STEPS: usize = 12;
/// A page seen at so many first looks in a row is saturated.
const ALWAYS: u16 = 8;
/// Standard deviations that a page may be off its prior, and accesses that are no proof.
const FAR: f32 = 3.0;
const FEW: f32 = 2.0;
/// What was watched was watched for some time, s.
const LEAST_S: f32 = 1e-9;

/// How the rates of a piece's pages are distributed: as if each page had been accessed `shape`
/// times in a time of `exposure` seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    shape: f32,
    exposure: f32,
}

impl Prior {
    /// Of pages with this mean rate, above 0.
    #[expect(clippy::cast_possible_truncation, reason = "in range")]
    pub(crate) fn new(shape: f64, mean: f64) -> Self {
        Self { shape: shape as f32, exposure: (shape / mean) as f32 }
    }

    /// Real programs have pages much hotter than a gamma distribution has. For a page seen so
    /// often that the prior cannot explain it, one whose upper end is where the page is; shrunk
    /// like the others it would lose most of its accesses.
    fn wider(self, events: f32, exposure: f32) -> Option<Self> {
        let expected = exposure * self.shape / self.exposure;
        let deviation = (expected + expected * expected / self.shape).sqrt();
        let upper_end = 1.0 + FAR / self.shape.sqrt();
        let outlier = events > FEW + expected + FAR * deviation;
        let wider = self.shape * upper_end * exposure / events.max(1.0);
        (outlier && wider < self.exposure).then_some(Self { exposure: wider, ..self })
    }
}

/// One page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PageMemory {
    events: f32,
    /// Seconds of CPU time of the target; 0 if it was never watched.
    exposure: f32,
    /// As last estimated, per second.
    rate: f32,
    /// First looks in a row at which it was seen.
    streak: u16,
}

impl PageMemory {
    /// Notes that a page was seen at so many first looks, or not at all of them; says whether it
    /// is always seen (`surely`: few looks are enough).
    pub(crate) fn saturated(&mut self, first_looks: Option<u16>, surely: bool) -> bool {
        self.streak = first_looks.map_or(0, |looks| self.streak.saturating_add(looks));
        self.streak >= if surely { 1 } else { ALWAYS }
    }

    pub(crate) fn rate(&self) -> Option<f32> {
        (self.exposure > 0.0).then_some(self.rate)
    }

    /// How often the page should have been seen in these trials had it kept its rate (the
    /// compensator of the count); None if it has none.
    pub(crate) fn expected(&self, trial: &Trial, spans: &[f64; BINS]) -> Option<f64> {
        let rate = self.rate()?;
        let (curves, unseen) = (Curves::get(), single(trial.unseen_s));
        let mut expected = rate * unseen;
        for (count, span) in trial.counts.iter().zip(spans).filter(|(count, _)| **count > 0) {
            expected += f32::from(*count) * (1.0 - curves.of(rate * single(*span)).0);
        }
        Some(f64::from(expected))
    }

    /// Learns from an epoch's trials, for which it was `expected` to be seen so often. Without a
    /// prior no page of the piece was ever seen.
    pub(crate) fn learn(
        &mut self,
        trial: &Trial,
        spans: &[f64; BINS],
        prior: Option<&Prior>,
        expected: Option<f64>,
    ) {
        if expected.is_some_and(|expected| surprising(trial.seen(), expected)) {
            // The program changed: what was is no help any more.
            *self = Self::default();
        }
        self.events *= FADE;
        self.exposure = self.exposure * FADE + single(trial.unseen_s).max(LEAST_S);
        let Some(prior) = prior else {
            self.rate = 0.0;
            return;
        };
        let trials: [(f32, f32); BINS] =
            std::array::from_fn(|i| (f32::from(trial.counts[i]), single(spans[i])));
        let mut found = self.solve(&trials, *prior);
        if let Some(wider) = prior.wider(self.events + found.events, self.exposure + found.exposure)
        {
            found = self.solve(&trials, wider);
        }
        self.events += found.events;
        self.exposure += found.exposure;
        self.rate = found.rate;
    }

    /// The rate, given what is remembered and sightings in times of a length.
    fn solve(&self, trials: &[(f32, f32); BINS], prior: Prior) -> Found {
        let (events, exposure) = (prior.shape + self.events, prior.exposure + self.exposure);
        let seen: f32 = trials.iter().map(|(count, _)| count).sum();
        let curves = Curves::get();
        let mut found = Found { rate: (events + seen) / exposure, events: 0.0, exposure: 0.0 };
        // Newton's method; the equation is concave, so after one step the rate only rises.
        for _ in 0..MOST_STEPS {
            let rate = found.rate;
            (found.events, found.exposure) = (0.0, 0.0);
            for (count, span) in trials.iter().filter(|(count, _)| *count > 0.0) {
                let (g, w) = curves.of(rate * span);
                found.events += count * w;
                found.exposure += count * (w - g) / rate;
            }
            found.rate = (events + found.events) / (exposure + found.exposure);
            if (found.rate - rate).abs() <= PRECISE * rate {
                break;
            }
        }
        found
    }
}

/// A rate, and what the trials behind it add to what is remembered.
#[derive(Clone, Copy, Debug)]
struct Found {
    rate: f32,
    events: f32,
    exposure: f32,
}

/// Whether a count is no plausible outcome: more than two standard deviations off.
fn surprising(seen: f64, expected: f64) -> bool {
    (seen - expected).abs() > 2.0 * expected.sqrt() + 1.0
}

/// Whether the pages of a window were seen so much more or less often than expected that the
/// program must have changed.
pub(super) fn changed(seen: f64, expected: f64) -> bool {
    let several_times = seen > 4.0 * expected || expected > 4.0 * seen;
    several_times && (seen - expected).abs() > 6.0 * expected.sqrt() + 16.0
}

/// Times between 1e-9 and 1e4 s: single precision holds them.
#[expect(clippy::cast_possible_truncation, reason = "in range")]
fn single(value: f64) -> f32 {
    value as f32
}
