//! A pool of DRAM behind a CXL switch in place of the paper's: what of its conclusions still holds there?
//! Nothing of it is published.

use super::payback::payback;
use super::runs::{Point, Runs, programs, title, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};
use pagetide_sim::pool::Migration;
use toml::Value;

pub(super) const FIGURE: Figure = Figure {
    id: "cxl",
    title: "A pool of DDR5 behind a CXL switch: epochs, and pages that pay for their move",
    source: "not published",
    slow: true,
    run,
};

const EPOCHS: [(u64, &str); 3] = [(30_000, "10 us"), (300_000, "100 us"), (3_000_000, "1 ms")];
/// Misses that a core has under way: as many as it can, or as of a program that waits for most of them.
const OUTSTANDING: [(i64, &str); 2] = [(48, "48 misses under way"), (2, "2 misses under way")];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let epochs = if context.small { &EPOCHS[1..2] } else { &EPOCHS[..] };
    for program in programs(context) {
        let runs = Runs::new(context);
        for (outstanding, misses) in OUTSTANDING {
            let of = || {
                let machine = Point { machine: "cxl-2025", ..Point::of(program) };
                machine.with(("core", "outstanding", Value::Integer(outstanding)))
            };
            let mut points = vec![of(), of().all_local(), of().moving(payback())];
            points.extend(epochs.iter().map(|(epoch_cycles, _)| {
                of().moving(Migration { epoch_cycles: *epoch_cycles, ..Migration::default() })
            }));
            let found = runs.points(&points)?;
            let ipc =
                found.iter().map(|values| value(values, "ipc")).collect::<Result<Vec<_>, _>>()?;
            let name = format!("{}, {misses}", title(program));
            let mut row = |what: &str, unit, ours| {
                outcome.rows.push(Row::new(format!("{name}: {what}"), unit, ours));
            };
            row("delay per request, nothing moves", "ns", value(&found[0], "delay-ns")?);
            row("gain if all were local", "x", ipc[1] / ipc[0]);
            row("gain with pages that pay", "x", ipc[2] / ipc[0]);
            let mut series = Series::new("hottest, M 50", "epoch", "gain").panel(name.clone());
            for ((_, epoch), with) in epochs.iter().zip(&ipc[3..]) {
                row(&format!("gain with the hottest 50, epochs of {epoch}"), "x", with / ipc[0]);
                series = series.point(*epoch, with / ipc[0]);
            }
            let pays = epochs.iter().map(|(_, epoch)| (*epoch, ipc[2] / ipc[0]));
            let pays = Series::new("pages that pay", "epoch", "gain").panel(name).points(pays);
            outcome.series.extend([series, pays]);
        }
    }
    Ok(outcome)
}
