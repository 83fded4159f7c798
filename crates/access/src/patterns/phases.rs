//! Working sets that change: what decay, windows and warm-up are tried on.
//!
//! Four sets read in order are the program that favours LRU in AMP (TC 2020, section 6.6); sizes
//! of 30, 60 and 30 GiB for 300 s each the micro-test of the adaptive migration decision.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::{
    generators::{Rng, Shuffle, index, threshold},
    named_values::choice,
    parameter::{Result, TEN_YEARS, positive, refuse, share},
};
use pagetide_types::Bytes;
use std::{sync::Arc, time::Duration};

const LINE: u64 = 64;
const PAGE: u64 = 4096;

/// Works on one part of the memory for some seconds, then on another, in turn.
#[derive(Clone, Debug)]
pub struct Phases {
    /// How many working sets, at even distances.
    pub sets: u64,
    /// Size of each working set (they overlap if too large); an equal part each if not given.
    pub set_size: Option<Bytes>,
    /// Unless empty: working sets of these sizes instead, all beginning at the first byte.
    pub sizes: Vec<Bytes>,
    /// Seconds until the next working set.
    pub every: f64,
    /// How a working set is read.
    pub access: Within,
    /// Share of accesses that go anywhere in the memory.
    pub elsewhere: f64,
    /// The base pages of each lie all over the memory, by a permutation that the seed chooses.
    pub scattered: bool,
}

choice! {
    /// How a working set is read.
    pub enum Within {
        /// Words at random.
        Random = "random",
        /// Cache lines in order, again and again.
        Sequential = "sequential",
    }
}

/// One thread of [`Phases`].
#[derive(Clone, Debug)]
pub struct PhasesWalk {
    rng: Rng,
    /// First byte and bytes of each.
    sets: Arc<[(u64, u64)]>,
    every: f64,
    access: Within,
    anywhere: u64,
    len: u64,
    /// Which page another one is.
    pages: Option<Shuffle>,
    /// The line that was read last, in any set.
    line: u64,
}

impl Phases {
    /// The working sets as (first byte, bytes), in turn.
    ///
    /// # Errors
    /// If there are none, or one does not fit.
    pub fn working_sets(&self, size: Bytes) -> Result<Vec<(u64, u64)>> {
        let len = size.0;
        let fits = |parameter, bytes: Bytes| {
            if (LINE..=len).contains(&bytes.0) {
                return Ok(bytes.0);
            }
            let remedy = format!("a working set has 64 bytes to `size`, {size}");
            refuse(parameter, bytes.0, remedy)
        };
        if !self.sizes.is_empty() {
            return self.sizes.iter().map(|size| Ok((0, fits("sizes", *size)?))).collect();
        }
        if !(1..=len / LINE).contains(&self.sets) {
            return refuse("sets", self.sets, format!("give 1 to {}", len / LINE));
        }
        let size = fits("set-size", self.set_size.unwrap_or(Bytes(len / self.sets)))?;
        let room = len - size;
        let start = |i: u64| match self.sets - 1 {
            0 => 0,
            last => {
                u64::try_from(u128::from(room) * u128::from(i) / u128::from(last)).unwrap_or(room)
                    / LINE
                    * LINE
            }
        };
        Ok((0..self.sets).map(|i| (start(i), size)).collect())
    }
}

impl Pattern for Phases {
    type Walk = PhasesWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        positive("every", self.every, TEN_YEARS)?;
        share("elsewhere", self.elsewhere)?;
        self.working_sets(setup.size()).map(drop)
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<PhasesWalk>> {
        self.check(setup)?;
        let sets: Arc<[_]> = self.working_sets(setup.size())?.into();
        Ok(each(setup, |number| PhasesWalk {
            rng: Rng::new(setup.seed(), number.into()),
            sets: Arc::clone(&sets),
            every: self.every,
            access: self.access,
            anywhere: threshold(self.elsewhere),
            len: setup.size().0,
            pages: self.scattered.then(|| Shuffle::new(setup.size().0 / PAGE, setup.seed())),
            line: 0,
        }))
    }
}

impl Walk for PhasesWalk {
    #[inline]
    fn batch(&mut self, n: u32, now: Duration, memory: &mut impl Memory) {
        let phase = turns(now.as_secs_f64(), self.every);
        let (first, bytes) = self.sets[index(phase % self.sets.len() as u64)];
        for _ in 0..n {
            if self.anywhere > 0 && self.rng.word() < self.anywhere {
                memory.read(self.rng.below(self.len));
                continue;
            }
            let within = match self.access {
                Within::Random => self.rng.below(bytes),
                Within::Sequential => {
                    self.line = if (self.line + 1) * LINE >= bytes { 0 } else { self.line + 1 };
                    self.line * LINE
                }
            };
            memory.read(self.at(first + within));
        }
    }
}

impl PhasesWalk {
    /// Where a byte lies. What follows the last whole page stays in place.
    #[inline]
    fn at(&self, byte: u64) -> u64 {
        match &self.pages {
            Some(pages) if byte < self.len / PAGE * PAGE => {
                pages.at(byte / PAGE) * PAGE + byte % PAGE
            }
            _ => byte,
        }
    }
}

/// How many times `length` has gone by, both in seconds.
pub(super) fn turns(seconds: f64, length: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and saturating is harmless"
    )]
    let turns = (seconds / length) as u64;
    turns
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};
    use crate::Choice;

    const PHASES: Phases = Phases {
        sets: 4,
        set_size: None,
        sizes: vec![],
        every: 2.0,
        access: Within::Random,
        elsewhere: 0.0,
        scattered: false,
    };

    /// What is touched from a second on.
    fn at(phases: &Phases, second: f64, n: u32) -> Vec<Step> {
        let mut walk = phases.walks(&setup(1 << 20, 1)).unwrap().remove(0);
        let mut steps = vec![];
        walk.batch(n, Duration::from_secs_f64(second), &mut steps);
        steps
    }

    #[test]
    fn sets_come_in_turn_and_again() {
        for access in Within::ALL {
            let phases = Phases { access: *access, ..PHASES };
            for (second, set) in [(0.0, 0), (1.99, 0), (2.0, 1), (5.0, 2), (7.5, 3), (8.0, 0)] {
                let steps = at(&phases, second, 5000);
                assert!(steps.iter().all(|s| s.offset >> 18 == set), "second {second}: {set}");
            }
        }
    }

    #[test]
    fn a_set_is_read_evenly() {
        let mut pages = [0.0; 64];
        at(&PHASES, 0.0, 100_000).iter().for_each(|s| pages[index(s.offset >> 12)] += 1.0);
        assert!(misfit(&pages, &[1.0 / 64.0; 64]) < 1.5);
        let in_order = Phases { access: Within::Sequential, ..PHASES };
        let expected: Vec<u64> = (1..=5000).map(|i| i % 4096 * 64).collect();
        assert_eq!(offsets(&at(&in_order, 0.0, 5000)), expected);
    }

    #[test]
    fn some_accesses_go_anywhere() {
        let steps = at(&Phases { elsewhere: 0.2, ..PHASES }, 2.0, 100_000);
        let inside = steps.iter().filter(|s| s.offset >> 18 == 1).count() as f64 / 1e5;
        assert!((inside - 0.85).abs() < 0.005, "{inside}");
    }

    #[test]
    fn scattered_sets_are_the_same_pages_elsewhere() {
        let (plain, scattered) = (at(&PHASES, 2.0, 5000), {
            let phases = Phases { scattered: true, ..PHASES };
            at(&phases, 2.0, 5000)
        });
        let shuffle = Shuffle::new((1 << 20) / PAGE, setup(1 << 20, 1).seed());
        for (plain, scattered) in plain.iter().zip(&scattered) {
            assert_eq!(scattered.offset / PAGE, shuffle.at(plain.offset / PAGE));
            assert_eq!(scattered.offset % PAGE, plain.offset % PAGE);
        }
        let quarters =
            [0, 1, 2, 3].map(|set| scattered.iter().filter(|s| s.offset >> 18 == set).count());
        assert!(quarters.iter().all(|count| (800..1700).contains(count)), "{quarters:?}");
    }

    #[test]
    fn sets_lie_at_even_distances_or_all_at_the_start() {
        let sets = |phases: Phases| phases.working_sets(Bytes(1024)).unwrap();
        assert_eq!(sets(PHASES), [(0, 256), (256, 256), (512, 256), (768, 256)]);
        let overlapping = Phases { set_size: Some(Bytes(512)), sets: 3, ..PHASES };
        assert_eq!(sets(overlapping), [(0, 512), (256, 512), (512, 512)]);
        assert_eq!(sets(Phases { sets: 1, ..PHASES }), [(0, 1024)]);
        let growing = Phases { sizes: vec![Bytes(64), Bytes(1000)], ..PHASES };
        assert_eq!(sets(growing), [(0, 64), (0, 1000)]);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let setup = setup(4096, 1);
        refused(&Phases { sets: 0, ..PHASES }, &setup, "sets 0: give 1 to 64");
        refused(&Phases { sets: 65, ..PHASES }, &setup, "sets 65: give 1 to 64");
        let large = Some(Bytes(8192));
        refused(&Phases { set_size: large, ..PHASES }, &setup, "set-size 8192: a working set has");
        let sizes = vec![Bytes(64), Bytes(63)];
        refused(&Phases { sizes, ..PHASES }, &setup, "sizes 63");
        refused(&Phases { every: 0.0, ..PHASES }, &setup, "every 0");
        refused(&Phases { elsewhere: 1.5, ..PHASES }, &setup, "elsewhere 1.5");
    }
}
