//! Random reads without any preference: no policy can do better than chance.

use crate::{args::Common, error::Result, live::play, registry::Program, session::Session};
use clap::Args;
use pagetide_access::patterns;
use pagetide_types::Bytes;

/// Reads words at random, every word as often as any other
#[derive(Args, Clone, Debug)]
pub struct Uniform {
    /// Memory to use
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Program for Uniform {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let (pattern, no_more) = (patterns::Uniform, |_: &_| String::new());
        let (did, _) = play(session, "uniform", &pattern, self.size, &self.common, no_more)?;
        session.done("uniform", &did, "")
    }
}
