//! Breadth-first search from the top down, with a queue.

use crate::{graph::layout::Graph, worker::Worker};

/// The parent of a vertex that was not reached.
pub(crate) const NONE: u32 = u32::MAX;

/// Searches from `source`; the vertices reached, or none if the time was over before.
pub(crate) fn bfs(graph: &Graph<'_>, worker: &mut Worker<'_>, source: u32) -> Option<u64> {
    for vertex in 0..graph.vertices {
        worker.spend(1)?;
        graph.parent.set(worker, vertex, NONE);
    }
    graph.parent.set(worker, source.into(), source);
    graph.queue.set(worker, 0, source);
    let (mut head, mut tail) = (0, 1);
    while head < tail {
        worker.spend(3)?;
        let vertex = graph.queue.get(worker, head);
        head += 1;
        let begin = graph.offsets.get(worker, vertex.into());
        let end = graph.offsets.get(worker, u64::from(vertex) + 1);
        for i in begin..end {
            worker.spend(2)?;
            let neighbour = graph.neighbours.get(worker, i);
            if graph.parent.get(worker, neighbour.into()) == NONE {
                graph.parent.set(worker, neighbour.into(), vertex);
                graph.queue.set(worker, tail, neighbour);
                tail += 1;
            }
        }
    }
    Some(tail)
}
