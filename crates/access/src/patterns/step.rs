//! Accesses as a list, for whoever takes them one by one.

use super::{Memory, Walk};
use std::time::Duration;

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads, and writes the same word.
    Update,
}

/// One access of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The byte, from the start of the program's memory.
    pub offset: u64,
    /// Instructions that the thread executed since its access before; 0 where that is not known, as
    /// of patterns.
    pub gap: u32,
    /// What it does.
    pub op: Op,
    /// Whether its address came with the thread's access before, so that it waits for that one.
    pub dependent: bool,
}

/// One thread's accesses, for whoever is not compiled for each pattern.
pub trait Source {
    /// Appends the thread's next `n` accesses or some more, as [`Walk::batch`] does.
    fn take(&mut self, n: u32, now: Duration, steps: &mut Vec<Step>);
}

impl<W: Walk> Source for W {
    fn take(&mut self, n: u32, now: Duration, steps: &mut Vec<Step>) {
        steps.reserve(n as usize);
        self.batch(n, now, steps);
    }
}

/// Memory that is not there: what is touched is appended.
impl Memory for Vec<Step> {
    #[inline]
    fn read(&mut self, offset: u64) {
        self.push(Step { offset, gap: 0, op: Op::Read, dependent: false });
    }

    #[inline]
    fn write(&mut self, offset: u64, _: u64) {
        self.push(Step { offset, gap: 0, op: Op::Write, dependent: false });
    }

    #[inline]
    fn update(&mut self, offset: u64, _: u64) {
        self.push(Step { offset, gap: 0, op: Op::Update, dependent: false });
    }

    #[inline]
    fn follow(&mut self, offset: u64, computed: impl FnOnce() -> u64) -> u64 {
        self.push(Step { offset, gap: 0, op: Op::Read, dependent: true });
        computed()
    }
}
