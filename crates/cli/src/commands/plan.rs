//! `pagetide plan`: from a recording, or straight from a command, to a recommendation.

use crate::args::PlanArgs;
use crate::commands::{out, print_json, record};
use anyhow::{Context, Result, bail};
use pagetide_policy::PolicySpec;
use pagetide_replay::{
    Machine, Plan, PlanOptions, Sharer, Weighting, all_policies, plan_recording,
};
use pagetide_report::Style;
use pagetide_trace::Recording;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &PlanArgs) -> Result<ExitCode> {
    if arguments.machine == "list" {
        for name in Machine::names() {
            out(&format!("{name:<20} {}\n", Machine::load(name)?.title))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    // Everything that can be wrong is found before minutes of recording.
    let machine = Machine::load(&arguments.machine)?;
    let policies = policies(&arguments.policy)?;
    if !arguments.recordings.is_empty() {
        return from_recordings(arguments, &policies, &machine);
    }
    if arguments.fast.is_some() {
        bail!("--fast splits fast memory between recordings; name them");
    }
    let target = record::target(&arguments.target)?;
    let temporary;
    let path = match &arguments.output {
        Some(path) => path.as_path(),
        None => {
            temporary = Temporary::new();
            temporary.0.as_path()
        }
    };
    let end = record::record(&target, &arguments.options, path, arguments.json)?;
    let plan = one(path, &policies, &machine, arguments)?;
    show(&plan, arguments.json)?;
    Ok(record::code(end))
}

/// A recording that only the plan is wanted of; removed on drop.
struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("pagetide-{}.heat", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may never have been made; nothing is lost if it stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn policies(names: &[String]) -> Result<Vec<PolicySpec>> {
    if names.is_empty() {
        return Ok(all_policies());
    }
    let specs = names.iter().map(|name| name.parse::<PolicySpec>());
    Ok(specs.collect::<Result<_, _>>()?)
}

fn one(
    path: &Path,
    policies: &[PolicySpec],
    machine: &Machine,
    arguments: &PlanArgs,
) -> Result<Plan> {
    let options = PlanOptions {
        target_slowdown: arguments.target_slowdown,
        memory_share: arguments.memory_share,
        ..PlanOptions::default()
    };
    let recording = Recording::open(path)?;
    plan_recording(&recording, policies, machine, &options)
        .with_context(|| format!("planning for {}", path.display()))
}

fn from_recordings(
    arguments: &PlanArgs,
    policies: &[PolicySpec],
    machine: &Machine,
) -> Result<ExitCode> {
    if arguments.recordings.len() > 1 && arguments.fast.is_none() {
        bail!("several recordings share fast memory: say how much there is with --fast SIZE");
    }
    let plans: Vec<Plan> = arguments
        .recordings
        .iter()
        .map(|path| one(path, policies, machine, arguments))
        .collect::<Result<_>>()?;
    let Some(fast) = arguments.fast else {
        for plan in &plans {
            show(plan, arguments.json)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let sharers: Vec<Sharer> = plans.iter().map(Sharer::of).collect();
    let split = pagetide_replay::split(&sharers, fast, Weighting::MemoryTime);
    if arguments.json {
        print_json(&split)?;
    } else {
        out(&pagetide_report::split(&split, Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(plan: &Plan, json: bool) -> Result<()> {
    if json {
        return print_json(plan);
    }
    out(&pagetide_report::plan(plan, Style::of_stdout()))?;
    Ok(())
}
