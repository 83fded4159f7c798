//! Figure 6: what migration gains by the cost of a shootdown. The caption keeps 1 us for a swap, the text
//! has none: both are run.

use super::runs::{Point, Runs, programs, title};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};
use pagetide_sim::pool::{Migration, SwapStall};

pub(super) const FIGURE: Figure = Figure {
    id: "6",
    title: "Gain by migration over the cost of a shootdown",
    source: "Figure 6, section 4.2",
    slow: true,
    run,
};

pub(super) const EPOCHS: [(u64, &str); 3] = [(10_000, "10K"), (100_000, "100K"), (1_000_000, "1M")];
const SHOOTDOWN_US: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// Program, epoch, shootdown in us, gain. Of LULESH the text says no epoch.
pub(super) const PUBLISHED: [(&str, &str, f64, f64); 10] = [
    ("is", "10K", 8.0, 0.8),
    ("is", "10K", 1.0, 1.52),
    ("is", "100K", 1.0, 1.05),
    ("is", "1M", 1.0, 1.0),
    ("lulesh", "10K", 1.0, 1.75),
    ("lulesh", "10K", 4.0, 1.7),
    ("lulesh", "10K", 8.0, 1.61),
    ("lulesh", "100K", 1.0, 1.75),
    ("lulesh", "100K", 4.0, 1.7),
    ("lulesh", "100K", 8.0, 1.61),
];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let runs = Runs::new(context);
    let mut outcome = Outcome::default();
    let swaps = [(SwapStall::Node, "a swap of 1 us"), (SwapStall::None, "swaps for nothing")];
    for program in programs(context) {
        let mut points = vec![Point::of(program)];
        for (swap_stall, _) in swaps {
            for (epoch_cycles, _) in EPOCHS {
                points.extend(SHOOTDOWN_US.map(|shootdown_us| {
                    Point::of(program).moving(Migration {
                        epoch_cycles,
                        shootdown_us,
                        swap_stall,
                        ..Migration::default()
                    })
                }));
            }
        }
        let ipc = runs.ipc(&points)?;
        let mut gains = ipc[1..].iter().map(|moving| moving / ipc[0]);
        for (swap_stall, swap) in swaps {
            for (_, epoch) in EPOCHS {
                let name = format!("{epoch}, {swap}");
                let mut series = Series::new(name, "shootdown, us", "gain").panel(title(program));
                for (us, gain) in SHOOTDOWN_US.into_iter().zip(gains.by_ref()) {
                    series = series.point(us, gain);
                    let published = PUBLISHED
                        .iter()
                        .find(|(of, at, cost, _)| (of, *at, *cost) == (program, epoch, us));
                    let what = format!("{}: {epoch} cycles, {us} us, {swap}", title(program));
                    let row = Row::new(what, "x", gain);
                    // The text is about swaps that are done during the shootdown.
                    match published.filter(|_| swap_stall == SwapStall::None) {
                        Some((.., gain)) => {
                            outcome.rows.push(row.published(*gain, Tolerance::Percent(15.0)));
                        }
                        None => outcome.rows.push(row),
                    }
                }
                outcome.series.push(series);
            }
        }
    }
    Ok(outcome)
}
