//! The synthetic programs of AMP (TC 2020, section 6.6), which favour one policy each, and
//! their mixes: a selector of policies is judged by how soon its choice follows the change.
//!
//! Text and published code differ, so there are both. The text gives the sets, the four seconds
//! and the order; that a cold subset is every 16th unit, that it changes with the same four
//! seconds, and how rarely it is accessed, is our reading. The code (`casys-kaist` on GitHub,
//! `benchmark-dockerfile/page-migration-policy-preference-synthetic-bench`) stays on a set for
//! 20 s, in any order; its cold subsets are the 16ths of *all* memory, each passed over once,
//! with 2 s between the passes.

use crate::{
    args::{Common, TEN_YEARS, positive},
    drive::drive,
    error::{Result, bad},
    memory::{Region, index},
    registry::Program,
    session::Session,
    worker::Worker,
};
use clap::{Args, ValueEnum};
use pagetide_access::generators::{Rng, scale, threshold};
use pagetide_types::Bytes;

/// Runs programs that favour LRU, LFU or no policy, one after the other
#[derive(Args, Clone, Debug)]
pub struct Amp {
    /// Memory to use, a multiple of 64M
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Which programs, in order; the last one runs to the end
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', default_value = "lru,lfu")]
    pub favour: Vec<Favour>,
    /// Seconds of each program
    #[arg(long, value_name = "S", default_value_t = 200.0)]
    pub each: f64,
    /// Whose programs
    #[arg(long, value_enum, default_value_t = Source::Text)]
    pub source: Source,
    /// How long a second on a working set or cold subset is, in seconds: below 1 all of them are
    /// shorter alike
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub scale: f64,
    /// Share of accesses to cold memory in the program of the text that favours LFU
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    pub cold: f64,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// Where a program comes from.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The paper's text: 4 s on a set, read in order; 4 s on a cold subset of the cold half.
    Text,
    /// The published code: 20 s on a set, at random; a pass over a 16th of the memory every 2 s.
    Code,
}

impl Source {
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

/// What a program favours.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Favour {
    /// Four equal working sets, each read for a while.
    Lru,
    /// A hot half, and cold memory of which a 16th is accessed for a while, rarely.
    Lfu,
    /// All memory at random.
    Random,
}

const SETS: u64 = 4;
const SUBSETS: u64 = 16;
const UNIT: u64 = 2 << 20;
const PAGE: u64 = 4 << 10;
const LINE: u64 = 64;
/// Equal sets of lines, and cold subsets of whole units.
const PIECE: u64 = 2 * SUBSETS * UNIT;

impl Amp {
    fn check(&self) -> Result<()> {
        self.common.check()?;
        positive("each", self.each, TEN_YEARS)?;
        positive("scale", self.scale, 1e6)?;
        if !(self.cold > 0.0 && self.cold < 1.0) {
            return bad("cold", &self.cold, "give a share between 0 and 1");
        }
        if self.size.0 == 0 || !self.size.0.is_multiple_of(PIECE) {
            return bad("size", &self.size.0, "give a multiple of 64M, so that all sets are equal");
        }
        Ok(())
    }
}

/// How many times `length` has gone by.
fn turns(seconds: f64, length: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and saturating is harmless"
    )]
    let turns = (seconds / length) as u64;
    turns
}

/// A byte of the cold half's subset whose turn it is, chosen by a random word.
fn cold_byte(word: u64, turn: u64, half: u64) -> u64 {
    let (unit, rest) = scale(word, half / UNIT / SUBSETS);
    half + (unit * SUBSETS + turn % SUBSETS) * UNIT + scale(rest, UNIT).0
}

/// One thread's way through its programs.
struct Walk {
    rng: Rng,
    len: u64,
    source: Source,
    is_cold: u64,
    /// The line that was read last, in any set.
    line: u64,
    /// Passes over cold memory so far, and the turn of the last one.
    passes: u64,
    turn: Option<u64>,
}

impl Walk {
    fn step(&mut self, worker: &mut Worker<'_>, n: u32, favour: Favour, seconds: f64) {
        let (len, half) = (self.len, self.len / 2);
        match (favour, self.source) {
            (Favour::Lru, source) => {
                let set = len / SETS;
                let start = turns(seconds, source.set_s()) % SETS * set;
                for _ in 0..n {
                    worker.read(start + self.in_set(set));
                }
            }
            (Favour::Lfu, Source::Text) => {
                let turn = turns(seconds, self.source.subset_s());
                for _ in 0..n {
                    let (coin, word) = (self.rng.word(), self.rng.word());
                    worker.read(if coin < self.is_cold {
                        cold_byte(word, turn, half)
                    } else {
                        scale(word, half).0
                    });
                }
            }
            (Favour::Lfu, Source::Code) => {
                // The first pass begins at once. Here it interrupts the hot accesses; there it
                // is another thread's.
                let turn = Some(turns(seconds, self.source.subset_s()));
                if self.turn != turn {
                    self.turn = turn;
                    let start = self.passes % SUBSETS * (len / SUBSETS);
                    (0..len / SUBSETS).step_by(index(PAGE)).for_each(|page| {
                        worker.read(start + page);
                    });
                    self.passes += 1;
                }
                for _ in 0..n {
                    worker.read(half + self.rng.below(half));
                }
            }
            (Favour::Random, _) => {
                for _ in 0..n {
                    worker.read(self.rng.below(len));
                }
            }
        }
    }

    /// The next byte to read of a set of `set` bytes.
    fn in_set(&mut self, set: u64) -> u64 {
        match self.source {
            Source::Text => {
                self.line = if (self.line + 1) * LINE >= set { 0 } else { self.line + 1 };
                self.line * LINE
            }
            Source::Code => self.rng.below(set),
        }
    }
}

impl Program for Amp {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.check()?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        let more = format!("programs={} each={}", self.favour.len(), self.each);
        session.ready("amp", &region, &more)?;
        let did = drive(session, "amp", &self.common, &region, |worker| {
            let mut walk = Walk {
                rng: Rng::new(self.common.seed, u64::from(worker.number)),
                len: region.len(),
                source: self.source,
                is_cold: threshold(self.cold),
                line: 0,
                passes: 0,
                turn: None,
            };
            while let Some(n) = worker.batch() {
                let seconds = worker.now.as_secs_f64();
                let program = turns(seconds, self.each).min(self.favour.len() as u64 - 1);
                walk.step(worker, n, self.favour[index(program)], seconds / self.scale);
            }
        })?;
        session.done("amp", &did, more)
    }
}
