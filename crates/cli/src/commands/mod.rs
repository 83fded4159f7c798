//! One file per command.

mod bench;
mod curve;
mod doctor;
mod exact;
mod heeding;
mod log;
mod outputs;
mod page;
mod plan;
mod policies;
mod pool;
mod record;
mod report;
mod reproduce;
mod run;
mod shell;
pub(crate) mod shift;
mod sim;
mod sweep;
mod trace;
mod verify;
mod writing;

use crate::args::Command;
use crate::tell::tell;
use anyhow::{Context as _, Result, bail};
use pagetide_machine::Machine;
use pagetide_trace::Recording;
use std::path::Path;
use std::process::ExitCode;

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Record(arguments) => record::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Bench(command) => bench::run(&command),
        Command::Curve(arguments) => curve::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Sim(arguments) => sim::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Shift(command) => shift::run(&command),
        Command::Report(arguments) => report::run(&arguments),
        Command::Trace(command) => trace::run(&command),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Policies(arguments) => policies::policies(&arguments),
        Command::Governors(arguments) => policies::governors(&arguments),
        Command::Workload(workload) => Ok(pagetide_workloads::run(&workload)?),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { output } => shell::man(output.as_deref()),
    }
}

/// Opens a recording, and says so if it was not ended cleanly: an answer may lack what was lost.
fn open(path: &Path) -> Result<Recording> {
    let recording = Recording::open(path)?;
    if let Some(why) = recording.unfinished() {
        tell!("pagetide: note: {}: {why}; what is there is whole", path.display());
    }
    Ok(recording)
}

/// A machine to plan for: of two tiers, for a plan says what belongs in the first of them.
fn machine(name: &str) -> Result<Machine> {
    let machine = Machine::load(name)?;
    if let [_, _, more @ ..] = &machine.tiers[..]
        && !more.is_empty()
    {
        let tiers = machine.tiers.len();
        bail!(
            "machine {name} has {tiers} tiers, and memory is placed in two: leave out all [[tier]] \
             entries but the two to compare"
        );
    }
    Ok(machine)
}

/// Prints a text; a reader that went away is an error of its own kind (see `exit`).
fn out(text: &str) -> Result<()> {
    crate::tell::report(text).context("standard output")
}

/// Prints a value as JSON with a final newline.
fn print_json(value: &impl serde::Serialize) -> Result<()> {
    crate::tell::json(&serde_json::to_string_pretty(value)?).context("standard output")
}

/// Prints the machines that are built in.
fn list_machines() -> Result<ExitCode> {
    for name in Machine::names() {
        out(&format!("{name:<20} {}\n", Machine::load(name)?.title))?;
    }
    Ok(ExitCode::SUCCESS)
}
