//! Programs that nothing here was made for: written down, and committed, before any of them was run. Their structure is
//! taken from the algorithms' public descriptions, as that of the paper's seven is [I].

use super::programs::{Program, SECONDS};
use super::runs::{MEMTIS_2, MEMTIS_CHEAP, NONE, PAGETIDE, System, simulate, threads, value};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "unseen",
    title: "programs and seeds that nothing was tuned on, 32 GB of DRAM",
    source: "ours",
    slow: true,
    run,
};

const DRAM_GB: u32 = 32;
const SEEDS: u32 = 2;
const LFU: System = System::of("LFU", "name = \"lfu\"");
/// As Nimble moves base pages.
const LFU_BASE: System = System::of("LFU, 512 pairs together", "name = \"lfu\"\ntogether = 512");
const SYSTEMS: [System; 6] = [NONE, PAGETIDE, LFU, LFU_BASE, MEMTIS_2, MEMTIS_CHEAP];

const PROGRAMS: [Program; 4] = [
    // NAS CG, class E: a sparse matrix in rows, gone through once an iteration, and for each value (12 bytes with its
    // column) an element of a vector of 72 MB, of which the caches have half. What the matrix was built from lies
    // first, and is not read again.
    Program {
        name: "CG",
        memory_gb: 84.0,
        friendly_from: None,
        compute_ns: 6.0,
        loop_gb: Some(57.0),
        parts: r#"
part = [
  { name = "construction", from = 0, to = 0.31, weight = 0.01, walk = "sequential" },
  { name = "matrix", from = 0.31, to = 0.995, weight = 1, walk = "sequential" },
  { name = "vectors", from = 0.995, to = 1, weight = 2.7, walk = "random", writes = 0.1 },
]"#,
    },
    // NAS MG, between classes D and E: V-cycles over three arrays, u and r at all levels, v at the finest. Of the finest
    // level a cycle goes through u four times, r five times and v once; all coarser levels are a seventh of it.
    Program {
        name: "MG",
        memory_gb: 75.0,
        friendly_from: None,
        compute_ns: 10.0,
        loop_gb: Some(2.0),
        parts: r#"
part = [
  { name = "u", from = 0, to = 0.304, weight = 1.216, walk = "sequential", writes = 0.4 },
  { name = "u, coarse", from = 0.304, to = 0.348, weight = 0.176, walk = "sequential", writes = 0.4 },
  { name = "v", from = 0.348, to = 0.652, weight = 0.304, walk = "sequential" },
  { name = "r", from = 0.652, to = 0.956, weight = 1.52, walk = "sequential", writes = 0.3 },
  { name = "r, coarse", from = 0.956, to = 1, weight = 0.22, walk = "sequential", writes = 0.3 },
]"#,
    },
    // XSBench, look-ups in a unionized grid: a search for the energy, whose upper levels the caches have; some lines of
    // a row of indices; for some fifty nuclides two neighbouring points of their grids. These are made first, so that
    // first touch has them in DRAM.
    Program {
        name: "XSBench",
        memory_gb: 78.0,
        friendly_from: None,
        compute_ns: 15.0,
        loop_gb: None,
        parts: r#"
part = [
  { name = "nuclides' grids", from = 0, to = 0.05, weight = 80, walk = "random" },
  { name = "energies", from = 0.05, to = 0.07, weight = 4, walk = "chase" },
  { name = "indices", from = 0.07, to = 1, weight = 10, walk = "random", run = 5 },
]"#,
    },
    // GAP's BFS, which changes its direction: from the top few out-edges are read, from the bottom in-edges of what was
    // not reached yet, until one has a parent; both a few lines at a time. One search after the other.
    Program {
        name: "BFS",
        memory_gb: 70.0,
        friendly_from: None,
        compute_ns: 5.0,
        loop_gb: Some(4.0),
        parts: r#"
part = [
  { name = "out-edges", from = 0, to = 0.47, weight = 1, walk = "random", run = 2 },
  { name = "in-edges", from = 0.47, to = 0.94, weight = 1, walk = "random", run = 2 },
  { name = "offsets", from = 0.94, to = 0.97, weight = 1, walk = "sequential" },
  { name = "parents", from = 0.97, to = 1, weight = 2, walk = "random", writes = 0.3 },
]
phase = [
  { seconds = 2, weights = { "in-edges" = 0 } },
  { seconds = 4, weights = { "out-edges" = 0 } },
]"#,
    },
];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let (systems, programs, seeds) = if context.small {
        (&SYSTEMS[..2], &PROGRAMS[..1], 1)
    } else {
        (&SYSTEMS[..], &PROGRAMS[..], SEEDS)
    };
    let what = (context.scale, threads(context), DRAM_GB);
    let mut texts = Vec::new();
    for program in programs {
        for seed in 0..seeds {
            let text = |system: &System| program.lasting(SECONDS, what, *system);
            texts.extend(systems.iter().map(|system| format!("seed = {seed}\n{}", text(system))));
        }
    }
    let found = simulate(context, &texts, false)?;
    // By program and seed: how many times faster than without migration, by system.
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for row in found.chunks(systems.len()) {
        let rates: Vec<f64> =
            row.iter().map(|one| value(one, "accesses_per_s")).collect::<Result<_, _>>()?;
        rows.push(rates.iter().map(|rate| rate / rates[0]).collect());
    }
    let mut outcome = Outcome::default();
    for (at, system) in systems.iter().enumerate().skip(1) {
        let what = format!("{}: speed-up over no migration, geometric mean", system.name);
        outcome.rows.push(Row::new(what, "x", geomean(rows.iter().map(|row| row[at]))));
    }
    for (program, rows) in programs.iter().zip(rows.chunks(seeds as usize)) {
        for (at, system) in systems.iter().enumerate().skip(1) {
            let what = format!("{}, {}: speed-up, mean of the seeds", program.name, system.name);
            let mean = geomean(rows.iter().map(|row| row[at]));
            outcome.rows.push(Row::new(what, "x", mean));
        }
    }
    let of_best = rows.iter().map(|row| row[1] / row.iter().copied().fold(0.0, f64::max));
    let worst = of_best.fold(f64::INFINITY, f64::min);
    outcome.rows.push(Row::new("Pagetide: of the best of a row, at worst", "%", 100.0 * worst));
    outcome.notes.push("the programs are models [I]: see adaptive/unseen.rs".into());
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_sim::scenario::parse;

    #[test]
    fn every_program_is_a_scenario() {
        for program in PROGRAMS {
            let text = program.lasting(SECONDS, (1024, 24, DRAM_GB), PAGETIDE);
            parse(&text, program.name).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
}
