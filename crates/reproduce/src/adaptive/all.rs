//! The table that no paper has: all systems that run on base pages, all programs, three sizes of DRAM, on
//! the same accesses.

use super::runs::{
    ADAPTIVE, GUARDED, LINUX, MEMTIS, MEMTIS_2, NOMAD, NONE, PAGETIDE, System, TPP, TPP_MOD, grid,
    programs, threads,
};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "all",
    title: "all systems, all programs, three sizes of DRAM",
    source: "ours",
    slow: true,
    run,
};

const REFAULT: System = System::of("Refault distance", "name = \"refault-distance\"");
const GOVERNED: System =
    System::of("TPP-mod, governed", "name = \"tpp-mod\"\ngovernor = \"adaptive\"");
const LFU: System = System::of("LFU", "name = \"lfu\"");
const AMP: System = System::of("AMP", "name = \"amp\"");
const SYSTEMS: [System; 14] = [
    NONE, PAGETIDE, LINUX, TPP, TPP_MOD, GOVERNED, REFAULT, NOMAD, MEMTIS, MEMTIS_2, ADAPTIVE,
    GUARDED, LFU, AMP,
];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let systems = if context.small { &SYSTEMS[..4] } else { &SYSTEMS };
    let found = grid(context, threads(context), &programs(context), systems)?;
    let mut outcome = Outcome::default();
    for system in &systems[1..] {
        let what = format!("{}: speed-up over no migration, geometric mean", system.name);
        let mean = geomean(found.speedups(*system, NONE));
        outcome.rows.push(Row::new(what, "x", mean));
    }
    let worst = |shares: Vec<f64>| shares.into_iter().fold(f64::INFINITY, f64::min);
    for system in systems {
        let what = format!("{}: of the best system of a row, at worst", system.name);
        outcome.rows.push(Row::new(what, "%", 100.0 * worst(found.of_best(*system))));
    }
    for ((program, gb, rates), share) in found.rows.iter().zip(found.of_best(PAGETIDE)) {
        let best = systems.iter().zip(rates).max_by(|one, other| one.1.total_cmp(other.1));
        let best = best.map_or("", |(system, _)| system.name);
        let what = format!("{}, {gb} GB: best is {best}; Pagetide of it", program.name);
        outcome.rows.push(Row::new(what, "%", 100.0 * share));
    }
    let near = found.of_best(PAGETIDE).into_iter().filter(|share| *share >= 0.98).count();
    let what = format!("Pagetide: 2 % behind the best at most, of {} rows", found.rows.len());
    outcome.rows.push(Row::new(what, "", near as f64));
    let least = worst(found.speedups(PAGETIDE, NONE));
    outcome.rows.push(Row::new("Pagetide: speed-up over no migration, at worst", "x", least));
    found.draw(&mut outcome);
    Ok(outcome)
}
