//! The synthetic programs of AMP (TC 2020, section 6.6), which favour one policy each, and
//! their mixes: a selector of policies is judged by how soon its choice follows the change.
//!
//! Text and published code differ, so there are both. The text gives the sets, the four seconds
//! and the order; that a cold subset is every 16th unit, that it changes with the same four
//! seconds, and how rarely it is accessed, is our reading. The code (`casys-kaist` on GitHub,
//! `benchmark-dockerfile/page-migration-policy-preference-synthetic-bench`) stays on a set for
//! 20 s, in any order; its cold subsets are the 16ths of *all* memory, each passed over once,
//! with 2 s between the passes.

use super::{Memory, Pattern, Setup, Walk, pattern::each, phases::turns};
use crate::{
    generators::{Rng, index, scale, threshold},
    named_values::choice,
    parameter::{Result, TEN_YEARS, positive, refuse},
};
use std::{sync::Arc, time::Duration};

/// Runs programs that favour LRU, LFU or no policy, one after the other.
#[derive(Clone, Debug)]
pub struct Amp {
    /// Which programs, in order; the last one runs to the end.
    pub favour: Vec<Favour>,
    /// Seconds of each program.
    pub each: f64,
    /// Whose programs.
    pub source: Origin,
    /// How long a second on a working set or cold subset is, in seconds: below 1 all of them are
    /// shorter alike.
    pub scale: f64,
    /// Share of accesses to cold memory in the program of the text that favours LFU.
    pub cold: f64,
}

choice! {
    /// Where a program comes from.
    pub enum Origin {
        /// The paper's text: 4 s on a set, read in order; 4 s on a cold subset of the cold half.
        Text = "text",
        /// The published code: 20 s on a set, at random; a pass over a 16th of the memory every 2 s.
        Code = "code",
    }
}

choice! {
    /// What a program favours.
    pub enum Favour {
        /// Four equal working sets, each read for a while.
        Lru = "lru",
        /// A hot half, and cold memory of which a 16th is accessed for a while, rarely.
        Lfu = "lfu",
        /// All memory at random.
        Random = "random",
    }
}

impl Origin {
    /// Seconds on each working set.
    fn set_s(self) -> f64 {
        match self {
            Self::Text => 4.0,
            Self::Code => 20.0,
        }
    }

    /// Seconds on each cold subset.
    fn subset_s(self) -> f64 {
        match self {
            Self::Text => 4.0,
            Self::Code => 2.0,
        }
    }
}

const SETS: u64 = 4;
const SUBSETS: u64 = 16;
const UNIT: u64 = 2 << 20;
const PAGE: u64 = 4 << 10;
const LINE: u64 = 64;
/// Equal sets of lines, and cold subsets of whole units.
const PIECE: u64 = 2 * SUBSETS * UNIT;

/// One thread of [`Amp`]: its way through the programs.
#[derive(Clone, Debug)]
pub struct AmpWalk {
    rng: Rng,
    len: u64,
    favour: Arc<[Favour]>,
    each: f64,
    source: Origin,
    scale: f64,
    is_cold: u64,
    /// The line that was read last, in any set.
    line: u64,
    /// Passes over cold memory so far, and the turn of the last one.
    passes: u64,
    turn: Option<u64>,
}

impl Pattern for Amp {
    type Walk = AmpWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        positive("each", self.each, TEN_YEARS)?;
        positive("scale", self.scale, 1e6)?;
        if !(self.cold > 0.0 && self.cold < 1.0) {
            return refuse("cold", self.cold, "give a share between 0 and 1");
        }
        if self.favour.is_empty() {
            return refuse("favour", "(none)", "give at least one program");
        }
        if !setup.size().0.is_multiple_of(PIECE) {
            let remedy = "give a multiple of 64M, so that all sets are equal";
            return refuse("size", setup.size().0, remedy);
        }
        Ok(())
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<AmpWalk>> {
        self.check(setup)?;
        let favour: Arc<[Favour]> = self.favour.as_slice().into();
        Ok(each(setup, |number| AmpWalk {
            rng: Rng::new(setup.seed(), number.into()),
            len: setup.size().0,
            favour: Arc::clone(&favour),
            each: self.each,
            source: self.source,
            scale: self.scale,
            is_cold: threshold(self.cold),
            line: 0,
            passes: 0,
            turn: None,
        }))
    }
}

/// A byte of the cold half's subset whose turn it is, chosen by a random word.
fn cold_byte(word: u64, turn: u64, half: u64) -> u64 {
    let (unit, rest) = scale(word, half / UNIT / SUBSETS);
    half + (unit * SUBSETS + turn % SUBSETS) * UNIT + scale(rest, UNIT).0
}

impl AmpWalk {
    /// The next byte to read of a set of `set` bytes.
    fn in_set(&mut self, set: u64) -> u64 {
        match self.source {
            Origin::Text => {
                self.line = if (self.line + 1) * LINE >= set { 0 } else { self.line + 1 };
                self.line * LINE
            }
            Origin::Code => self.rng.below(set),
        }
    }

    /// The first pass of the published code begins at once. Here it interrupts the hot accesses,
    /// and comes on top of them; there it is another thread's.
    fn pass(&mut self, seconds: f64, memory: &mut impl Memory) {
        let turn = Some(turns(seconds, self.source.subset_s()));
        if self.turn != turn {
            self.turn = turn;
            let subset = self.len / SUBSETS;
            let start = self.passes % SUBSETS * subset;
            for page in (0..subset).step_by(index(PAGE)) {
                memory.read(start + page);
            }
            self.passes += 1;
        }
    }
}

impl Walk for AmpWalk {
    /// In the published code's program that favours LFU a pass over cold memory comes on top.
    #[inline]
    fn batch(&mut self, n: u32, now: Duration, memory: &mut impl Memory) {
        let program = turns(now.as_secs_f64(), self.each).min(self.favour.len() as u64 - 1);
        let seconds = now.as_secs_f64() / self.scale;
        let (len, half) = (self.len, self.len / 2);
        match (self.favour[index(program)], self.source) {
            (Favour::Lru, source) => {
                let set = len / SETS;
                let start = turns(seconds, source.set_s()) % SETS * set;
                for _ in 0..n {
                    memory.read(start + self.in_set(set));
                }
            }
            (Favour::Lfu, Origin::Text) => {
                let turn = turns(seconds, self.source.subset_s());
                for _ in 0..n {
                    let (coin, word) = (self.rng.word(), self.rng.word());
                    memory.read(if coin < self.is_cold {
                        cold_byte(word, turn, half)
                    } else {
                        scale(word, half).0
                    });
                }
            }
            (Favour::Lfu, Origin::Code) => {
                self.pass(seconds, memory);
                for _ in 0..n {
                    memory.read(half + self.rng.below(half));
                }
            }
            (Favour::Random, _) => {
                for _ in 0..n {
                    memory.read(self.rng.below(len));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};
    use std::collections::BTreeSet;

    fn amp(favour: &[Favour], source: Origin) -> Amp {
        Amp { favour: favour.to_vec(), each: 100.0, source, scale: 1.0, cold: 0.1 }
    }

    fn walk(amp: &Amp) -> AmpWalk {
        amp.walks(&setup(PIECE, 1)).unwrap().remove(0)
    }

    /// The units of 2 MiB that a walk touches from a second on, of 32.
    fn units(walk: &mut AmpWalk, second: f64) -> BTreeSet<u64> {
        let mut steps = vec![];
        walk.batch(300_000, Duration::from_secs_f64(second), &mut steps);
        steps.iter().map(|step| step.offset / UNIT).collect()
    }

    #[test]
    fn the_program_that_favours_lru_reads_four_sets_in_turn() {
        for (source, length) in [(Origin::Text, 4.0), (Origin::Code, 20.0)] {
            let mut walk = walk(&amp(&[Favour::Lru], source));
            for turn in 0..6 {
                let set = turn % 4 * 8;
                let seen = units(&mut walk, turn as f64 * length + 0.1);
                assert_eq!(seen, (set..set + 8).collect(), "{source}, turn {turn}");
            }
        }
    }

    #[test]
    fn the_text_reads_sets_in_order() {
        let mut steps = vec![];
        walk(&amp(&[Favour::Lru], Origin::Text)).batch(1000, Duration::ZERO, &mut steps);
        assert_eq!(offsets(&steps), (1..=1000).map(|line| line * LINE).collect::<Vec<_>>());
    }

    #[test]
    fn the_program_of_the_text_that_favours_lfu_has_a_hot_half_and_a_subset() {
        let amp = amp(&[Favour::Lfu], Origin::Text);
        for turn in [0, 1, 15, 16] {
            let mut steps = vec![];
            let now = Duration::from_secs(turn * 4 + 1);
            walk(&amp).batch(200_000, now, &mut steps);
            let cold: Vec<u64> =
                steps.iter().map(|s| s.offset / UNIT).filter(|unit| *unit >= 16).collect();
            assert!(cold.iter().all(|unit| *unit == 16 + turn % 16));
            assert!((cold.len() as f64 / 2e5 - 0.1).abs() < 0.003, "{}", cold.len());
        }
    }

    #[test]
    fn the_program_of_the_code_that_favours_lfu_passes_over_all_memory() {
        let mut walk = walk(&amp(&[Favour::Lfu], Origin::Code));
        for turn in 0..20 {
            let mut steps = vec![];
            for _ in 0..2 {
                walk.batch(100, Duration::from_secs(turn * 2), &mut steps);
            }
            // The pass comes once, on top of the batch; after it the hot half.
            let (pass, hot) = steps.split_at(1024);
            let from = turn % 16 * (PIECE / 16);
            assert_eq!(offsets(pass), (0..1024).map(|p| from + p * PAGE).collect::<Vec<_>>());
            assert_eq!(hot.len(), 200);
            assert!(hot.iter().all(|step| step.offset >= PIECE / 2));
        }
    }

    #[test]
    fn programs_follow_each_other_and_the_last_one_stays() {
        let mut amp = amp(&[Favour::Lru, Favour::Random], Origin::Text);
        (amp.each, amp.scale) = (2.0, 0.25);
        let mut walk = walk(&amp);
        assert_eq!(units(&mut walk, 1.1), (8..16).collect(), "a set lasts one second");
        for second in [2.0, 1000.0] {
            assert_eq!(units(&mut walk, second), (0..32).collect(), "second {second}");
        }
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let good = amp(&[Favour::Lru], Origin::Code);
        refused(&good, &setup(PIECE + UNIT, 1), "size 69206016: give a multiple of 64M");
        let setup = setup(PIECE, 1);
        refused(&Amp { cold: 1.0, ..good.clone() }, &setup, "cold 1: give a share between 0 and 1");
        refused(&Amp { each: 0.0, ..good.clone() }, &setup, "each 0");
        refused(&Amp { scale: f64::NAN, ..good.clone() }, &setup, "scale NaN");
        refused(&Amp { favour: vec![], ..good }, &setup, "favour (none)");
    }
}
