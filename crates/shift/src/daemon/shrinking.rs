//! What the daemon does where more is memory than is needed: devices go back, one after the other.

use super::{Daemon, DaemonError, Happened, Ours, Pair, SHRINKING, zeroing::Left};
use crate::{
    GaveBack, GiveBack, Identity, Journal, Kernel, Refusal, Shifter, State, used_pages::best,
};
use pagetide_host::DaxDevice;
use pagetide_types::{Bytes, NodeId};
use std::{collections::BTreeSet, time::Duration};

impl<K: Kernel> Daemon<K> {
    /// Gives the memory of a device back where enough stays free, unless programs use up so much of that meanwhile;
    /// whether it did. It is zeroed later.
    pub(crate) fn shrink(
        &mut self,
        pair: Pair,
        (mut by, used_up): (Bytes, Bytes),
        happened: &mut Vec<Happened>,
    ) -> Result<bool, DaemonError> {
        let now = self.kernel.now();
        self.exhausted.remove(&pair.dram);
        self.resting.retain(|_, until| *until > now);
        let mut left: Vec<Ours> = pair
            .devices
            .into_iter()
            .filter(|it| it.state == State::Memory && !self.resting.contains_key(&it.id))
            .collect();
        let nodes = left.iter().filter_map(|it| it.device.target).collect();
        loop {
            let devices: Vec<(&DaxDevice, Bytes)> =
                left.iter().map(|it| (&it.device, it.bytes)).collect();
            let told = self.told_first(pair.dram);
            let told = left.iter().position(|it| told == Some(&it.id) && it.bytes <= by);
            let which = match told {
                Some(which) => Some(which),
                None => best(&self.kernel, &devices, by)?.which,
            };
            let Some(which) = which else { break };
            let ours = left.swap_remove(which);
            let device = ours.device.name.clone();
            if self.options.dry_run {
                happened.push(Happened::Would { what: "shrink", device, bytes: ours.bytes });
                by = Bytes(by.0 - ours.bytes.0);
                continue;
            }
            let since = self.kernel.now();
            let (limit, unless_used_up) = (self.options.limit, Some(used_up));
            let how = GiveBack { limit, evict: false, withdraw: false, unless_used_up };
            if let Some(node) = self.worth_telling(&ours, how)? {
                let others = left.iter().filter(|it| it.device.target == Some(node));
                let all = together(by, ours.bytes, others.map(|it| it.bytes));
                if !self.may_go(pair.dram, (node, &ours.id), all) {
                    return Ok(false);
                }
            }
            let (gave, now) = self.leave_beside(pair.dram, &nodes, &ours.id, how)?;
            match gave {
                Ok(GaveBack { memory: bytes, moved }) => {
                    if let Some(pressure) = self.pressures.get_mut(&pair.dram) {
                        pressure.shrank(now, bytes);
                    }
                    let seconds = (now - since).as_secs_f64();
                    let left = Left {
                        id: ours.id,
                        device: device.clone(),
                        dram: pair.dram,
                        node: ours.device.target,
                        bytes,
                        since: now,
                        zeroed: 0,
                        open: false,
                    };
                    self.has_left(left, used_up);
                    self.told_left(ours.device.target, bytes);
                    happened.push(Happened::Shrank { device, bytes, moved, seconds });
                    // It took time: whether more may go is to be looked at again.
                    return Ok(true);
                }
                Err(refusal @ Refusal::Wanted(_)) => {
                    let why = refusal.to_string();
                    happened.push(Happened::Refused { device, why });
                    break;
                }
                Err(refusal) => self.refused(ours, &refusal, happened),
            }
        }
        self.stays(pair.dram);
        Ok(false)
    }

    /// The node of a device that is to leave, if somebody heeds that.
    fn worth_telling(&self, ours: &Ours, how: GiveBack) -> Result<Option<NodeId>, DaemonError> {
        if self.told.is_none() && self.kernel.heeding().is_empty() {
            return Ok(None);
        }
        let journal = Journal::look(&self.options.folder, self.options.machine.clone())?;
        let worth = Shifter::new(&self.kernel, journal).is_worth_telling(&ours.device, how);
        Ok(ours.device.target.filter(|_| worth))
    }

    /// Takes the memory of a device out of use while the first one that has left is zeroed; when it had left. The latter
    /// goes on for a moment, unless programs want memory.
    pub(super) fn leave_beside(
        &mut self,
        dram: NodeId,
        nodes: &BTreeSet<NodeId>,
        id: &Identity,
        how: GiveBack,
    ) -> Result<(Result<GaveBack, Refusal>, Duration), DaemonError> {
        let first = self.zeroing.first(dram);
        let changed = self.change(|shifter| {
            if let Some((first, zeroed)) = &first
                && let Err(refusal) = shifter.begin_beside(first, *zeroed)
            {
                // It is told when its turn comes.
                tracing::debug!(%refusal, "not zeroed beside");
            }
            let gave = shifter.leave(id, how);
            let at = self.kernel.now();
            let part = how.unless_used_up.unwrap_or_default();
            let least = self.free_of(dram, nodes).saturating_sub(part);
            let stays = gave.is_err();
            let wanted = || stays || self.free_of(dram, nodes) < least;
            let limit = if stays { Duration::ZERO } else { SHRINKING };
            let ended = shifter.end_beside(limit, &wanted);
            Ok((gave, at, ended))
        })?;
        let (gave, at, ended) = match changed {
            Ok((Err(Refusal::Journal(error)), ..)) => return Err(error.into()),
            Ok(changed) => changed,
            Err(refusal) => (Err(refusal), self.kernel.now(), None),
        };
        if let (Some((first, _)), Some(ended)) = (first, ended) {
            self.zeroed_beside(&first, ended)?;
        }
        Ok((gave, at))
    }
}

/// How much leaves if devices do one after the other as long as no more than `most` has: the first one, and of the others
/// those that fit.
fn together(most: Bytes, first: Bytes, others: impl Iterator<Item = Bytes>) -> Bytes {
    others.fold(first, |all, one| if all + one <= most { all + one } else { all })
}
