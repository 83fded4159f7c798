//! MEMTIS's histogram (SOSP 2023, sections 4.1 and 4.2) as a rank: units in bins that double with
//! the number of their accesses, and a threshold so that what is above it fits fast memory.
//!
//! What is hot goes up, the hottest first; what is fast stays unless that needs its place, and then
//! the lowest bin goes first; what is slow and not hot stays. MEMTIS protects "warm" pages, one bin
//! below, where the hot set leaves a quarter of fast memory: going by bins does that by itself. It
//! demotes cold pages ahead of need to keep 2 % free; here room is the core's matter. It splits
//! skewed huge pages, which no order can.
//!
//! Its samples are every 199th load that misses the caches. Ours are expected of the rate that is
//! known: no chance in them, and no period that adapts to what sampling costs.

use crate::options::OptionInfo;
use crate::policy::{UNKNOWN, fill_unknown};
use crate::{
    Class, EpochView, FigureInfo, Needs, Observation, Policy, PolicyInfo, RankPolicy, observed,
};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "memtis",
    summary: "the highest bins of a histogram of accesses first, if they are hot",
    source: "MEMTIS, sections 4.1 and 4.2",
    class: Class::Runnable,
    needs: Needs { placement: true, ..Needs::NOTHING },
    options: &[
        OptionInfo {
            name: "sample",
            summary: "accesses of which one is counted",
            default: 199.0,
            range: (1.0, 1e9),
            whole: true,
        },
        OptionInfo {
            name: "adapt",
            summary: "counted accesses between two settings of the threshold",
            default: 100_000.0,
            range: (0.0, 1e15),
            whole: true,
        },
        OptionInfo {
            name: "cool",
            summary: "counted accesses after which all counts are halved",
            default: 2_000_000.0,
            range: (1.0, 1e15),
            whole: true,
        },
    ],
    figures: &[FigureInfo {
        name: "hot-bin",
        summary: "lowest bin that is hot: 2^bin - 1 accesses counted per 2 MiB",
    }],
    build: |settings| {
        Policy::Rank(Box::new(Memtis {
            sample: settings.get("sample"),
            adapt: settings.get("adapt"),
            cool: settings.get("cool"),
            since_adapted: 0.0,
            since_cooled: 0.0,
            hot: LOWEST_HOT,
            counts: Vec::new(),
        }))
    },
};

const BINS: usize = 16;
/// What was never accessed is never hot.
const LOWEST_HOT: usize = 1;
/// Base pages of 2 MiB, for which counts hold: of smaller units as if they were as large.
const PAGES: f64 = 512.0;

struct Memtis {
    sample: f64,
    adapt: f64,
    cool: f64,
    /// Accesses counted since the threshold was set, and since counts were halved.
    since_adapted: f64,
    since_cooled: f64,
    /// The lowest bin that is hot.
    hot: usize,
    /// By unit number; none: never observed.
    counts: Vec<Option<f64>>,
}

impl RankPolicy for Memtis {
    #[expect(clippy::cast_possible_truncation, reason = "bins are below 16")]
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        self.meet(view);
        self.count(view);
        if self.since_adapted >= self.adapt {
            self.since_adapted = 0.0;
            self.hot = self.threshold(view);
        }
        let mut unknown = 0;
        for (row, key) in keys.iter_mut().enumerate() {
            let Some(bin) = self.bin(view, row) else {
                (*key, unknown) = (UNKNOWN, unknown + 1);
                continue;
            };
            let group = match (bin >= self.hot, view.is_fast(row)) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            // Within a group the highest bin comes first.
            *key = group * BINS as u32 + (BINS - 1 - bin) as u32;
        }
        fill_unknown(keys, unknown);
    }

    fn observation(&self) -> Option<Observation> {
        Some(Observation { choice: None, figures: vec![self.hot as f64] })
    }
}

impl Memtis {
    /// Newborn units have no count, and those that are seen for the first time have one.
    fn meet(&mut self, view: &EpochView<'_>) {
        let len = view.heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.counts.len() < len {
            self.counts.resize(len, None);
        }
        for unit in view.history.newborn() {
            self.counts[unit.index()] = None;
        }
        for (unit, flags) in view.heat.unit.iter().zip(&view.heat.flags) {
            if observed(*flags) {
                self.counts[unit.index()].get_or_insert(0.0);
            }
        }
    }

    /// Adds an epoch's accesses; counts are halved as often as is due within it.
    fn count(&mut self, view: &EpochView<'_>) {
        let heat = view.heat;
        let samples = |row: usize| f64::from(heat.rate[row]) * view.length_s / self.sample;
        let known = |row: &usize| self.counts[heat.unit[*row].index()].is_some();
        let all: f64 = (0..heat.len()).filter(known).map(samples).sum();
        let all = all * view.one_unit_in as f64;
        if all <= 0.0 {
            return;
        }
        let halvings = ((self.since_cooled + all) / self.cool).floor().min(1e6);
        // Parts of the epoch before the first halving, between two, and after the last.
        let before = ((self.cool - self.since_cooled) / all).clamp(0.0, 1.0);
        let between = self.cool / all;
        let after = ((self.since_cooled + all - halvings * self.cool) / all).clamp(0.0, 1.0);
        for row in 0..heat.len() {
            let new = samples(row) * PAGES / f64::from(heat.pages[row].max(1));
            let Some(count) = &mut self.counts[heat.unit[row].index()] else { continue };
            if halvings >= 1.0 {
                *count = (*count + new * before) / 2.0;
                // What comes in between is halved once, what came in before that twice, and so on.
                let rest = 0.5f64.powf(halvings - 1.0);
                *count = *count * rest + new * (between * (1.0 - rest) + after);
            } else {
                *count += new;
            }
        }
        self.since_adapted += all;
        self.since_cooled = (self.since_cooled + all - halvings * self.cool).max(0.0);
    }

    /// The lowest bin from which on all fits fast memory; at least one bin can be hot.
    fn threshold(&self, view: &EpochView<'_>) -> usize {
        let mut pages = [0; BINS];
        for row in 0..view.heat.len() {
            if let Some(bin) = self.bin(view, row) {
                pages[bin] += u64::from(view.heat.pages[row]);
            }
        }
        let mut sum = 0;
        let fits = |bin: &usize| {
            sum += pages[*bin];
            sum <= view.capacity_pages()
        };
        let lowest = (LOWEST_HOT..BINS).rev().take_while(fits).last();
        lowest.unwrap_or(BINS - 1)
    }

    /// The bin of a row's unit; none if it was never observed.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2000")]
    fn bin(&self, view: &EpochView<'_>, row: usize) -> Option<usize> {
        let count = self.counts[view.heat.unit[row].index()]?;
        Some(((count + 1.0).log2().floor() as usize).min(BINS - 1))
    }
}
