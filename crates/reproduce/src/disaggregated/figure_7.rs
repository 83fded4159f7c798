//! Figure 7: what migration gains by the latency of the slow memory; the caption compares with
//! conventional memory, the text with no migration: both are shown.

use super::runs::{Point, Runs, programs, title};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};
use pagetide_sim::pool::Migration;

pub(super) const FIGURE: Figure = Figure {
    id: "7",
    title: "Gain by migration over the latency of the slow memory",
    source: "Figure 7, section 4.3",
    slow: true,
    run,
};

/// Read and write, ns.
pub(super) const LATENCY: [(f64, f64); 5] =
    [(100.0, 200.0), (200.0, 400.0), (300.0, 600.0), (400.0, 800.0), (500.0, 1000.0)];
/// Against no migration, with the fastest and the slowest.
pub(super) const PUBLISHED: [(&str, [f64; 2]); 4] = [
    ("simplemoc", [1.78, 2.3]),
    ("minife", [1.25, 1.48]),
    ("pennant", [1.25, 1.48]),
    ("lulesh", [1.03, 1.18]),
];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let runs = Runs::new(context);
    let mut outcome = Outcome::default();
    for program in programs(context) {
        let of = |latency| Point::of(program).with_latency(latency);
        let points: Vec<Point> = LATENCY
            .into_iter()
            .flat_map(|latency| {
                let conventional = of(latency).conventional();
                [of(latency), conventional, of(latency).moving(Migration::default())]
            })
            .collect();
        let ipc = runs.ipc(&points)?;
        let series =
            |name: &str| Series::new(name, "read latency, ns", "gain").panel(title(program));
        let (mut over_none, mut over_own) =
            (series("over no migration"), series("over conventional memory"));
        let published = PUBLISHED.iter().find(|(name, _)| name == program);
        for ((read, write), ipc) in LATENCY.into_iter().zip(ipc.chunks(3)) {
            let (none, own) = (ipc[2] / ipc[0], ipc[2] / ipc[1]);
            over_none = over_none.point(read, none);
            over_own = over_own.point(read, own);
            let what = |over: &str| format!("{}: {read}/{write} ns, over {over}", title(program));
            let row = Row::new(what("no migration"), "x", none);
            let ends = [LATENCY[0].0, LATENCY[4].0];
            let end = ends.iter().position(|end| *end == read);
            outcome.rows.push(match published.zip(end) {
                Some(((_, gains), end)) => row.published(gains[end], Tolerance::Percent(15.0)),
                None => row,
            });
            outcome.rows.push(Row::new(what("conventional memory"), "x", own));
        }
        outcome.series.extend([over_none, over_own]);
    }
    Ok(outcome)
}
