//! NAS IS (Bailey et al., NPB): ranks integer keys. A pass counts the keys of each bucket, scatters them
//! to their buckets, and counts equal keys bucket by bucket. A key is the mean of four even numbers, so
//! buckets in the middle get most.

use super::Program;
use super::loops::{Array, Gap, Loop, Memory, Sweep};
use super::stages::{Stage, Thread};
use crate::generators::Rng;
use crate::parameter::{Result, refuse};
use crate::patterns::Op::{Read, Write};
use crate::patterns::Step;
use pagetide_types::Bytes;

/// A class of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerSort {
    /// log2 of the keys: 27 of class C.
    pub keys: u32,
    /// log2 of the largest key: 23 of class C.
    pub largest: u32,
}

/// log2 of the buckets.
const BUCKETS: u32 = 10;
/// Instructions of the three loops for a key (gcc 12, -O2).
const COUNT: f64 = 7.0;
const SCATTER: u64 = 12;
const RANK: f64 = 5.42;

impl IntegerSort {
    fn stages(self) -> (Vec<Stage>, u64) {
        let keys = 1 << self.keys;
        let mut memory = Memory::default();
        let (from, to) = (memory.array(4 * keys), memory.array(4 * keys));
        let counts = memory.array(4 << self.largest);
        let scan = |array| Sweep::each(array, 4, Read);
        let rank = vec![scan(to), Sweep::all(counts, keys, Write)];
        let stages = vec![
            Stage::Loop(Loop::new(keys, COUNT, vec![scan(from)])),
            Stage::Scatter(Scatter { keys, from, to }),
            Stage::Loop(Loop::new(keys, RANK, rank)),
        ];
        (stages, memory.bytes())
    }
}

impl Program for IntegerSort {
    fn memory(&self) -> Bytes {
        Bytes(self.stages().1)
    }

    fn threads(&self, count: u32, seed: u64) -> Result<Vec<Thread>> {
        if !(BUCKETS + 4..=32).contains(&self.keys) {
            return refuse("keys", self.keys, "give the log2 of the keys, from 14 to 32");
        }
        if !(BUCKETS..=30).contains(&self.largest) {
            return refuse("largest", self.largest, "give the log2 of the largest key, 10 to 30");
        }
        Ok(Thread::all(self.stages().0, count, seed))
    }
}

/// Keys are read in order, each is written where its bucket goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    pub(super) keys: u64,
    from: Array,
    to: Array,
}

/// The share of all keys that is below a bucket: of the mean of four even numbers (Irwin and Hall).
fn below(bucket: u64) -> f64 {
    let x = 4.0 * bucket as f64 / f64::from(1 << BUCKETS);
    let term = |k: i32, of: f64| of * (x - f64::from(k)).max(0.0).powi(4);
    (term(0, 1.0) + term(1, -4.0) + term(2, 6.0) + term(3, -4.0)) / 24.0
}

impl Scatter {
    /// At the first of a thread's keys: each bucket has room for those of the threads before.
    pub(super) fn begin(
        &self,
        (first, end): (u64, u64),
        thread: u64,
        cursors: &mut Vec<u64>,
        at: &mut (u64, usize),
    ) {
        let share = (end - first) as f64;
        let at_byte = |bucket: u64| {
            let of = below(bucket) * self.keys as f64
                + thread as f64 * share * (below(bucket + 1) - below(bucket));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a byte")]
            let byte = (of * 4.0) as u64 & !3;
            byte
        };
        cursors.clear();
        cursors.extend((0..1 << BUCKETS).map(at_byte));
        #[expect(clippy::cast_possible_truncation, reason = "64 bits")]
        let end = end as usize;
        *at = (first, end);
    }

    /// Goes on with keys until there are so many steps, or none is left: whether there are.
    pub(super) fn go(
        &self,
        (at, cursors): (&mut (u64, usize), &mut [u64]),
        rng: &mut Rng,
        most: usize,
        gap: &mut Gap,
        steps: &mut Vec<Step>,
    ) -> bool {
        let end = at.1 as u64;
        while at.0 < end && steps.len() < most {
            gap.add(SCATTER);
            if (at.0 * 4).is_multiple_of(64) {
                gap.step((self.from.base + at.0 * 4) >> 6, Read, steps);
            }
            let word = rng.word();
            let sum: u64 = (0..4).map(|part| word >> (16 * part) & 0xffff).sum();
            let cursor = &mut cursors[(sum >> (18 - BUCKETS)) as usize];
            let byte = (*cursor).min(self.to.bytes - 4);
            let (line, before) = ((self.to.base + byte) >> 6, (self.to.base + byte - 4) >> 6);
            if line != before {
                gap.step(line, Write, steps);
            }
            *cursor += 4;
            at.0 += 1;
        }
        at.0 < end
    }
}
