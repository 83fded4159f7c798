//! Builds an undirected graph in compressed sparse rows, in the region itself: counts degrees,
//! fills in, then sorts every vertex's neighbours and drops duplicates and self-loops.

use crate::{
    error::Result,
    graph::{
        kronecker::Kronecker,
        layout::{Graph, Layout},
    },
    memory::Region,
    stop::Stop,
};
use pagetide_types::{Bytes, UnitSize};

pub(crate) use crate::graph::kronecker::Kronecker as Shape;

/// What a graph of this shape needs before duplicates are dropped.
pub(crate) fn room(shape: Kronecker) -> Layout {
    let vertices = 1 << shape.scale;
    Layout { vertices, edges: vertices * shape.degree * 2 }
}

/// Populates a region and builds the graph in it; the region is cut to what the graph needs.
/// None if the end was asked for meanwhile.
pub(crate) fn build(
    shape: Kronecker,
    page: UnitSize,
    stop: &Stop,
) -> Result<Option<(Region, Layout)>> {
    let room = room(shape);
    let mut region = Region::populated(Bytes(room.bytes()), page, stop)?;
    let graph = Graph::of(&region, room);
    count(&graph, edges(shape, stop));
    fill(&graph, edges(shape, stop));
    if stop.is_set() {
        return Ok(None);
    }
    let edges = tidy(&graph);
    let layout = Layout { edges, ..room };
    region.truncate(layout.bytes())?;
    Ok(Some((region, layout)))
}

/// The edges, or only the first ones once the end is asked for.
fn edges(shape: Kronecker, stop: &Stop) -> impl Iterator<Item = (u32, u32)> {
    shape.edges().take_while(|_| !stop.is_set())
}

/// Offsets from degrees. The place for parents serves as the counter meanwhile.
fn count(graph: &Graph<'_>, edges: impl Iterator<Item = (u32, u32)>) {
    for vertex in 0..graph.vertices {
        graph.parent.poke(vertex, 0);
    }
    for (from, to) in edges {
        for end in [from.into(), to.into()] {
            graph.parent.poke(end, graph.parent.peek(end) + 1);
        }
    }
    let mut sum = 0;
    for vertex in 0..graph.vertices {
        graph.offsets.poke(vertex, sum);
        sum += u64::from(graph.parent.peek(vertex));
    }
    graph.offsets.poke(graph.vertices, sum);
}

/// Every edge in both directions. Offsets move along: in the end each is that of the next vertex.
fn fill(graph: &Graph<'_>, edges: impl Iterator<Item = (u32, u32)>) {
    let put = |at: u32, neighbour: u32| {
        let place = graph.offsets.peek(at.into());
        graph.neighbours.poke(place, neighbour);
        graph.offsets.poke(at.into(), place + 1);
    };
    for (from, to) in edges {
        put(from, to);
        put(to, from);
    }
}

/// Sorts, drops, moves together; returns how many edges are left.
fn tidy(graph: &Graph<'_>) -> u64 {
    let (mut list, mut begin, mut kept) = (vec![], 0, 0);
    for vertex in 0..graph.vertices {
        let end = graph.offsets.peek(vertex);
        list.clear();
        list.extend((begin..end).map(|i| graph.neighbours.peek(i)));
        list.sort_unstable();
        list.dedup();
        graph.offsets.poke(vertex, kept);
        for neighbour in list.iter().filter(|other| u64::from(**other) != vertex) {
            graph.neighbours.poke(kept, *neighbour);
            kept += 1;
        }
        begin = end;
    }
    graph.offsets.poke(graph.vertices, kept);
    kept
}
