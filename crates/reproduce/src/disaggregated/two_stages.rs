//! How good it is to filter a program's accesses once and to replay what is kept: instructions per cycle beside
//! those with caches all of which are simulated in time. Nothing of it is published.

use super::programs::named;
use super::runs::{NODES, programs, title, value};
use crate::{Context, Figure, Key, Outcome, ReproduceError, Row, Tolerance, Values};
use pagetide_machine::PoolMachine;
use pagetide_sim::pool::scenario::model_of_program;
use pagetide_sim::pool::{Engine, Filtering, Migration, NodeCaches, Placement, Program, filter};

pub(super) const FIGURE: Figure = Figure {
    id: "two-stages",
    title: "Instructions per cycle of replays, over those of caches that are simulated in time",
    source: "not published",
    slow: true,
    run,
};

/// Raised with what a replay or caches in time compute.
const MODEL: u32 = 16;

/// What moves.
fn settings() -> [(&'static str, Migration); 3] {
    let of = Migration::default();
    [
        ("nothing moves", Migration { most: 0, ..of.clone() }),
        ("100K, M 50, threshold 10", Migration { epoch_cycles: 100_000, ..of.clone() }),
        ("1M, M 500, threshold 30", Migration { threshold: 30, most: 500, ..of }),
    ]
}

/// Where pages lie in the caches' eyes differs by seed; so what small differences alone make is seen.
const SEEDS: [u64; 3] = [1, 2, 3];

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
        let model = model_of_program(&named(program)?);
        for window in windows(context) {
            for setting in settings() {
                for seed in SEEDS {
                    let key = Key::new("disaggregated/two-stages", MODEL + model, 1)
                        .with("program", program)
                        .with("window", format!("{}+{}", window.0, window.1))
                        .with("moves", setting.0)
                        .with("seed", seed);
                    points.push((key, (*program, *window, setting.clone(), seed)));
                }
            }
        }
    }
    let found = context.store.points(&points, |(_, (program, window, (_, migration), seed))| {
        both(program, *window, migration, *seed)
    })?;
    for (point, found) in points.chunks(SEEDS.len()).zip(found.chunks(SEEDS.len())) {
        let (_, (program, (warm_up, length), (name, _), _)) = &point[0];
        let of = |name| found.iter().map(|of| value(of, name)).collect::<Result<Vec<f64>, _>>();
        let (kept, in_time) = (of("kept")?, of("in-time")?);
        let window = format!("{} M after {} M", length / 1_000_000, warm_up / 1_000_000);
        let off = kept.iter().sum::<f64>() / in_time.iter().sum::<f64>();
        let row = Row::new(format!("{}, {window}: {name}", title(program)), "", off);
        let row = row.published(1.0, Tolerance::Percent(1.0));
        outcome.rows.push(row.why(format!("{} / {}", span(&kept), span(&in_time))));
    }
    outcome.notes.extend([
        "\"published\" is what is promised: 1, within 1 %; ours is of the means of three seeds".into(),
        "in the last column instructions per cycle of the three seeds, from least to most: kept / in \
         time"
            .into(),
    ]);
    Ok(outcome)
}

/// The least and the most.
fn span(of: &[f64]) -> String {
    let least = of.iter().copied().fold(f64::INFINITY, f64::min);
    let most = of.iter().copied().fold(0.0, f64::max);
    format!("{least:.3} to {most:.3}")
}

/// Both ways.
fn both(
    program: &str,
    (warm_up, instructions): (u64, u64),
    migration: &Migration,
    seed: u64,
) -> Result<Values, ReproduceError> {
    let other = |error: String| ReproduceError::Other(error);
    let machine = PoolMachine { nodes: NODES, ..PoolMachine::load(PoolMachine::DEFAULT)? };
    let spec = named(program)?;
    let pages = spec.threads(machine.core.count, seed)?.pages;
    let filtering = Filtering { warm_up, instructions, pages, seed };
    let sources = || Ok::<_, ReproduceError>(spec.threads(machine.core.count, seed)?.sources);
    let kept = filter(sources()?, &machine.caches, None, filtering)
        .map_err(|error| other(error.to_string()))?;
    let programs = vec![Program { misses: &kept.misses, pages }; NODES as usize];
    let engine = || Engine::new(&machine, &programs, (Placement::Pool, seed), Some(migration));
    let replay = engine()?;
    let replay = if migration.most > 0 { replay.sharing(&[&kept; NODES as usize]) } else { replay };
    let replayed = replay.run(&mut |_| true)?;
    let caches = (0..NODES)
        .map(|_| {
            NodeCaches::new(sources()?, &machine.caches, None, filtering)
                .map_err(|error| other(error.to_string()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let full = engine()?.behind(caches).run(&mut |_| true)?;
    Ok([("kept", replayed.ipc), ("in-time", full.ipc)]
        .map(|(name, of)| (name.to_owned(), of))
        .into())
}
