//! Figure 5: what migration gains by threshold, pages per epoch (M) and length of an epoch: 125 cells of
//! each program. A cell whose threshold no page passes without migration moves nothing, and is the run
//! without migration; one in which never more than M pages of a node are hot is that of the next larger
//! M. Neither is run again.

use super::runs::{Point, Runs, programs, title, value};
use super::signs;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};
use pagetide_sim::pool::Migration;
use std::collections::BTreeMap;

pub(super) const FIGURE: Figure = Figure {
    id: "5",
    title: "Gain by migration over threshold, pages per epoch and epoch",
    source: "Figure 5, section 4.1",
    slow: true,
    run,
};

pub(super) const THRESHOLDS: [u32; 5] = [10, 30, 50, 70, 100];
/// The largest first: see the module.
pub(super) const MOST: [u32; 5] = [500, 100, 50, 10, 1];
pub(super) const EPOCHS: [(u64, &str); 5] = [
    (10_000, "10K"),
    (100_000, "100K"),
    (1_000_000, "1M"),
    (10_000_000, "10M"),
    (100_000_000, "100M"),
];

/// Program, epoch, M, threshold, gain: what the text says in numbers.
pub(super) const PUBLISHED: [(&str, &str, u32, u32, f64); 27] = [
    ("simplemoc", "1M", 50, 10, 2.08),
    ("simplemoc", "10K", 10, 10, 1.4),
    ("simplemoc", "10K", 50, 10, 1.4),
    ("simplemoc", "10K", 100, 10, 1.4),
    ("simplemoc", "10K", 500, 10, 1.4),
    ("simplemoc", "100K", 10, 10, 1.85),
    ("simplemoc", "100K", 50, 10, 1.85),
    ("simplemoc", "100K", 100, 10, 1.85),
    ("simplemoc", "100K", 500, 10, 1.85),
    ("pennant", "10K", 10, 10, 1.3),
    ("pennant", "10K", 50, 10, 1.3),
    ("pennant", "10K", 100, 10, 1.3),
    ("pennant", "10K", 500, 10, 1.3),
    ("pennant", "100K", 10, 10, 1.58),
    ("pennant", "100K", 50, 10, 1.58),
    ("pennant", "100K", 100, 10, 1.58),
    ("pennant", "100K", 500, 10, 1.58),
    ("minife", "1M", 10, 50, 1.46),
    ("minife", "1M", 50, 50, 1.33),
    ("minife", "1M", 100, 50, 1.45),
    ("minife", "1M", 500, 50, 1.44),
    ("minife", "1M", 500, 100, 1.0),
    ("minife", "10M", 500, 10, 1.6),
    ("minife", "10M", 500, 30, 1.6),
    ("minife", "10M", 500, 50, 1.6),
    ("is", "10K", 500, 10, 0.7),
    ("is", "10K", 500, 30, 0.72),
];

/// The best cell of each program, as this figure came out: epoch, M and threshold. It says so if that changes.
pub(super) const BEST: [(&str, (u64, u32, u32)); 5] = [
    ("lulesh", (100_000, 500, 10)),
    ("simplemoc", (10_000_000, 500, 10)),
    ("pennant", (100_000, 500, 10)),
    ("minife", (10_000, 500, 10)),
    ("is", (10_000, 500, 10)),
];

/// Gains of a program by epoch, M and threshold.
pub(super) type Cells = BTreeMap<(u64, u32, u32), f64>;

/// What is known of a program.
struct Gains {
    cells: Cells,
    /// Without migration, the most accesses to a page in an epoch of each length.
    most_accesses: Vec<(&'static str, f64)>,
    /// With all memory local and no migration.
    all_local: f64,
}

/// A cell.
pub(super) fn at(threshold: u32, most: u32, epoch_cycles: u64) -> Migration {
    Migration { threshold, most, epoch_cycles, ..Migration::default() }
}

/// All cells of a program.
fn gains(
    context: &Context,
    runs: &Runs<'_>,
    program: &'static str,
) -> Result<Gains, ReproduceError> {
    let epochs = if context.small { &EPOCHS[1..2] } else { &EPOCHS[..] };
    let mut points = vec![Point::of(program), Point::of(program).all_local()];
    points.extend(epochs.iter().map(|(epoch, _)| Point::of(program).moving(at(0, 0, *epoch))));
    let found = runs.points(&points)?;
    let none = value(&found[0], "ipc")?;
    let all_local = value(&found[1], "ipc")? / none;
    let most_accesses: Vec<f64> =
        found[2..].iter().map(|values| value(values, "most-accesses")).collect::<Result<_, _>>()?;
    let mut cells = Cells::new();
    // Cells that are still to be run, and the number of the M with which.
    let mut open: Vec<(u64, u32, usize)> = Vec::new();
    for ((epoch, _), passed) in epochs.iter().zip(&most_accesses) {
        for threshold in THRESHOLDS {
            if f64::from(threshold) >= *passed {
                cells.extend(MOST.map(|most| ((*epoch, most, threshold), 1.0)));
            } else {
                open.push((*epoch, threshold, 0));
            }
        }
    }
    for (number, most) in MOST.into_iter().enumerate() {
        let (now, later): (Vec<_>, Vec<_>) = open.into_iter().partition(|(.., at)| *at == number);
        open = later;
        let points: Vec<Point> = now
            .iter()
            .map(|(epoch, threshold, _)| Point::of(program).moving(at(*threshold, most, *epoch)))
            .collect();
        let found = runs.points(&points)?;
        for ((epoch, threshold, _), values) in now.into_iter().zip(&found) {
            let (gain, hot) = (value(values, "ipc")? / none, value(values, "most-hot")?);
            let smaller =
                MOST.iter().position(|most| f64::from(*most) < hot && *most < MOST[number]);
            let next = smaller.unwrap_or(MOST.len());
            cells.extend(MOST[number..next].iter().map(|most| ((epoch, *most, threshold), gain)));
            open.extend((next < MOST.len()).then_some((epoch, threshold, next)));
        }
    }
    let names = epochs.iter().map(|(_, name)| *name);
    Ok(Gains { cells, most_accesses: names.zip(most_accesses).collect(), all_local })
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let (mut outcome, mut compared) = (Outcome::default(), Vec::new());
    for program in programs(context) {
        let runs = Runs::new(context);
        let gains = gains(context, &runs, program)?;
        rows((program, context.small), &gains, &mut outcome, &mut compared);
        signs::rows(program, &gains.cells, &mut outcome);
        series(program, &gains, &mut outcome);
    }
    signs::median(&mut outcome, &compared);
    Ok(outcome)
}

fn rows(
    (program, small): (&'static str, bool),
    gains: &Gains,
    outcome: &mut Outcome,
    compared: &mut Vec<(f64, f64)>,
) {
    let name = title(program);
    let bound = format!("{name}: gain if all memory were local (no cell can gain more)");
    outcome.rows.push(Row::new(bound, "x", gains.all_local));
    for (epoch, most) in &gains.most_accesses {
        let what = format!("{name}: most accesses to a page in {epoch} cycles, nothing moves");
        outcome.rows.push(Row::new(what, "", *most));
    }
    for (of, epoch, most, threshold, published) in PUBLISHED {
        let cycles =
            EPOCHS.iter().find(|(_, name)| *name == epoch).map_or(0, |(cycles, _)| *cycles);
        let Some(gain) = gains.cells.get(&(cycles, most, threshold)).filter(|_| of == program)
        else {
            continue;
        };
        compared.push((*gain, published));
        let what = format!("{name}: {epoch} cycles, M {most}, threshold {threshold}");
        let row = Row::new(what, "x", *gain).published(published, Tolerance::Percent(15.0));
        outcome.rows.push(if published > gains.all_local {
            row.why(format!("more than local memory can bring, {:.2}", gains.all_local))
        } else {
            row
        });
    }
    let best = gains.cells.iter().max_by(|a, b| a.1.total_cmp(b.1));
    if let Some((cell @ (epoch, most, threshold), gain)) = best {
        // Of a small set the best is another anyway.
        if !small && !BEST.contains(&(program, *cell)) {
            outcome.notes.push(format!(
                "{name}: figure payback compares with a cell that is no longer the best of all"
            ));
        }
        let epoch = EPOCHS.iter().find(|(cycles, _)| cycles == epoch).map_or("", |(_, name)| name);
        let what = format!("{name}: best of all cells ({epoch}, M {most}, threshold {threshold})");
        outcome.rows.push(Row::new(what, "x", *gain));
    }
}

fn series(program: &str, gains: &Gains, outcome: &mut Outcome) {
    for (epoch, name) in EPOCHS {
        for most in MOST.into_iter().rev() {
            let panel = format!("M {most}, epoch {name}");
            let points: Vec<(String, f64)> = THRESHOLDS
                .iter()
                .filter_map(|threshold| {
                    let gain = gains.cells.get(&(epoch, most, *threshold))?;
                    Some((threshold.to_string(), *gain))
                })
                .collect();
            if !points.is_empty() {
                let series = Series::new(title(program), "threshold", "gain");
                outcome.series.push(series.panel(panel).points(points));
            }
        }
    }
}
