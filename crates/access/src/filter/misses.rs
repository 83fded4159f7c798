//! What of a thread's accesses reaches memory: its misses, with what lies between them, and lines
//! that its caches give back. Most accesses hit, so a simulator of memory has far less to do.

use super::{
    cache::Cache,
    hierarchy::{Last, Level, Private},
};
use crate::{
    access::Kind,
    patterns::{Op, Source, Step},
};
use std::time::Duration;

/// A line that goes between the caches and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traffic {
    /// Which, in lines of 64 bytes.
    pub line: u64,
    /// Instructions that the thread executed since what it last had to do with memory, as its steps
    /// say it ([`Step::gap`]).
    pub instructions: u64,
    /// Accesses of the thread since then, this one included; 0 of a line that is given back together
    /// with another one.
    pub accesses: u64,
    /// What it is. Of a write the line is fetched.
    pub kind: Kind,
    /// Whether the access's address came from the miss before, directly or through hits, so that it
    /// waits for that one.
    pub dependent: bool,
}

/// A core's caches as a filter of one thread's accesses.
#[derive(Clone, Debug)]
pub struct Filter {
    caches: Private,
    /// Where the thread's memory begins, in lines.
    base: u64,
    instructions: u64,
    accesses: u64,
    /// Whether the last access waited for the last miss, or was it.
    waited: bool,
}

impl Filter {
    /// One with these caches, for a thread whose memory begins at line `base`.
    #[must_use]
    pub const fn new(caches: Private, base: u64) -> Self {
        Self { caches, base, instructions: 0, accesses: 0, waited: false }
    }

    /// Makes the thread's next access; `last` is the last level's cache. What goes to memory is
    /// appended: the miss first.
    ///
    /// # Panics
    /// If the line is not below the limits of all caches.
    #[inline]
    pub fn pass(&mut self, step: &Step, last: &mut impl Last, traffic: &mut Vec<Traffic>) {
        self.instructions += u64::from(step.gap);
        self.accesses += 1;
        let dependent = step.dependent && self.waited;
        let line = self.base + (step.offset >> 6);
        let write = step.op != Op::Read;
        let served = self.caches.access(last, line, write);
        let missed = served.level == Level::Memory;
        self.waited = dependent || missed;
        if missed {
            let kind = if write { Kind::Write } else { Kind::Read };
            traffic.push(self.since(line, kind, dependent));
        }
        for line in served.written.lines() {
            traffic.push(self.since(*line, Kind::WriteBack, false));
        }
    }

    /// The line, with what there was since the one before.
    fn since(&mut self, line: u64, kind: Kind, dependent: bool) -> Traffic {
        let (instructions, accesses) = (self.instructions, self.accesses);
        (self.instructions, self.accesses) = (0, 0);
        Traffic { line, instructions, accesses, kind, dependent }
    }

    /// Forgets a line of the thread's memory; whether it was dirty.
    ///
    /// # Panics
    /// If the line is not below the limits of the thread's caches.
    pub fn invalidate(&mut self, line: u64) -> bool {
        self.caches.invalidate(self.base + line)
    }

    /// The caches as they are.
    #[must_use]
    pub const fn caches(&self) -> &Private {
        &self.caches
    }
}

/// A thread that shows only its traffic with memory.
#[derive(Clone, Debug)]
pub struct Filtered<S> {
    source: S,
    filter: Filter,
    steps: Vec<Step>,
}

impl<S: Source> Filtered<S> {
    /// What of a source passes a filter.
    #[must_use]
    pub const fn new(source: S, filter: Filter) -> Self {
        Self { source, filter, steps: Vec::new() }
    }

    /// Lets the thread make its next `n` accesses, or some more, as [`Source::take`] does, and appends
    /// what of them goes to memory.
    ///
    /// # Panics
    /// If a line is not below the limits of all caches.
    pub fn take(&mut self, n: u32, now: Duration, last: &mut Cache, traffic: &mut Vec<Traffic>) {
        self.steps.clear();
        self.source.take(n, now, &mut self.steps);
        for step in &self.steps {
            self.filter.pass(step, last, traffic);
        }
    }

    /// The filter as it is.
    #[must_use]
    pub const fn filter(&self) -> &Filter {
        &self.filter
    }
}
