//! The synthetic programs of AMP (TC 2020, section 6.6), which favour one policy each, and
//! their mixes: a selector of policies is judged by how soon its choice follows the change.
//!
//! The paper gives the sets and the four seconds; that a cold subset is every 16th unit, that it
//! changes with the same four seconds, and how rarely it is accessed, is our reading.

use crate::{
    args::{Common, TEN_YEARS, positive},
    drive::drive,
    error::{Result, bad},
    memory::{Region, index},
    registry::Program,
    rng::{Rng, scale, threshold},
    session::Session,
};
use clap::{Args, ValueEnum};
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
    /// Seconds on each working set or cold subset
    #[arg(long, value_name = "S", default_value_t = 4.0)]
    pub every: f64,
    /// Share of accesses to cold memory in the program that favours LFU
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    pub cold: f64,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// What a program favours.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Favour {
    /// Four equal working sets, each read in order for a while.
    Lru,
    /// A hot half, and a cold half of which every 16th unit is accessed for a while, rarely.
    Lfu,
    /// All memory at random.
    Random,
}

const SETS: u64 = 4;
const SUBSETS: u64 = 16;
const UNIT: u64 = 2 << 20;
/// Equal sets of lines, and cold subsets of whole units.
const PIECE: u64 = 2 * SUBSETS * UNIT;

impl Amp {
    fn check(&self) -> Result<()> {
        self.common.check()?;
        positive("each", self.each, TEN_YEARS)?;
        positive("every", self.every, TEN_YEARS)?;
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

impl Program for Amp {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.check()?;
        let region = Region::populated(self.size, self.common.page_size, &session.stop)?;
        let more = format!("programs={} each={}", self.favour.len(), self.each);
        session.ready("amp", &region, &more)?;
        let (len, half, set) = (region.len(), region.len() / 2, region.len() / SETS);
        let is_cold = threshold(self.cold);
        let did = drive(session, "amp", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            let mut line = 0;
            while let Some(n) = worker.batch() {
                let seconds = worker.now.as_secs_f64();
                let program = turns(seconds, self.each).min(self.favour.len() as u64 - 1);
                let turn = turns(seconds, self.every);
                match self.favour[index(program)] {
                    Favour::Lru => {
                        for _ in 0..n {
                            line = if (line + 1) * 64 >= set { 0 } else { line + 1 };
                            worker.read(turn % SETS * set + line * 64);
                        }
                    }
                    Favour::Lfu => {
                        for _ in 0..n {
                            let (coin, word) = (rng.word(), rng.word());
                            worker.read(if coin < is_cold {
                                cold_byte(word, turn, half)
                            } else {
                                scale(word, half).0
                            });
                        }
                    }
                    Favour::Random => {
                        for _ in 0..n {
                            worker.read(rng.below(len));
                        }
                    }
                }
            }
        })?;
        session.done("amp", &did, more)
    }
}
