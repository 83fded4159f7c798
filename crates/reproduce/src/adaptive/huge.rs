//! The programs of `all` in huge pages, under the systems that move these whole. Adaptive and those that it is compared with move
//! base pages.

use super::programs::Program;
use super::runs::{MEMTIS_2, NONE, PAGETIDE, System, programs, simulate, threads, value};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "huge",
    title: "all programs in huge pages, 32 GB of DRAM, memory and times a quarter as small",
    source: "ours",
    slow: true,
    run,
};

const DRAM_GB: u32 = 32;
/// At the usual scale DRAM is 16 huge pages.
const LARGER: u32 = 4;

const LFU: System = System::of("LFU", "name = \"lfu\"");
const AMP: System = System::of("AMP", "name = \"amp\"");
const SYSTEMS: [System; 5] = [NONE, PAGETIDE, MEMTIS_2, LFU, AMP];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let systems = if context.small { &SYSTEMS[..2] } else { &SYSTEMS };
    let what = ((context.scale / LARGER).max(1), threads(context), DRAM_GB);
    let programs = programs(context);
    let of = |program: &&'static Program| {
        let program = *program;
        systems.iter().map(move |system| program.in_huge_pages(what, *system))
    };
    let texts: Vec<String> = programs.iter().flat_map(of).collect();
    let found = simulate(context, &texts, false)?;
    let mut outcome = Outcome::default();
    // By program, how many times faster than without migration by system.
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for row in found.chunks(systems.len()) {
        let rates: Vec<f64> =
            row.iter().map(|one| value(one, "accesses_per_s")).collect::<Result<_, _>>()?;
        rows.push(rates.iter().map(|rate| rate / rates[0]).collect());
    }
    for (at, system) in systems.iter().enumerate().skip(1) {
        let what = format!("{}: speed-up over no migration, geometric mean", system.name);
        outcome.rows.push(Row::new(what, "x", geomean(rows.iter().map(|row| row[at]))));
    }
    for (program, row) in programs.iter().zip(&rows) {
        for (system, speedup) in systems.iter().zip(row).skip(1) {
            let what = format!("{}, {}: speed-up over no migration", program.name, system.name);
            outcome.rows.push(Row::new(what, "x", *speedup));
        }
    }
    let of_best = rows.iter().map(|row| row[1] / row.iter().copied().fold(0.0, f64::max));
    let worst = of_best.fold(f64::INFINITY, f64::min);
    outcome.rows.push(Row::new("Pagetide: of the best of a row, at worst", "%", 100.0 * worst));
    outcome.notes.push("the programs are models [I]: see adaptive/programs.rs".into());
    outcome.notes.push("MEMTIS does without splitting huge pages".into());
    Ok(outcome)
}
