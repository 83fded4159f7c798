//! How good it is to filter a program's accesses once and to replay its misses: instructions per cycle beside
//! those with caches that are simulated in time, which keep lines of moved pages and let the cores of a node take
//! turns as fast as they are. Nothing of it is published.

use super::programs::spec;
use super::runs::{NODES, programs, title, value};
use crate::{Context, Figure, Key, Outcome, ReproduceError, Row, Tolerance, Values};
use pagetide_machine::PoolMachine;
use pagetide_sim::pool::scenario::MODEL;
use pagetide_sim::pool::{
    Engine, Filtering, Migration, Misses, NodeCaches, Placement, Program, filter,
};

pub(super) const FIGURE: Figure = Figure {
    id: "two-stages",
    title: "Instructions per cycle of misses that are kept, over those of caches in time",
    source: "not published",
    slow: true,
    run,
};

/// What moves.
fn settings() -> [(&'static str, Migration); 3] {
    let of = Migration::default();
    [
        ("nothing moves", Migration { most: 0, ..of.clone() }),
        ("100K, M 50, threshold 10", Migration { epoch_cycles: 100_000, ..of.clone() }),
        ("1M, M 500, threshold 30", Migration { threshold: 30, most: 500, ..of }),
    ]
}

/// Instructions of a core before the window, and of the window.
fn windows(context: &Context) -> &'static [(u64, u64)] {
    if context.small {
        &[(1_000_000, 1_000_000)]
    } else {
        &[(2_000_000, 2_000_000), (100_000_000, 30_000_000)]
    }
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let mut points = Vec::new();
    for program in programs(context) {
        for window in windows(context) {
            for setting in settings() {
                let key = Key::new("disaggregated/two-stages", MODEL, 1)
                    .with("program", program)
                    .with("window", format!("{}+{}", window.0, window.1))
                    .with("moves", setting.0);
                points.push((key, (*program, *window, setting)));
            }
        }
    }
    let found = context.store.points(&points, |(_, (program, window, (_, migration)))| {
        both(program, *window, migration)
    })?;
    for ((_, (program, (warm_up, length), (name, _))), values) in points.iter().zip(&found) {
        let off = value(values, "kept")? / value(values, "in-time")?;
        let window = format!("{} M after {} M", length / 1_000_000, warm_up / 1_000_000);
        let row = Row::new(format!("{}, {window}: {name}", title(program)), "", off);
        outcome.rows.push(row.published(1.0, Tolerance::Percent(1.0)));
    }
    outcome.notes.push("\"published\" is what is promised: 1, within 1 %".into());
    Ok(outcome)
}

/// Both ways.
fn both(
    program: &str,
    (warm_up, instructions): (u64, u64),
    migration: &Migration,
) -> Result<Values, ReproduceError> {
    let other = |error: String| ReproduceError::Other(error);
    let machine = PoolMachine { nodes: NODES, ..PoolMachine::load(PoolMachine::DEFAULT)? };
    let spec = spec(program).ok_or_else(|| other(program.into()))?;
    let pages = spec.threads(machine.core.count, 1)?.pages;
    let filtering = Filtering { warm_up, instructions, pages, seed: 1 };
    let sources = || Ok::<_, ReproduceError>(spec.threads(machine.core.count, 1)?.sources);
    let kept = filter(sources()?, &machine.caches, None, filtering)
        .map_err(|error| other(error.to_string()))?;
    let engine = |misses| {
        let programs = vec![Program { misses, pages }; NODES as usize];
        Engine::new(&machine, &programs, (Placement::Pool, 1), Some(migration))
    };
    let replayed = engine(&kept)?.run(&mut |_| true)?;
    let nothing = vec![Misses::default(); kept.len()];
    let caches = (0..NODES)
        .map(|_| {
            NodeCaches::new(sources()?, &machine.caches, None, filtering)
                .map_err(|error| other(error.to_string()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let full = engine(&nothing)?.behind(caches).run(&mut |_| true)?;
    Ok([("kept", replayed.ipc), ("in-time", full.ipc)]
        .map(|(name, of)| (name.to_owned(), of))
        .into())
}
