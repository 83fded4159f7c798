//! `pagetide report`: plans as one page, several side by side.

use crate::args::ReportArgs;
use crate::commands::page::{self, MOST, Subjects};
use crate::commands::plan::{machine_file, one, policies};
use crate::commands::{self, list_machines, open};
use crate::exit;
use anyhow::{Result, bail};
use pagetide_machine::Machine;
use pagetide_privilege::{Paths, without_privileges};
use pagetide_trace::Recording;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &ReportArgs) -> Result<ExitCode> {
    if arguments.machine.iter().any(|name| name == "list") {
        return list_machines();
    }
    let Some(first) = arguments.recordings.first() else {
        let missing = "nothing to report on; name a RECORDING (pagetide report app.heat)";
        exit::missing("report", missing);
    };
    let mut read = arguments.recordings.clone();
    read.extend(arguments.machine.iter().filter_map(|name| machine_file(name)));
    let output = arguments.output.clone().unwrap_or_else(|| beside(first));
    without_privileges(&Paths { read, written: vec![output], ..Paths::default() })?;
    let machines: Vec<Machine> =
        arguments.machine.iter().map(|name| commands::machine(name)).collect::<Result<_>>()?;
    let policies = policies(&arguments.asked.policy)?;
    arguments.window.check()?;
    let plans = arguments.recordings.len() * machines.len();
    if plans > MOST {
        bail!("{plans} plans do not fit side by side; name recordings and machines for {MOST}");
    }
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => {
            let output = beside(first);
            if output.exists() {
                bail!(
                    "{0} already exists; remove it, or name the page with -o (-o {0} replaces it)",
                    pagetide_types::shell::shown(&output.to_string_lossy())
                );
            }
            output
        }
    };
    page::check(&output)?;
    // Before minutes of replay: whether all of them can be read at all.
    let part = |path: &PathBuf| arguments.window.of(open(path)?);
    let recordings: Vec<Recording> =
        arguments.recordings.iter().map(part).collect::<Result<_>>()?;
    let mut subjects = Subjects::default();
    for recording in &recordings {
        for machine in &machines {
            let plan = one(recording, &policies, machine, &arguments.asked)?;
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
