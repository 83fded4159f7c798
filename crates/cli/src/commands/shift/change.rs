//! `pagetide shift prepare`, `give-back` and `recover`: one change each.

use super::{here, need_root, open, open_ours, stops_between_devices};
use crate::commands::{out, print_json};
use crate::exit::INTERRUPTED;
use crate::interrupt;
use crate::shift_args::{GiveBackArgs, PrepareArgs, RecoverArgs};
use crate::tell::tell;
use anyhow::{Result, bail};
use pagetide_host::DaxDriver;
use pagetide_shift::{
    GiveBack, Kernel, LiveKernel, NewFolder, Opened, Outcome, Prepared, Request, Shifter, State,
};
use pagetide_types::Bytes;
use serde::Serialize;
use std::process::ExitCode;

pub(crate) fn prepare(arguments: &PrepareArgs) -> Result<ExitCode> {
    need_root()?;
    let (kernel, machine) = here(false)?;
    let dry_run = arguments.dry_run;
    stops_between_devices()?;
    let folder = NewFolder::look(&arguments.state.state);
    let Some(Opened { journal, lock }) = open(&arguments.state.state, &machine, dry_run)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let mut shifter = Shifter::new(&kernel, journal);
    let prepared = prepared(arguments, &mut shifter);
    match (&prepared, lock) {
        (Err(_), Some(lock)) => folder.unmake(shifter.journal(), lock),
        (_, lock) => drop(lock),
    }
    let prepared = prepared?;
    if arguments.state.json {
        print_json(&prepared)?;
        return Ok(ended());
    }
    let Prepared { devices, size, memory, count } = prepared;
    let names =
        if devices.is_empty() { String::new() } else { format!(": {}", devices.join(", ")) };
    let would = if dry_run { "would be" } else { "are" };
    out(&format!("{count} of {size} {would} prepared, each {memory} as memory{names}\n"))?;
    Ok(ended())
}

fn prepared(arguments: &PrepareArgs, shifter: &mut Shifter<&LiveKernel>) -> Result<Prepared> {
    let dry_run = arguments.dry_run;
    Ok(match (&arguments.region, arguments.size, &arguments.device) {
        (Some(region), Some(size), _) => {
            let count = arguments.count.unwrap_or(u64::MAX);
            pagetide_shift::prepare(shifter, region, size, count, dry_run, interrupt::asked)?
        }
        (_, _, Some(name)) => {
            let block = shifter.kernel().block_size()?.unwrap_or_default();
            let device = if dry_run { shifter.could_offer(name)? } else { shifter.offer(name)? };
            if device.driver != DaxDriver::Storage {
                // A dry run, for what was offered is storage.
                tell!(
                    "pagetide: note: {name} is not driven as storage (kmem takes CXL memory by itself): it would be, and would \
                     be prepared only if nothing but zeros is on it"
                );
            }
            let memory = Bytes(block.0 * device.blocks(block).len() as u64);
            Prepared { devices: vec![device.name], size: device.size, memory, count: 1 }
        }
        _ => bail!("name a --region and a --size, or a --device"),
    })
}

/// How a command ends that did what it was to do, or that and no more.
fn ended() -> ExitCode {
    if interrupt::asked() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS }
}

pub(crate) fn give_back(arguments: &GiveBackArgs) -> Result<ExitCode> {
    need_root()?;
    let (kernel, machine) = here(false)?;
    let (limit, evict, dry_run) = (arguments.time, arguments.evict, arguments.dry_run);
    let wanted = arguments.size.unwrap_or(Bytes(1));
    let request = Request {
        size: wanted,
        device: arguments.device.as_deref(),
        // Who wants storage back gets it, whatever programs do meanwhile.
        how: GiveBack { limit, evict, withdraw: true, unless_used_up: None },
        dry_run,
    };
    stops_between_devices()?;
    let opened = || open_ours(&arguments.state.state, &machine, dry_run);
    let done = pagetide_shift::give_back(&kernel, &request, opened)?;
    if arguments.state.json {
        print_json(&done)?;
    } else {
        let would = if arguments.dry_run { "would be" } else { "are" };
        for name in &done.devices {
            out(&format!(
                "{name} {would} storage again, zeroed; `prepare --device {name}` offers it anew\n"
            ))?;
        }
        if done.moved > Bytes(0) {
            out(&format!("{} of programs' memory were moved to DRAM before\n", done.moved))?;
        }
    }
    if done.stopped {
        tell!("pagetide: {} of {wanted} were given back", done.bytes);
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if done.bytes < wanted {
        let reasons = match done.refused.as_slice() {
            [] if done.bytes == Bytes(0) => {
                let folder = &arguments.state.state;
                let nothing =
                    "nothing of ours is memory; `pagetide shift status` lists what there is";
                if folder.exists() {
                    nothing.to_owned()
                } else {
                    format!("{nothing} (there is no {})", folder.display())
                }
            }
            [] => "no more of it is memory of ours".to_owned(),
            reasons => reasons.join("; "),
        };
        let verb = if arguments.dry_run { "would be" } else { "were" };
        bail!("{} of {wanted} {verb} given back: {reasons}", done.bytes);
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of a device.
#[derive(Debug, Serialize)]
struct RecoveredRow {
    device: String,
    was: State,
    is: Option<Outcome>,
    why_not: Option<String>,
}

pub(crate) fn recover(arguments: &RecoverArgs) -> Result<ExitCode> {
    need_root()?;
    let (kernel, machine) = here(false)?;
    stops_between_devices()?;
    let folder = &arguments.state.state;
    let opened = || open_ours(folder, &machine, false);
    let (recovered, all) = pagetide_shift::recover(&kernel, &arguments.zero, opened)?;
    let rows: Vec<RecoveredRow> = recovered
        .into_iter()
        .map(|it| RecoveredRow {
            device: it.name.unwrap_or_else(|| it.device.to_string()),
            was: it.was,
            is: it.is.as_ref().ok().copied(),
            why_not: it.is.err().map(|refusal| refusal.to_string()),
        })
        .collect();
    if arguments.state.json {
        print_json(&rows)?;
    } else if rows.is_empty() && all && !folder.exists() {
        out(&format!(
            "nothing is to be made right: no device is ours, there is no {}\n",
            folder.display()
        ))?;
    } else if rows.is_empty() && all {
        out("nothing is left to be made right: what is ours is storage\n")?;
    } else {
        for row in &rows {
            let is = match (row.is, &row.why_not) {
                (Some(Outcome::Memory(_)), _) => "is memory",
                (Some(Outcome::Storage), _) => "is storage, zeroed",
                (Some(Outcome::Rebound), _) => {
                    "is storage as before: the kernel's driver of memory had it"
                }
                (None, _) => "could not be made right",
            };
            out(&format!("{} {is}\n", row.device))?;
        }
    }
    let failed: Vec<String> = rows.into_iter().filter_map(|row| row.why_not).collect();
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) })
}
