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
    /// Computed before each access, and for each instruction before it, ns.
    compute_ns: f32,
    instruction_ns: f32,
    /// When its time begins, and how much faster than simulated time it passes.
    start_ns: f64,
    pace: f64,
}

impl<S: Source> WalkProgram<S> {
    /// `accesses` of a thread whose memory begins at `base`, and that takes so long for an
    /// instruction between them.
    #[must_use]
    pub fn new(source: S, accesses: u64, base: u64, instruction_ns: f32) -> Self {
        Self {
            source,
            steps: Vec::new(),
            at: 0,
            left: accesses,
            base,
            compute_ns: 0.0,
            instruction_ns,
            start_ns: 0.0,
            pace: 1.0,
        }
    }

    /// The same that computes for so long before each access.
    #[must_use]
    pub fn computing(self, compute_ns: f32) -> Self {
        Self { compute_ns, ..self }
    }

    /// The same whose time begins at `start_ns` and passes `pace` times as fast as simulated time:
    /// a program that is scaled down.
    #[must_use]
    pub fn with_clock(self, start_ns: f64, pace: f64) -> Self {
        Self { start_ns, pace, ..self }
    }
}

impl<S: Source> WalkProgram<S> {
    /// Asks for the next steps. Not inlined, so that what is done for every access can be.
    #[inline(never)]
    fn refill(&mut self, now_ns: f64) {
        self.steps.clear();
        self.at = 0;
        let passed = (now_ns - self.start_ns).max(0.0) * self.pace;
        let now = Duration::from_secs_f64(passed * 1e-9);
        self.source.take(BATCH, now, &mut self.steps);
    }
}

impl<S: Source + Send> Program for WalkProgram<S> {
    #[inline]
    fn next(&mut self, now_ns: f64) -> Option<Access> {
        self.left = self.left.checked_sub(1)?;
        if self.at == self.steps.len() {
            self.refill(now_ns);
        }
        let step = self.steps.get(self.at)?;
        self.at += 1;
        Some(Access {
            address: self.base + step.offset,
            write: step.op != Op::Read,
            dependent: step.dependent,
            compute_ns: self.compute_ns + step.gap as f32 * self.instruction_ns,
        })
    }
}

/// A source whose kind is known only at run time.
pub struct AnySource(pub Box<dyn Source + Send>);

impl Source for AnySource {
    fn take(&mut self, n: u32, now: Duration, steps: &mut Vec<Step>) {
        self.0.take(n, now, steps);
    }
}
