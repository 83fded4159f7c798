//! `pagetide shift`: storage that lies idle becomes memory under pressure, and goes back.

mod change;
mod compact;
mod run;
mod status;

use crate::commands::out;
use crate::interrupt;
use crate::shift_args::ShiftCommand;
use crate::tell::tell;
use anyhow::{Context, Result};
use pagetide_host::Host;
use pagetide_shift::{Helper, Journal, LiveKernel, Lock, LockError, Machine, Opened};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// How long another's change is waited for.
const OTHERS: Duration = Duration::from_secs(60);
/// How often a signal is looked for meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// This machine cannot do it, or not with these rights.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unable {
    #[error("this takes root; run it with sudo")]
    NotRoot,
    #[error(
        "this machine has no name that outlives a reboot (/etc/machine-id, or a UUID of the firmware): a journal \
         could be taken for another machine's; `systemd-machine-id-setup` makes one"
    )]
    NoMachineId,
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

/// The journal, under the lock, for one change; none: the user asked to stop. A dry run only looks at the journal:
/// nothing is made or locked.
fn open(folder: &Path, machine: &Machine, dry_run: bool) -> Result<Option<Opened>> {
    if dry_run {
        let journal = Journal::look(folder, machine.clone())?;
        return Ok(Some(Opened { journal, lock: None }));
    }
    // What may not be used is refused before anything is made beside it.
    Journal::peek(folder, machine)?;
    let since = Instant::now();
    let lock = loop {
        if interrupt::asked() {
            return Ok(None);
        }
        match Lock::change(folder, LOOK) {
            Err(LockError::Held { .. }) if since.elapsed() < OTHERS => {}
            lock => break Some(lock?),
        }
    };
    let journal = Journal::open(folder, machine.clone())?;
    if journal.was_torn() {
        tell!(
            "pagetide: note: the journal's last line was torn by a crash and is dropped: what it announced \
             had not begun"
        );
    }
    Ok(Some(Opened { journal, lock }))
}

/// The same, for what only changes devices that are ours: where the folder is not there none is, and it is not made.
fn open_ours(folder: &Path, machine: &Machine, dry_run: bool) -> Result<Option<Opened>> {
    open(folder, machine, dry_run || !folder.exists())
}

/// From now on Ctrl-C asks to stop after the device at hand, and that is said if it takes a while.
fn stops_between_devices() -> Result<()> {
    interrupt::listen();
    let wait = || {
        while !interrupt::asked() {
            thread::sleep(LOOK);
        }
        thread::sleep(LOOK);
        tell!(
            "pagetide: note: the device at hand is brought to its end first; another Ctrl-C ends this at once, and \
             `pagetide shift recover` makes right what it leaves"
        );
    };
    thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(())
}
