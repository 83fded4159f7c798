//! Devices that are no memory any more, and not storage yet: one after the other is zeroed between the checks. What is
//! not zeroed to its end is memory again at once where programs want it: it need not be read first.

use super::{Daemon, DaemonError, Happened, Ours};
use crate::{
    Identity, Kernel, LockError, Outcome, Recovered, Refusal, Shifter, State, Trigger,
    beside::Ended, recover::GoOn,
};
use pagetide_host::Node;
use pagetide_types::{Bytes, NodeId};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// One of them.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) id: Identity,
    pub(crate) device: String,
    /// The DRAM that it belongs to, and its own node.
    pub(crate) dram: NodeId,
    pub(crate) node: Option<NodeId>,
    /// What it had as memory.
    pub(crate) bytes: Bytes,
    /// When it had left.
    pub(crate) since: Duration,
    /// How far it is zeroed.
    pub(crate) zeroed: u64,
    /// Somebody has it open: it will be storage.
    pub(crate) open: bool,
}

/// All of them, in the order in which they left.
#[derive(Debug, Default)]
pub(crate) struct Zeroing {
    pub(crate) left: Vec<Left>,
    /// By DRAM: with less free than this, on it and on those nodes, programs want them.
    wanted: BTreeMap<NodeId, (Bytes, BTreeSet<NodeId>)>,
    /// What happened between checks.
    pub(crate) happened: Vec<Happened>,
}

impl Zeroing {
    /// The one behind a DRAM that is zeroed first, and how far it is.
    pub(crate) fn first(&self, dram: NodeId) -> Option<(Identity, u64)> {
        let first = self.left.iter().find(|it| it.dram == dram);
        first.map(|it| (it.id.clone(), it.zeroed))
    }

    /// The one behind a DRAM that is best taken back: the last, which is zeroed last.
    pub(crate) fn best(&self, dram: NodeId, room: Option<Bytes>) -> Option<usize> {
        let fits = |it: &Left| room.is_none_or(|room| it.bytes <= room);
        self.left.iter().rposition(|it| it.dram == dram && !it.open && fits(it))
    }
}

impl<K: Kernel> Daemon<K> {
    /// Zeroes what is no memory any more for so long, unless programs want it; whether anything is left to do. To be
    /// called between checks; the next one tells what came of it.
    ///
    /// # Errors
    /// When the journal or the machine cannot be read.
    pub fn zero(&mut self, limit: Duration) -> Result<bool, DaemonError> {
        self.forget_others()?;
        let drams: Vec<NodeId> = self.zeroing.left.iter().map(|it| it.dram).collect();
        for dram in drams {
            let wanted = self.zeroing.wanted.get(&dram);
            let wanted = wanted.is_some_and(|(least, nodes)| self.free_of(dram, nodes) < *least);
            if wanted && self.again_for(dram)? {
                return Ok(true);
            }
        }
        let Some(first) = self.zeroing.left.first() else { return Ok(false) };
        let (id, mut zeroed) = (first.id.clone(), first.zeroed);
        let ended = self.change(|shifter| shifter.zero(&id, &mut zeroed, limit))?;
        self.zeroing.left[0].zeroed = zeroed;
        if !matches!(ended, Ok(false)) {
            let first = self.zeroing.left.remove(0);
            match ended {
                Ok(_) => {
                    let seconds = (self.kernel.now() - first.since).as_secs_f64();
                    let device = first.device;
                    self.zeroing.happened.push(Happened::Zeroed { device, seconds });
                }
                Err(refusal) => self.left_as_it_is(first, &refusal),
            }
        }
        Ok(!self.zeroing.left.is_empty())
    }

    /// What came of one that was zeroed while the next one left.
    pub(crate) fn zeroed_beside(&mut self, id: &Identity, ended: Ended) -> Result<(), DaemonError> {
        let Some(which) = self.zeroing.left.iter().position(|it| it.id == *id) else {
            return Ok(());
        };
        match ended.zeroed {
            Ok(Some(zeroed)) => self.zeroing.left[which].zeroed = zeroed,
            Ok(None) => {
                let Left { device, since, .. } = self.zeroing.left.remove(which);
                let seconds = ended.at.saturating_sub(since).as_secs_f64();
                self.zeroing.happened.push(Happened::Zeroed { device, seconds });
            }
            Err(Refusal::Journal(error)) => return Err(error.into()),
            Err(refusal) => {
                let left = self.zeroing.left.remove(which);
                self.left_as_it_is(left, &refusal);
            }
        }
        Ok(())
    }

    /// Whether anything is no memory any more and not storage yet.
    #[must_use]
    pub fn is_zeroing(&self) -> bool {
        !self.zeroing.left.is_empty()
    }

    /// Zeroes all that is left, and tries once more what refused, before this ends; what happened is
    /// [`untold`](Self::untold).
    ///
    /// # Errors
    /// As [`zero`](Self::zero); `recover` makes right what is left then.
    pub fn finish(&mut self) -> Result<(), DaemonError> {
        self.zeroing.wanted.clear();
        loop {
            match self.zero(Duration::MAX) {
                Ok(true) => {}
                Ok(false) => break,
                // Another is at work, and ends.
                Err(DaemonError::Lock(LockError::Held { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        let refused: Vec<Identity> = self
            .entries()?
            .into_iter()
            .filter(|(_, entry)| entry.state.is_between() && !self.options.dry_run)
            .map(|(id, _)| id)
            .collect();
        for id in refused {
            let since = self.kernel.now();
            let recovered =
                self.change_within(Duration::MAX, |it| Ok(it.recover_device(&id, false)))?;
            let Some(recovered) = recovered.ok().flatten() else { continue };
            let happened = self.recovered(id, recovered, since);
            self.zeroing.happened.extend(happened);
        }
        Ok(())
    }

    /// What came of one that was made right; nothing of one that is storage as before.
    fn recovered(
        &mut self,
        id: Identity,
        recovered: Recovered,
        since: Duration,
    ) -> Option<Happened> {
        let device = recovered.name.unwrap_or_else(|| id.to_string());
        Some(match recovered.is {
            Ok(Outcome::Memory(bytes)) => Happened::Restored { device, bytes },
            Ok(Outcome::Rebound) => return None,
            Ok(Outcome::Storage) => {
                let seconds = (self.kernel.now() - since).as_secs_f64();
                Happened::Zeroed { device, seconds }
            }
            Err(refusal) => self.refusal_of(id, device, &refusal),
        })
    }

    /// Takes one behind a DRAM into use again because programs want it; whether one is.
    fn again_for(&mut self, dram: NodeId) -> Result<bool, DaemonError> {
        let since = self.kernel.now();
        while let Some(which) = self.zeroing.best(dram, self.room()?) {
            if let Some(bytes) = self.again(which, since)? {
                self.grew(dram, bytes, Trigger::Free);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes one into use again; how much that brought, if it did.
    pub(crate) fn again(
        &mut self,
        which: usize,
        since: Duration,
    ) -> Result<Option<Bytes>, DaemonError> {
        let id = self.zeroing.left[which].id.clone();
        match self.change(|shifter| shifter.again(&id))? {
            Ok(Some(bytes)) => {
                let device = self.zeroing.left.remove(which).device;
                let seconds = (self.kernel.now() - since).as_secs_f64();
                self.zeroing.happened.push(Happened::Again { device, bytes, seconds });
                return Ok(Some(bytes));
            }
            Ok(None) => self.zeroing.left[which].open = true,
            Err(refusal) => {
                let left = self.zeroing.left.remove(which);
                self.left_as_it_is(left, &refusal);
            }
        }
        Ok(None)
    }

    fn left_as_it_is(&mut self, left: Left, refusal: &Refusal) {
        let happened = self.refusal_of(left.id, left.device, refusal);
        self.zeroing.happened.push(happened);
    }

    fn is_left(&self, id: &Identity) -> bool {
        self.zeroing.left.iter().any(|left| left.id == *id)
    }

    /// Goes on with what a refusal left between memory and storage, ours or that of another who has ended, and with what
    /// was memory and came only now: it is memory again where some of it is in use, or else it will be zeroed. What may be
    /// another device that came is looked at as `recover` does. What refuses again rests.
    pub(crate) fn go_on(&mut self, nodes: &[Node]) -> Result<(), DaemonError> {
        if self.options.dry_run {
            return Ok(());
        }
        for pair in self.pairs(nodes)? {
            let left = pair.devices.into_iter();
            for ours in left.filter(|it| it.state.is_between() || it.was_memory()) {
                let now = self.kernel.now();
                let rests = self.resting.get(&ours.id).is_some_and(|until| *until > now);
                if rests || self.is_left(&ours.id) {
                    continue;
                }
                match self.go_on_with(pair.dram, ours) {
                    // It is another's as long as he is at it.
                    Err(DaemonError::Lock(LockError::Held { .. })) => return Ok(()),
                    other => other?,
                }
            }
        }
        Ok(())
    }

    fn go_on_with(&mut self, dram: NodeId, ours: Ours) -> Result<(), DaemonError> {
        let since = self.kernel.now();
        let on = self.change_within(Duration::ZERO, |it| it.go_on(&ours.id))?;
        let was_memory = ours.was_memory();
        let Ours { id, device, bytes, .. } = ours;
        let node = device.target;
        let device = device.name;
        match on {
            Ok(GoOn::Memory(bytes)) => {
                self.zeroing.happened.push(Happened::Restored { device, bytes });
            }
            Ok(GoOn::Zero) => {
                let (zeroed, open) = (0, false);
                let left = Left { id, device, dram, node, bytes, since, zeroed, open };
                self.zeroing.left.push(left);
            }
            Ok(GoOn::Unsure) if was_memory => {
                let right = |it: &mut Shifter<&K>| Ok(it.recover_device(&id, false));
                if let Some(recovered) = self.change_within(Duration::ZERO, right)?.ok().flatten() {
                    let happened = self.recovered(id, recovered, since);
                    self.zeroing.happened.extend(happened);
                }
            }
            Ok(GoOn::Done | GoOn::Unsure) => {}
            Err(refusal) => {
                let happened = self.refusal_of(id, device, &refusal);
                self.zeroing.happened.push(happened);
            }
        }
        Ok(())
    }

    /// What another made storage, or memory, meanwhile is not ours to go on with.
    fn forget_others(&mut self) -> Result<(), DaemonError> {
        if !self.zeroing.left.is_empty() {
            let entries = self.entries()?;
            let is = |it: &Left| entries.get(&it.id).map(|entry| entry.state);
            self.zeroing.left.retain(|it| is(it) == Some(State::ToStorage));
        }
        Ok(())
    }

    /// What programs could be given of a DRAM, and of the nodes behind it. Devices may be of the DRAM's own node.
    pub(crate) fn free_of(&self, dram: NodeId, nodes: &BTreeSet<NodeId>) -> Bytes {
        let behind = nodes.iter().filter(|node| **node != dram);
        let behind: Bytes = behind.map(|node| self.kernel.available(*node)).sum();
        self.kernel.available(dram) + behind
    }

    /// Remembers that one more is no memory any more; if programs use up such a part of what is free now they want it.
    pub(crate) fn has_left(&mut self, left: Left, part: Bytes) {
        let mut nodes = self.zeroing.wanted.remove(&left.dram).map(|it| it.1).unwrap_or_default();
        nodes.extend(left.node);
        let least = self.free_of(left.dram, &nodes).saturating_sub(part);
        self.zeroing.wanted.insert(left.dram, (least, nodes));
        self.zeroing.left.push(left);
    }
}
