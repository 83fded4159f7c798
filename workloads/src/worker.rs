//! One thread's access to the measured memory. Every access goes through it and is counted
//! with one increment in a table that is small compared with the memory (8 bytes per unit).

use crate::{
    memory::{Region, index},
    pace::{Due, Pacer},
    stop::Stop,
};
use pagetide_access::patterns::Memory;
use std::{
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::Sender,
    },
    thread,
    time::{Duration, Instant},
};

/// The longest sleep before looking again whether the end was asked for.
const NAP: Duration = Duration::from_millis(20);

/// Counts of one thread in one epoch.
pub(crate) struct Counts {
    /// Accesses per unit.
    pub(crate) accesses: Box<[u64]>,
    /// One bit per base page: accessed; empty if not asked for.
    pub(crate) pages: Box<[u64]>,
}

impl Counts {
    /// Zeroes for a region of `len` bytes and units of `2^shift` bytes.
    pub(crate) fn new(len: u64, shift: u32, pages: bool) -> Self {
        let units = len.div_ceil(1 << shift);
        let bitmap = if pages { (len >> 12).div_ceil(64) } else { 0 };
        Self {
            accesses: vec![0; index(units)].into_boxed_slice(),
            pages: vec![0; index(bitmap)].into_boxed_slice(),
        }
    }

    /// Adds another thread's counts of the same epoch.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, n) in self.accesses.iter_mut().zip(&other.accesses) {
            *sum += n;
        }
        for (sum, bits) in self.pages.iter_mut().zip(&other.pages) {
            *sum |= bits;
        }
    }
}

/// What a thread reports at the end of an epoch, and at its own end.
pub(crate) struct Tally {
    /// Which epoch.
    pub(crate) epoch: u32,
    /// When it ended for this thread, since the start.
    pub(crate) until: Duration,
    /// What was accessed in it.
    pub(crate) counts: Counts,
}

/// What the threads of a run have in common.
pub(crate) struct Terms<'r> {
    pub(crate) region: &'r Region,
    pub(crate) stop: Stop,
    pub(crate) start: Instant,
    pub(crate) duration: Duration,
    /// Length of an epoch; none if nobody wants the truth.
    pub(crate) epoch: Option<Duration>,
    /// log2 of the unit that is counted by.
    pub(crate) shift: u32,
    /// Whether single base pages are marked too.
    pub(crate) pages: bool,
    pub(crate) threads: u32,
    /// Of all threads together.
    pub(crate) rate: Option<f64>,
    /// Of all threads together.
    pub(crate) accesses: Option<u64>,
}

/// One thread at work.
pub(crate) struct Worker<'r> {
    /// Which thread, from 0.
    pub(crate) number: u32,
    words: &'r [AtomicU64],
    counts: Counts,
    shift: u32,
    mark: bool,
    checksum: u64,
    pacer: Pacer,
    /// Since the start, when the batch under way began.
    pub(crate) now: Duration,
    epoch: u32,
    /// Accesses left of the batch under way.
    left: u32,
    /// Accesses left until this thread's end.
    allowed: u64,
    terms: &'r Terms<'r>,
    tallies: Sender<Tally>,
}

impl<'r> Worker<'r> {
    /// Thread `number` under these terms.
    pub(crate) fn new(number: u32, terms: &'r Terms<'r>, tallies: Sender<Tally>) -> Self {
        let per_thread = terms.rate.map(|rate| rate / f64::from(terms.threads));
        let (all, n) = (u64::from(terms.threads), u64::from(number));
        let allowed = terms.accesses.map_or(u64::MAX, |a| a / all + u64::from(n < a % all));
        Self {
            number,
            words: terms.region.words(),
            counts: Counts::new(terms.region.len(), terms.shift, terms.pages),
            shift: terms.shift,
            mark: terms.pages,
            checksum: 0,
            pacer: Pacer::new(per_thread, terms.start),
            now: Duration::ZERO,
            epoch: 0,
            left: 0,
            allowed,
            terms,
            tallies,
        }
    }

    /// How many accesses to make before asking again; waits if that is too early. None at the end.
    pub(crate) fn batch(&mut self) -> Option<u32> {
        loop {
            let now = self.terms.start.elapsed();
            if now >= self.terms.duration || self.allowed == 0 || self.terms.stop.is_set() {
                return None;
            }
            while let Some(end) = self.epoch_end().filter(|end| now >= *end) {
                self.report(end);
            }
            match self.pacer.due(self.terms.start + now) {
                Due::Now(n) => {
                    self.now = now;
                    let n = u32::try_from(self.allowed).map_or(n, |allowed| n.min(allowed));
                    self.allowed -= u64::from(n);
                    return Some(n);
                }
                Due::Later(wait) => {
                    thread::sleep(wait.min(NAP).min(self.terms.duration - now));
                }
            }
        }
    }

    /// For algorithms that are not loops over a batch: announces `n` accesses, a few. None when
    /// the time is over.
    #[inline]
    pub(crate) fn spend(&mut self, n: u32) -> Option<()> {
        while self.left < n {
            self.left += self.batch()?;
        }
        self.left -= n;
        Some(())
    }

    fn epoch_end(&self) -> Option<Duration> {
        self.terms.epoch.and_then(|epoch| epoch.checked_mul(self.epoch + 1))
    }

    fn report(&mut self, until: Duration) {
        let fresh = Counts::new(self.terms.region.len(), self.shift, self.mark);
        let counts = std::mem::replace(&mut self.counts, fresh);
        // The receiver lives until all workers have ended.
        let _ = self.tallies.send(Tally { epoch: self.epoch, until, counts });
        self.epoch += 1;
    }

    /// Reports what epochs are left, several if the thread was put aside over the end of one;
    /// returns the checksum and when the thread ended.
    pub(crate) fn finish(mut self) -> (u64, Duration) {
        let until = self.terms.start.elapsed().min(self.terms.duration);
        while let Some(end) = self.epoch_end().filter(|end| *end < until) {
            self.report(end);
        }
        self.report(until);
        (self.checksum, until)
    }

    /// Counts an access to byte `offset`.
    #[inline]
    pub(crate) fn count(&mut self, offset: u64) {
        self.counts.accesses[index(offset >> self.shift)] += 1;
        if self.mark {
            self.counts.pages[index(offset >> 18)] |= 1 << ((offset >> 12) & 63);
        }
    }

    /// Takes a value into the checksum, so that its load cannot be left out.
    #[inline]
    pub(crate) fn sum(&mut self, value: u64) {
        self.checksum = self.checksum.wrapping_add(value);
    }

    /// Reads the word at byte `offset` (rounded down to a word).
    #[inline]
    pub(crate) fn read(&mut self, offset: u64) -> u64 {
        self.count(offset);
        let value = self.words[index(offset >> 3)].load(Ordering::Relaxed);
        self.sum(value);
        value
    }
}

/// A pattern's accesses, to real memory.
impl Memory for Worker<'_> {
    #[inline]
    fn read(&mut self, offset: u64) {
        Worker::read(self, offset);
    }

    #[inline]
    fn write(&mut self, offset: u64, value: u64) {
        self.count(offset);
        self.words[index(offset >> 3)].store(value, Ordering::Relaxed);
    }

    /// Updates of other threads in between may be lost, as in any GUPS.
    #[inline]
    fn update(&mut self, offset: u64, change: u64) {
        self.count(offset);
        let word = &self.words[index(offset >> 3)];
        let value = word.load(Ordering::Relaxed);
        word.store(value ^ change, Ordering::Relaxed);
        self.sum(value);
    }

    #[inline]
    fn follow(&mut self, offset: u64, _: impl FnOnce() -> u64) -> u64 {
        Worker::read(self, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{Bytes, UnitSize};
    use std::sync::mpsc;

    /// The ends of the epochs that a thread reports which begins 10 s after the start.
    fn reported(duration_ms: u64) -> Vec<(u32, u128)> {
        let region = Region::map(Bytes(4096), UnitSize::Base).unwrap();
        let terms = Terms {
            region: &region,
            stop: Stop::default(),
            start: Instant::now().checked_sub(Duration::from_secs(10)).unwrap(),
            duration: Duration::from_millis(duration_ms),
            epoch: Some(Duration::from_millis(300)),
            shift: 12,
            pages: false,
            threads: 1,
            rate: None,
            accesses: None,
        };
        let (tallies, arrived) = mpsc::channel();
        let mut worker = Worker::new(0, &terms, tallies);
        assert_eq!(worker.batch(), None);
        assert_eq!(worker.finish().1, terms.duration);
        arrived.iter().map(|tally| (tally.epoch, tally.until.as_millis())).collect()
    }

    #[test]
    fn a_thread_that_was_put_aside_over_the_end_reports_every_epoch() {
        assert_eq!(reported(1000), [(0, 300), (1, 600), (2, 900), (3, 1000)]);
        assert_eq!(reported(600), [(0, 300), (1, 600)]);
    }
}
