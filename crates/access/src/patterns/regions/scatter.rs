//! Accesses all over a part, or over its objects by their popularity.

use super::{
    super::{Keys, Memory},
    LINE,
    part::Extent,
    writes::Writes,
};
use crate::generators::{Rng, Shuffle, Zipf};
use std::sync::Arc;

/// One thread's runs over lines that are chosen at random. A run that gets to the end of its
/// object goes on at the object's start, so that every line is as likely as the others.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    first: u64,
    /// Lines of an object; without popularity all is one object.
    lines: u64,
    popular: Option<Popular>,
    run: u32,
    /// The object, the line of it that comes next, and how many do.
    object: u64,
    line: u64,
    left: u32,
}

/// Which objects are popular.
#[derive(Clone, Debug)]
pub(super) struct Popular {
    ranks: Arc<Zipf>,
    /// None where popular objects lie in order.
    shuffle: Option<Shuffle>,
}

impl Popular {
    /// Of so many objects as there are ranks.
    pub(super) fn new(ranks: Arc<Zipf>, objects: u64, keys: Keys, seed: u64) -> Self {
        let shuffle = (keys == Keys::Scattered).then(|| Shuffle::new(objects, seed));
        Self { ranks, shuffle }
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        let rank = self.ranks.rank(rng) - 1;
        self.shuffle.as_ref().map_or(rank, |shuffle| shuffle.at(rank))
    }
}

impl Scatter {
    /// All over an extent.
    pub(super) fn new(extent: Extent, run: u32) -> Self {
        let Extent { first, len } = extent;
        Self { first, lines: len / LINE, popular: None, run, object: first, line: 0, left: 0 }
    }

    /// Over its objects of so many bytes.
    pub(super) fn over(extent: Extent, run: u32, object: u64, popular: Popular) -> Self {
        Self { lines: object / LINE, popular: Some(popular), ..Self::new(extent, run) }
    }

    #[inline]
    pub(super) fn touch(
        &mut self,
        n: u32,
        rng: &mut Rng,
        writes: &mut Writes,
        memory: &mut impl Memory,
    ) {
        for _ in 0..n {
            if self.left == 0 {
                self.begin(rng);
            }
            writes.touch(self.object + self.line * LINE, memory);
            self.left -= 1;
            self.line = if self.line + 1 == self.lines { 0 } else { self.line + 1 };
        }
    }

    /// Begins a run.
    #[inline]
    fn begin(&mut self, rng: &mut Rng) {
        if let Some(popular) = &self.popular {
            self.object = self.first + popular.draw(rng) * self.lines * LINE;
        }
        self.line = if self.lines == 1 { 0 } else { rng.below(self.lines) };
        self.left = self.run;
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::tests::*, *};

    /// How often each of the extent's lines is accessed in 400,000 accesses.
    fn counts(mut scatter: Scatter, lines: usize) -> Vec<f64> {
        let (mut steps, mut seen) = (Vec::<Step>::new(), vec![0.0; lines]);
        scatter.touch(400_000, &mut Rng::new(3, 0), &mut Writes::new(0, 0), &mut steps);
        steps.iter().for_each(|step| seen[index((step.offset - 4096) / LINE)] += 1.0);
        seen
    }

    const EXTENT: Extent = Extent { first: 4096, len: 512 * LINE };

    #[test]
    fn every_line_is_as_likely_with_runs_and_without() {
        for run in [1, 3, 8] {
            let seen = counts(Scatter::new(EXTENT, run), 512);
            // Lines of a run come together: with runs of 8 the deviation is 0.15, not 0.06.
            let misfit = misfit(&seen, &[1.0 / 512.0; 512]);
            assert!((0.5..1.5).contains(&misfit), "{run}: {misfit}");
        }
    }

    #[test]
    fn a_run_is_lines_in_a_row() {
        let (mut steps, mut rng) = (Vec::<Step>::new(), Rng::new(1, 0));
        Scatter::new(EXTENT, 4).touch(4000, &mut rng, &mut Writes::new(0, 0), &mut steps);
        for run in steps.chunks(4) {
            let lines: Vec<u64> = run.iter().map(|step| (step.offset - 4096) / LINE).collect();
            assert!(lines.windows(2).all(|pair| (pair[0] + 1) % 512 == pair[1]), "{lines:?}");
        }
    }

    #[test]
    fn objects_are_as_popular_as_the_formula_says() {
        let weights: Vec<f64> = (1..=128).map(|k| f64::from(k).powf(-0.8)).collect();
        let shares: Vec<f64> = weights.iter().map(|w| w / weights.iter().sum::<f64>()).collect();
        let object = 4 * LINE;
        let of = |keys| {
            let popular = Popular::new(Arc::new(Zipf::new(128, 0.8)), 128, keys, 7);
            let seen = counts(Scatter::over(EXTENT, 1, object, popular), 512);
            seen.chunks(4).map(|object| object.iter().sum()).collect::<Vec<f64>>()
        };
        let in_order = of(Keys::InOrder);
        assert!(misfit(&in_order, &shares) < 1.3);
        // Scattered, the same counts of the same draws elsewhere.
        let (scattered, shuffle) = (of(Keys::Scattered), Shuffle::new(128, 7));
        assert!((0u64..).zip(&in_order).all(|(rank, n)| scattered[index(shuffle.at(rank))] == *n));
        assert_ne!(scattered, in_order);
    }

    #[test]
    fn in_an_object_every_line_is_as_likely() {
        let popular = Popular::new(Arc::new(Zipf::new(1, 0.8)), 1, Keys::Scattered, 7);
        let seen = counts(Scatter::over(EXTENT, 1, 8 * LINE, popular), 512);
        assert!(misfit(&seen[..8], &[0.125; 8]) < 3.0, "{seen:?}");
        assert!(seen[8..].iter().all(|n| *n == 0.0));
    }
}
