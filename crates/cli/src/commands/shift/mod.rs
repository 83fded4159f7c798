//! `pagetide shift`: storage that lies idle becomes memory under pressure, and goes back.

mod change;
mod compact;
mod run;
mod status;

use crate::commands::out;
use crate::shift_args::ShiftCommand;
use crate::tell::tell;
use anyhow::{Context, Result};
use pagetide_host::Host;
use pagetide_shift::{Helper, Journal, LiveKernel, Lock, Machine, Shifter};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long another's change is waited for.
const OTHERS: Duration = Duration::from_secs(60);

/// This machine cannot do it, or not with these rights.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unable {
    #[error("converting devices takes root; run it with sudo")]
    NotRoot,
    #[error(
        "this machine has no name that outlives a reboot (/etc/machine-id, or a UUID of the firmware): a journal \
         could be taken for another machine's; `systemd-machine-id-setup` makes one"
    )]
    NoMachineId,
    #[error(
        "this machine has no dax device: neither persistent memory in mode devdax nor CXL memory. \
         `pagetide shift prepare --region REGION --size SIZE` makes devices of a region (`ndctl list -R`)"
    )]
    NoDevices,
    #[error(transparent)]
    Kernel(#[from] pagetide_shift::Refusal),
}

pub(crate) fn run(command: &ShiftCommand) -> Result<ExitCode> {
    match command {
        ShiftCommand::Run(arguments) => run::run(arguments),
        ShiftCommand::Status(arguments) => status::status(arguments),
        ShiftCommand::Prepare(arguments) => change::prepare(arguments),
        ShiftCommand::GiveBack(arguments) => change::give_back(arguments),
        ShiftCommand::Recover(arguments) => change::recover(arguments),
        ShiftCommand::Compact(arguments) => compact::compact(arguments),
        ShiftCommand::Helper { words } => {
            out(&format!("{}\n", pagetide_shift::helper(words)))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The machine that we run on, and who it is.
fn here(free_only: bool) -> Result<(LiveKernel, Machine)> {
    let host = Host::live();
    let machine = Machine {
        machine: host.machine_id().ok_or(Unable::NoMachineId)?,
        boot: host.boot_id().context("/proc/sys/kernel/random/boot_id cannot be read")?,
    };
    Ok((kernel(free_only)?, machine))
}

fn kernel(free_only: bool) -> Result<LiveKernel> {
    let us = std::env::current_exe().context("where this program lies")?;
    let words = [us.into_os_string(), OsString::from("shift"), OsString::from("helper")];
    let helper = Helper(words.to_vec());
    Ok(LiveKernel::new(Host::live(), helper, free_only))
}

fn need_root() -> Result<(), Unable> {
    if pagetide_shift::is_root() { Ok(()) } else { Err(Unable::NotRoot) }
}

/// Under the lock, with the journal: for one change. A dry run only looks at the journal: nothing is made or locked.
fn changing<T>(
    kernel: &LiveKernel,
    machine: Machine,
    folder: &Path,
    dry_run: bool,
    act: impl FnOnce(&mut Shifter<&LiveKernel>) -> Result<T>,
) -> Result<T> {
    if dry_run {
        return act(&mut Shifter::new(kernel, Journal::look(folder, machine)?));
    }
    let _lock = Lock::change(folder, OTHERS)?;
    let journal = Journal::open(folder, machine)?;
    if journal.was_torn() {
        tell!(
            "pagetide: note: the journal's last line was torn by a crash and is dropped: what it announced \
             had not begun"
        );
    }
    act(&mut Shifter::new(kernel, journal))
}
