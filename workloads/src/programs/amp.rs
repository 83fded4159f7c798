//! The synthetic programs of AMP (TC 2020, section 6.6), which favour one policy each, and
//! their mixes: a selector of policies is judged by how soon its choice follows the change.
//!
//! What the paper leaves open, and how its published code differs, stands at the pattern.

use crate::{
    args::{Common, choice},
    error::Result,
    live::play,
    registry::Program,
    session::Session,
};
use clap::Args;
use pagetide_access::patterns::{self, Favour, Origin};
use pagetide_types::Bytes;

/// Runs programs that favour LRU, LFU or no policy, one after the other
#[derive(Args, Clone, Debug)]
pub struct Amp {
    /// Memory to use, a multiple of 64M
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Which programs, in order; the last one runs to the end
    #[arg(long, value_parser = choice::<Favour>(), value_name = "LIST", value_delimiter = ',', default_value = "lru,lfu")]
    pub favour: Vec<Favour>,
    /// Seconds of each program
    #[arg(long, value_name = "S", default_value_t = 200.0)]
    pub each: f64,
    /// Whose programs
    #[arg(long, value_parser = choice::<Origin>(), default_value_t = Origin::Text)]
    pub source: Origin,
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

impl Program for Amp {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let Self { favour, each, source, scale, cold, .. } = self.clone();
        let programs = favour.len();
        let pattern = patterns::Amp { favour, each, source, scale, cold };
        let more = |_: &_| format!("programs={programs} each={each}");
        let (did, more) = play(session, "amp", &pattern, self.size, &self.common, more)?;
        session.done("amp", &did, more)
    }
}
