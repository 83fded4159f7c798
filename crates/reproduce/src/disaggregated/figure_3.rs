//! Figure 3: what a request takes, and what nodes lose, when more of them share a module.

use super::runs::{Point, Runs, programs, title, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "3",
    title: "Delay per request and instructions per cycle, 1 to 8 nodes on a module",
    source: "Figure 3, section 2.4",
    slow: true,
    run,
};

/// What eight nodes lose against one, percent of its instructions per cycle.
pub(super) const LOST: [(&str, f64); 2] = [("lulesh", 83.8), ("is", 39.0)];
const NODES: [u32; 4] = [1, 2, 4, 8];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let runs = Runs::new(context);
    let mut outcome = Outcome::default();
    let programs = programs(context);
    let of = |program: &'static str| {
        let conventional = Point::of(program).conventional();
        let shared = NODES.map(|nodes| Point { nodes, ..Point::of(program) });
        [conventional].into_iter().chain(shared)
    };
    let points: Vec<Point> = programs.iter().flat_map(|program| of(program)).collect();
    let found = runs.points(&points)?;
    let names = ["conventional", "1 node", "2 nodes", "4 nodes", "8 nodes"];
    let series =
        |panel: &str, y: &str| names.map(|name| Series::new(name, "program", y).panel(panel));
    let mut delays = series("Delay per request", "ns");
    let mut ipcs = series("Instructions per cycle, 1 = one node", "");
    for (program, found) in programs.iter().zip(found.chunks(names.len())) {
        let all =
            |name| found.iter().map(|values| value(values, name)).collect::<Result<Vec<_>, _>>();
        let (delay, ipc) = (all("delay-ns")?, all("ipc")?);
        for (at, (delays, ipcs)) in delays.iter_mut().zip(&mut ipcs).enumerate() {
            delays.points.push((title(program).into(), delay[at]));
            ipcs.points.push((title(program).into(), ipc[at] / ipc[1]));
        }
        let lost = 100.0 * (1.0 - ipc[4] / ipc[1]);
        let row = Row::new(format!("{}: lost with 8 nodes, against 1", title(program)), "%", lost);
        let published = LOST.iter().find(|(name, _)| name == program);
        outcome.rows.push(match published {
            Some((_, lost)) => row.published(*lost, Tolerance::Percent(15.0)),
            None => row,
        });
        // What the window of 1 M cycles is in instructions, when eight nodes share the pool.
        let thousands = 2.0 * ipc[4] * 1e3;
        let what = format!("{}: a node's instructions in 1 M cycles, 8 nodes", title(program));
        outcome.rows.push(Row::new(what, "K", thousands));
        let what = |nodes| format!("{}: delay per request, {nodes}", title(program));
        for (at, name) in names.iter().enumerate() {
            outcome.rows.push(Row::new(what(name), "ns", delay[at]));
        }
    }
    outcome.series.extend(delays);
    outcome.series.extend(ipcs);
    Ok(outcome)
}
