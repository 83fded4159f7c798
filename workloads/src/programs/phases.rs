//! Working sets that change: what decay, windows and warm-up are tried on.
//!
//! `--sets 4 --every 4 --access sequential` is the program that favours LRU in AMP (TC 2020,
//! section 6.6); `--sizes 30G,60G,30G --every 300 --size 80G` the micro-test of the adaptive
//! migration decision.

use crate::{
    args::{Common, choice},
    error::Result,
    live::play,
    registry::Program,
    session::Session,
};
use clap::Args;
use pagetide_access::patterns::{self, Within};
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
    #[arg(long, value_parser = choice::<Within>(), default_value_t = Within::Random)]
    pub access: Within,
    /// Share of accesses that go anywhere in the memory
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub elsewhere: f64,
    /// The base pages of each working set lie all over the memory
    #[arg(long)]
    pub scattered: bool,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Program for Phases {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let Self { sets, set_size, sizes, every, access, elsewhere, scattered, .. } = self.clone();
        let count = if sizes.is_empty() { sets } else { sizes.len() as u64 };
        let pattern =
            patterns::Phases { sets, set_size, sizes, every, access, elsewhere, scattered };
        let more = |_: &_| format!("sets={count} every={every}");
        let (did, more) = play(session, "phases", &pattern, self.size, &self.common, more)?;
        session.done("phases", &did, more)
    }
}
