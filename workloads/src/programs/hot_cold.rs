//! A hot set of known size in a larger footprint: what a knee of a curve is checked against.

use crate::{
    args::{Common, positive},
    drive::drive,
    error::{Result, bad},
    memory::{Region, index},
    registry::Program,
    session::Session,
};
use clap::{Args, ValueEnum};
use pagetide_access::generators::{Rng, scale, threshold};
use pagetide_types::{Bytes, UnitSize};

/// A hot set in a larger footprint: random reads, hot memory `ratio` times as often as cold
#[derive(Args, Clone, Debug)]
pub struct HotCold {
    /// Memory to use in all
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// How much of it is hot
    #[arg(long, value_name = "BYTES", default_value = "200M")]
    pub hot: Bytes,
    /// How much more rarely a cold unit is accessed than a hot one
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    pub ratio: f64,
    /// Where the hot set lies
    #[arg(long, value_enum, default_value_t = Place::Random)]
    pub place: Place,
    /// Size of the pieces of a randomly placed hot set: 4K or 2M
    #[arg(long, value_name = "SIZE", default_value = "2M")]
    pub granule: UnitSize,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// Where a hot set lies.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In one piece at the start of the memory.
    Contiguous,
    /// In granules all over the memory, chosen by the seed.
    Random,
}

/// Granules in order of heat.
struct Layout {
    granules: Vec<u32>,
    shift: u32,
}

impl Layout {
    fn new(args: &HotCold, len: u64) -> Result<Self> {
        let granule = args.granule;
        let count = len.div_ceil(granule.bytes().0);
        let Ok(count) = u32::try_from(count) else {
            return bad("granule", &granule, "too small for this --size; give --granule 2M");
        };
        let mut granules: Vec<u32> = (0..count).collect();
        if args.place == Place::Random {
            let mut rng = Rng::new(args.common.seed, u64::MAX);
            for last in (1..granules.len()).rev() {
                granules.swap(last, index(rng.below(last as u64 + 1)));
            }
        }
        Ok(Self { granules, shift: granule.shift() })
    }

    /// The place of byte `offset` in order of heat.
    #[inline]
    fn place(&self, offset: u64) -> u64 {
        let granule = u64::from(self.granules[index(offset >> self.shift)]);
        granule << self.shift | offset & ((1 << self.shift) - 1)
    }
}

impl HotCold {
    fn check(&self) -> Result<()> {
        self.common.check()?;
        positive("ratio", self.ratio, 1e12)?;
        let granule = self.granule.bytes();
        if self.ratio < 1.0 {
            return bad("ratio", &self.ratio, "cold memory would be the hotter; give 1 or more");
        }
        if self.hot.0 == 0 || self.hot > self.size {
            let remedy = format!("give more than 0 and at most --size, {}", self.size);
            return bad("hot", &self.hot, remedy);
        }
        for (argument, bytes) in [("hot", self.hot), ("size", self.size)] {
            if !bytes.0.is_multiple_of(granule.0) {
                let near = Bytes(bytes.0.next_multiple_of(granule.0).max(granule.0));
                let remedy = format!(
                    "not a multiple of --granule {}; give {}K or a smaller --granule",
                    self.granule,
                    near.0 >> 10
                );
                return bad(argument, &bytes.0, remedy);
            }
        }
        Ok(())
    }

    /// The probability that an access is a hot one.
    fn hot_share(&self, len: u64) -> f64 {
        let (hot, cold) = (self.hot.as_f64() * self.ratio, (len - self.hot.0) as f64);
        hot / (hot + cold)
    }
}

impl Program for HotCold {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.check()?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        let layout = Layout::new(self, region.len())?;
        let share = self.hot_share(region.len());
        let more = format!("hot={} ratio={} hot_share={share:.6}", self.hot.0, self.ratio);
        session.ready("hot-cold", &region, &more)?;
        let (is_hot, hot, cold) = (threshold(share), self.hot.0, region.len() - self.hot.0);
        let did = drive(session, "hot-cold", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    let (coin, word) = (rng.word(), rng.word());
                    let offset =
                        if coin < is_hot { scale(word, hot).0 } else { hot + scale(word, cold).0 };
                    worker.read(layout.place(offset));
                }
            }
        })?;
        session.done("hot-cold", &did, more)
    }
}
