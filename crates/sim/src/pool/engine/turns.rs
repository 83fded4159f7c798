//! When each core makes its next request, and whose is the first: a tournament, in which a core whose time changes meets
//! its rivals anew, so that who is the first is known without looking at the others.

use crate::pool::Ps;

/// By core its time and, in the lowest bits, its number; before them whoever is first of each pair, the first of all at 1.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    first: Vec<u64>,
    /// Cores, rounded up to a power of two.
    cores: usize,
    /// Bits for a core's number.
    bits: u32,
    /// A request came later than can be told apart.
    too_late: bool,
}

impl Turns {
    /// So many cores, of which none makes a request.
    pub(super) fn new(cores: usize) -> Self {
        let cores = cores.next_power_of_two();
        let first = vec![u64::MAX; 2 * cores];
        Self { first, cores, bits: cores.ilog2(), too_late: false }
    }

    /// A core makes its next request then; never, if [`Ps::MAX`]. Later than can be told apart (2^60 ps, 13 days, for
    /// 16 cores) is never, too, and [`Self::too_late`] says so.
    #[inline]
    pub(super) fn set(&mut self, core: usize, at: Ps) {
        let told = at.0.leading_zeros() >= self.bits;
        self.too_late |= !told && at != Ps::MAX;
        let mut first = if told { at.0 << self.bits | core as u64 } else { u64::MAX };
        let mut place = self.cores + core;
        self.first[place] = first;
        while place > 1 {
            first = first.min(self.first[place ^ 1]);
            place /= 2;
            self.first[place] = first;
        }
    }

    /// Whether some request came too late; how late can be told apart, if so.
    pub(super) const fn too_late(&self) -> Option<Ps> {
        if self.too_late { Some(Ps(u64::MAX >> self.bits)) } else { None }
    }

    /// The core with the first request, the lowest of several, and when; [`Ps::MAX`] if there is none.
    #[inline]
    pub(super) fn first(&self) -> (usize, Ps) {
        let least = self.first[1];
        let at = if least == u64::MAX { Ps::MAX } else { Ps(least >> self.bits) };
        #[expect(clippy::cast_possible_truncation, reason = "a core's number")]
        let core = (least & ((1 << self.bits) - 1)) as usize;
        (core, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lowest_core_of_those_that_are_first_has_its_turn(
            cores in 1..40_usize,
            sets in prop::collection::vec((0..40_usize, 0..30_u64), 0..100),
        ) {
            let mut turns = Turns::new(cores);
            let mut plain = vec![Ps::MAX; cores];
            for (core, at) in sets {
                let at = if at < 3 { Ps::MAX } else { Ps(at << 40) };
                turns.set(core % cores, at);
                plain[core % cores] = at;
                let first = (0..cores).min_by_key(|core| plain[*core]).filter(|core| plain[*core] < Ps::MAX);
                let found = turns.first();
                prop_assert_eq!((found.1 < Ps::MAX).then_some(found), first.map(|core| (core, plain[core])));
            }
        }
    }
}
