//! Arrays in the measured memory; every element read or written is one counted access.

use crate::{
    memory::{Cell, Region, index},
    worker::Worker,
};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// An array in a region.
pub(crate) struct Array<'r, T> {
    cells: &'r [T],
    from: u64,
}

impl<'r, T: Cell> Array<'r, T> {
    /// `count` elements from byte `from` of the region on.
    pub(crate) fn new(region: &'r Region, from: u64, count: u64) -> Self {
        Self { cells: region.cells(from, count), from }
    }

    #[inline]
    fn cell(&self, worker: &mut Worker<'_>, i: u64) -> &'r T {
        worker.count(self.from + i * size_of::<T>() as u64);
        &self.cells[index(i)]
    }
}

macro_rules! access {
    ($atomic:ty, $value:ty) => {
        impl Array<'_, $atomic> {
            /// Element `i`.
            #[inline]
            pub(crate) fn get(&self, worker: &mut Worker<'_>, i: u64) -> $value {
                let value = self.cell(worker, i).load(Ordering::Relaxed);
                worker.sum(value.into());
                value
            }
            /// Changes element `i`.
            #[inline]
            pub(crate) fn set(&self, worker: &mut Worker<'_>, i: u64, value: $value) {
                self.cell(worker, i).store(value, Ordering::Relaxed);
            }
            /// Element `i`, not counted.
            pub(crate) fn peek(&self, i: u64) -> $value {
                self.cells[index(i)].load(Ordering::Relaxed)
            }
            /// Changes element `i`, not counted.
            pub(crate) fn poke(&self, i: u64, value: $value) {
                self.cells[index(i)].store(value, Ordering::Relaxed);
            }
        }
    };
}
access!(AtomicU32, u32);
access!(AtomicU64, u64);
