//! Ours beside the best that a sweep over threshold, M and epoch finds: pages move if what is expected of
//! them pays for the move, as each node's own counters tell. Nothing of it is published.

use super::figure_5::{BEST, at};
use super::runs::{Point, Runs, programs, title, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row};
use pagetide_sim::pool::{Chooser, Migration};
use toml::Value;

pub(super) const FIGURE: Figure = Figure {
    id: "payback",
    title: "Pages that pay for their move, beside the best cell of Figure 5 as that was run",
    source: "not published",
    slow: true,
    run,
};

pub(super) const SEEDS: Figure = Figure {
    id: "payback-elsewhere",
    title: "Pages that pay for their move: other seeds, shootdowns, latencies, nodes, modules",
    source: "not published",
    slow: true,
    run: elsewhere,
};

/// It has no parameter but how often it looks.
pub(super) fn payback() -> Migration {
    Migration {
        policy: Chooser::Payback,
        threshold: 3,
        most: 500,
        epoch_cycles: 10_000,
        keep_counts: true,
        ..Migration::default()
    }
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for program in programs(context) {
        let runs = Runs::new(context);
        let mut points = vec![Point::of(program), Point::of(program).moving(payback())];
        let best = BEST.iter().filter(|(of, ..)| of == program);
        points.extend(best.map(|(_, (epoch, most, threshold))| {
            Point::of(program).moving(at(*threshold, *most, *epoch))
        }));
        let found = runs.points(&points)?;
        let gains = found[1..].iter().map(|of| Ok(value(of, "ipc")? / value(&found[0], "ipc")?));
        let gains = gains.collect::<Result<Vec<f64>, ReproduceError>>()?;
        let (gain, best) = (gains[0], gains[1..].iter().copied().fold(1.0, f64::max));
        let name = title(program);
        outcome.rows.extend([
            Row::new(format!("{name}: gain"), "x", gain),
            Row::new(format!("{name}: gain of the best of 125 cells"), "x", best),
            Row::new(format!("{name}: of that"), "%", 100.0 * gain / best),
            Row::new(
                format!("{name}: fetches from local memory"),
                "%",
                100.0 * value(&found[1], "local")?,
            ),
            Row::new(format!("{name}: pages that a node got"), "", value(&found[1], "moved")?),
        ]);
    }
    Ok(outcome)
}

fn elsewhere(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let modules = |count| ("pool", "modules", Value::Integer(count));
    for program in programs(context) {
        let runs = Runs::new(context);
        let of = || Point::of(program);
        let slow = Migration { shootdown_us: 50.0, swap_us: 5.0, ..payback() };
        let mut all = vec![
            ("seed 2", Point { seed: 2, ..of() }, payback()),
            ("shootdown 50 us, swap 5 us", of(), slow),
            ("100/200 ns", of().with_latency((100.0, 200.0)), payback()),
            ("one node", Point { nodes: 1, ..of() }, payback()),
            ("8 nodes, 16 modules", of().with(modules(16)), payback()),
            ("CXL", Point { machine: "cxl-2025", ..of() }, payback()),
        ];
        all.truncate(if context.small { 2 } else { all.len() });
        let points: Vec<Point> = all
            .iter()
            .flat_map(|(_, point, migration)| {
                [point.clone(), point.clone().moving(migration.clone())]
            })
            .collect();
        let ipc = runs.ipc(&points)?;
        for ((name, ..), ipc) in all.iter().zip(ipc.chunks(2)) {
            let what = format!("{}, {name}: gain", title(program));
            outcome.rows.push(Row::new(what, "x", ipc[1] / ipc[0]));
        }
    }
    Ok(outcome)
}
