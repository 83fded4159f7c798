//! Random reads without any preference: no policy can do better than chance.

use crate::{
    args::Common, drive::drive, error::Result, memory::Region, registry::Program, session::Session,
};
use clap::Args;
use pagetide_access::generators::Rng;
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
        self.common.check()?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        session.ready("uniform", &region, "")?;
        let len = region.len();
        let did = drive(session, "uniform", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    worker.read(rng.below(len));
                }
            }
        })?;
        session.done("uniform", &did, "")
    }
}
