//! Figure 10: all programs under all systems, at three sizes of DRAM.

use super::programs::Program;
use super::runs::{
    ADAPTIVE, GUARDED, Grid, LINUX, MEMTIS, MEMTIS_2, NOMAD, NONE, System, TPP, TPP_MOD, grid,
    programs, threads,
};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "10",
    title: "seven programs under nine systems, 16, 32 and 48 GB of DRAM",
    source: "section 5.3",
    slow: true,
    run,
};

const SYSTEMS: [System; 9] =
    [NONE, LINUX, TPP, TPP_MOD, NOMAD, MEMTIS, MEMTIS_2, GUARDED, ADAPTIVE];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = grid(context, threads(context), &programs(context), &SYSTEMS)?;
    let mut outcome = Outcome { rows: rows(&found), ..Outcome::default() };
    found.draw(&mut outcome);
    outcome.series.push(found.stops());
    outcome.notes.push(
        "published: 14.8 % and 36.0 % over NOMAD, the conclusion says the former of friendly programs, the introduction of \
         unfriendly ones; so neither is held against ours"
            .into(),
    );
    outcome.notes.push(
        "published in words: Liblinear gains by every system but MEMTIS, which also slows FT down"
            .into(),
    );
    outcome.notes.push("MEMTIS does without splitting huge pages; all memory is base pages".into());
    Ok(outcome)
}

/// What the text tells; of what a small set lacks there is no row.
fn rows(found: &Grid) -> Vec<Row> {
    let of = |name: &'static str, size: Option<u32>| {
        move |program: &Program, dram_gb| {
            program.name == name && size.is_none_or(|size| size == dram_gb)
        }
    };
    let friendly = |wanted| move |program: &Program, dram_gb| program.friendly(dram_gb) == wanted;
    let gains = [
        (
            "Liblinear at 48 GB: gain over no migration",
            found.mean((ADAPTIVE, NONE), of("Liblinear", Some(48))),
            54.0,
        ),
        ("FT: gain over no migration", found.mean((ADAPTIVE, NONE), of("FT", None)), 13.0),
        ("FT: MEMTIS's gain over no migration", found.mean((MEMTIS, NONE), of("FT", None)), -20.0),
    ];
    let means = [
        ("friendly programs: gain over NOMAD", (ADAPTIVE, NOMAD), true),
        ("unfriendly programs: gain over NOMAD", (ADAPTIVE, NOMAD), false),
        ("friendly programs: gain of the guarded one over NOMAD", (GUARDED, NOMAD), true),
        ("unfriendly programs: gain of the guarded one over NOMAD", (GUARDED, NOMAD), false),
        ("friendly programs: gain over no migration", (ADAPTIVE, NONE), true),
        ("unfriendly programs: gain over no migration", (ADAPTIVE, NONE), false),
        ("friendly programs: gain of the guarded one over no migration", (GUARDED, NONE), true),
        ("unfriendly programs: gain of the guarded one over no migration", (GUARDED, NONE), false),
    ];
    let beside = means.into_iter().filter_map(|(what, systems, wanted)| {
        Some(Row::new(what, "%", 100.0 * (found.mean(systems, friendly(wanted))? - 1.0)))
    });
    let row = |(what, speedup, published): (&str, Option<f64>, f64)| {
        let row = Row::new(what, "%", 100.0 * (speedup? - 1.0));
        Some(row.published(published, Tolerance::Ratio(1.5)))
    };
    let slower = found.mean((NONE, NOMAD), of("PageRank", Some(16))).map(|slower| {
        let row = Row::new("PageRank at 16 GB: NOMAD's time over no migration's", "x", slower);
        row.published(13.0, Tolerance::Ratio(2.0))
    });
    gains.into_iter().filter_map(row).chain(slower).chain(beside).collect()
}
