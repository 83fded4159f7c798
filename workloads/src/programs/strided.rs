//! Reads in order: every unit the same, the next one always known. The least favourable
//! pattern for a policy that goes by recency.

use crate::{
    args::Common,
    drive::drive,
    error::{Result, bad},
    memory::Region,
    registry::Program,
    session::Session,
};
use clap::Args;
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
        self.common.check()?;
        if self.stride.0 < 8 || self.stride > self.size {
            let remedy = format!("give at least 8 and at most --size, {}", self.size);
            return bad("stride", &self.stride.0, remedy);
        }
        let (stride, threads) = (self.stride.0, u64::from(self.common.threads));
        if self.size.0 / stride < threads {
            return bad("threads", &threads, "more than there are strides; give fewer");
        }
        let region = Region::of(self.size, &self.common, &session.stop)?;
        let more = format!("stride={}", self.stride.0);
        session.ready("strided", &region, &more)?;
        // Every thread reads a part of its own in order.
        let steps = region.len().div_ceil(stride);
        let did = drive(session, "strided", &self.common, &region, |worker| {
            let part = u64::from(worker.number);
            let (first, end) = (steps * part / threads, steps * (part + 1) / threads);
            let mut step = first;
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    worker.read(step * stride);
                    step += 1;
                    if step == end {
                        step = first;
                    }
                }
            }
        })?;
        session.done("strided", &did, more)
    }
}
