//! PageRank by pulling, as in the GAP suite; vertices without edges give their rank to all, so
//! that the ranks always sum to 1.

use crate::{graph::layout::Graph, worker::Worker};

const DAMPING: f64 = 0.85;
/// An end as in the GAP suite: when ranks move by less than this in all, or so many rounds.
const TOLERANCE: f64 = 1e-4;
const ROUNDS: u32 = 20;

/// Computes all ranks; the rounds made, or none if the time was over before.
pub(crate) fn pagerank(graph: &Graph<'_>, worker: &mut Worker<'_>) -> Option<u32> {
    let n = graph.vertices as f64;
    for vertex in 0..graph.vertices {
        worker.spend(1)?;
        graph.score.set(worker, vertex, (1.0 / n).to_bits());
    }
    for round in 1..=ROUNDS {
        let mut lost = 0.0;
        for vertex in 0..graph.vertices {
            worker.spend(4)?;
            let begin = graph.offsets.get(worker, vertex);
            let end = graph.offsets.get(worker, vertex + 1);
            let score = f64::from_bits(graph.score.get(worker, vertex));
            if begin == end {
                lost += score;
            }
            let contribution = score / (end - begin).max(1) as f64;
            graph.contribution.set(worker, vertex, contribution.to_bits());
        }
        let base = (1.0 - DAMPING + DAMPING * lost) / n;
        let mut moved = 0.0;
        for vertex in 0..graph.vertices {
            worker.spend(4)?;
            let begin = graph.offsets.get(worker, vertex);
            let end = graph.offsets.get(worker, vertex + 1);
            let mut sum = 0.0;
            for i in begin..end {
                worker.spend(2)?;
                let neighbour = graph.neighbours.get(worker, i);
                sum += f64::from_bits(graph.contribution.get(worker, neighbour.into()));
            }
            let before = f64::from_bits(graph.score.get(worker, vertex));
            let score = base + DAMPING * sum;
            moved += (score - before).abs();
            graph.score.set(worker, vertex, score.to_bits());
        }
        if moved < TOLERANCE {
            return Some(round);
        }
    }
    Some(ROUNDS)
}
