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
    let mut giving = GivingBack {
        kernel,
        request,
        done: GivenBack::default(),
        tried: BTreeSet::new(),
        told: BTreeSet::new(),
        announced: None,
    };
    let ended = giving.until_enough(open);
    if let Some(announced) = giving.announced.take() {
        announced.end(kernel);
    }
    ended.map(|()| giving.done)
}

/// A device, and what it has as memory.
type Ours = (Identity, DaxDevice, Bytes);

/// What was done for a request so far.
struct GivingBack<'a, K> {
    kernel: &'a K,
    request: &'a Request<'a>,
    done: GivenBack,
    /// Devices that went, or did not.
    tried: BTreeSet<Identity>,
    /// Nodes of which it was said, or need not be, that memory leaves.
    told: BTreeSet<NodeId>,
    announced: Option<Announced>,
}

impl<K: Kernel> GivingBack<'_, K> {
    fn until_enough<E: From<Refusal>>(
        &mut self,
        mut open: impl FnMut() -> Result<Option<Opened>, E>,
    ) -> Result<(), E> {
        while self.done.bytes < self.request.size {
            let Some(Opened { journal, lock }) = open()? else {
                self.done.stopped = true;
                break;
            };
            if self.announced.as_ref().is_some_and(|it| !it.is_over(self.kernel)) {
                // The lock is not held meanwhile.
                drop(lock);
                self.kernel.rest(LOOK);
                continue;
            }
            let mut shifter = Shifter::new(self.kernel, journal);
            let mut left = self.left(&shifter)?;
            let Some(which) = self.best_of(&left)? else { break };
            if self.announces(&shifter, &left, which) {
                continue;
            }
            self.one(&mut shifter, left.swap_remove(which))?;
            drop(lock);
        }
        Ok(())
    }

    /// What was not tried yet of what may be given back.
    fn left(&self, shifter: &Shifter<&K>) -> Result<Vec<Ours>, Refusal> {
        let mut left = memory(shifter)?;
        if let Some(name) = self.request.device {
            left.retain(|(_, device, _)| device.name == name);
            if left.is_empty() && self.tried.is_empty() {
                return Err(no_memory(self.kernel, name));
            }
        }
        left.retain(|(id, ..)| !self.tried.contains(id));
        Ok(left)
    }

    /// The one that goes best; none: what is left holds pages that do not move, which is told.
    fn best_of(&mut self, left: &[Ours]) -> Result<Option<usize>, Refusal> {
        let devices: Vec<(&DaxDevice, Bytes)> =
            left.iter().map(|(_, device, size)| (device, *size)).collect();
        let Best { which, fixed } =
            best(self.kernel, &devices, Bytes(u64::MAX)).map_err(Refusal::of("this machine"))?;
        if which.is_none() {
            let names = fixed.into_iter().map(|at| &devices[at].0.name);
            self.done.refused.extend(names.map(|it| format!("{it} holds pages that do not move")));
        }
        Ok(which)
    }

    /// Says that memory of the device's node is about to leave, once for each node; whether that was said just now.
    fn announces(&mut self, shifter: &Shifter<&K>, left: &[Ours], which: usize) -> bool {
        let (_, device, size) = &left[which];
        let Some(node) = device.target.filter(|_| !self.request.dry_run) else { return false };
        let how = self.request.how;
        if !self.told.insert(node) || !shifter.is_worth_telling(device, how) {
            return false;
        }
        let of_it = left.iter().filter(|(_, device, _)| device.target == Some(node));
        let most: Bytes = of_it.map(|(_, _, size)| *size).sum();
        let wanted = self.request.size.saturating_sub(self.done.bytes).max(*size).min(most);
        if let Some(before) = self.announced.take() {
            before.end(self.kernel);
        }
        self.announced = Announced::make(self.kernel, (node, wanted), how.limit);
        self.announced.is_some()
    }

    fn one(&mut self, shifter: &mut Shifter<&K>, (id, device, size): Ours) -> Result<(), Refusal> {
        let mut how = self.request.how;
        if self.done.devices.is_empty()
            && let Some(announced) = &self.announced
        {
            // What was waited counts.
            how.limit = how.limit.saturating_sub(announced.age(self.kernel));
        }
        let gave = if self.request.dry_run {
            Ok(Bytes(0))
        } else {
            shifter.to_storage(&id, how).map(|back| back.moved)
        };
        self.tried.insert(id);
        match gave {
            Ok(moved) => {
                self.done.bytes += size;
                self.done.moved += moved;
                self.done.devices.push(device.name);
                self.announced = self.announced.take().and_then(|it| match device.target {
                    Some(node) if node == it.node() => it.left(self.kernel, size),
                    _ => Some(it),
                });
            }
            Err(refusal @ Refusal::Journal(_)) => return Err(refusal),
            Err(refusal) => self.done.refused.push(refusal.to_string()),
        }
        Ok(())
    }
}

/// Our devices that are memory, and those that were and are not storage yet, with what they have as memory.
fn memory<K: Kernel>(shifter: &Shifter<&K>) -> Result<Vec<Ours>, Refusal> {
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
