//! Where the arrays of a graph lie in the region: what is read most evenly first, the
//! neighbours, which are the bulk, last.

use crate::{graph::array::Array, memory::Region};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Sizes of a graph in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Vertices.
    pub(crate) vertices: u64,
    /// Directed edges, or room for them.
    pub(crate) edges: u64,
}

impl Layout {
    /// Bytes from one part of the per-vertex arrays to the next.
    fn starts(self) -> [u64; 6] {
        let n = self.vertices;
        let mut next = 0;
        [8 * (n + 1), 4 * n, 4 * n, 8 * n, 8 * n, 4 * self.edges].map(|bytes| {
            let start = next;
            next += bytes.next_multiple_of(64);
            start
        })
    }

    /// Bytes in all.
    pub(crate) fn bytes(self) -> u64 {
        self.starts()[5] + 4 * self.edges
    }
}

/// A graph and the state of the algorithms over it.
pub(crate) struct Graph<'r> {
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    /// Where each vertex's neighbours begin; one more at the end.
    pub(crate) offsets: Array<'r, AtomicU64>,
    /// Through which vertex breadth-first search came.
    pub(crate) parent: Array<'r, AtomicU32>,
    /// Vertices that breadth-first search has reached, in order.
    pub(crate) queue: Array<'r, AtomicU32>,
    /// PageRank, as the bits of an `f64`.
    pub(crate) score: Array<'r, AtomicU64>,
    /// PageRank over degree, as the bits of an `f64`.
    pub(crate) contribution: Array<'r, AtomicU64>,
    pub(crate) neighbours: Array<'r, AtomicU32>,
}

impl<'r> Graph<'r> {
    /// Sees a region as a graph of these sizes.
    pub(crate) fn of(region: &'r Region, layout: Layout) -> Self {
        let n = layout.vertices;
        let [offsets, parent, queue, score, contribution, neighbours] = layout.starts();
        Self {
            vertices: n,
            edges: layout.edges,
            offsets: Array::new(region, offsets, n + 1),
            parent: Array::new(region, parent, n),
            queue: Array::new(region, queue, n),
            score: Array::new(region, score, n),
            contribution: Array::new(region, contribution, n),
            neighbours: Array::new(region, neighbours, layout.edges),
        }
    }
}
