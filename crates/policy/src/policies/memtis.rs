//! MEMTIS's histogram (SOSP 2023, sections 4.1 and 4.2) as a rank: units in bins that double with
//! the number of their accesses, and a threshold so that what is above it fits fast memory.
//!
//! What is hot goes up, the hottest first, where there is room or something that is not hot to make it;
//! what is fast stays unless that needs its place, and then the lowest bin goes first. MEMTIS protects
//! "warm" pages, one bin below, where the hot set leaves a quarter of fast memory: going by bins does
//! that by itself. It demotes cold pages ahead of need to keep 2 % free; here room is the core's
//! matter. It splits skewed huge pages, which no order can.
//!
//! As the published code has it (`htmm_core.c`), and the paper does not say:
//! - The threshold rises when it is due. It is lowered by one bin at most for each cooling, for the
//!   histogram is empty then.
//! - A new page begins one bin above the threshold, the next cooling spares it, and the histogram learns
//!   of it when it is accessed or cooled. So memory that nobody uses makes no room at first, and does not go
//!   up. A huge page counts as cold until then.
//! - Counts are cooled by the memory that was allocated, too: in the order of addresses here.
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
            name: "alloc",
            summary: "base pages that were allocated after which all counts are halved, too",
            default: 2_621_440.0,
            range: (1.0, 1e15),
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
            alloc: settings.get("alloc"),
            since_adapted: 0.0,
            since_cooled: 0.0,
            since_alloc: 0.0,
            cooled: false,
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
    alloc: f64,
    /// Accesses counted since the threshold was set, and since counts were halved.
    since_adapted: f64,
    since_cooled: f64,
    /// Base pages allocated since counts were halved for such.
    since_alloc: f64,
    /// Counts were halved since the threshold was set.
    cooled: bool,
    /// The lowest bin that is hot.
    hot: usize,
    /// By unit number; none: never seen.
    counts: Vec<Option<Count>>,
}

/// What was counted of a unit.
#[derive(Clone, Copy)]
struct Count {
    accesses: f64,
    /// Not accessed yet: the next cooling leaves it as it is.
    spared: bool,
    /// The histogram knows of it.
    listed: bool,
}

impl Count {
    /// Adds an epoch's accesses and cools as often as is due. The parts of the epoch: before the first
    /// cooling, between two, and after the last.
    fn add(&mut self, accesses: f64, coolings: f64, (before, between, after): (f64, f64, f64)) {
        let spared = self.spared && accesses <= 0.0;
        let halvings = if spared { coolings - 1.0 } else { coolings };
        self.spared = spared && coolings < 1.0;
        self.listed |= accesses > 0.0 || halvings >= 1.0;
        if halvings < 1.0 {
            self.accesses += accesses;
            return;
        }
        // What comes in between is halved once, what came in before that twice, and so on.
        let rest = 0.5f64.powf(halvings - 1.0);
        let halved = (self.accesses + accesses * before) / 2.0;
        self.accesses = halved * rest + accesses * (between * (1.0 - rest) + after);
    }
}

impl RankPolicy for Memtis {
    #[expect(clippy::cast_possible_truncation, reason = "bins are below 16")]
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        self.meet(view);
        self.count(view);
        if self.since_adapted >= self.adapt {
            self.since_adapted = 0.0;
            self.adapt(view);
        }
        let mut unknown = 0;
        for (row, key) in keys.iter_mut().enumerate() {
            let Some(bin) = self.bin(view, row) else {
                (*key, unknown) = (UNKNOWN, unknown + 1);
                continue;
            };
            // What is hot makes no room for what is hot, too; what is new is hot where it is fast.
            let fast = view.is_fast(row);
            let hot = bin >= self.hot && (fast || self.listed(view, row));
            let group = match (hot, fast) {
                (true, true) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => 3,
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
    /// Units that are seen for the first time, or born again, begin above the threshold.
    fn meet(&mut self, view: &EpochView<'_>) {
        let len = view.heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.counts.len() < len {
            self.counts.resize(len, None);
        }
        for unit in view.history.newborn() {
            self.counts[unit.index()] = None;
        }
        let new = Count { accesses: (1u64 << (self.hot + 1)) as f64, spared: true, listed: false };
        // New units, and how many coolings of this epoch came before each.
        let (mut born, mut coolings) = (Vec::new(), 0.0);
        for row in 0..view.heat.len() {
            let at = view.heat.unit[row].index();
            if self.counts[at].is_none() && observed(view.heat.flags[row]) {
                born.push((at, coolings));
                self.since_alloc += f64::from(view.heat.pages[row]) * view.one_unit_in as f64;
                coolings += (self.since_alloc / self.alloc).floor();
                self.since_alloc %= self.alloc;
            }
        }
        let cool = |count: &mut Count, times: f64| {
            if times >= 1.0 {
                count.add(0.0, times, (0.0, 0.0, 0.0));
            }
        };
        self.counts.iter_mut().flatten().for_each(|count| cool(count, coolings));
        for (at, before) in born {
            cool(self.counts[at].insert(new), coolings - before);
        }
        self.cooled |= coolings >= 1.0;
    }

    /// Adds an epoch's accesses; counts are cooled as often as is due within it.
    fn count(&mut self, view: &EpochView<'_>) {
        let heat = view.heat;
        let samples = |row: usize| f64::from(heat.rate[row]) * view.length_s / self.sample;
        let known = |row: &usize| self.counts[heat.unit[*row].index()].is_some();
        let all: f64 = (0..heat.len()).filter(known).map(samples).sum();
        let all = all * view.one_unit_in as f64;
        if all <= 0.0 {
            return;
        }
        let coolings = ((self.since_cooled + all) / self.cool).floor().min(1e6);
        let before = ((self.cool - self.since_cooled) / all).clamp(0.0, 1.0);
        let between = self.cool / all;
        let after = ((self.since_cooled + all - coolings * self.cool) / all).clamp(0.0, 1.0);
        for row in 0..heat.len() {
            let new = samples(row) * PAGES / f64::from(heat.pages[row].max(1));
            if let Some(count) = &mut self.counts[heat.unit[row].index()] {
                count.add(new, coolings, (before, between, after));
            }
        }
        self.cooled |= coolings >= 1.0;
        self.since_adapted += all;
        self.since_cooled = (self.since_cooled + all - coolings * self.cool).max(0.0);
    }

    /// Sets the threshold: up to where what is hot fits, down by one bin if counts were cooled.
    fn adapt(&mut self, view: &EpochView<'_>) {
        let fits = self.threshold(view);
        if self.cooled && fits < self.hot {
            self.hot -= 1;
        }
        self.hot = self.hot.max(fits);
        self.cooled = false;
    }

    /// The lowest bin from which on all fits fast memory; at least one bin can be hot.
    fn threshold(&self, view: &EpochView<'_>) -> usize {
        let mut pages = [0; BINS];
        for row in (0..view.heat.len()).filter(|row| self.listed(view, *row)) {
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

    /// Whether the histogram knows of a row's unit.
    fn listed(&self, view: &EpochView<'_>, row: usize) -> bool {
        self.counts[view.heat.unit[row].index()].is_some_and(|count| count.listed)
    }

    /// The bin of a row's unit; none if it was never observed.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2000")]
    fn bin(&self, view: &EpochView<'_>, row: usize) -> Option<usize> {
        let count = self.counts[view.heat.unit[row].index()]?;
        if !count.listed && f64::from(view.heat.pages[row]) >= PAGES {
            return Some(0);
        }
        Some(((count.accesses + 1.0).log2().floor() as usize).min(BINS - 1))
    }
}
