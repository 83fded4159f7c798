//! A thread of a program: one stage after the other, and from the last to the first again.

use super::is::Scatter;
use super::loops::{Gap, Loop, Place, part};
use super::simplemoc::Visits;
use crate::generators::Rng;
use crate::patterns::{Source, Step};
use std::sync::Arc;
use std::time::Duration;

/// What all threads of a program do between two barriers.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// A loop.
    Loop(Loop),
    /// Several loops over a chunk of so many items, then over the next chunk.
    Chunks { items: u64, each: u64, loops: Vec<Loop> },
    /// Keys go to their buckets.
    Scatter(Scatter),
    /// Regions are visited by chance, without end.
    Visits(Visits),
}

/// One thread. Deterministic; ends never.
#[derive(Clone, Debug)]
pub struct Thread {
    stages: Arc<[Stage]>,
    number: u64,
    threads: u64,
    at: usize,
    begun: bool,
    place: Place,
    /// Of chunks: the chunk, and the loop in it.
    chunk: (u64, usize),
    /// Of a scatter, by bucket.
    cursors: Vec<u64>,
    gap: Gap,
    rng: Rng,
}

impl Thread {
    /// All threads of a program.
    pub(super) fn all(stages: Vec<Stage>, count: u32, seed: u64) -> Vec<Self> {
        let stages: Arc<[Stage]> = stages.into();
        let thread = |number| Self {
            stages: Arc::clone(&stages),
            number,
            threads: count.into(),
            at: 0,
            begun: false,
            place: Place::default(),
            chunk: (0, 0),
            cursors: Vec::new(),
            gap: Gap::default(),
            rng: Rng::new(seed, number),
        };
        (0..u64::from(count)).map(thread).collect()
    }

    /// Goes on in the stage that it is in; whether that has an end, and it was reached.
    fn go(&mut self, stage: &Stage, most: usize, steps: &mut Vec<Step>) -> bool {
        match stage {
            Stage::Loop(of) => {
                if !self.begun {
                    self.place.begin(of, of.part(self.number, self.threads));
                    self.begun = true;
                }
                !self.place.go(of, most, &mut self.gap, steps)
            }
            Stage::Chunks { items, each, loops } => {
                self.chunks((*items, *each), loops, most, steps)
            }
            Stage::Scatter(scatter) => {
                if !self.begun {
                    let part = part(scatter.keys, self.number, self.threads);
                    scatter.begin(part, self.number, &mut self.cursors, &mut self.chunk);
                    self.begun = true;
                }
                let Self { chunk, cursors, gap, rng, .. } = self;
                !scatter.go((chunk, cursors), rng, most, gap, steps)
            }
            Stage::Visits(visits) => {
                while steps.len() < most {
                    visits.visit(&mut self.rng, &mut self.gap, steps);
                }
                false
            }
        }
    }

    fn chunks(
        &mut self,
        (items, each): (u64, u64),
        loops: &[Loop],
        most: usize,
        steps: &mut Vec<Step>,
    ) -> bool {
        let chunks = items.div_ceil(each);
        let (first, end) = part(chunks, self.number, self.threads);
        if !self.begun {
            self.chunk = (first, 0);
        }
        while steps.len() < most {
            let (chunk, number) = self.chunk;
            if chunk == end {
                return true;
            }
            let of = &loops[number];
            if !self.begun {
                self.place.begin(of, (chunk * each, ((chunk + 1) * each).min(items)));
                self.begun = true;
            }
            if !self.place.go(of, most, &mut self.gap, steps) {
                self.chunk =
                    if number + 1 == loops.len() { (chunk + 1, 0) } else { (chunk, number + 1) };
                if self.chunk.0 < end {
                    let (chunk, number) = self.chunk;
                    let items = (chunk * each, ((chunk + 1) * each).min(items));
                    self.place.begin(&loops[number], items);
                }
            }
        }
        false
    }
}

impl Source for Thread {
    fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
        let most = steps.len() + n as usize;
        let stages = Arc::clone(&self.stages);
        while steps.len() < most {
            if self.go(&stages[self.at], most, steps) {
                self.at = (self.at + 1) % stages.len();
                self.begun = false;
            }
        }
    }
}
