//! Runs caches over accesses, in one pass: exactly, or on a sample.

use super::dense::Dense;
use super::exact::Exact;
use super::miniature::Miniature;
use super::rows::ABREAST;
use super::sample::{GROUPS, Sample};
use super::shrinking::Shrinking;
use super::sizes::{grid, telling};
use super::{Misses, Policy, TooManyPages};

/// Accesses that are simulated at a time: their numbers stay in the first caches of the CPU.
const BATCH: usize = 1 << 14;

/// Sizes of caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// These, in pages.
    Of(Vec<u32>),
    /// Two for each doubling, up to all pages; of LRU every size in between as well.
    All,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// How many accesses there were.
    pub accesses: u64,
    /// To how many pages; an estimate where they were sampled.
    pub pages: u64,
    /// What was sampled of them, if not all.
    pub sampled: Option<Sampled>,
    /// One for each policy, in the order in which they were asked for.
    pub curves: Vec<Curve>,
}

/// What was sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// Share of all pages (at the end, where it changes).
    pub rate: f64,
    /// Pages in the sample (at the end).
    pub pages: u64,
    /// Accesses to pages in the sample.
    pub accesses: u64,
}

/// Misses under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Which.
    pub policy: Policy,
    /// By size, the smallest first.
    pub points: Vec<Point>,
    /// Misses at every size in pages where they are fewer than at the one before, from 1 page on: LRU
    /// alone, exact, with [`Sizes::All`].
    pub steps: Option<Vec<(u32, u64)>>,
}

/// Misses at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Pages that fit.
    pub pages: u32,
    /// Accesses that missed.
    pub misses: Misses,
}

/// The three ways to run.
enum Run {
    Exact(Exact),
    Miniature(Box<Miniature>),
    Shrinking(Box<Shrinking>),
}

/// A simulation under way.
pub struct Simulation {
    policies: Vec<Policy>,
    sizes: Vec<u32>,
    all: bool,
    accesses: u64,
    run: Run,
}

/// Why something cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AskedError {
    /// A cache without a page.
    #[error("a cache of 0 pages misses always; give one of a page at least")]
    NoPage,
    /// A share that is none.
    #[error("{0} is no share to sample; give one above 0 and below 1")]
    Rate(f64),
    /// A sample without a page.
    #[error("a sample needs a page at least")]
    NoSample,
    /// Only distances can be sampled so.
    #[error(
        "a sample of so many pages works for lru alone, not for {0}; give a share, like 1%, or --policy lru"
    )]
    NotLru(Policy),
}

impl Simulation {
    /// A simulation of these policies, each at all of these sizes.
    ///
    /// # Errors
    /// A size of 0; a sample that cannot be.
    pub fn new(
        policies: &[Policy],
        sizes: &Sizes,
        sample: Option<Sample>,
    ) -> Result<Self, AskedError> {
        let all = *sizes == Sizes::All;
        let mut sizes = match sizes {
            Sizes::Of(sizes) => sizes.clone(),
            Sizes::All => grid(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.first() == Some(&0) {
            return Err(AskedError::NoPage);
        }
        let not_lru = policies.iter().find(|policy| **policy != Policy::Lru);
        let run = match sample {
            None => Run::Exact(Exact::new(policies, &sizes)),
            Some(Sample::Rate(rate)) if rate > 0.0 && rate < 1.0 => {
                Run::Miniature(Box::new(Miniature::new(policies, &sizes, rate)))
            }
            Some(Sample::Rate(rate)) => return Err(AskedError::Rate(rate)),
            Some(Sample::Pages(0)) => return Err(AskedError::NoSample),
            Some(Sample::Pages(pages)) => match not_lru {
                Some(policy) => return Err(AskedError::NotLru(*policy)),
                None => Run::Shrinking(Box::new(Shrinking::new(&sizes, pages))),
            },
        };
        Ok(Self { policies: policies.to_vec(), sizes, all, accesses: 0, run })
    }

    /// Accesses, in their order, to pages by any names.
    ///
    /// # Errors
    /// When there are more pages than can be told apart.
    pub fn access(&mut self, pages: &[u64]) -> Result<(), TooManyPages> {
        self.accesses += pages.len() as u64;
        for pages in pages.chunks(BATCH) {
            match &mut self.run {
                Run::Exact(run) => run.access(pages)?,
                Run::Miniature(run) => run.access(pages)?,
                Run::Shrinking(run) => run.access(pages)?,
            }
        }
        Ok(())
    }

    /// Accesses and, of pages, those seen so far; those in the sample if there is one.
    #[must_use]
    pub fn seen(&self) -> (u64, u64) {
        let pages = match &self.run {
            Run::Exact(run) => run.seen().into(),
            Run::Miniature(run) => run.seen().1,
            Run::Shrinking(run) => run.seen().1,
        };
        (self.accesses, pages)
    }

    /// About how many bytes of memory it takes if `more` accesses follow and all go to new pages; rather more than
    /// less. It holds nothing that does not grow with pages.
    #[must_use]
    pub fn memory_for(&self, more: usize) -> u64 {
        let (_, seen) = self.seen();
        // Caches that stand beside each other, sizes in a sample, and what of the accesses is in it.
        let (caches, rate) = match &self.run {
            Run::Exact(_) => (1, 1.0),
            Run::Miniature(run) => (GROUPS as u64, run.seen().2),
            Run::Shrinking(_) => (GROUPS as u64 + 1, 1.0),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let pages = seen + (more as f64 * rate).ceil() as u64;
        let sizes = self.sizes.iter().map(|size| (f64::from(*size) * rate).round());
        let sizes: Vec<f64> = sizes.filter(|size| *size >= 1.0).collect();
        let of_policy = |policy: &Policy| bytes_of(*policy, &sizes, pages);
        let policies: u64 = self.policies.iter().map(of_policy).sum();
        Dense::bytes_for(pages) + caches * (policies + 4 * pages)
    }

    /// What came out so far.
    #[must_use]
    pub fn curves(&self) -> Curves {
        let (sampled, pages) = match &self.run {
            Run::Exact(run) => (None, f64::from(run.seen())),
            Run::Miniature(run) => of_sample(run.seen()),
            Run::Shrinking(run) => of_sample(run.seen()),
        };
        let told = if self.all { telling(&self.sizes, pages) } else { self.sizes.len() };
        let curve = |(i, policy): (usize, &Policy)| {
            let (misses, steps) = match &self.run {
                Run::Exact(run) => (run.misses(i), run.steps(i).filter(|_| self.all)),
                Run::Miniature(run) => (run.misses(i), None),
                Run::Shrinking(run) => (run.misses(), None),
            };
            let points = self.sizes.iter().zip(misses).take(told);
            let points = points
                // Who asked for all wants to know what can be told.
                .skip_while(|(_, misses)| self.all && *misses == Misses::Untold)
                .map(|(pages, misses)| Point { pages: *pages, misses })
                .collect();
            Curve { policy: *policy, points, steps }
        };
        Curves {
            accesses: self.accesses,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            pages: pages.round() as u64,
            sampled,
            curves: self.policies.iter().enumerate().map(curve).collect(),
        }
    }
}

/// About how many bytes caches take for so many pages, their copies while arrays grow included: as their
/// modules say what they keep by page and by time.
fn bytes_of(policy: Policy, sizes: &[f64], pages: u64) -> u64 {
    // Sizes that hold all pages take nothing yet, but for those in one row with smaller ones.
    let begun = || sizes.chunks(ABREAST).filter(|row| row[0] < pages as f64);
    let rows = begun().count() as u64;
    match policy {
        Policy::Lru => 16 * pages,
        Policy::Fifo if sizes.len() == 1 => 8 * rows * pages,
        Policy::Fifo => 4 * ABREAST as u64 * (rows + 1) * pages,
        Policy::Clock => {
            let held = |size: &f64| size.min(pages as f64);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let rings = begun().flatten().map(held).sum::<f64>() as u64;
            2 * (rows + 1) * pages + 4 * rings
        }
    }
}

/// What was sampled, and how many pages there would be by it.
fn of_sample((accesses, pages, rate): (u64, u64, f64)) -> (Option<Sampled>, f64) {
    (Some(Sampled { rate, pages, accesses }), pages as f64 / rate)
}
