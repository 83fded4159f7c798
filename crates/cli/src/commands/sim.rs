//! `pagetide sim`: a scenario under one or several systems.

use crate::available::available;
use crate::commands::{out, pool, print_json};
use crate::progress::Progress;
use crate::sim_args::{SimArgs, Simulated};
use crate::tell::tell;
use crate::{exit, interrupt};
use anyhow::{Context as _, Result, bail};
use pagetide_privilege::{Paths, without_privileges};
use pagetide_report::Style;
use pagetide_sim::scenario::Outcome;
use pagetide_sim::sweep::{
    Coarse, Draft, Journal, Now, Plan, SweepError, Vary, is_timeline, timeline, writable, write,
};
use pagetide_sim::systems::REGISTRY;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

pub(crate) fn run(arguments: &SimArgs) -> Result<ExitCode> {
    // What a scenario names is read with the rights of who wrote it down.
    without_privileges(&Paths {
        read: arguments.scenario.iter().cloned().collect(),
        written: arguments.timeline.iter().cloned().collect(),
        ..Paths::default()
    })?;
    match &arguments.scenario {
        Some(scenario) if !arguments.list_systems => match pool::text_of(scenario) {
            Some(text) => pool::sim(scenario, &text, arguments),
            None => simulate(scenario, arguments),
        },
        _ => list(arguments.json),
    }
}

fn list(json: bool) -> Result<ExitCode> {
    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        about: &'static str,
        source: &'static str,
    }
    if json {
        let row = |info: &&_| {
            let pagetide_sim::systems::SystemInfo { name, summary, source, .. } = **info;
            Row { name, about: summary, source }
        };
        print_json(&REGISTRY.iter().map(row).collect::<Vec<_>>())?;
    } else {
        out(&pagetide_report::systems(Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn simulate(scenario: &Path, arguments: &SimArgs) -> Result<ExitCode> {
    let plan = plan(scenario, &[], &arguments.simulated)?;
    if let Some(path) = &arguments.timeline {
        not_the_scenario("--timeline", path, scenario)?;
        if !is_timeline(path).with_context(|| format!("--timeline: {}", path.display()))? {
            let path = path.display();
            bail!(
                "--timeline {path}: what is there is no timeline, so it is not replaced; name another file"
            );
        }
        can_write("--timeline", path)?;
    }
    let start = Instant::now();
    let shown = Shown::new("simulating", &arguments.simulated);
    let threads = threads(&plan, &arguments.simulated)?;
    let mut kept = Journal::in_memory();
    let outcomes = threads.install(|| plan.run(&mut kept, &|now| shown.watch(now)));
    shown.finish();
    let outcomes = match outcomes {
        Err(SweepError::Stopped) => {
            tell!("pagetide: interrupted");
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        other => other?,
    };
    print(scenario, &outcomes, arguments.json)?;
    if let Some(path) = &arguments.timeline {
        if outcomes.iter().all(|outcome| outcome.decisions.is_empty()) {
            tell!("pagetide: no system decided anything in intervals: the timeline is empty");
        }
        write(path, timeline(&plan, &outcomes))?;
    }
    if !arguments.simulated.quiet {
        let accesses: u64 = outcomes.iter().map(|outcome| outcome.simulated).sum();
        let (millions, seconds) = (accesses as f64 / 1e6, start.elapsed().as_secs_f64());
        let speed = millions / seconds.max(1e-9);
        tell!(
            "pagetide: {millions:.1} M accesses simulated in {seconds:.1} s, {speed:.1} M a second"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn print(scenario: &Path, outcomes: &[Outcome], json: bool) -> Result<()> {
    #[derive(Serialize)]
    struct Printed<'a> {
        scenario: String,
        outcomes: &'a [Outcome],
    }
    let scenario = scenario.display().to_string();
    if json {
        return print_json(&Printed { scenario, outcomes });
    }
    out(&pagetide_report::sim(&scenario, outcomes, Style::of_stdout()))
}

/// Whether a file can be made, as [`writable`] has it; what is missing, if that is its folder.
pub(crate) fn can_write(option: &str, path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!("{option} {}: there is no folder {}; make it", path.display(), folder.display());
    }
    writable(path).with_context(|| option.to_owned())
}

/// Refuses to put what comes of a scenario in the scenario's own place.
pub(crate) fn not_the_scenario(option: &str, path: &Path, scenario: &Path) -> Result<()> {
    let file = |path: &Path| path.canonicalize().ok().filter(|found| found.is_file());
    if file(path).is_some_and(|found| Some(found) == file(scenario)) {
        bail!("{option} {}: that is the scenario itself; name another file", path.display());
    }
    Ok(())
}

/// All points; the systems of the command line vary last.
pub(crate) fn plan(scenario: &Path, vary: &[Vary], simulated: &Simulated) -> Result<Plan> {
    let mut vary = vary.to_vec();
    if !simulated.system.is_empty() {
        vary.push(Vary::words("system.name", simulated.system.iter().cloned()));
    }
    let plan = Plan::new(&Draft::load(scenario)?, &simulated.set, &vary)?;
    if let Some(Coarse { tenant, memory, left, scale }) = plan.coarse() {
        tell!(
            "pagetide: note: a scale of {scale} leaves {left} of tenant {tenant}'s {memory}: single pages count; give \
             a smaller scale (docs/sim.md, Scale)"
        );
    }
    Ok(plan)
}

/// The threads that simulate, if there is memory for what they do.
pub(crate) fn threads(plan: &Plan, simulated: &Simulated) -> Result<rayon::ThreadPool> {
    let threads = simulated.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.context("cannot start threads")?;
    let (each, most) = (plan.takes(), available());
    let together = pool.current_num_threads().min(plan.different()) as u64;
    if each.0.saturating_mul(together) > most.0 {
        bail!(
            "simulating may need {each} of memory for each of {together} at a time, and {most} are \
             there: give a larger scale, less memory to the tenants, or --threads 1"
        );
    }
    Ok(pool)
}

/// What the user sees meanwhile.
pub(crate) struct Shown {
    progress: Progress,
    start: Instant,
    /// By the name of a point, which share of it is done.
    under_way: Mutex<BTreeMap<String, f64>>,
}

impl Shown {
    pub(crate) fn new(doing: &'static str, simulated: &Simulated) -> Self {
        interrupt::listen();
        let progress = Progress::new(doing, None, simulated.quiet, Vec::new());
        Self { progress, start: Instant::now(), under_way: Mutex::default() }
    }

    /// Shows how many points are done.
    pub(crate) fn note(&self, done: usize, total: usize) {
        self.progress.note(vec![format!("{done} of {total} points")]);
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    /// Shows how far it is; whether to go on.
    pub(crate) fn watch(&self, now: &Now<'_>) -> bool {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((share, point)) = now.under_way {
            under_way.insert(point.name(), share);
            let part: f64 = under_way.values().sum();
            self.progress.note(self.parts(now, part));
        }
        !interrupt::asked()
    }

    /// What to say, the most important part first; `part` counts finished points, and those under way by
    /// their share.
    fn parts(&self, now: &Now<'_>, part: f64) -> Vec<String> {
        let missing = (now.total - now.kept) as f64;
        let mut parts = Vec::new();
        if now.total > 1 {
            parts.push(format!("{} of {} points", now.done, now.total));
        }
        parts.push(format!("{:.0} %", 100.0 * part / missing.max(1.0)));
        let left = self.start.elapsed().as_secs_f64() * (missing - part) / part.max(1e-9);
        if part / missing > 0.02 {
            parts.push(left_over(left));
        }
        parts
    }
}

/// A time that is left: `40 s left`, `5 min left`.
fn left_over(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s left"),
        s if s < 5400.0 => format!("{:.0} min left", s / 60.0),
        s => format!("{:.1} h left", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_the_unit_that_fits() {
        assert_eq!([4.4, 300.0, 9000.0].map(left_over), ["4 s left", "5 min left", "2.5 h left"]);
    }
}
