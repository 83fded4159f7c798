//! `pagetide report`: plans as one page, several side by side.

use crate::args::ReportArgs;
use crate::commands::page::{self, MOST, Subjects};
use crate::commands::plan::{one, policies};
use anyhow::{Result, bail};
use pagetide_replay::Machine;
use pagetide_trace::Recording;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &ReportArgs) -> Result<ExitCode> {
    let machines: Vec<Machine> =
        arguments.machine.iter().map(|name| Machine::load(name)).collect::<Result<_, _>>()?;
    let policies = policies(&arguments.asked.policy)?;
    let plans = arguments.recordings.len() * machines.len();
    if plans > MOST {
        bail!("{plans} plans do not fit side by side; name recordings and machines for {MOST}");
    }
    let output = arguments.output.clone().unwrap_or_else(|| beside(&arguments.recordings[0]));
    page::check(&output)?;
    // Before minutes of replay: whether all of them can be read at all.
    let recordings: Vec<Recording> =
        arguments.recordings.iter().map(Recording::open).collect::<Result<_, _>>()?;
    let mut subjects = Subjects::default();
    for recording in &recordings {
        for machine in &machines {
            let plan = one(recording.path(), &policies, machine, &arguments.asked)?;
            subjects.add(recording, plan)?;
        }
    }
    if let ([first, second], [_]) = (&recordings[..], &machines[..])
        && first.header().unit == second.header().unit
    {
        subjects.diff = Some(pagetide_trace::diff(first, second)?);
    }
    subjects.write(&output, None)?;
    Ok(ExitCode::SUCCESS)
}

/// `NAME.html` in the current directory for a recording `.../NAME.heat`.
fn beside(recording: &Path) -> PathBuf {
    let name = recording.file_name().unwrap_or_else(|| "pagetide".as_ref());
    Path::new(name).with_extension("html")
}
