//! Objects along pointers, in one random cycle through all of an extent: as
//! [`PointerChase`](super::super::PointerChase), in a part.

use super::{
    super::{Fill, Memory, Setup},
    LINE,
    part::{Extent, Part, PartWalk, Sharing},
    writes::Writes,
};
use crate::generators::{Shuffle, mix};

/// All objects of an extent in an order of their own.
#[derive(Clone, Debug)]
struct Cycle {
    shuffle: Shuffle,
    first: u64,
    objects: u64,
    object: u64,
}

impl Cycle {
    /// Of an extent, whose first byte chooses the order, with the seed.
    fn new(Extent { first, len }: Extent, object: u64, seed: u64) -> Self {
        let objects = len / object;
        Self { shuffle: Shuffle::new(objects, seed ^ mix(first)), first, objects, object }
    }

    /// The first byte of the object at a position.
    #[inline]
    fn offset(&self, position: u64) -> u64 {
        self.first + self.shuffle.at(position) * self.object
    }

    #[inline]
    fn after(&self, position: u64) -> u64 {
        if position + 1 == self.objects { 0 } else { position + 1 }
    }

    /// The pointers that lie in its objects.
    fn pointers(self) -> impl Iterator<Item = Fill> {
        (0..self.objects).map(move |position| Fill {
            offset: self.offset(position),
            value: self.offset(self.after(position)),
        })
    }
}

/// One thread's way along the pointers of a part.
#[derive(Clone, Debug)]
pub(super) struct Chase {
    cycle: Cycle,
    run: u32,
    /// Where the object lies that was visited last, and how many lines of its run are left.
    visited: u64,
    left: u32,
    /// The position of the next object, and its first byte.
    position: u64,
    next: u64,
}

impl Chase {
    /// Of one thread: from the start of its own cycle, or of one that all share from its share of
    /// the way on.
    pub(super) fn new(part: &Part, object: u64, setup: &Setup, thread: u32) -> Self {
        let cycle = Cycle::new(part.of_thread(setup, thread), object, setup.seed());
        let position = match part.sharing() {
            Sharing::Slices => 0,
            _ => setup.begin(thread, cycle.objects),
        };
        let next = cycle.offset(position);
        Self { cycle, run: part.run, visited: next, left: 0, position, next }
    }

    #[inline]
    pub(super) fn touch(&mut self, n: u32, writes: &mut Writes, memory: &mut impl Memory) {
        for _ in 0..n {
            if self.left > 0 {
                let line = u64::from(self.run - self.left);
                self.left -= 1;
                writes.touch(self.visited + line * LINE, memory);
            } else if writes.next() {
                writes.write(self.visited, memory);
            } else {
                self.visited = self.next;
                self.position = self.cycle.after(self.position);
                self.next = memory.follow(self.visited, || self.cycle.offset(self.position));
                self.left = self.run - 1;
            }
        }
    }
}

/// The pointers of all parts that are chased.
pub(super) fn fill(parts: &[Part], setup: &Setup) -> impl Iterator<Item = Fill> {
    let cycles = move |part: &Part| {
        let PartWalk::Chase { object } = part.walk else { return vec![] };
        let own = if part.sharing() == Sharing::Slices { setup.threads() } else { 1 };
        let cycle = |thread| Cycle::new(part.of_thread(setup, thread), object.0, setup.seed());
        (0..own).map(cycle).collect()
    };
    parts.iter().flat_map(cycles).flat_map(Cycle::pointers)
}
