//! Giving back and making right on request: one device after the other. The lock is held for each of them by itself, so
//! that the daemon goes on between them, and who is asked to stop does so there.

use crate::{
    GiveBack, Identity, Journal, Kernel, Lock, Recovered, Refusal, Shifter, State,
    leaving::Announced,
    used_pages::{Best, best},
};
use pagetide_host::DaxDevice;
use pagetide_types::{Bytes, NodeId};
use serde::Serialize;
use std::{collections::BTreeSet, time::Duration};

/// How often it is looked whether what is about to leave may.
const LOOK: Duration = Duration::from_millis(200);

/// The journal as it is now, under the lock if something is to be changed.
#[derive(Debug)]
pub struct Opened {
    /// What it says.
    pub journal: Journal,
    /// None: it is only looked at.
    pub lock: Option<Lock>,
}

/// What is wanted back.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// So much memory at least.
    pub size: Bytes,
    /// Of this device; none: of whatever goes best.
    pub device: Option<&'a str>,
    /// How.
    pub how: GiveBack,
    /// Only find out which devices that would be.
    pub dry_run: bool,
}

/// What was given back, or would be.
#[derive(Debug, Default, Serialize)]
pub struct GivenBack {
    /// These devices.
    pub devices: Vec<String>,
    /// What they had as memory.
    pub bytes: Bytes,
    /// Of what programs had there, what we moved to DRAM.
    pub moved: Bytes,
    /// Why others were not.
    pub refused: Vec<String>,
    /// It was asked to stop before that was enough.
    #[serde(skip)]
    pub stopped: bool,
}

/// Gives devices back until that is enough. `open` is asked for the journal before each of them; none: stop.
///
/// # Errors
/// Those of `open`; a [`Refusal`] where the journal or the machine cannot be read, or the device that is named is no memory of
/// ours. A device that does not go is no error.
pub fn give_back<K: Kernel, E: From<Refusal>>(
    kernel: &K,
    request: &Request<'_>,
    open: impl FnMut() -> Result<Option<Opened>, E>,
) -> Result<GivenBack, E> {
    let mut announced = None;
    let done = give_back_announced(kernel, request, open, &mut announced);
    if let Some(announced) = announced {
        announced.end(kernel);
    }
    done
}

fn give_back_announced<K: Kernel, E: From<Refusal>>(
    kernel: &K,
    request: &Request<'_>,
    mut open: impl FnMut() -> Result<Option<Opened>, E>,
    announced: &mut Option<Announced>,
) -> Result<GivenBack, E> {
    let mut done = GivenBack::default();
    let mut tried = BTreeSet::new();
    let mut told: BTreeSet<NodeId> = BTreeSet::new();
    while done.bytes < request.size {
        let Some(Opened { journal, lock }) = open()? else {
            done.stopped = true;
            break;
        };
        if announced.as_ref().is_some_and(|it| !it.is_over(kernel)) {
            // The lock is not held meanwhile.
            drop(lock);
            kernel.rest(LOOK);
            continue;
        }
        let mut shifter = Shifter::new(kernel, journal);
        let mut left = memory(&shifter)?;
        if let Some(name) = request.device {
            left.retain(|(_, device, _)| device.name == name);
            if left.is_empty() && tried.is_empty() {
                return Err(no_memory(kernel, name).into());
            }
        }
        left.retain(|(id, ..)| !tried.contains(id));
        let devices: Vec<(&DaxDevice, Bytes)> =
            left.iter().map(|(_, device, size)| (device, *size)).collect();
        let Best { which, fixed } =
            best(kernel, &devices, Bytes(u64::MAX)).map_err(Refusal::of("this machine"))?;
        let Some(which) = which else {
            let names = fixed.into_iter().map(|at| &devices[at].0.name);
            done.refused.extend(names.map(|name| format!("{name} holds pages that do not move")));
            break;
        };
        let mut how = request.how;
        if let Some(node) = devices[which].0.target
            && !request.dry_run
            && told.insert(node)
            && shifter.is_worth_telling(devices[which].0, how)
        {
            let of_it = devices.iter().filter(|(device, _)| device.target == Some(node));
            let most: Bytes = of_it.map(|(_, size)| *size).sum();
            let wanted = request.size.saturating_sub(done.bytes).max(devices[which].1).min(most);
            if let Some(before) = announced.take() {
                before.end(kernel);
            }
            *announced = Announced::make(kernel, (node, wanted), how.limit);
            if announced.is_some() {
                continue;
            }
        }
        let (id, device, size) = left.swap_remove(which);
        if done.devices.is_empty()
            && let Some(announced) = announced
        {
            // What was waited counts.
            how.limit = how.limit.saturating_sub(announced.age(kernel));
        }
        let gave = if request.dry_run {
            Ok(Bytes(0))
        } else {
            shifter.to_storage(&id, how).map(|back| back.moved)
        };
        tried.insert(id);
        drop(lock);
        match gave {
            Ok(moved) => {
                done.bytes += size;
                done.moved += moved;
                done.devices.push(device.name);
                *announced = announced.take().and_then(|it| match device.target {
                    Some(node) if node == it.node() => it.left(kernel, size),
                    _ => Some(it),
                });
            }
            Err(refusal @ Refusal::Journal(_)) => return Err(refusal.into()),
            Err(refusal) => done.refused.push(refusal.to_string()),
        }
    }
    Ok(done)
}

/// Our devices that are memory, and those that were and are not storage yet, with what they have as memory.
fn memory<K: Kernel>(shifter: &Shifter<&K>) -> Result<Vec<(Identity, DaxDevice, Bytes)>, Refusal> {
    let fault = Refusal::of("this machine");
    let kernel = shifter.kernel();
    let block = kernel.block_size().map_err(&fault)?.unwrap_or_default();
    let ours = |device: &DaxDevice| {
        let found = shifter.journal().devices().iter().find(|(id, _)| id.is(device))?;
        let given = matches!(found.1.state, State::Memory | State::ToStorage);
        given.then(|| found.0.clone())
    };
    let sized = |id, device: DaxDevice| {
        let size = Bytes(block.0 * device.blocks(block).len() as u64);
        (id, device, size)
    };
    let devices = kernel.devices().map_err(&fault)?.into_iter();
    Ok(devices.filter_map(|it| ours(&it).map(|id| sized(id, it))).collect())
}

/// Why a device that is named cannot be given back where none of that name is memory of ours.
fn no_memory<K: Kernel>(kernel: &K, name: &str) -> Refusal {
    match kernel.devices() {
        Ok(devices) if devices.iter().all(|device| device.name != name) => {
            Refusal::Gone(name.into())
        }
        Ok(_) => Refusal::NoMemory(name.into()),
        Err(why) => Refusal::of("this machine")(why),
    }
}

/// Makes right what a crash, a kill or a reboot left, as [`Shifter::recover_device`] says; whether all of it was looked
/// at: `open` is asked for the journal before each device; none: stop. Of the devices in `sure` it is said that nobody
/// wants what is on them.
///
/// # Errors
/// Those of `open`; where a device in `sure` is not there, nothing is changed.
pub fn recover<K: Kernel, E: From<Refusal>>(
    kernel: &K,
    sure: &[String],
    mut open: impl FnMut() -> Result<Option<Opened>, E>,
) -> Result<(Vec<Recovered>, bool), E> {
    let mut recovered = Vec::new();
    let Some(first) = open()? else { return Ok((recovered, false)) };
    let ids: Vec<Identity> = first.journal.devices().keys().cloned().collect();
    if !sure.is_empty() {
        let here = kernel.devices().map_err(Refusal::of("this machine"))?;
        if let Some(gone) = sure.iter().find(|name| here.iter().all(|it| it.name != **name)) {
            return Err(Refusal::Gone(gone.clone()).into());
        }
    }
    drop(first);
    for id in ids {
        let Some(Opened { journal, lock }) = open()? else { return Ok((recovered, false)) };
        let devices = kernel.devices().unwrap_or_default();
        let sure = devices.iter().any(|it| id.is(it) && sure.contains(&it.name));
        recovered.extend(Shifter::new(kernel, journal).recover_device(&id, sure));
        drop(lock);
    }
    Ok((recovered, true))
}

#[cfg(test)]
#[path = "on_request_tests.rs"]
mod tests;
