//! The patterns beside what the programs' misses look like when they are measured (Table 2 of the paper
//! names the programs). Nothing of this is published in the paper: "published" are the measured figures.

use super::measured::{MEASURED, Measured};
use super::runs::value;
use super::statistics::{EPOCHS, Statistics};
use crate::{Context, Figure, Key, Outcome, ReproduceError, Row, Tolerance, Values};
use pagetide_machine::PoolMachine;
use pagetide_sim::pool::scenario::{ProgramSpec, model_of_program};
use pagetide_sim::pool::{Filtering, pass};

pub(super) const FIGURE: Figure = Figure {
    id: "programs",
    title: "The programs' misses: patterns beside what was measured of the programs",
    source: "Table 2; measured of the programs, not published",
    slow: true,
    run,
};

/// What is promised.
const WITHIN: Tolerance = Tolerance::Percent(20.0);
/// Instructions before the window.
const WARM_UP: u64 = 200_000_000;

/// A program of the paper, in the paper's size.
///
/// # Errors
/// It is none of them.
pub(super) fn named(name: &str) -> Result<ProgramSpec, ReproduceError> {
    Ok(match name {
        "lulesh" => ProgramSpec::Lulesh { edge: 120 },
        "simplemoc" => ProgramSpec::Simplemoc { regions: 15_000 },
        "pennant" => ProgramSpec::Pennant { zones: 160 * 1440 },
        "minife" => ProgramSpec::Minife { edge: 140 },
        "is" => ProgramSpec::Is { keys: 27, largest: 23 },
        _ => return Err(ReproduceError::Other(name.into())),
    })
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let all: Vec<&'static Measured> = if context.small {
        MEASURED.iter().filter(|measured| measured.name == "simplemoc").collect()
    } else {
        MEASURED.iter().collect()
    };
    let key = |measured: &&'static Measured| {
        let model = model_of_program(&named(measured.name)?);
        let key = Key::new("disaggregated/programs", model, 1).with("program", measured.name);
        Ok((key.with("window", window(context, measured)), *measured))
    };
    let points: Vec<(Key, &'static Measured)> =
        all.iter().map(key).collect::<Result<_, ReproduceError>>()?;
    let found = context.store.points(&points, |(_, measured)| look(context, measured))?;
    let mut outcome = Outcome::default();
    for (measured, values) in all.iter().zip(&found) {
        rows(measured, values, &mut outcome)?;
    }
    let arguments = all.iter().map(|of| format!("{} {}", of.name, of.arguments));
    outcome.notes.push(format!("measured: {}", arguments.collect::<Vec<_>>().join("; ")));
    outcome.notes.push(
        "\"published\" is what was measured: one thread, the caches of Table 1, 0.2 G instructions after \
         the main loop's begin; medians over epochs, persistence a mean"
            .into(),
    );
    Ok(outcome)
}

fn window(context: &Context, measured: &Measured) -> u64 {
    if context.small { 200_000_000 } else { measured.window }
}

fn look(context: &Context, measured: &Measured) -> Result<Values, ReproduceError> {
    let spec = named(measured.name)?;
    let threads = spec.threads(1, 1)?;
    let pages = threads.pages;
    let machine = PoolMachine::load(PoolMachine::DEFAULT)?;
    let filtering =
        Filtering { warm_up: WARM_UP, instructions: window(context, measured), pages, seed: 1 };
    let mut statistics = Statistics::new(pages);
    pass(threads.sources, &machine.caches, None, filtering, &mut |seen| statistics.add(seen))
        .map_err(|error| ReproduceError::Other(error.to_string()))?;
    Ok(statistics.values())
}

fn rows(measured: &Measured, values: &Values, to: &mut Outcome) -> Result<(), ReproduceError> {
    let value = |name: &str| value(values, name);
    let name = measured.name;
    let mut row = |what: String, unit, published: f64, ours: f64| {
        to.rows.push(Row::new(format!("{name}: {what}"), unit, ours).published(published, WITHIN));
    };
    row("misses for 1,000 instructions".into(), "", measured.misses, value("misses")?);
    row("lines written back".into(), "", measured.write_backs, value("write-backs")?);
    row("misses that write".into(), "%", 100.0 * measured.writes, 100.0 * value("writes")?);
    for (epoch, (_, length)) in measured.epochs.iter().zip(EPOCHS) {
        let of = |what: &str| value(&format!("{length}.{what}"));
        row(format!("{length}: pages"), "", epoch.pages, of("pages")?);
        row(format!("{length}: pages with > 10"), "", epoch.over[0], of("over10")?);
        row(format!("{length}: pages with > 50"), "", epoch.over[1], of("over50")?);
        row(format!("{length}: misses on the top 50"), "%", 100.0 * epoch.top, 100.0 * of("top")?);
        let persist = 100.0 * of("persist")?;
        row(format!("{length}: top 50 again in the next"), "%", 100.0 * epoch.persist, persist);
    }
    Ok(())
}
