//! Giga-updates per second: the HPC Challenge's RandomAccess, the worst case for caches.

use crate::{args::Common, error::Result, live::play, registry::Program, session::Session};
use clap::Args;
use pagetide_access::patterns;
use pagetide_types::Bytes;

/// Reads, changes and writes back words at random; one update counts as one access
#[derive(Args, Clone, Debug)]
pub struct Gups {
    /// Memory to use
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Program for Gups {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let (pattern, no_more) = (patterns::Gups, |_: &_| String::new());
        let (did, _) = play(session, "gups", &pattern, self.size, &self.common, no_more)?;
        let gups = did.accesses as f64 / did.seconds / 1e9;
        session.done("gups", &did, format_args!("gups={gups:.4}"))
    }
}
