//! What the misses of a program look like, epoch by epoch.

use crate::Values;
use pagetide_access::Kind;
use pagetide_access::generators::Rng;
use pagetide_sim::pool::{Seen, What};

/// Lengths of epochs, instructions.
pub(super) const EPOCHS: [(u64, &str); 4] =
    [(100_000, "0.1M"), (1_000_000, "1M"), (10_000_000, "10M"), (100_000_000, "100M")];
/// Pages at the top.
const TOP: usize = 50;

/// Of all epochs of one length.
struct Epochs {
    length: u64,
    ends_at: u64,
    /// By page its misses, and the epoch that they are of.
    counts: Vec<(u32, u32)>,
    epoch: u32,
    touched: Vec<u32>,
    before: Vec<u32>,
    rng: Rng,
    pages: Vec<f64>,
    over: [Vec<f64>; 2],
    top: Vec<f64>,
    persist: Vec<f64>,
}

impl Epochs {
    fn new(length: u64, pages: u32) -> Self {
        Self {
            length,
            ends_at: length,
            counts: vec![(0, 0); pages as usize],
            epoch: 1,
            touched: Vec::new(),
            before: Vec::new(),
            rng: Rng::new(length, 0),
            pages: Vec::new(),
            over: [Vec::new(), Vec::new()],
            top: Vec::new(),
            persist: Vec::new(),
        }
    }

    fn miss(&mut self, page: u32, now: u64) {
        while now >= self.ends_at {
            self.end();
        }
        let (count, epoch) = &mut self.counts[page as usize];
        if *epoch != self.epoch {
            (*count, *epoch) = (0, self.epoch);
            self.touched.push(page);
        }
        *count += 1;
    }

    fn end(&mut self) {
        let Self { counts, touched, rng, .. } = self;
        let count = |page: u32| counts[page as usize].0;
        let all: u64 = touched.iter().map(|page| u64::from(count(*page))).sum();
        self.pages.push(touched.len() as f64);
        for (over, least) in self.over.iter_mut().zip([10, 50]) {
            over.push(touched.iter().filter(|page| count(**page) > least).count() as f64);
        }
        // Of equals, any.
        let mut top: Vec<(std::cmp::Reverse<u32>, u64, u32)> = touched
            .iter()
            .map(|page| (std::cmp::Reverse(count(*page)), rng.word(), *page))
            .collect();
        top.sort_unstable();
        top.truncate(TOP);
        if all > 0 {
            let of: u64 = top.iter().map(|(count, ..)| u64::from(count.0)).sum();
            self.top.push(of as f64 / all as f64);
        }
        let mut now: Vec<u32> = top.into_iter().map(|(.., page)| page).collect();
        now.sort_unstable();
        if !self.before.is_empty() {
            let there = self.before.iter().filter(|page| now.binary_search(page).is_ok()).count();
            self.persist.push(there as f64 / self.before.len() as f64);
        }
        self.before = now;
        self.touched.clear();
        self.epoch += 1;
        self.ends_at += self.length;
    }
}

/// The one in the middle, or between the two there; 0 of none.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[odd / 2],
        even => f64::midpoint(values[even / 2 - 1], values[even / 2]),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// See the module.
pub(super) struct Statistics {
    now: u64,
    fetches: [u64; 2],
    write_backs: u64,
    epochs: Vec<Epochs>,
}

impl Statistics {
    pub(super) fn new(pages: u32) -> Self {
        let epochs = EPOCHS.iter().map(|(length, _)| Epochs::new(*length, pages)).collect();
        Self { now: 0, fetches: [0; 2], write_backs: 0, epochs }
    }

    pub(super) fn add(&mut self, seen: Seen) {
        self.now += seen.instructions;
        let write = match seen.what {
            What::Line(Kind::WriteBack) => {
                self.write_backs += 1;
                return;
            }
            What::Line(kind) => kind == Kind::Write,
            What::Translation { .. } => return,
        };
        self.fetches[usize::from(write)] += 1;
        for epochs in &mut self.epochs {
            epochs.miss(seen.line >> 6, self.now);
        }
    }

    /// `misses` and `write-backs` for 1,000 instructions, `writes` (a share), and for each length of
    /// epochs `1M.pages`, `1M.over10`, `1M.over50`, `1M.top`, `1M.persist`.
    pub(super) fn values(mut self) -> Values {
        let instructions = self.now.max(1) as f64;
        let fetches: u64 = self.fetches.iter().sum();
        let mut values = Values::new();
        values.insert("misses".into(), 1e3 * fetches as f64 / instructions);
        values.insert("write-backs".into(), 1e3 * self.write_backs as f64 / instructions);
        values.insert("writes".into(), self.fetches[1] as f64 / fetches.max(1) as f64);
        for (epochs, (_, name)) in self.epochs.iter_mut().zip(EPOCHS) {
            let mut put = |what: &str, value: f64| values.insert(format!("{name}.{what}"), value);
            put("pages", median(&mut epochs.pages));
            let [over_10, over_50] = &mut epochs.over;
            put("over10", median(over_10));
            put("over50", median(over_50));
            put("top", median(&mut epochs.top));
            put("persist", mean(&epochs.persist));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_misses_each_line_of_a_page_once() {
        let mut statistics = Statistics::new(4096);
        // A line every 100 instructions: 16 pages in 0.1 M, 64 misses on each but the first and last.
        for line in 0..262_144 {
            statistics.add(Seen { core: 0, line, what: What::Line(Kind::Read), instructions: 100 });
        }
        let values = statistics.values();
        assert_eq!((values["misses"], values["writes"]), (10.0, 0.0));
        assert_eq!((values["0.1M.pages"], values["1M.pages"]), (17.0, 157.0));
        assert!((values["1M.top"] - 0.32).abs() < 0.001, "{values:?}");
        assert!(values["1M.persist"] < 0.02, "{values:?}");
    }
}
