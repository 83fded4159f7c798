//! A pool of DRAM behind a CXL switch in place of the paper's: what of its conclusions still holds there?
//! Nothing of it is published.

use super::runs::{Point, Runs, programs, title, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};
use pagetide_sim::pool::Migration;

pub(super) const FIGURE: Figure = Figure {
    id: "cxl",
    title: "A pool of DDR5 behind a CXL switch: nodes, epochs and pages per epoch",
    source: "not published",
    slow: true,
    run,
};

const EPOCHS: [(u64, &str); 3] = [(30_000, "10 us"), (300_000, "100 us"), (3_000_000, "1 ms")];
const MOST: [u32; 2] = [50, 500];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let nodes: &[u32] = if context.small { &[8] } else { &[1, 8] };
    let epochs = if context.small { &EPOCHS[1..2] } else { &EPOCHS[..] };
    for program in programs(context) {
        let runs = Runs::new(context);
        let of = |nodes| Point { machine: "cxl-2025", nodes, ..Point::of(program) };
        for nodes in nodes {
            let cells: Vec<(u64, &str, u32)> = epochs
                .iter()
                .flat_map(|(cycles, name)| MOST.map(|most| (*cycles, *name, most)))
                .collect();
            let mut points = vec![of(*nodes), of(*nodes).all_local()];
            points.extend(cells.iter().map(|(epoch_cycles, _, most)| {
                let migration =
                    Migration { most: *most, epoch_cycles: *epoch_cycles, ..Migration::default() };
                of(*nodes).moving(migration)
            }));
            let found = runs.points(&points)?;
            let ipc =
                found.iter().map(|values| value(values, "ipc")).collect::<Result<Vec<_>, _>>()?;
            let name = format!("{}, {nodes} nodes", title(program));
            let busy = 100.0 * value(&found[0], "busy")?;
            outcome.rows.push(Row::new(format!("{name}: banks at work, nothing moves"), "%", busy));
            let delay = value(&found[0], "delay-ns")?;
            outcome.rows.push(Row::new(format!("{name}: delay per request"), "ns", delay));
            let none = ipc[0];
            let bound = ipc[1] / none;
            outcome.rows.push(Row::new(format!("{name}: gain if all were local"), "x", bound));
            for most in MOST {
                let label = format!("M {most}");
                let mut series = Series::new(label, "epoch", "gain").panel(name.clone());
                for ((_, epoch, of), ipc) in cells.iter().zip(&ipc[2..]) {
                    if *of == most {
                        series = series.point(*epoch, ipc / none);
                        let what = format!("{name}: epoch {epoch}, M {most}");
                        outcome.rows.push(Row::new(what, "x", ipc / none));
                    }
                }
                outcome.series.push(series);
            }
        }
    }
    Ok(outcome)
}
