//! `pagetide plan`: from a recording, or straight from a command, to a recommendation.

use crate::args::{AskedArgs, ChargeArg, PlanArgs, ShareArg};
use crate::commands::page::{self, Subjects};
use crate::commands::record;
use crate::commands::writing::Output;
use crate::commands::{self, list_machines, open, out, print_json};
use crate::exit;
use anyhow::{Context, Result, bail};
use pagetide_machine::Machine;
use pagetide_policy::PolicySpec;
use pagetide_privilege::{Capabilities, Paths, without_privileges};
use pagetide_replay::{
    Charge, Plan, PlanOptions, Share, Sharer, Split, Weighting, all_policies, plan_recording,
};
use pagetide_report::Style;
use pagetide_trace::{Owner, Recording};
use pagetide_types::{Bytes, shell};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &PlanArgs) -> Result<ExitCode> {
    if arguments.machine == "list" {
        return list_machines();
    }
    if !arguments.recordings.is_empty() {
        without_privileges(&paths(arguments, None))?;
    }
    // Everything that can be wrong is found before minutes of recording.
    let machine = commands::machine(&arguments.machine)?;
    let policies = policies(&arguments.asked.policy)?;
    arguments.window.check()?;
    if let Some(path) = &arguments.report {
        page::check(path)?;
    }
    if !arguments.recordings.is_empty() {
        return from_recordings(arguments, &policies, &machine);
    }
    if arguments.fast.is_some() {
        bail!(
            "--fast is for recordings: record first (pagetide record -o app.heat -- COMMAND), then \
             pagetide plan app.heat --fast SIZE"
        );
    }
    if arguments.window.given() {
        bail!(
            "--from and --to are for recordings: record first (pagetide record -o app.heat -- \
             COMMAND), then pagetide plan app.heat --from TIME --to TIME"
        );
    }
    let Some(target) = record::target(&arguments.target) else {
        exit::missing(
            "plan",
            "nothing to plan for; name a recording (pagetide plan app.heat), or what to record \
             first: a command after --, --pid or --cgroup",
        );
    };
    let temporary;
    let output = match &arguments.output {
        Some(path) => Output::to_keep(path),
        None => {
            temporary = Temporary::new()?;
            Output { path: &temporary.recording, owner: Owner::behind_sudo() }
        }
    };
    let what = record::What {
        target: &target,
        account: &arguments.account,
        then: Capabilities::SETUID | Capabilities::SETGID,
        planned: true,
    };
    let recorded =
        record::record(what, &arguments.options, machine.cache_per_core, output, arguments.json)?;
    let recording = Recording::open(output.path)?;
    without_privileges(&paths(arguments, Some(output.path)))?;
    let plan = one(&recording, &policies, &machine, &arguments.asked)?;
    show(&plan, arguments.json)?;
    write_page(arguments, [(recording, plan)], None)?;
    Ok(record::code(recorded.end))
}

/// A recording that only the plan is wanted of, in a fresh directory that nobody else may enter;
/// both are removed on drop.
struct Temporary {
    _directory: tempfile::TempDir,
    recording: PathBuf,
}

impl Temporary {
    fn new() -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("pagetide-").permissions(Permissions::from_mode(0o700));
        let directory = builder.tempdir().context("making a directory for the recording")?;
        if let Some(owner) = Owner::behind_sudo() {
            // Who plans with it has become that user.
            File::open(directory.path())
                .and_then(|open| owner.give(open))
                .with_context(|| format!("giving {} away", directory.path().display()))?;
        }
        let recording = directory.path().join("plan.heat");
        Ok(Self { _directory: directory, recording })
    }
}

/// What planning opens: the recordings (or the one just made), a machine's file, the page.
fn paths(arguments: &PlanArgs, made: Option<&Path>) -> Paths {
    let mut read = arguments.recordings.clone();
    read.extend(made.map(Path::to_owned));
    read.extend(machine_file(&arguments.machine));
    Paths { read, written: arguments.report.iter().cloned().collect(), ..Paths::default() }
}

/// A machine that is a file.
pub(crate) fn machine_file(name: &str) -> Option<PathBuf> {
    Some(PathBuf::from(name)).filter(|path| path.exists())
}

pub(crate) fn policies(names: &[String]) -> Result<Vec<PolicySpec>> {
    if names.is_empty() {
        return Ok(all_policies());
    }
    let specs = whole(names).into_iter().map(|name| name.parse::<PolicySpec>());
    Ok(specs.collect::<Result<_, _>>()?)
}

/// Puts options back to the policy that they were given for: commas part policies, and the options
/// of one (`lru,rate:interval=8,steps=4`).
fn whole(parts: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        let option = part.contains('=') && !part.contains(':');
        match names.last_mut().filter(|last| option && last.contains(':')) {
            Some(last) => *last = format!("{last},{part}"),
            None => names.push(part.clone()),
        }
    }
    names
}

pub(crate) fn one(
    recording: &Recording,
    policies: &[PolicySpec],
    machine: &Machine,
    asked: &AskedArgs,
) -> Result<Plan> {
    let options = PlanOptions {
        target_slowdown: asked.target_slowdown,
        memory_share: asked.memory_share,
        charge: match asked.charge {
            ChargeArg::Leads => Charge::Leads,
            ChargeArg::Lines => Charge::Lines,
        },
        ..PlanOptions::default()
    };
    plan_recording(recording, policies, machine, &options)
        .with_context(|| format!("planning for {}", recording.path().display()))
}

fn from_recordings(
    arguments: &PlanArgs,
    policies: &[PolicySpec],
    machine: &Machine,
) -> Result<ExitCode> {
    if let [first, _, ..] = &arguments.recordings[..]
        && first.extension().is_none_or(|ending| ending != "heat")
        && first.try_exists().is_ok_and(|there| !there)
    {
        // A command without its --, most likely.
        let words = arguments.recordings.iter().map(|word| word.to_string_lossy());
        let words: Vec<_> = words.map(|word| shell::shown(&word)).collect();
        bail!(
            "there is no recording {}; to plan for a command write it after --: pagetide plan -- {}",
            words[0],
            words.join(" ")
        );
    }
    if arguments.recordings.len() > 1 && arguments.fast.is_none() {
        bail!(several(&arguments.recordings));
    }
    check_weights(&arguments.weights, arguments.recordings.len())?;
    // Before minutes of replay: whether all of them can be read at all.
    let part = |path: &PathBuf| arguments.window.of(open(path)?);
    let recordings: Vec<Recording> =
        arguments.recordings.iter().map(part).collect::<Result<_>>()?;
    let planned: Vec<(Recording, Plan)> = recordings
        .into_iter()
        .map(|recording| {
            let plan = one(&recording, policies, machine, &arguments.asked)?;
            Ok((recording, plan))
        })
        .collect::<Result<_>>()?;
    let Some(fast) = arguments.fast else {
        for (_, plan) in &planned {
            show(plan, arguments.json)?;
        }
        write_page(arguments, planned, None)?;
        return Ok(ExitCode::SUCCESS);
    };
    let in_use: u64 = planned.iter().map(|(_, plan)| plan.recording.footprint_bytes.0).sum();
    let fast = fast.of(Bytes(in_use));
    let of = |plan: &Plan| Sharer { said: plan.said_at(fast), ..Sharer::of(plan) };
    let mut sharers: Vec<Sharer> = planned.iter().map(|(_, plan)| of(plan)).collect();
    for (sharer, weight) in sharers.iter_mut().zip(&arguments.weights) {
        sharer.claim = *weight;
    }
    let share = match arguments.share {
        ShareArg::Equal => Share::Equal,
        ShareArg::Weighted => Share::Weighted,
        ShareArg::Utility => Share::Utility,
    };
    let split = pagetide_replay::split(&sharers, fast, Weighting::MemoryTime, share);
    if arguments.json {
        print_json(&split)?;
    } else if let [(_, plan)] = &planned[..] {
        out(&pagetide_report::plan_at(plan, fast, Style::of_stdout()))?;
    } else {
        out(&pagetide_report::split(&split, Style::of_stdout()))?;
    }
    write_page(arguments, planned, Some(&split))?;
    Ok(ExitCode::SUCCESS)
}

/// What can be done with several recordings, of which a plan needs a size.
fn several(recordings: &[PathBuf]) -> String {
    let names: Vec<_> =
        recordings.iter().map(|path| shell::shown(&path.to_string_lossy())).collect();
    let names = names.join(" ");
    let diff = match recordings {
        [_, _] => format!(", and what changed: pagetide trace diff {names}"),
        _ => String::new(),
    };
    format!(
        "several recordings share fast memory: say how much there is with --fast SIZE; side by \
         side: pagetide report {names}{diff}"
    )
}

/// One weight for each of several recordings, or none at all.
fn check_weights(weights: &[f64], recordings: usize) -> Result<()> {
    if !weights.is_empty() && recordings == 1 {
        bail!("--weights is for several recordings; one has all of the fast memory");
    }
    if !weights.is_empty() && weights.len() != recordings {
        bail!("--weights: {} for {recordings} recordings; give one for each", weights.len());
    }
    Ok(())
}

/// The page of these plans, if one is wanted.
fn write_page(
    arguments: &PlanArgs,
    planned: impl IntoIterator<Item = (Recording, Plan)>,
    split: Option<&Split>,
) -> Result<()> {
    let Some(page) = &arguments.report else { return Ok(()) };
    let mut subjects = Subjects::default();
    for (recording, plan) in planned {
        subjects.add(&recording, plan)?;
    }
    subjects.write(page, split)
}

fn show(plan: &Plan, json: bool) -> Result<()> {
    if json {
        return print_json(plan);
    }
    out(&pagetide_report::plan(plan, Style::of_stdout()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_recordings_may_be_meant_to_be_compared() {
        let said = |names: &[&str]| several(&names.iter().map(PathBuf::from).collect::<Vec<_>>());
        let two = said(&["a.heat", "b c.heat"]);
        assert!(two.contains("--fast SIZE"), "{two}");
        assert!(two.contains("pagetide report a.heat 'b c.heat', and what changed"), "{two}");
        assert!(two.ends_with("pagetide trace diff a.heat 'b c.heat'"), "{two}");
        assert!(said(&["a", "b", "c"]).ends_with("pagetide report a b c"));
    }

    #[test]
    fn commas_part_policies_and_the_options_of_one() {
        let given = ["lru", "rate:interval=8", "steps=4", "lfu", "window=3"].map(str::to_owned);
        assert_eq!(whole(&given), ["lru", "rate:interval=8,steps=4", "lfu", "window=3"]);
        assert!(policies(&given).is_err_and(|error| error.to_string().contains("window=3")));
        assert_eq!(policies(&given[..4]).unwrap().len(), 3);
    }
}
