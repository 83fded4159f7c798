//! Giga-updates per second: the HPC Challenge's RandomAccess, the worst case for caches.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::{generators::Rng, parameter::Result};
use std::time::Duration;

/// Reads, changes and writes back words at random; one update is one access.
#[derive(Clone, Debug)]
pub struct Gups;

/// One thread of [`Gups`].
#[derive(Clone, Debug)]
pub struct GupsWalk {
    rng: Rng,
    len: u64,
}

impl Pattern for Gups {
    type Walk = GupsWalk;

    fn walks(&self, setup: &Setup) -> Result<Vec<GupsWalk>> {
        let (len, seed) = (setup.size().0, setup.seed());
        Ok(each(setup, |number| GupsWalk { rng: Rng::new(seed, number.into()), len }))
    }
}

impl Walk for GupsWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        for _ in 0..n {
            let change = self.rng.word();
            memory.update(self.rng.below(self.len), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    #[test]
    fn updates_without_preference() {
        let steps = steps(&Gups, &setup(4 << 20, 1), 400_000);
        let mut pages = [0.0; 1024];
        steps.iter().for_each(|step| pages[index(step.offset >> 12)] += 1.0);
        assert!(misfit(&pages, &[1.0 / 1024.0; 1024]) < 1.2);
        assert!(steps.iter().all(|step| step.op == Op::Update && !step.dependent));
    }
}
