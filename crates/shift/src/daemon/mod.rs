//! One check after the other: looks at the pressure of every pair, and converts what it asks for.
//!
//! The lock on the journal is held for one conversion, not between them: who wants storage back
//! does so himself, and the next check reads what became of it.

mod glance;
mod growing;
mod happened;
mod options;
mod pairs;
mod shrinking;
mod telling;
mod zeroing;

pub use glance::GLANCE;
pub use happened::{Check, DaemonError, Happened, PairSeen};
pub use options::{DaemonOptions, Threshold};

use crate::{
    Identity, Journal, Kernel, Lock, Pressure, PressureOptions, Refusal, Sample, Shifter, State,
    Verdict, compact,
};
use glance::Since;
use pagetide_host::Node;
use pagetide_types::{Bytes, NodeId};
use pairs::{Ours, Pair};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use telling::Told;
use zeroing::Zeroing;

/// A device that refused is not asked again for so long.
const REST: Duration = Duration::from_secs(60);
/// How long another's change is waited for.
const OTHERS: Duration = Duration::from_secs(1);

/// What a check gives back it looks at again at once, for so long.
const SHRINKING: Duration = Duration::from_secs(1);

/// Longest time that a node is compacted at a check.
const COMPACTING: Duration = Duration::from_secs(1);

/// A device stays memory if programs use up such a part of what is to be free without it while it is given back.
const WANTED: f64 = 0.25;

/// Bytes of a device per second that become memory, as long as none has been converted: nearly all of the time it is
/// read.
const ASSUMED: f64 = 512.0 * 1024.0 * 1024.0;

/// What is kept between checks.
pub struct Daemon<K> {
    pub(crate) kernel: K,
    pub(crate) options: DaemonOptions,
    pub(crate) pressures: BTreeMap<NodeId, Pressure>,
    pub(crate) resting: BTreeMap<Identity, Duration>,
    pub(crate) exhausted: BTreeSet<NodeId>,
    /// It was said that there is no dax device.
    bare: bool,
    /// When nodes may be compacted again.
    compact_from: BTreeMap<NodeId, Duration>,
    /// Bytes per second of the last device that became memory.
    pub(crate) pace: f64,
    pub(crate) zeroing: Zeroing,
    /// What was said to be about to leave.
    pub(crate) told: Option<Told>,
    /// By DRAM, what the last check says of the time until the next one.
    pub(crate) since: BTreeMap<NodeId, Since>,
}

impl<K: Kernel> Daemon<K> {
    /// Nothing is known yet.
    pub fn new(kernel: K, options: DaemonOptions) -> Self {
        Self {
            kernel,
            options,
            pressures: BTreeMap::new(),
            resting: BTreeMap::new(),
            exhausted: BTreeSet::new(),
            bare: false,
            compact_from: BTreeMap::new(),
            pace: ASSUMED,
            zeroing: Zeroing::default(),
            told: None,
            since: BTreeMap::new(),
        }
    }

    /// The machine.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// One check of all pairs. `nodes` and the time waited for memory are read by the caller, just
    /// before.
    ///
    /// # Errors
    /// When the journal or the machine cannot be read; what happened before is [`untold`](Self::untold). A device that is
    /// not converted is no error.
    pub fn check(
        &mut self,
        nodes: &[Node],
        stalled: Option<Duration>,
    ) -> Result<Check, DaemonError> {
        let mut check = Check { seconds: self.kernel.now().as_secs_f64(), ..Check::default() };
        let all = self.look_at_all(nodes, stalled, &mut check);
        check.happened.append(&mut self.zeroing.happened);
        if all.is_err() {
            self.zeroing.happened = std::mem::take(&mut check.happened);
        }
        all.map(|()| check)
    }

    /// What happened and no check has told yet; to be told where there will be none, or none came to its end.
    pub fn untold(&mut self) -> Vec<Happened> {
        std::mem::take(&mut self.zeroing.happened)
    }

    fn look_at_all(
        &mut self,
        nodes: &[Node],
        stalled: Option<Duration>,
        check: &mut Check,
    ) -> Result<(), DaemonError> {
        let began = self.kernel.now();
        self.since.clear();
        let bare = self.kernel.devices()?.is_empty();
        if bare && !self.bare {
            check.happened.push(Happened::NoDevice);
        }
        self.bare = bare;
        self.go_on(nodes)?;
        check.happened.append(&mut self.zeroing.happened);
        let drams: Vec<NodeId> = self.pairs(nodes)?.into_iter().map(|pair| pair.dram).collect();
        for dram in drams {
            // What is left when one has gone back may be too much, too: every second counts as waste.
            while let Some(pair) = self.pairs(nodes)?.into_iter().find(|pair| pair.dram == dram) {
                let shrank = self.look(pair, nodes, stalled, check)?;
                if !shrank || self.kernel.now() - began >= SHRINKING {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Looks at one pair, and does what that says; whether a device went back.
    fn look(
        &mut self,
        pair: Pair,
        nodes: &[Node],
        stalled: Option<Duration>,
        check: &mut Check,
    ) -> Result<bool, DaemonError> {
        let now = self.kernel.now();
        let dram = pair.dram;
        let threshold = match self.options.threshold {
            Threshold::Bytes(bytes) => bytes,
            Threshold::Share(share) => {
                let total = nodes.iter().find(|node| node.id == dram).map(|node| node.total);
                let is_of_it = |it: &&Ours| it.device.target == Some(dram);
                let memory = pair.devices.iter().filter(|it| it.state == State::Memory);
                let devices: Bytes = memory.filter(is_of_it).map(|it| it.bytes).sum();
                part(total.unwrap_or_default().saturating_sub(devices), share)
            }
        };
        let behind: BTreeSet<NodeId> =
            pair.devices.iter().filter_map(|ours| ours.device.target).collect();
        let free = self.free_of(dram, &behind);
        let options = PressureOptions { threshold, ..self.options.pressure };
        let conversion = self.conversion(&pair, self.room()?, now);
        let pressure = self.pressures.entry(dram).or_insert_with(|| Pressure::new(options));
        // Between pieces that are zeroed it is looked less often.
        let again = self.zeroing.left.is_empty().then_some(GLANCE);
        let verdict = pressure.check(Sample { at: now, free, stalled, conversion, again });
        let (smoothed, used_up) = (pressure.smoothed().unwrap_or(free), pressure.used_up());
        let short = pressure.short();
        let of = |state| {
            pair.devices.iter().filter(|ours| ours.state == state).map(|ours| ours.bytes).sum()
        };
        if check.pairs.iter().all(|seen| seen.dram != dram) {
            check.pairs.push(PairSeen {
                dram,
                behind: behind.iter().copied().collect(),
                free,
                smoothed,
                threshold,
                used_up,
                conversion: conversion.map(|time| time.as_secs_f64()),
                memory: of(State::Memory),
                zeroing: of(State::ToStorage),
                storage: of(State::Storage),
            });
        }
        let memory = || pair.devices.iter().filter(|ours| ours.state == State::Memory);
        let ours: BTreeSet<NodeId> = memory().filter_map(|ours| ours.device.target).collect();
        let device = memory().map(|ours| ours.bytes).min();
        if device.is_some() || short.is_some() {
            self.since.insert(dram, Since { behind, device, free: None, short });
        }
        let before = check.happened.len();
        let mut shrank = false;
        if !matches!(verdict, Verdict::Shrink { .. }) {
            self.stays(dram);
        }
        match verdict {
            Verdict::Grow { by, why } => self.grow(pair, by, why, &mut check.happened)?,
            Verdict::Shrink { by } => {
                let wanted = part(free.saturating_sub(by), WANTED);
                shrank = self.shrink(pair, (by, wanted), &mut check.happened)?;
            }
            Verdict::Hold | Verdict::Wait => {
                self.exhausted.remove(&dram);
            }
        }
        if check.happened.len() == before && smoothed >= threshold {
            self.compact(ours, &mut check.happened);
        }
        Ok(shrank)
    }

    /// Compacts the nodes of devices that are memory, if it is time to and that could bring much. It ends before the
    /// next check: memory may be wanted then.
    fn compact(&mut self, nodes: BTreeSet<NodeId>, happened: &mut Vec<Happened>) {
        let (Some(every), false) = (self.options.compact, self.options.dry_run) else { return };
        let now = self.kernel.now();
        for node in nodes {
            let first = *self.compact_from.entry(node).or_insert(now + every);
            if now < first || !self.kernel.free_blocks(node).in_pieces() {
                continue;
            }
            self.compact_from.insert(node, now + every);
            happened.push(match compact(&self.kernel, node, COMPACTING) {
                Ok(compacted) => Happened::Compacted(compacted),
                Err(fault) => {
                    Happened::Refused { device: format!("node {node}"), why: fault.to_string() }
                }
            });
        }
    }

    pub(crate) fn refused(&mut self, ours: Ours, refusal: &Refusal, happened: &mut Vec<Happened>) {
        happened.push(self.refusal_of(ours.id, ours.device.name, refusal));
    }

    /// Lets a device rest that refused.
    pub(crate) fn refusal_of(
        &mut self,
        id: Identity,
        device: String,
        refusal: &Refusal,
    ) -> Happened {
        self.resting.insert(id, self.kernel.now() + REST);
        Happened::Refused { device, why: refusal.to_string() }
    }

    /// One conversion, under the lock. A journal that cannot be written ends it all.
    pub(crate) fn change<T>(
        &self,
        act: impl FnOnce(&mut Shifter<&K>) -> Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, DaemonError> {
        self.change_within(OTHERS, act)
    }

    /// The same; another's change is waited for so long.
    pub(crate) fn change_within<T>(
        &self,
        others: Duration,
        act: impl FnOnce(&mut Shifter<&K>) -> Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, DaemonError> {
        let _lock = Lock::change(&self.options.folder, others)?;
        let journal = Journal::open(&self.options.folder, self.options.machine.clone())?;
        match act(&mut Shifter::new(&self.kernel, journal)) {
            Err(Refusal::Journal(error)) => Err(error.into()),
            other => Ok(other),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of an amount of memory"
)]
fn part(of: Bytes, share: f64) -> Bytes {
    Bytes((of.0 as f64 * share) as u64)
}

#[cfg(test)]
mod tests;
