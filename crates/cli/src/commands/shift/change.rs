//! `pagetide shift prepare`, `give-back` and `recover`: one change each.

use super::{changing, here, need_root};
use crate::commands::{out, print_json};
use crate::shift_args::{GiveBackArgs, PrepareArgs, RecoverArgs};
use anyhow::{Result, bail};
use pagetide_shift::{
    Candidate, GiveBack, Identity, Kernel, LiveKernel, Outcome, Prepared, Refusal, Shifter, State,
    to_give_back,
};
use pagetide_types::Bytes;
use serde::Serialize;
use std::process::ExitCode;

pub(crate) fn prepare(arguments: &PrepareArgs) -> Result<ExitCode> {
    need_root()?;
    let (kernel, machine) = here(false)?;
    let dry_run = arguments.dry_run;
    let prepare = |shifter: &mut Shifter<&LiveKernel>| match (
        &arguments.region,
        arguments.size,
        &arguments.device,
    ) {
        (Some(region), Some(size), _) => {
            let count = arguments.count.unwrap_or(u64::MAX);
            Ok(pagetide_shift::prepare(shifter, region, size, count, dry_run)?)
        }
        (_, _, Some(name)) => {
            let block = kernel.block_size()?.unwrap_or_default();
            let device = if dry_run { shifter.could_offer(name)? } else { shifter.offer(name)? };
            let memory = Bytes(block.0 * device.blocks(block).len() as u64);
            Ok(Prepared { devices: vec![device.name], size: device.size, memory, count: 1 })
        }
        _ => bail!("name a --region and a --size, or a --device"),
    };
    let folder = &arguments.state.state;
    let prepared = changing(&kernel, machine, folder, dry_run, prepare)?;
    if arguments.state.json {
        print_json(&prepared)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Prepared { devices, size, memory, count } = prepared;
    let names =
        if devices.is_empty() { String::new() } else { format!(": {}", devices.join(", ")) };
    let would = if dry_run { "would be" } else { "are" };
    out(&format!("{count} of {size} {would} prepared, each {memory} as memory{names}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// What a give-back did.
#[derive(Debug, Default, Serialize)]
struct GivenBack {
    devices: Vec<String>,
    bytes: Bytes,
    /// Of what programs had there, what we moved to DRAM.
    moved: Bytes,
    refused: Vec<String>,
}

pub(crate) fn give_back(arguments: &GiveBackArgs) -> Result<ExitCode> {
    need_root()?;
    let (kernel, machine) = here(false)?;
    let mut done = GivenBack::default();
    let (limit, evict) = (arguments.time, arguments.evict);
    // Who wants storage back gets it, whatever programs do meanwhile.
    let how = GiveBack { limit, evict, withdraw: true, unless_used_up: None };
    let give_back = |shifter: &mut Shifter<&LiveKernel>| {
        let mut left = memory(shifter)?;
        if let Some(name) = &arguments.device {
            left.retain(|(_, device, _)| device == name);
            if left.is_empty() {
                bail!("{name} is no memory of ours; `pagetide shift status` lists what is");
            }
        }
        let wanted = arguments.size.unwrap_or(Bytes(1));
        while done.bytes < wanted {
            let candidates: Vec<Candidate> = left.iter().map(|(_, _, it)| *it).collect();
            let Some(which) = to_give_back(&candidates, Bytes(u64::MAX)) else { break };
            let (id, name, candidate) = left.remove(which);
            if arguments.dry_run {
                done.bytes += candidate.size;
                done.devices.push(name);
                continue;
            }
            match shifter.to_storage(&id, how) {
                Ok(back) => {
                    done.bytes += candidate.size;
                    done.moved += back.moved;
                    done.devices.push(name);
                }
                Err(Refusal::Journal(error)) => return Err(error.into()),
                Err(refusal) => done.refused.push(refusal.to_string()),
            }
        }
        let fixed = left.iter().filter(|(_, _, it)| it.unmovable);
        done.refused
            .extend(fixed.map(|(_, name, _)| format!("{name} holds pages that do not move")));
        Ok(())
    };
    let folder = &arguments.state.state;
    changing(&kernel, machine, folder, arguments.dry_run, give_back)?;
    let wanted = arguments.size.unwrap_or(Bytes(1));
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
    if done.bytes < wanted {
        let reasons = match done.refused.as_slice() {
            [] => "no more of it is memory of ours".to_owned(),
            reasons => reasons.join("; "),
        };
        let verb = if arguments.dry_run { "would be" } else { "were" };
        bail!("{} of {wanted} {verb} given back: {reasons}", done.bytes);
    }
    Ok(ExitCode::SUCCESS)
}

/// Our devices that are memory, with their use, and those that were and are not storage yet.
fn memory(shifter: &Shifter<&LiveKernel>) -> Result<Vec<(Identity, String, Candidate)>> {
    let kernel = shifter.kernel();
    let block = kernel.block_size()?.unwrap_or_default();
    let mut all = Vec::new();
    for device in kernel.devices()? {
        let id = shifter.journal().devices().iter().find(|(id, _)| id.is(&device));
        let given = |state| matches!(state, State::Memory | State::ToStorage);
        let Some((id, _)) = id.filter(|(_, entry)| given(entry.state)) else { continue };
        let (used, unmovable) = pagetide_shift::usage(kernel, &device)?;
        let size = Bytes(block.0 * device.blocks(block).len() as u64);
        let candidate = Candidate { start: device.start, size, used, unmovable };
        all.push((id.clone(), device.name, candidate));
    }
    Ok(all)
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
    let rows: Vec<RecoveredRow> =
        changing(&kernel, machine, &arguments.state.state, false, |shifter| Ok(shifter.recover()))?
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
    } else if rows.is_empty() {
        out("nothing is left to be made right: what is ours is storage\n")?;
    } else {
        for row in &rows {
            let is = match (row.is, &row.why_not) {
                (Some(Outcome::Memory(_)), _) => "is memory",
                (Some(Outcome::Storage), _) => "is storage, zeroed",
                (None, _) => "could not be made right",
            };
            out(&format!("{} {is}\n", row.device))?;
        }
    }
    let failed: Vec<String> = rows.into_iter().filter_map(|row| row.why_not).collect();
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(ExitCode::SUCCESS)
}
