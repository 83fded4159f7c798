//! Working sets that change: what decay, windows and warm-up are tried on.
//!
//! `--sets 4 --every 4 --access sequential` is the program that favours LRU in AMP (TC 2020,
//! section 6.6); `--sizes 30G,60G,30G --every 300 --size 80G` the micro-test of the adaptive
//! migration decision.

use crate::{
    args::{Common, TEN_YEARS, positive, share},
    drive::drive,
    error::{Result, bad},
    memory::{Region, index},
    registry::Program,
    session::Session,
};
use clap::{Args, ValueEnum};
use pagetide_access::generators::{Rng, threshold};
use pagetide_types::Bytes;

/// Works on one part of the memory for some seconds, then on another, in turn
#[derive(Args, Clone, Debug)]
pub struct Phases {
    /// Memory to use in all
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// How many working sets, at even distances
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub sets: u64,
    /// Size of each working set (they overlap if too large); an equal part each if not given
    #[arg(long, value_name = "BYTES")]
    pub set_size: Option<Bytes>,
    /// Working sets of these sizes instead, all beginning at the first byte
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', conflicts_with_all = ["sets", "set_size"])]
    pub sizes: Vec<Bytes>,
    /// Seconds until the next working set
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub every: f64,
    /// How a working set is read
    #[arg(long, value_enum, default_value_t = Access::Random)]
    pub access: Access,
    /// Share of accesses that go anywhere in the memory
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub elsewhere: f64,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// How a working set is read.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Words at random.
    Random,
    /// Cache lines in order, again and again.
    Sequential,
}

impl Phases {
    /// The working sets as (first byte, bytes), in turn.
    fn working_sets(&self, len: u64) -> Result<Vec<(u64, u64)>> {
        let fits = |argument, bytes: Bytes| {
            if (64..=len).contains(&bytes.0) {
                return Ok(bytes.0);
            }
            let remedy = format!("a working set has 64 bytes to --size, {}", Bytes(len));
            bad(argument, &bytes.0, remedy)
        };
        if !self.sizes.is_empty() {
            return self.sizes.iter().map(|size| Ok((0, fits("sizes", *size)?))).collect();
        }
        if !(1..=len / 64).contains(&self.sets) {
            return bad("sets", &self.sets, format!("give 1 to {}", len / 64));
        }
        let size = fits("set-size", self.set_size.unwrap_or(Bytes(len / self.sets)))?;
        let room = len - size;
        let start = |i: u64| match self.sets - 1 {
            0 => 0,
            last => {
                u64::try_from(u128::from(room) * u128::from(i) / u128::from(last)).unwrap_or(room)
                    / 64
                    * 64
            }
        };
        Ok((0..self.sets).map(|i| (start(i), size)).collect())
    }
}

impl Program for Phases {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.common.check()?;
        positive("every", self.every, TEN_YEARS)?;
        share("elsewhere", self.elsewhere)?;
        self.working_sets(self.size.0)?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        let sets = self.working_sets(region.len())?;
        let more = format!("sets={} every={}", sets.len(), self.every);
        session.ready("phases", &region, &more)?;
        let (anywhere, len) = (threshold(self.elsewhere), region.len());
        let did = drive(session, "phases", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            let mut line = 0;
            while let Some(n) = worker.batch() {
                let phase = worker.now.as_secs_f64() / self.every;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "not negative, and saturating is harmless"
                )]
                let (first, bytes) = sets[index(phase as u64 % sets.len() as u64)];
                for _ in 0..n {
                    if anywhere > 0 && rng.word() < anywhere {
                        worker.read(rng.below(len));
                        continue;
                    }
                    let within = match self.access {
                        Access::Random => rng.below(bytes),
                        Access::Sequential => {
                            line = if (line + 1) * 64 >= bytes { 0 } else { line + 1 };
                            line * 64
                        }
                    };
                    worker.read(first + within);
                }
            }
        })?;
        session.done("phases", &did, more)
    }
}
