//! What is to be expected of a count by those before it.

use super::Entries;

/// Within so many deviations of six counts the next one is found, but for one in twenty (Student's t, 5 degrees of
/// freedom: 2.57, times the root of 7/6).
const SPREAD: f64 = 2.8;

/// Of a process that runs for longer than before so many times as much is the most that is no change; and one that runs
/// for less than one part in so many pauses.
const LONGER: f64 = 2.0;

/// What some counts are on average.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) count: f64,
    /// How far they scatter.
    deviation: f64,
    /// On average; 0 where nobody says.
    pieces: f64,
    /// Of those that say.
    cores: Option<f64>,
}

impl Level {
    pub(crate) fn of(counts: &[Entries]) -> Self {
        let all = (counts.len() as f64).max(1.0);
        let known = counts.iter().filter_map(|of| of.cores);
        let (sum, ran) = known.fold((0.0, 0.0), |(sum, n), cores| (sum + cores, n + 1.0));
        let count = counts.iter().map(|of| of.count).sum::<f64>() / all;
        let squares: f64 = counts.iter().map(|of| (of.count - count).powi(2)).sum();
        Self {
            count,
            deviation: (squares / (counts.len() as f64 - 1.0).max(1.0)).sqrt(),
            pieces: counts.iter().filter_map(|of| of.pieces).sum::<f64>() / all,
            cores: (sum > 0.0).then(|| sum / ran),
        }
    }

    /// The same, of another mean.
    pub(crate) fn with(self, count: f64) -> Self {
        Self { count, ..self }
    }

    /// By how much a count is outside of what is to be expected by these, and what that is at least or at most.
    pub(crate) fn off(&self, entries: &Entries) -> (f64, f64) {
        if entries.count < self.count {
            return self.missing(entries);
        }
        let most = self.count * self.longer(entries).clamp(1.0, LONGER);
        (entries.count - most, most)
    }

    /// By how much a count is below what is to be expected by these at least, and what that is.
    pub(crate) fn missing(&self, entries: &Entries) -> (f64, f64) {
        let least = self.count * self.longer(entries).min(1.0);
        (least - entries.count, least)
    }

    /// Whether a count is of a process that runs for less than half of the time: a pause says nothing.
    pub(crate) fn pauses(&self, entries: &Entries) -> bool {
        self.longer(entries) * LONGER < 1.0
    }

    /// How far a count may be off the mean by chance.
    pub(crate) fn chance(&self, entries: &Entries) -> f64 {
        // The same pieces each time differ by less than pieces that are drawn anew would.
        let same = entries.chance(self.count).min(SPREAD * self.deviation);
        same.hypot(self.of_other_pieces(entries))
    }

    /// How far a count may be off the mean by chance, because it stands on more pieces than these did, or on a part of theirs
    /// alone.
    pub(crate) fn of_other_pieces(&self, entries: &Entries) -> f64 {
        let before = self.pieces;
        let Some(now) = entries.pieces.filter(|now| *now > 0.0 && before > 0.0) else { return 0.0 };
        // The means of a sample and of a part of it differ as that of so many pieces does from the truth.
        let pieces = 1.0 / (1.0 / now - 1.0 / before).abs();
        Entries { pieces: Some(pieces), ..*entries }.chance(self.count)
    }

    /// How many times as long as for these the process ran.
    fn longer(&self, entries: &Entries) -> f64 {
        entries.cores.zip(self.cores).map_or(1.0, |(now, before)| now / before)
    }
}
