//! A chain of dependent loads over a random cycle: latency and nothing else.

use crate::{
    args::Common,
    drive::drive,
    error::{Result, bad},
    memory::{Region, index},
    registry::Program,
    session::Session,
    stop::Stop,
};
use clap::Args;
use pagetide_access::generators::Rng;
use pagetide_types::Bytes;
use std::sync::atomic::Ordering;

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

/// Links all slots to one cycle, in place (Sattolo 1986).
fn link(region: &Region, slot: u64, seed: u64, stop: &Stop) {
    let (words, step) = (region.words(), slot / 8);
    let slots = region.len() / slot;
    let at = |i: u64| &words[index(i * step)];
    for i in 0..slots {
        at(i).store(i * slot, Ordering::Relaxed);
    }
    let mut rng = Rng::new(seed, u64::MAX);
    for i in (1..slots).rev() {
        let other = at(rng.below(i));
        let (mine, theirs) = (at(i).load(Ordering::Relaxed), other.load(Ordering::Relaxed));
        at(i).store(theirs, Ordering::Relaxed);
        other.store(mine, Ordering::Relaxed);
        if i % 65536 == 0 && stop.is_set() {
            break;
        }
    }
}

impl Program for PointerChase {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.common.check()?;
        let slot = self.slot.0;
        if slot < 8 || !slot.is_multiple_of(8) || slot > self.size.0 {
            let remedy = format!("give a multiple of 8 bytes, at most --size, {}", self.size);
            return bad("slot", &slot, remedy);
        }
        let region = Region::of(self.size, &self.common, &session.stop)?;
        link(&region, slot, self.common.seed, &session.stop);
        let slots = region.len() / slot;
        session.ready("pointer-chase", &region, format_args!("slots={slots}"))?;
        let did = drive(session, "pointer-chase", &self.common, &region, |worker| {
            let mut at = slots * u64::from(worker.number) / u64::from(worker.threads) * slot;
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    at = worker.read(at);
                }
            }
        })?;
        let ns = did.seconds * f64::from(self.common.threads) / did.accesses as f64 * 1e9;
        session.done("pointer-chase", &did, format_args!("ns_per_access={ns:.2}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::UnitSize;

    #[test]
    fn is_one_cycle_over_all_slots() {
        for size in [4096, 1 << 20] {
            let region = Region::map(Bytes(size), UnitSize::Base).unwrap();
            link(&region, 64, 5, &Stop::default());
            let next = |at: u64| region.words()[index(at / 8)].load(Ordering::Relaxed);
            let (mut at, mut steps, mut near) = (next(0), 1, 0);
            while at != 0 && steps <= size / 64 {
                let to = next(at);
                near += u64::from(to.abs_diff(at) <= 64);
                (at, steps) = (to, steps + 1);
            }
            assert_eq!(steps, size / 64);
            assert!(near < 20, "{near} steps lead to a neighbour");
        }
    }
}
