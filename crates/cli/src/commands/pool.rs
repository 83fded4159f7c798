//! `pagetide sim` and `pagetide sweep` of scenarios of pools: nodes that share a slow memory.

use crate::commands::sim::{Shown, can_write};
use crate::commands::sweep::POINTS;
use crate::commands::{out, print_json};
use crate::sim_args::{SimArgs, Simulated, SweepArgs};
use crate::tell::tell;
use crate::{exit, interrupt};
use anyhow::{Context as _, Result, bail};
use pagetide_report::Style;
use pagetide_sim::pool::PoolOutcome;
use pagetide_sim::pool::scenario::{PoolNow, PoolPlan, columns};
use pagetide_sim::sweep::{Journal, SweepError, beside, csv, parquet, write};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The text of a scenario, if it is one of a pool; what cannot be read is told by who reads it as one of tiers.
pub(crate) fn text_of(scenario: &Path) -> Option<String> {
    let text = pagetide_sim::sweep::text_of(scenario).ok()?;
    pagetide_sim::pool::scenario::is_pool(&text).then_some(text)
}

/// What systems and threads mean nothing to.
fn refuse(simulated: &Simulated) -> Result<()> {
    if !simulated.system.is_empty() {
        bail!("--system is for scenarios of tiers; of a pool set migration.threshold and others");
    }
    Ok(())
}

pub(crate) fn sim(scenario: &Path, text: &str, arguments: &SimArgs) -> Result<ExitCode> {
    refuse(&arguments.simulated)?;
    if arguments.timeline.is_some() {
        bail!("--timeline is for scenarios of tiers; a pool's has none");
    }
    let origin = scenario.display().to_string();
    let mut plan = PoolPlan::new(text, &origin, &arguments.simulated.set, &[])?;
    tell_notes(&plan);
    // The same without migration stands beside it.
    let moves = plan.points.first().is_some_and(|point| point.scenario.migration.is_some());
    if moves {
        plan.compare();
    }
    let mut kept = Journal::in_memory();
    let Some(outcomes) = run(&plan, &mut kept, "simulating", &arguments.simulated)? else {
        tell!("pagetide: interrupted");
        return Ok(ExitCode::from(exit::INTERRUPTED));
    };
    let [outcome, still @ ..] = &outcomes[..] else { bail!("nothing was simulated") };
    let still = still.first();
    if arguments.json {
        #[derive(Serialize)]
        struct Printed<'a> {
            scenario: &'a str,
            outcome: &'a PoolOutcome,
            without_migration: Option<&'a PoolOutcome>,
        }
        print_json(&Printed { scenario: &origin, outcome, without_migration: still })?;
    } else {
        let migration = plan.points[0].scenario.migration.as_ref();
        out(&pagetide_report::pool(&origin, outcome, migration.zip(still), Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn sweep(text: &str, arguments: &SweepArgs) -> Result<ExitCode> {
    refuse(&arguments.simulated)?;
    let (scenario, table) = (&arguments.scenario, &arguments.out);
    can_write("--out", table)?;
    let origin = scenario.display().to_string();
    let plan = PoolPlan::new(text, &origin, &arguments.simulated.set, &arguments.vary)?;
    if table.metadata().is_ok_and(|there| !there.is_file()) {
        bail!("{} is no file; a table replaces what is there as a whole", table.display());
    }
    tell_notes(&plan);
    let path = beside(table, POINTS);
    let mut journal = Journal::open(&path).with_context(|| path.display().to_string())?;
    for line in journal.skipped() {
        tell!("pagetide: note: {}: line {line} is not whole and is skipped", path.display());
    }
    let kept = plan.kept(&journal);
    let Some(outcomes) = run(&plan, &mut journal, "sweeping", &arguments.simulated)? else {
        let (done, all) = (plan.kept(&journal), plan.different());
        tell!(
            "pagetide: interrupted; {done} of {all} points are in {}, the same command goes on",
            path.display()
        );
        return Ok(ExitCode::from(exit::INTERRUPTED));
    };
    let columns = columns(&plan, &outcomes);
    if table.extension().is_some_and(|ending| ending == "csv") {
        write(table, csv(&columns))?;
    } else {
        write(table, parquet(&columns)?)?;
    }
    if !arguments.simulated.quiet {
        let all = plan.different();
        tell!("pagetide: {all} points, {kept} of them were there: {}", table.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn tell_notes(plan: &PoolPlan) {
    for note in plan.notes() {
        tell!("pagetide: note: {note}");
    }
}

/// What came of all points; none, if it was interrupted.
fn run(
    plan: &PoolPlan,
    journal: &mut Journal<PoolOutcome>,
    doing: &'static str,
    simulated: &Simulated,
) -> Result<Option<Vec<PoolOutcome>>> {
    let threads = simulated.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.context("cannot start threads")?;
    let shown = Shown::new(doing, simulated);
    let watch = |now: &PoolNow| {
        shown.note(now.done, now.total);
        !interrupt::asked()
    };
    let outcomes = pool.install(|| plan.run(journal, &watch));
    shown.finish();
    match outcomes {
        Err(SweepError::Stopped) => Ok(None),
        other => Ok(Some(other?)),
    }
}
