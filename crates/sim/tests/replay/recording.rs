//! The same program, counted exactly: every access of every unit in every epoch, as
//! `record --exact` counts them, at the pace that it has with all memory fast.

use crate::programs::{EPOCHS, INTERVAL_S, MEMORY, Pace, scenario};
use pagetide_access::patterns::Setup;
use pagetide_types::{EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
use std::time::Duration;

/// Accesses that a simulated program is asked for at a time; so the phases of both are the same.
const BATCH: u32 = 64;

/// Its epochs, with their lengths in seconds.
pub(crate) fn record(pattern: &str, ns_per_access: f64) -> Vec<(EpochHeat, f64)> {
    let scenario = scenario(pattern, Pace::OfMemory, None, 1.0);
    let setup = Setup::new(MEMORY, 1, scenario.seed).unwrap();
    let mut source = scenario.tenants[0].pattern.as_ref().unwrap().build(&setup).unwrap().sources;
    let units = usize::try_from(MEMORY.0 >> 21).unwrap();
    let mut counts = vec![vec![0u32; units]; EPOCHS];
    let (mut steps, mut accesses) = (Vec::new(), 0u64);
    loop {
        let now_s = accesses as f64 * ns_per_access * 1e-9;
        let epoch = (now_s / INTERVAL_S) as usize;
        let Some(counts) = counts.get_mut(epoch) else { break };
        steps.clear();
        source[0].take(BATCH, Duration::from_secs_f64(now_s), &mut steps);
        accesses += steps.len() as u64;
        steps.iter().for_each(|step| counts[(step.offset >> 21) as usize] += 1);
    }
    (0..).zip(&counts).map(|(epoch, counts)| (heat(epoch, counts), INTERVAL_S)).collect()
}

fn heat(epoch: u32, counts: &[u32]) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(epoch));
    for (unit, count) in (0..).zip(counts) {
        let seen = *count > 0;
        let accessed = if seen { HeatFlags::ACCESSED } else { HeatFlags::default() };
        heat.push(HeatRow {
            unit: UnitId(unit),
            rate: (f64::from(*count) / INTERVAL_S) as f32,
            flags: HeatFlags::SAMPLED | HeatFlags::HUGE | accessed,
            pages: 512,
            watched: 512,
            touched: if seen { 512 } else { 0 },
            node: NodeId(0),
        });
    }
    heat
}
