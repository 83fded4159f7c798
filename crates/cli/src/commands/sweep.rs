//! `pagetide sweep`: a scenario at every combination of some values.

use crate::commands::pool;
use crate::commands::sim::{Shown, can_write, not_the_scenario, plan, threads};
use crate::exit;
use crate::sim_args::SweepArgs;
use crate::tell::tell;
use anyhow::{Context as _, Result, bail};
use pagetide_privilege::{Paths, without_privileges};
use pagetide_sim::scenario::Outcome;
use pagetide_sim::sweep::{Journal, Plan, SweepError, beside, columns, csv, parquet, write};
use std::path::Path;
use std::process::ExitCode;

/// What the file of the points has behind the table's name.
pub(crate) const POINTS: &str = ".points.jsonl";

pub(crate) fn run(arguments: &SweepArgs) -> Result<ExitCode> {
    swept(arguments).map_err(|error| match error.downcast_ref() {
        Some(SweepError::Full { .. }) => {
            error.context("what is computed is kept, and the same command goes on")
        }
        _ => error,
    })
}

fn swept(arguments: &SweepArgs) -> Result<ExitCode> {
    without_privileges(&Paths {
        read: vec![arguments.scenario.clone()],
        written: vec![arguments.out.clone()],
        appended: vec![beside(&arguments.out, POINTS)],
    })?;
    not_the_scenario("--out", &arguments.out, &arguments.scenario)?;
    if let Some(text) = pool::text_of(&arguments.scenario) {
        return pool::sweep(&text, arguments);
    }
    let table = &arguments.out;
    can_write("--out", table)?;
    let plan = plan(&arguments.scenario, &arguments.vary, &arguments.simulated)?;
    if table.metadata().is_ok_and(|there| !there.is_file()) {
        bail!("{} is no file; a table replaces what is there as a whole", table.display());
    }
    let path = beside(table, POINTS);
    let mut journal = Journal::open(&path).with_context(|| path.display().to_string())?;
    for line in journal.skipped() {
        let path = path.display();
        tell!("pagetide: note: {path}: line {line} is not whole and is skipped");
    }
    let kept = plan.kept(&journal);
    let threads = threads(&plan, &arguments.simulated)?;
    let shown = Shown::new("sweeping", &arguments.simulated);
    let outcomes = threads.install(|| plan.run(&mut journal, &|now| shown.watch(now)));
    shown.finish();
    let outcomes = match outcomes {
        Err(SweepError::Stopped) => {
            let (done, all) = (plan.kept(&journal), plan.different());
            tell!(
                "pagetide: interrupted; {done} of {all} points are in {}, the same command goes on",
                path.display()
            );
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        other => other?,
    };
    save(table, &plan, &outcomes)?;
    if !arguments.simulated.quiet {
        let all = plan.different();
        tell!("pagetide: {all} points, {kept} of them were there: {}", table.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn save(path: &Path, plan: &Plan, outcomes: &[Outcome]) -> Result<(), SweepError> {
    let columns = columns(plan, outcomes);
    if path.extension().is_some_and(|ending| ending == "csv") {
        write(path, csv(&columns))
    } else {
        write(path, parquet(&columns)?)
    }
}
