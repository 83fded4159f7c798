//! Figure 4: the two lists over both scan ratios. The paper measures run times on emulated slow
//! memory; here recordings are replayed, and a machine model puts a price on misses and moves.

use super::{Result, wrong};
use crate::ReproduceError;
use pagetide_machine::Machine;
use pagetide_policy::PolicySpec;
use pagetide_replay::{CostFacts, CostModel, CpuCache, Overview, ReplayOptions, replay};
use pagetide_trace::Recording;
use pagetide_types::Bytes;
use std::fmt::Write as _;

/// Percent, as in the figure.
pub(crate) const RATIOS: [u32; 6] = [0, 20, 40, 60, 80, 100];
/// What stands beside the lists: `amp` decides every 5 s, as they do, `clairvoyant` every epoch.
const OTHERS: [&str; 2] = ["amp", "clairvoyant"];
/// Of the footprint, as in the figure.
const FAST: f64 = 0.5;

/// One line per pair of ratios, and per other policy: see [`HEADER`].
pub(crate) fn lines(name: &str, recording: &Recording) -> Result<String> {
    let machine = Machine::load("amp")?;
    let cache = CpuCache::of(&machine);
    let info = Overview::read(recording, 20, cache)?;
    let grid = RATIOS.iter().flat_map(|active| RATIOS.map(|inactive| (*active, inactive)));
    let mut asked: Vec<(String, String)> = grid
        .map(|(active, inactive)| {
            let options = format!("active={active},inactive={inactive}");
            (format!("two-lists:{options}"), format!("two-lists,{active},{inactive}"))
        })
        .collect();
    asked.extend(OTHERS.map(|name| (name.to_owned(), format!("{name},,"))));
    let specs: Vec<PolicySpec> =
        asked.iter().map(|(spec, _)| spec.parse()).collect::<std::result::Result<_, _>>()?;
    let options = ReplayOptions {
        unit: info.facts.unit,
        footprint: info.peak_bytes,
        first_epoch: info.warm_up.epochs,
        ran_before: !recording.header().began_with_target,
        capacities: 10,
        ..ReplayOptions::default()
    };
    let epochs = std::iter::zip(recording.heat(), recording.epochs()).map(|(heat, epoch)| {
        let mut heat = heat?;
        cache.filter(&mut heat, epoch.target_cpu_s / epoch.length_s);
        Ok::<_, ReproduceError>((heat, epoch.length_s))
    });
    let replayed = replay(epochs, &specs, options)?;
    let facts = CostFacts {
        target_cpu_s: info.facts.target_cores * info.facts.seconds,
        stall_share: info.facts.stall_share,
    };
    let model = CostModel::new(&machine, &facts, None);
    let mut text = String::new();
    for ((_, label), replayed) in asked.iter().zip(&replayed) {
        let curve = &replayed.curve;
        let fast = info.peak_bytes.as_f64() * FAST;
        let far = |i: &usize| (curve.capacity(*i).as_f64() - fast).abs();
        let exact = (0..curve.fast_accesses.len()).filter(|i| curve.is_exact(*i));
        let at = exact
            .min_by(|a, b| far(a).total_cmp(&far(b)))
            .ok_or_else(|| wrong("an empty curve"))?;
        let slowdown = model.slowdown(curve, at);
        let moved = Bytes(curve.promoted[at] + curve.demoted[at]).as_f64() / f64::from(1 << 20);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name},{label},{:.4},{:.3},{:.4},{:.4}",
            curve.hit_ratio(at),
            moved / curve.seconds,
            1.0 / (1.0 + slowdown.high),
            1.0 / (1.0 + slowdown.low),
        );
    }
    Ok(text)
}

/// The columns of [`lines`]: hits are the share of the accesses past the CPU caches that fast
/// memory serves; performance is that with all memory fast divided by the slowdown's two ends.
pub(crate) const HEADER: &str =
    "recording,policy,active,inactive,hits,moved_mib_per_s,performance_low,performance_high";
