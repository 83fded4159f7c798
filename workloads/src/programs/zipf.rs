//! Objects of unequal popularity, as in caches and key-value stores.

use crate::{
    args::Common,
    drive::drive,
    error::{Result, bad},
    memory::Region,
    registry::Program,
    session::Session,
};
use clap::{Args, ValueEnum};
use pagetide_access::generators::{Rng, Shuffle, Zipf as Ranks};
use pagetide_types::Bytes;

/// Reads objects of equal size, the k-th most popular with a probability of k^-exponent
#[derive(Args, Clone, Debug)]
pub struct Zipf {
    /// Memory to use
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Exponent: 0 is uniform, 0.99 a usual key-value store
    #[arg(long, value_name = "X", default_value_t = 0.99)]
    pub exponent: f64,
    /// Size of an object; an access reads one word somewhere in it
    #[arg(long, value_name = "BYTES", default_value = "4K")]
    pub object: Bytes,
    /// Where popular objects lie
    #[arg(long, value_enum, default_value_t = Keys::InOrder)]
    pub keys: Keys,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// Where popular objects lie.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The most popular first, the others in order behind it.
    InOrder,
    /// All over the memory, by a permutation that the seed chooses.
    Scattered,
}

impl Zipf {
    fn check(&self) -> Result<()> {
        self.common.check()?;
        if !(0.0..=20.0).contains(&self.exponent) {
            return bad("exponent", &self.exponent, "give a number from 0 (uniform) to 20");
        }
        if self.object.0 < 8 || self.object > self.size || !self.object.0.is_multiple_of(8) {
            let remedy = format!("give a multiple of 8 bytes, at most --size, {}", self.size);
            return bad("object", &self.object.0, remedy);
        }
        Ok(())
    }
}

impl Program for Zipf {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.check()?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        let objects = region.len() / self.object.0;
        let more = format!("objects={objects} exponent={}", self.exponent);
        session.ready("zipf", &region, &more)?;
        let ranks = Ranks::new(objects, self.exponent);
        let shuffle = Shuffle::new(objects, self.common.seed);
        let (object, scattered) = (self.object.0, self.keys == Keys::Scattered);
        let did = drive(session, "zipf", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    let rank = ranks.rank(&mut rng) - 1;
                    let key = if scattered { shuffle.at(rank) } else { rank };
                    worker.read(key * object + rng.below(object));
                }
            }
        })?;
        session.done("zipf", &did, more)
    }
}
