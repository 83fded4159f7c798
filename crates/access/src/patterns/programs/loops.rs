//! A loop over items, each of which takes some bytes of some arrays.

use crate::patterns::{Op, Step};

/// A part of the program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Array {
    /// Its first byte.
    pub(super) base: u64,
    /// Its bytes.
    pub(super) bytes: u64,
}

/// Arrays one after the other, as an allocator lays them: each begins 16 bytes into a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    end: u64,
}

impl Memory {
    pub(super) fn array(&mut self, bytes: u64) -> Array {
        let base = self.end + 16;
        self.end = (base + bytes).next_multiple_of(4096);
        Array { base, bytes }
    }

    /// `count` arrays of equal size.
    pub(super) fn arrays<const N: usize>(&mut self, bytes: u64) -> [Array; N] {
        std::array::from_fn(|_| self.array(bytes))
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.end
    }
}

/// Fractions of bytes and instructions in one unit.
const ONE: u64 = 1 << 16;

/// What a loop takes of an array: so many bytes for each item, one item after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    base: u64,
    /// Bytes of an item, in units.
    each: u64,
    op: Op,
    /// Runs: after so many bytes, so many are passed over.
    run: Option<(u64, u64)>,
}

impl Sweep {
    /// All of an array, in as many equal parts as there are items.
    pub(super) fn all(array: Array, items: u64, op: Op) -> Self {
        let each = u128::from(array.bytes) * u128::from(ONE) / u128::from(items.max(1));
        Self { base: array.base, each: u64::try_from(each).unwrap_or(u64::MAX), op, run: None }
    }

    /// So many bytes of each item, from the array's beginning.
    pub(super) const fn each(array: Array, bytes: u64, op: Op) -> Self {
        Self { base: array.base, each: bytes * ONE, op, run: None }
    }

    /// The same from `bytes` on.
    pub(super) const fn from(self, bytes: u64) -> Self {
        Self { base: self.base + bytes, ..self }
    }

    /// Of every `of` bytes only the first `run`.
    pub(super) const fn runs(self, run: u64, of: u64) -> Self {
        Self { run: Some((run, of)), ..self }
    }

    /// The first and last line of an item.
    #[inline]
    fn lines(&self, item: u64) -> (u64, u64) {
        let from = (item * self.each) >> 16;
        let to = (((item + 1) * self.each) >> 16).max(from + 1) - 1;
        let at = |byte: u64| match self.run {
            Some((run, of)) => byte / run * of + byte % run,
            None => byte,
        };
        ((self.base + at(from)) >> 6, (self.base + at(to)) >> 6)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) items: u64,
    /// Of an item, in units.
    instructions: u64,
    sweeps: Vec<Sweep>,
}

impl Loop {
    pub(super) fn new(items: u64, instructions: f64, sweeps: Vec<Sweep>) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "some thousand"
        )]
        let instructions = (instructions * ONE as f64).round() as u64;
        Self { items, instructions, sweeps }
    }

    /// Items of one of several threads.
    pub(super) fn part(&self, thread: u64, threads: u64) -> (u64, u64) {
        part(self.items, thread, threads)
    }
}

/// Of `all` what one of several threads has.
pub(super) fn part(all: u64, thread: u64, threads: u64) -> (u64, u64) {
    let at = |thread: u64| {
        let at = u128::from(all) * u128::from(thread) / u128::from(threads.max(1));
        u64::try_from(at).unwrap_or(all)
    };
    (at(thread), at(thread + 1))
}

/// Where a thread is in a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    item: u64,
    end: u64,
    /// Of each sweep the line that was accessed last.
    last: Vec<u64>,
}

/// Instructions since the last access, in units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap(u64);

impl Gap {
    #[inline]
    pub(super) fn add(&mut self, instructions: u64) {
        self.0 += instructions << 16;
    }

    /// Appends an access with all whole instructions since the one before. What is updated is read first,
    /// and written at once.
    #[inline]
    pub(super) fn step(&mut self, line: u64, op: Op, steps: &mut Vec<Step>) {
        let gap = u32::try_from(self.0 >> 16).unwrap_or(u32::MAX);
        self.0 -= u64::from(gap) << 16;
        let of = |gap, op| Step { offset: line << 6, gap, op, dependent: false };
        if op == Op::Update {
            steps.extend([of(gap, Op::Read), of(0, Op::Write)]);
        } else {
            steps.push(of(gap, op));
        }
    }
}

impl Place {
    /// At the first of these items.
    pub(super) fn begin(&mut self, of: &Loop, (from, to): (u64, u64)) {
        (self.item, self.end) = (from, to);
        self.last.clear();
        self.last.resize(of.sweeps.len(), u64::MAX);
    }

    /// Goes on with items until there are so many steps, or none is left: whether there are.
    #[inline]
    pub(super) fn go(
        &mut self,
        of: &Loop,
        most: usize,
        gap: &mut Gap,
        steps: &mut Vec<Step>,
    ) -> bool {
        while self.item < self.end && steps.len() < most {
            gap.0 += of.instructions;
            for (sweep, last) in of.sweeps.iter().zip(&mut self.last) {
                let (from, to) = sweep.lines(self.item);
                if to == *last {
                    continue;
                }
                let first = if from == *last { from + 1 } else { from };
                // From one run to the next nothing lies between.
                if sweep.run.is_some() && to > first + 1 {
                    gap.step(first, sweep.op, steps);
                    gap.step(to, sweep.op, steps);
                } else {
                    (first..=to).for_each(|line| gap.step(line, sweep.op, steps));
                }
                *last = to;
            }
            self.item += 1;
        }
        self.item < self.end
    }
}
