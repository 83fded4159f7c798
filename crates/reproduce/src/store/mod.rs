//! Results of single simulated points, kept on disk: a run that is killed goes on where it was, and
//! no point is computed twice.

mod key;

pub use key::{Key, Keyed};

use crate::{ReproduceError, make_folder};
use pagetide_sim::sweep::Journal;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file within its folder.
const NAME: &str = "points.jsonl";

/// What a point came to, by name.
pub type Values = BTreeMap<String, f64>;

/// How far [`Store::points`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Points that are there.
    pub done: usize,
    /// All that were asked for.
    pub total: usize,
    /// Of `total`, those that were there before.
    pub kept: usize,
    /// The point that was finished last; none at the start.
    pub last: Option<Key>,
}

type Listener = Box<dyn Fn(&Progress) + Send + Sync>;
type Stop = Box<dyn Fn() -> bool + Send + Sync>;

/// Results of points, by key.
pub struct Store {
    known: Mutex<Journal<Values>>,
    listener: Option<Listener>,
    stop: Option<Stop>,
    notes: Vec<String>,
}

impl Store {
    /// What `FOLDER/points.jsonl` holds, and will hold; folder and file are made if need be.
    ///
    /// # Errors
    /// The file cannot be read or written. Lines that are no points are no error: see
    /// [`Self::notes`].
    pub fn open(folder: &Path) -> Result<Self, ReproduceError> {
        make_folder(folder)?;
        let path = folder.join(NAME);
        let known = Journal::open(&path).map_err(ReproduceError::file(&path))?;
        let path = path.display();
        let note = |line: &usize| format!("{path}: line {line} is not whole and is skipped");
        let notes = known.skipped().iter().map(note).collect();
        Ok(Self { known: Mutex::new(known), listener: None, stop: None, notes })
    }

    /// Nothing on disk.
    #[must_use]
    pub fn in_memory() -> Self {
        let known = Mutex::new(Journal::in_memory());
        Self { known, listener: None, stop: None, notes: Vec::new() }
    }

    /// Tells from now on, from any thread, how far it is: at the start of [`Self::points`] and
    /// after every point.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Box::new(listener)), ..self }
    }

    /// Once this is true, what is under way ends with [`ReproduceError::Stopped`].
    #[must_use]
    pub fn stop_when(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stop: Some(Box::new(stop)), ..self }
    }

    /// Whether it is to end: see [`Self::stop_when`].
    pub(crate) fn stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop())
    }

    /// What the user should know of the file, one line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The values of all points, in their order. What is missing is computed, in parallel in the
    /// threads of the current rayon pool, and is on disk before anything else is done with it.
    ///
    /// # Errors
    /// The first error of `compute` or of the disk ends it; points that are finished are kept.
    pub fn points<P: Keyed + Sync>(
        &self,
        points: &[P],
        compute: impl Fn(&P) -> Result<Values, ReproduceError> + Sync,
    ) -> Result<Vec<Values>, ReproduceError> {
        let keys: Vec<Key> = points.iter().map(Keyed::key).collect();
        let mut asked = HashSet::new();
        let all: Vec<(&Key, &P)> =
            keys.iter().zip(points).filter(|(key, _)| asked.insert(*key)).collect();
        let known = lock(&self.known);
        let is_missing = |(key, _): &&(&Key, &P)| known.get(key.as_str()).is_none();
        let missing: Vec<(&Key, &P)> = all.iter().filter(is_missing).copied().collect();
        drop(known);
        let (total, kept) = (all.len(), all.len() - missing.len());
        self.tell(&Progress { done: kept, total, kept, last: None });
        let done = AtomicUsize::new(kept);
        missing.par_iter().with_max_len(1).try_for_each(|(key, point)| {
            if self.stopped() {
                return Err(ReproduceError::Stopped);
            }
            let values = compute(point)?;
            self.keep(key, values)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.tell(&Progress { done, total, kept, last: Some((*key).clone()) });
            Ok::<_, ReproduceError>(())
        })?;
        let known = lock(&self.known);
        Ok(keys.iter().filter_map(|key| known.get(key.as_str()).cloned()).collect())
    }

    fn keep(&self, key: &Key, values: Values) -> Result<(), ReproduceError> {
        if let Some((name, value)) = values.iter().find(|(_, value)| !value.is_finite()) {
            let (key, name) = (key.to_string(), name.clone());
            return Err(ReproduceError::Value { key, name, value: *value });
        }
        let mut known = lock(&self.known);
        let done = known.append(key.as_str(), values);
        done.map_err(ReproduceError::file(known.path().unwrap_or(Path::new(NAME))))
    }

    fn tell(&self, progress: &Progress) {
        if let Some(listener) = &self.listener {
            listener(progress);
        }
    }
}

/// A lock; what a thread that panicked had locked is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("known", &lock(&self.known)).finish()
    }
}

#[cfg(test)]
mod tests;
