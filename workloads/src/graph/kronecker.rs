//! The Kronecker generator of graph500 (A 0.57, B 0.19, C 0.19), with shuffled labels. It can
//! give its edges twice, so that they need not be kept anywhere but in the finished graph.

use pagetide_access::generators::{Rng, Shuffle};

/// Thresholds in 1/65536 for the quarters of the adjacency matrix.
const A: u64 = 37356;
const B: u64 = A + 12452;
const C: u64 = B + 12452;

/// A graph with 2^scale vertices and `degree` edges per vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kronecker {
    pub(crate) scale: u32,
    pub(crate) degree: u64,
    pub(crate) seed: u64,
}

impl Kronecker {
    /// The edges, the same ones at every call, self-loops and duplicates included.
    pub(crate) fn edges(self) -> impl Iterator<Item = (u32, u32)> {
        let vertices = 1 << self.scale;
        let mut rng = Rng::new(self.seed, 0);
        let labels = Shuffle::new(vertices, self.seed);
        (0..vertices * self.degree).map(move |_| {
            let (from, to) = edge(&mut rng, self.scale);
            (label(&labels, from), label(&labels, to))
        })
    }
}

fn label(labels: &Shuffle, vertex: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "a scale is at most 31")]
    let label = labels.at(vertex) as u32;
    label
}

/// Chooses a quarter of the matrix `scale` times.
#[inline]
fn edge(rng: &mut Rng, scale: u32) -> (u64, u64) {
    let (mut from, mut to, mut bits) = (0, 0, 0);
    for level in 0..scale {
        if level % 4 == 0 {
            bits = rng.word();
        }
        let coin = bits & 0xffff;
        bits >>= 16;
        // A: neither bit, B: to, C: from, D: both.
        from = from << 1 | u64::from(coin >= B);
        to = to << 1 | u64::from((A..B).contains(&coin) || coin >= C);
    }
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_have_their_shares() {
        let (mut rng, mut quarters) = (Rng::new(1, 0), [0u32; 4]);
        for _ in 0..100_000 {
            let (from, to) = edge(&mut rng, 1);
            quarters[usize::try_from(from * 2 + to).unwrap()] += 1;
        }
        for (seen, share) in quarters.iter().zip([57_000u32, 19_000, 19_000, 5_000]) {
            assert!(seen.abs_diff(share) < 700, "{quarters:?}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_edges() {
        let graph = Kronecker { scale: 8, degree: 4, seed: 3 };
        let edges: Vec<_> = graph.edges().collect();
        assert_eq!(edges.len(), 1024);
        assert_eq!(edges, graph.edges().collect::<Vec<_>>());
        assert_ne!(edges, Kronecker { seed: 4, ..graph }.edges().collect::<Vec<_>>());
        assert!(edges.iter().all(|(from, to)| *from < 256 && *to < 256));
    }
}
