//! Counts of some seconds each, of looks that may be shorter.

use super::Entries;

/// Sums up looks until a count is complete. Whoever looks less often gets a count of each look: what one look saw is seen once,
/// however long it took.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    every_s: f64,
    /// After so many seconds that were watched the next count is due.
    due_s: f64,
    sum: Sum,
}

/// Of the seconds in which it was watched since the last count, each number times seconds.
#[derive(Clone, Copy, Debug)]
struct Sum {
    watched_s: f64,
    count: f64,
    all: f64,
    /// None where a look did not say.
    pieces: Option<f64>,
    cores: Option<f64>,
}

impl Sum {
    const NOTHING: Self =
        Self { watched_s: 0.0, count: 0.0, all: 0.0, pieces: Some(0.0), cores: Some(0.0) };
}

impl Counting {
    /// A count every so many seconds, the first one after as many.
    pub(crate) fn new(every_s: f64) -> Self {
        Self { every_s, due_s: every_s, sum: Sum::NOTHING }
    }

    /// Takes in what an epoch showed; a count, if one is complete. None: nothing was watched in it, and its time does not count.
    pub(crate) fn take(&mut self, entries: Option<Entries>, length_s: f64) -> Option<Entries> {
        let Entries { count, all, pieces, cores } = entries?;
        let add =
            |sum: Option<f64>, of: Option<f64>| sum.zip(of).map(|(sum, of)| sum + of * length_s);
        self.sum = Sum {
            watched_s: self.sum.watched_s + length_s,
            count: self.sum.count + count * length_s,
            all: self.sum.all + all * length_s,
            pieces: add(self.sum.pieces, pieces),
            cores: add(self.sum.cores, cores),
        };
        self.due_s -= length_s;
        // Looks that sum up to the time but for rounding are a count.
        if self.due_s > self.every_s * 1e-9 {
            return None;
        }
        self.due_s = self.every_s - (-self.due_s) % self.every_s;
        let Sum { watched_s, count, all, pieces, cores } =
            std::mem::replace(&mut self.sum, Sum::NOTHING);
        let mean = |sum: f64| sum / watched_s;
        Some(Entries {
            count: mean(count),
            all: mean(all),
            pieces: pieces.map(mean),
            cores: cores.map(mean),
        })
    }
}
