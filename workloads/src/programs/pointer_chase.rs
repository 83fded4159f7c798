//! A chain of dependent loads over a random cycle: latency and nothing else.

use crate::{args::Common, error::Result, live::play, registry::Program, session::Session};
use clap::Args;
use pagetide_access::patterns::{self, Setup};
use pagetide_types::Bytes;

/// Follows one random cycle through all slots of the memory; each load gives the next address
#[derive(Args, Clone, Debug)]
pub struct PointerChase {
    /// Memory to use
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Size of a slot: one pointer lies in each
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub slot: Bytes,
    /// See [`Common`]; each thread follows a chain of its own, from its own place in the cycle.
    #[command(flatten)]
    pub common: Common,
}

impl Program for PointerChase {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let pattern = patterns::PointerChase { slot: self.slot };
        let more = |setup: &Setup| format!("slots={}", pattern.slots(setup.size()));
        let (did, _) = play(session, "pointer-chase", &pattern, self.size, &self.common, more)?;
        let ns = did.seconds * f64::from(self.common.threads) / did.accesses as f64 * 1e9;
        session.done("pointer-chase", &did, format_args!("ns_per_access={ns:.2}"))
    }
}
