//! Giga-updates per second: the HPC Challenge's RandomAccess, the worst case for caches.

use crate::{
    args::Common, drive::drive, error::Result, memory::Region, registry::Program, session::Session,
};
use clap::Args;
use pagetide_access::generators::Rng;
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
        self.common.check()?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        session.ready("gups", &region, "")?;
        let len = region.len();
        let did = drive(session, "gups", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    let word = rng.word();
                    worker.update(rng.below(len), |value| value ^ word);
                }
            }
        })?;
        let gups = did.accesses as f64 / did.seconds / 1e9;
        session.done("gups", &did, format_args!("gups={gups:.4}"))
    }
}
