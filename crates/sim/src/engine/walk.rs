//! A pattern's thread as a program: the same one that a live workload touches memory by.

use super::access::{Access, Program};
use pagetide_access::patterns::{Op, Source, Step};
use std::time::Duration;

/// Accesses that a pattern is asked for at a time: it is told the time that often.
const BATCH: u32 = 64;

/// See the module.
pub struct WalkProgram<S> {
    source: S,
    steps: Vec<Step>,
    at: usize,
    /// Accesses left until its end.
    left: u64,
    /// Where the program's memory begins.
    base: u64,
    instruction_ns: f32,
}

impl<S: Source> WalkProgram<S> {
    /// `accesses` of a thread whose memory begins at `base`, and that takes so long for an
    /// instruction between them.
    #[must_use]
    pub fn new(source: S, accesses: u64, base: u64, instruction_ns: f32) -> Self {
        Self { source, steps: Vec::new(), at: 0, left: accesses, base, instruction_ns }
    }
}

impl<S: Source + Send> Program for WalkProgram<S> {
    #[inline]
    fn next(&mut self, now_ns: f64) -> Option<Access> {
        self.left = self.left.checked_sub(1)?;
        if self.at == self.steps.len() {
            self.steps.clear();
            self.at = 0;
            let now = Duration::from_secs_f64(now_ns.max(0.0) * 1e-9);
            self.source.take(BATCH, now, &mut self.steps);
        }
        let step = self.steps.get(self.at)?;
        self.at += 1;
        Some(Access {
            address: self.base + step.offset,
            write: step.op != Op::Read,
            dependent: step.dependent,
            compute_ns: step.gap as f32 * self.instruction_ns,
        })
    }
}
