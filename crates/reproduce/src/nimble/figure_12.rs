//! Figure 12: the six configurations end to end, half of the memory fast.

use super::calibration::table;
use super::programs::{PROGRAMS, Program, Variant, scenario};
use crate::simulated::{geomean, simulate};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "12",
    title: "six configurations end to end, 16 of 32 GiB fast",
    source: "section 4.3",
    slow: true,
    run,
};

/// What moves figure 12: with three misses under way a core waits for latency, and two tiers do not
/// add up their bandwidth.
pub(super) const LATENCY: Figure = Figure {
    id: "12-latency",
    title: "figure 12 on cores with 3 misses under way in place of 10",
    source: "section 4.3",
    slow: true,
    run: |context| on_machine(context, |machine| machine["core"]["outstanding"] = 3.into()),
};

/// The other one: threads whose slices are fast do not wait for those whose are slow.
pub(super) const INDEPENDENT: Figure = Figure {
    id: "12-independent",
    title: "figure 12 with threads that do not meet at the end of a loop",
    source: "section 4.3",
    slow: true,
    run: |context| configurations(context, &Variant { independent: true, ..Variant::default() }),
};

/// Walks of page tables that lie in memory: 25 MiB of last cache, which data shares.
pub(super) const WALKS: Figure = Figure {
    id: "12-walks",
    title: "figure 12 with page tables that do not stay in the last cache",
    source: "section 4.3",
    slow: true,
    run: |context| {
        on_machine(context, |machine| {
            let tlb = machine.get_mut("tlb").and_then(toml::Value::as_table_mut);
            tlb.map(|tlb| tlb.insert("last_cache".into(), "25M".into()));
        })
    },
};

/// What moves its outlier: how many pairs of base pages are exchanged at a time.
pub(super) const BATCHES: Figure = Figure {
    id: "12-batches",
    title: "figure 12's exchanged base pages with smaller batches",
    source: "section 4.3",
    slow: true,
    run: run_batches,
};

const OF_BATCHES: &str =
    "512 pairs are unmapped at a time, and who meets one of them waits: 12-batches";
pub(super) const OF_BASE: &str =
    "page walks always find their last entry in a cache: where data pushes it out, 12-walks";

/// A configuration: its name in the paper, the system, and the gain over All Remote, percent.
pub(super) const CONFIGURATIONS: [(&str, &str, f64); 6] = [
    ("All Remote", "all-slow", 0.0),
    ("Base Page Migration", "nimble-base", 9.0),
    ("Opt. Exchange Base Pages", "nimble-exchange-base", 16.0),
    ("THP Migration", "nimble-huge", 31.0),
    ("Opt. Exchange Pages", "nimble-exchange-huge", 48.0),
    ("All Local", "all-fast", 100.0),
];

/// The programs that a context asks for.
pub(super) fn programs(context: &Context) -> &'static [Program] {
    if context.small { &PROGRAMS[1..3] } else { &PROGRAMS }
}

/// Accesses a second of each program under each system, by system and program; `system` is the
/// rest of a scenario's `[system]`.
pub(super) fn performance(
    context: &Context,
    id: &str,
    fast_gib: f64,
    systems: &[String],
    variant: &Variant,
) -> Result<Vec<Vec<f64>>, ReproduceError> {
    let programs = programs(context);
    let texts: Vec<String> = systems
        .iter()
        .flat_map(|system| {
            programs
                .iter()
                .map(move |one| scenario(one, (context.scale, fast_gib), system, variant))
        })
        .collect();
    let found = simulate(context, &format!("nimble/{id}"), &texts)?;
    let of = |(at, values): (usize, &crate::Values)| {
        let name = format!("{}.accesses_per_s", programs[at % programs.len()].name);
        values.get(&name).copied().ok_or(ReproduceError::Missing(name))
    };
    let all: Vec<f64> = found.iter().enumerate().map(of).collect::<Result<_, _>>()?;
    Ok(all.chunks(programs.len()).map(<[f64]>::to_vec).collect())
}

/// Speed-ups of each program over the first row.
pub(super) fn speedups(performance: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let over = |row: &Vec<f64>| row.iter().zip(&performance[0]).map(|(a, b)| a / b).collect();
    performance.iter().map(over).collect()
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    configurations(context, &Variant::default())
}

/// On the paper's machine after a change.
fn on_machine(
    context: &Context,
    change: impl FnOnce(&mut toml::Table),
) -> Result<Outcome, ReproduceError> {
    let machine = Some(table(change)?);
    configurations(context, &Variant { machine, ..Variant::default() })
}

fn run_batches(context: &Context) -> Result<Outcome, ReproduceError> {
    let together = [8, 64, 512];
    let batches =
        together.map(|pairs| format!("name = \"nimble-exchange-base\"\ntogether = {pairs}"));
    let systems = [&["name = \"all-slow\"".to_owned()], &batches[..]].concat();
    let found = performance(context, "end-to-end", 16.0, &systems, &Variant::default())?;
    let mut outcome = Outcome::default();
    for (pairs, row) in together.iter().zip(&speedups(&found)[1..]) {
        let what = format!("{pairs} pairs at a time: gain over All Remote");
        let gain = 100.0 * (geomean(row.iter().copied()) - 1.0);
        outcome.rows.push(Row::new(what, "%", gain).published(16.0, Tolerance::Ratio(1.5)));
    }
    Ok(outcome)
}

fn configurations(context: &Context, variant: &Variant) -> Result<Outcome, ReproduceError> {
    let mut systems = CONFIGURATIONS.map(|(_, system, _)| system).to_vec();
    // First touch alone.
    systems.push("no-migration");
    let systems: Vec<String> = systems.iter().map(|name| format!("name = \"{name}\"")).collect();
    let mut found = speedups(&performance(context, "end-to-end", 16.0, &systems, variant)?);
    let still = geomean(found.pop().unwrap_or_default());
    let mean: Vec<f64> = found.iter().map(|row| geomean(row.iter().copied())).collect();
    let mut outcome = Outcome::default();
    for ((name, _, gain), mean) in CONFIGURATIONS.iter().zip(&mean).skip(1) {
        let ours = 100.0 * (mean - 1.0);
        let row = Row::new(format!("{name}: gain over All Remote"), "%", ours);
        let row = row.published(*gain, Tolerance::Ratio(1.5));
        outcome.rows.push(match *name {
            "Opt. Exchange Base Pages" => row.why(OF_BATCHES),
            "Base Page Migration" => row.why(OF_BASE),
            _ => row,
        });
    }
    let what = "first touch, nothing moves: gain over All Remote";
    outcome.rows.push(Row::new(what, "%", 100.0 * (still - 1.0)));
    for (at, share) in [(3, 68.0), (4, 77.0)] {
        let what = format!("{} of All Local", CONFIGURATIONS[at].0);
        let row = Row::new(what, "%", 100.0 * mean[at] / mean[5]);
        outcome.rows.push(row.published(share, Tolerance::Ratio(1.5)));
    }
    let ordered = mean.windows(2).filter(|pair| pair[0] < pair[1]).count();
    outcome.rows.push(Row::new("configurations in the paper's order", "of 5", ordered as f64));
    let below = found[1].iter().filter(|speedup| **speedup < 1.0).count();
    outcome.rows.push(
        Row::new("programs that base pages make slower than All Remote", "", below as f64)
            .published(3.0, Tolerance::None),
    );
    for ((name, ..), row) in CONFIGURATIONS.iter().zip(&found) {
        let points = programs(context).iter().map(|program| program.name).zip(row.iter().copied());
        let mean = geomean(row.iter().copied());
        let series = Series::new(*name, "", "speed-up over All Remote").points(points);
        outcome.series.push(series.point("geomean", mean));
    }
    outcome.notes.push("the programs are models [I]: see nimble/programs.rs".into());
    Ok(outcome)
}
