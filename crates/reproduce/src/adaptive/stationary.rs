//! Programs that stay as they are, for half an hour under Pagetide's default: each is to be stopped once, and not to be
//! started again.

use super::runs::{PAGETIDE, programs, simulate, threads, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "stationary",
    title: "half an hour of programs that stay as they are",
    source: "ours",
    slow: true,
    run,
};

/// How long they run, s; in a small set.
const SECONDS: f64 = 1800.0;
const FEW_SECONDS: f64 = 120.0;
/// Fast memory, GB.
const DRAM_GB: u32 = 32;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let seconds = if context.small { FEW_SECONDS } else { SECONDS };
    let programs = programs(context);
    let what = (context.scale, threads(context), DRAM_GB);
    let texts: Vec<String> =
        programs.iter().map(|program| program.lasting(seconds, what, PAGETIDE)).collect();
    let found = simulate(context, &texts, false)?;
    let mut outcome = Outcome::default();
    let mut right = 0;
    for (program, values) in programs.iter().zip(&found) {
        let (stops, restarts) = (value(values, "stops")?, value(values, "restarts")?);
        outcome.rows.push(Row::new(format!("{}: stops", program.name), "", stops));
        outcome.rows.push(Row::new(format!("{}: restarts", program.name), "", restarts));
        if let Some(first) = values.get("first-stop-s") {
            outcome.rows.push(Row::new(format!("{}: first stop after", program.name), "s", *first));
        }
        right += u32::from(stops == 1.0 && restarts == 0.0);
    }
    let what = format!("one stop and no restart, of {} programs", programs.len());
    outcome.rows.push(Row::new(what, "", f64::from(right)));
    Ok(outcome)
}
