//! Random reads without any preference: no policy can do better than chance.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::{generators::Rng, parameter::Result};
use std::time::Duration;

/// Reads words at random, every word as often as any other.
#[derive(Clone, Debug)]
pub struct Uniform;

/// One thread of [`Uniform`].
#[derive(Clone, Debug)]
pub struct UniformWalk {
    rng: Rng,
    len: u64,
}

impl Pattern for Uniform {
    type Walk = UniformWalk;

    fn walks(&self, setup: &Setup) -> Result<Vec<UniformWalk>> {
        let (len, seed) = (setup.size().0, setup.seed());
        Ok(each(setup, |number| UniformWalk { rng: Rng::new(seed, number.into()), len }))
    }
}

impl Walk for UniformWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        for _ in 0..n {
            memory.read(self.rng.below(self.len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    #[test]
    fn has_no_preference() {
        let steps = steps(&Uniform, &setup(4 << 20, 1), 400_000);
        let mut pages = [0.0; 1024];
        steps.iter().for_each(|step| pages[index(step.offset >> 12)] += 1.0);
        assert!(misfit(&pages, &[1.0 / 1024.0; 1024]) < 1.2);
        assert!(steps.iter().all(|step| step.op == Op::Read && !step.dependent));
    }
}
