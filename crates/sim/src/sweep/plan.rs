//! All points of a sweep, and how they are computed: in parallel, each once, on disk before anything else
//! is done with it.

use super::heard::heard;
use super::order::once;
use super::vary::word;
use super::{Draft, Journal, Resolved, Setting, SweepError, Vary};
use crate::scenario::{self, Outcome};
use pagetide_types::Bytes;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use toml::Value;

/// Stands for all that computes an outcome of a scenario: whoever changes what the simulation computes
/// raises it, so that older results are not taken for new ones. Rules of `pagetide run` have a number
/// of their own, in the draft's key.
pub const MODEL: u32 = 13;

/// Points of a sweep at most.
const MOST: u128 = 100_000;

/// See the module.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The keys that vary.
    pub keys: Vec<String>,
    /// Their combinations, the last key varying fastest.
    pub points: Vec<Point>,
}

/// One combination.
#[derive(Clone, Debug)]
pub struct Point {
    /// The values of the keys that vary.
    pub values: Vec<Value>,
    resolved: Resolved,
    key: String,
}

/// How far [`Plan::run`] is.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Points that are there.
    pub done: usize,
    /// Of these, those that were there before.
    pub kept: usize,
    /// Different points in all.
    pub total: usize,
    /// Which share of one of the others is done, and which one it is.
    pub under_way: Option<(f64, &'a Point)>,
}

impl Plan {
    /// Every combination of values, each looked through.
    ///
    /// # Errors
    /// A key that leads nowhere, a value that makes no sense at one of the points.
    pub fn new(draft: &Draft, settings: &[Setting], vary: &[Vary]) -> Result<Self, SweepError> {
        let point = |combination: Vec<Setting>| {
            let all: Vec<Setting> = settings.iter().chain(&combination).cloned().collect();
            let resolved = draft.with(&all)?;
            let key = format!("model {MODEL} {}", resolved.key);
            Ok(Point { values: values(combination), resolved, key })
        };
        let all = combinations(settings, vary)?;
        let points: Vec<Point> = all.into_iter().map(point).collect::<Result<_, SweepError>>()?;
        heard(&points, settings, vary)?;
        Ok(Self { keys: vary.iter().map(|vary| vary.path.clone()).collect(), points })
    }

    /// About how much memory the largest point takes.
    #[must_use]
    pub fn takes(&self) -> Bytes {
        let takes = self.points.iter().map(|point| point.resolved.scenario.takes());
        takes.max().unwrap_or_default()
    }

    /// How many points differ in more than their names.
    #[must_use]
    pub fn different(&self) -> usize {
        self.keys_of_points().len()
    }

    /// How many of these a journal has.
    #[must_use]
    pub fn kept(&self, journal: &Journal<Outcome>) -> usize {
        self.keys_of_points().into_iter().filter(|key| journal.get(key).is_some()).count()
    }

    fn keys_of_points(&self) -> HashSet<&str> {
        self.points.iter().map(|point| point.key.as_str()).collect()
    }

    /// The outcomes of all points, in their order. What the journal lacks is computed, in the threads of
    /// the current rayon pool. `watch` is told again and again how far it is; once it says false nothing
    /// new is computed.
    ///
    /// # Errors
    /// The first error of a point or of the disk ends it, as does `watch`
    /// ([`SweepError::Stopped`]); points that are finished are in the journal.
    pub fn run(
        &self,
        journal: &mut Journal<Outcome>,
        watch: &(dyn Fn(&Now<'_>) -> bool + Sync),
    ) -> Result<Vec<Outcome>, SweepError> {
        let mut asked = HashSet::new();
        let all: Vec<&Point> =
            self.points.iter().filter(|point| asked.insert(&point.key)).collect();
        let missing: Vec<&Point> =
            all.iter().filter(|point| journal.get(&point.key).is_none()).copied().collect();
        let (total, kept) = (all.len(), all.len() - missing.len());
        let path = journal.path().map_or_else(Default::default, Path::to_owned);
        let (done, results) = (AtomicUsize::new(kept), Mutex::new(journal));
        watch(&Now { done: kept, kept, total, under_way: None });
        missing.par_iter().with_max_len(1).try_for_each(|point| {
            let Resolved { scenario, origin, .. } = &point.resolved;
            let mut told = |share| {
                let done = done.load(Ordering::Relaxed);
                watch(&Now { done, kept, total, under_way: Some((share, point)) })
            };
            if !told(0.0) {
                return Err(SweepError::Stopped);
            }
            let outcome = scenario::run_watched(scenario, None, origin, &mut told)?;
            lock(&results).append(&point.key, outcome).map_err(SweepError::file(&path))?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch(&Now { done, kept, total, under_way: None });
            Ok::<_, SweepError>(())
        })?;
        let journal = lock(&results);
        Ok(self.points.iter().filter_map(|point| journal.get(&point.key).cloned()).collect())
    }
}

impl Point {
    /// The scenario at this point.
    #[must_use]
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// The values of the keys that vary, in words.
    #[must_use]
    pub fn name(&self) -> String {
        self.values.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

/// Every combination of values, the last key varying fastest, beside what is set anyway.
///
/// # Errors
/// There are too many; something is given twice.
pub(crate) fn combinations(
    settings: &[Setting],
    vary: &[Vary],
) -> Result<Vec<Vec<Setting>>, SweepError> {
    once(settings, vary)?;
    let count = vary.iter().map(|vary| vary.values.len() as u128).product();
    if count > MOST {
        return Err(SweepError::TooMany { count, most: MOST });
    }
    let mut combinations = vec![Vec::new()];
    for vary in vary {
        let with = |value: &Value| Setting { path: vary.path.clone(), value: value.clone() };
        let longer = combinations.into_iter().flat_map(|combination: Vec<Setting>| {
            let more = vary.values.iter().map(with);
            more.map(move |one| combination.iter().cloned().chain([one]).collect())
        });
        combinations = longer.collect();
    }
    Ok(combinations)
}

/// The values of a combination.
pub(crate) fn values(combination: Vec<Setting>) -> Vec<Value> {
    combination.into_iter().map(|setting| setting.value).collect()
}

/// A lock; what a thread that panicked had locked is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
