//! The algorithms against plain ones over the generator's own edges.

use super::{
    bfs::{NONE, bfs},
    build::{Shape, build},
    layout::Graph,
    pagerank::pagerank,
};
use crate::{
    args::tests::short, drive::drive, memory::index, session::Session, stop::Stop, worker::Worker,
};
use pagetide_types::UnitSize;
use std::collections::BTreeSet;

const SHAPE: Shape = Shape { scale: 10, degree: 8, seed: 2 };

/// Neighbours of every vertex, from the edges.
fn reference() -> Vec<BTreeSet<u32>> {
    let mut all = vec![BTreeSet::new(); 1 << SHAPE.scale];
    for (from, to) in SHAPE.edges().filter(|(from, to)| from != to) {
        all[from as usize].insert(to);
        all[to as usize].insert(from);
    }
    all
}

/// Runs something over the graph on a worker; returns the accesses that it made, too.
fn over_graph(load: impl Fn(&Graph<'_>, &mut Worker<'_>) + Sync) -> u64 {
    let stop = Stop::default();
    let (region, layout) = build(SHAPE, UnitSize::Base, &stop).unwrap().unwrap();
    let graph = Graph::of(&region, layout);
    let mut out = vec![];
    let mut session = Session { out: &mut out, stop };
    drive(&mut session, "graph", &short(60.0), &region, |w| load(&graph, w)).unwrap().accesses
}

#[test]
fn the_graph_holds_each_edge_once_in_both_directions() {
    let (region, layout) = build(SHAPE, UnitSize::Base, &Stop::default()).unwrap().unwrap();
    let graph = Graph::of(&region, layout);
    for (vertex, neighbours) in (0..).zip(reference()) {
        let range = graph.offsets.peek(vertex)..graph.offsets.peek(vertex + 1);
        let built: Vec<u32> = range.map(|i| graph.neighbours.peek(i)).collect();
        assert_eq!(built, neighbours.into_iter().collect::<Vec<_>>(), "vertex {vertex}");
    }
    assert_eq!(graph.edges, graph.offsets.peek(graph.vertices));
    assert!(region.len() < layout.bytes() + 4096);
}

#[test]
fn bfs_reaches_all_that_can_be_reached() {
    let neighbours = reference();
    let source = (0u32..).find(|v| !neighbours[*v as usize].is_empty()).unwrap();
    let (mut reached, mut todo) = (BTreeSet::from([source]), vec![source]);
    while let Some(vertex) = todo.pop() {
        for next in &neighbours[vertex as usize] {
            if reached.insert(*next) {
                todo.push(*next);
            }
        }
    }
    let edges: usize = reached.iter().map(|v| neighbours[*v as usize].len()).sum();
    let accesses = over_graph(|graph, worker| {
        assert_eq!(bfs(graph, worker, source), Some(reached.len() as u64));
        for vertex in 0..graph.vertices {
            let parent = graph.parent.peek(vertex);
            let vertex = u32::try_from(vertex).unwrap();
            assert_eq!(parent != NONE, reached.contains(&vertex));
            if parent != NONE && vertex != source {
                assert!(neighbours[vertex as usize].contains(&parent), "{vertex} from {parent}");
            }
        }
    });
    // All parents cleared; per vertex reached: queue and parent written, queue and two offsets
    // read; per edge from there: neighbour and parent read.
    assert_eq!(accesses, (1 << SHAPE.scale) + 5 * reached.len() as u64 + 2 * edges as u64);
}

#[test]
fn pagerank_sums_to_one_and_follows_the_plain_computation() {
    let neighbours = reference();
    let n = neighbours.len() as f64;
    over_graph(|graph, worker| {
        let rounds = pagerank(graph, worker).unwrap();
        assert!((2..20).contains(&rounds), "{rounds} rounds");
        let mut plain = vec![1.0 / n; neighbours.len()];
        for _ in 0..rounds {
            let alone = |(v, _): &(usize, &f64)| neighbours[*v].is_empty();
            let lost: f64 = plain.iter().enumerate().filter(alone).map(|(_, score)| score).sum();
            let pull = |u: &u32| plain[*u as usize] / neighbours[*u as usize].len() as f64;
            plain = neighbours
                .iter()
                .map(|all| 0.15 / n + 0.85 * (lost / n + all.iter().map(pull).sum::<f64>()))
                .collect();
        }
        let score = |v: u64| f64::from_bits(graph.score.peek(v));
        let sum: f64 = (0..graph.vertices).map(score).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        for vertex in 0..graph.vertices {
            assert!((score(vertex) - plain[index(vertex)]).abs() < 1e-12, "vertex {vertex}");
        }
    });
}
