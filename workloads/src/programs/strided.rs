//! Reads in order: every unit the same, the next one always known. The least favourable
//! pattern for a policy that goes by recency.

use crate::{args::Common, error::Result, live::play, registry::Program, session::Session};
use clap::Args;
use pagetide_access::patterns;
use pagetide_types::Bytes;

/// Reads in order at a fixed distance, from the first byte to the last, again and again
#[derive(Args, Clone, Debug)]
pub struct Strided {
    /// Memory to use
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Distance between accesses
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub stride: Bytes,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Program for Strided {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let pattern = patterns::Strided { stride: self.stride };
        let more = |_: &_| format!("stride={}", self.stride.0);
        let (did, more) = play(session, "strided", &pattern, self.size, &self.common, more)?;
        session.done("strided", &did, more)
    }
}
