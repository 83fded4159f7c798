//! AMP: places by LRU, by LFU, or at random, and chooses among the three after every epoch.
//!
//! - If accessed memory exceeds fast memory by far, nothing is gained by moving: Random.
//! - Otherwise of LRU and LFU the one with more hits. A hit is accessed memory that is fast: under
//!   the policy in force where it really is, under the other where that would have put it (its
//!   *shadow*). Hits are shares of all memory; their means over the last epochs are compared.
//! - The first epochs are Random.
//!
//! Shares are of the observed memory, and a unit counts with its size. The choice and the means
//! are the tenant's: they outlive every unit.
//!
//! What the paper leaves open: equal ages and frequencies are the rule after whole epochs, not
//! the exception, so what decides among them decides much (`ties`). The published code differs
//! from the paper and is not followed: it compares a share with a percentage, so that Random is
//! chosen in the first epochs only, and these update neither age nor history.

use crate::amp_pages::{Pages, Rival, Seen, Ties};
use crate::options::OptionInfo;
use crate::period::{INTERVAL, PHASE, Period};
use crate::policies::random::{self, SEED};
use crate::policy::FigureInfo;
use crate::{Class, EpochView, Needs, Observation, Policy, PolicyInfo, RankPolicy};
use std::collections::VecDeque;

const fn whole(
    name: &'static str,
    summary: &'static str,
    default: f64,
    range: (f64, f64),
) -> OptionInfo {
    OptionInfo { name, summary, default, range, whole: true }
}

const THRESHOLD: OptionInfo = OptionInfo {
    name: "threshold",
    summary: "random if the accessed share of the memory exceeds the fast share by this",
    default: 0.2,
    range: (-1.0, 1.0),
    whole: false,
};
const WINDOW: OptionInfo =
    whole("window", "epochs over which the hits of LRU and LFU are averaged", 36.0, (1.0, 1e4));
const WARM_UP: OptionInfo =
    whole("warm-up", "epochs of random at the start (figure 17)", 3.0, (0.0, 1e6));
const HISTORY: OptionInfo =
    whole("history", "epochs of history that make up the frequency", 64.0, (1.0, 64.0));
const EQUAL: OptionInfo = whole(
    "equal",
    "if LRU and LFU have the same hits: 0 LFU, as in algorithm 1; 1 LRU",
    0.0,
    (0.0, 1.0),
);
const ALWAYS: OptionInfo = whole(
    "always",
    "0: chooses; 1: LRU, 2: LFU in every epoch after the warm-up, by the same ties, to compare with",
    0.0,
    (0.0, 2.0),
);
const TIES: OptionInfo = whole(
    "ties",
    "of equal age or frequency: 0 what is fast stays (ours); 1 by address; 2 LRU by frequency, LFU \
     by age; 3 the reverse of 2, as the published code",
    0.0,
    (0.0, 3.0),
);

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "amp",
    summary: "chooses LRU, LFU or random by their hits, in shadow where not in force",
    source: "AMP, algorithm 1",
    class: Class::Runnable,
    needs: Needs { placement: true, ..Needs::NOTHING },
    options: &[INTERVAL, PHASE, THRESHOLD, WINDOW, WARM_UP, HISTORY, EQUAL, ALWAYS, TIES, SEED],
    figures: &[
        FigureInfo { name: "accessed", summary: "share of the memory that was accessed" },
        FigureInfo { name: "fast", summary: "share of the memory that was fast" },
        FigureInfo { name: "lru-hits", summary: "share accessed and fast under LRU" },
        FigureInfo { name: "lfu-hits", summary: "share accessed and fast under LFU" },
        FigureInfo { name: "lru-mean", summary: "mean of lru-hits over the window" },
        FigureInfo { name: "lfu-mean", summary: "mean of lfu-hits over the window" },
    ],
    build: |settings| {
        Policy::Rank(Box::new(Amp {
            period: Period::new(settings.get(INTERVAL.name), settings.get(PHASE.name)),
            threshold: settings.get(THRESHOLD.name),
            window: usize::try_from(settings.whole(WINDOW.name)).unwrap_or(usize::MAX),
            warm_up: settings.whole(WARM_UP.name),
            lru_if_equal: settings.whole(EQUAL.name) == 1,
            always: match settings.whole(ALWAYS.name) {
                1 => Some(Rival::Lru),
                2 => Some(Rival::Lfu),
                _ => None,
            },
            seed: settings.whole(SEED.name),
            pages: Pages::new(ties(settings.whole(TIES.name)), settings.whole(HISTORY.name)),
            decisions: 0,
            in_force: None,
            hits: VecDeque::new(),
            told: None,
        }))
    },
};

struct Amp {
    period: Period,
    threshold: f64,
    window: usize,
    warm_up: u64,
    lru_if_equal: bool,
    /// Chosen whatever the hits say.
    always: Option<Rival>,
    seed: u64,
    pages: Pages,
    decisions: u64,
    /// The choice; none: Random.
    in_force: Option<Rival>,
    /// Of the last epochs.
    hits: VecDeque<[f64; 2]>,
    told: Option<Observation>,
}

fn ties(option: u64) -> Ties {
    match option {
        1 => Ties::Address,
        2 => Ties::Other,
        3 => Ties::Reversed,
        _ => Ties::Stay,
    }
}

impl RankPolicy for Amp {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        self.pages.arrive(view);
        self.told = None;
        if !self.period.due(view.length_s) {
            self.pages.keep(self.in_force, view);
            for (row, key) in keys.iter_mut().enumerate() {
                *key = u32::from(!view.is_fast(row));
            }
            return;
        }
        let before = self.in_force;
        let seen = self.pages.count(before, view);
        if seen.observed > 0 {
            self.choose(&seen);
        }
        self.pages.place(before, view);
        match self.in_force {
            Some(rival) => self.pages.write(rival, keys),
            None => random::keep_and_fill(self.seed, view, keys),
        }
    }

    fn observation(&self) -> Option<Observation> {
        self.told.clone()
    }
}

impl Amp {
    /// Algorithm 1, after the warm-up.
    fn choose(&mut self, seen: &Seen) {
        let observed = seen.observed as f64;
        let hits = seen.hits.map(|pages| pages as f64 / observed);
        self.hits.push_back(hits);
        if self.hits.len() > self.window {
            self.hits.pop_front();
        }
        let count = self.hits.len() as f64;
        let mean = |at: usize| self.hits.iter().map(|hits| hits[at]).sum::<f64>() / count;
        let (lru, lfu) = (mean(0), mean(1));
        let accessed = seen.accessed as f64 / observed;
        let fast = seen.fast as f64 / seen.all as f64;
        self.decisions += 1;
        self.in_force = if self.decisions <= self.warm_up {
            None
        } else if self.always.is_some() {
            self.always
        } else if accessed > fast + self.threshold {
            None
        } else if lru > lfu || self.lru_if_equal && lru >= lfu {
            Some(Rival::Lru)
        } else {
            Some(Rival::Lfu)
        };
        let choice = Some(match self.in_force {
            Some(Rival::Lru) => "lru",
            Some(Rival::Lfu) => "lfu",
            None => "random",
        });
        let figures = vec![accessed, fast, hits[0], hits[1], lru, lfu];
        self.told = Some(Observation { choice, figures });
    }
}
