//! What the daemon does where memory is short: devices become memory, what is not zeroed yet first.

use super::{Daemon, DaemonError, Happened, Ours, Pair};
use crate::{Candidate, Kernel, State, Trigger, to_take};
use pagetide_types::{Bytes, NodeId};
use std::time::Duration;

impl<K: Kernel> Daemon<K> {
    /// How long it takes until the device that is next is memory.
    pub(crate) fn conversion(
        &self,
        pair: &Pair,
        room: Option<Bytes>,
        now: Duration,
    ) -> Option<Duration> {
        if self.zeroing.best(pair.dram, room).is_some() {
            return Some(Duration::ZERO);
        }
        let rests = |it: &Ours| self.resting.get(&it.id).is_some_and(|until| *until > now);
        let left: Vec<&Ours> = pair
            .devices
            .iter()
            .filter(|it| it.state == State::Storage && !rests(it))
            .filter(|it| room.is_none_or(|room| it.bytes <= room))
            .collect();
        let candidates: Vec<Candidate> = left.iter().copied().map(candidate).collect();
        let next = left.get(to_take(&candidates)?)?;
        Some(Duration::from_secs_f64(next.device.size.as_f64() / self.pace))
    }

    /// How much more may be memory, behind whatever DRAM; none: as much as there is.
    pub(super) fn room(&self) -> Result<Option<Bytes>, DaemonError> {
        let Some(most) = self.options.at_most else { return Ok(None) };
        let ours = self.ours()?.into_iter();
        let memory = ours.filter(|it| it.state == State::Memory).map(|it| it.bytes).sum();
        Ok(Some(most.saturating_sub(memory)))
    }

    /// Takes devices until enough more memory is there, or none is left.
    pub(crate) fn grow(
        &mut self,
        pair: Pair,
        by: Bytes,
        why: Trigger,
        happened: &mut Vec<Happened>,
    ) -> Result<(), DaemonError> {
        let now = self.kernel.now();
        self.resting.retain(|_, until| *until > now);
        let room = self.room()?;
        let mut left: Vec<Ours> = pair
            .devices
            .into_iter()
            .filter(|it| it.state == State::Storage && !self.resting.contains_key(&it.id))
            .collect();
        let mut gained = Bytes(0);
        // What has not become storage yet is there the soonest.
        while gained < by {
            let room = room.map(|room| room.saturating_sub(gained));
            let Some(which) = self.zeroing.best(pair.dram, room) else { break };
            let bytes = self.again(which, self.kernel.now())?.unwrap_or_default();
            self.grew(pair.dram, bytes, why);
            gained += bytes;
        }
        happened.append(&mut self.zeroing.happened);
        while gained < by {
            left.retain(|it| room.is_none_or(|room| it.bytes + gained <= room));
            let candidates: Vec<Candidate> = left.iter().map(candidate).collect();
            let Some(which) = to_take(&candidates) else { break };
            let ours = left.swap_remove(which);
            let device = ours.device.name.clone();
            if self.options.dry_run {
                happened.push(Happened::Would { what: "grow", device, bytes: ours.bytes });
                gained += ours.bytes;
                continue;
            }
            let since = self.kernel.now();
            match self.change(|shifter| shifter.to_memory(&ours.id))? {
                Ok(bytes) => {
                    gained += bytes;
                    self.grew(pair.dram, bytes, why);
                    let seconds = (self.kernel.now() - since).as_secs_f64();
                    if seconds > 0.0 {
                        self.pace = ours.device.size.as_f64() / seconds;
                    }
                    happened.push(Happened::Grew { device, bytes, why, seconds });
                }
                Err(refusal) => self.refused(ours, &refusal, happened),
            }
        }
        if gained > Bytes(0) {
            self.exhausted.remove(&pair.dram);
        }
        // Said once, not at every check.
        if gained < by && self.exhausted.insert(pair.dram) {
            happened.push(Happened::Exhausted { wanted: Bytes(by.0 - gained.0) });
        }
        Ok(())
    }

    /// A device behind a DRAM became memory: the time between growing and shrinking begins, whatever becomes of the next
    /// one.
    pub(super) fn grew(&mut self, dram: NodeId, bytes: Bytes, why: Trigger) {
        if let (Some(pressure), true) = (self.pressures.get_mut(&dram), bytes > Bytes(0)) {
            pressure.grew(self.kernel.now(), bytes, why);
        }
    }
}

/// Storage: nothing of it is used.
fn candidate(ours: &Ours) -> Candidate {
    let (start, size) = (ours.device.start, ours.bytes);
    Candidate { start, size, used: Bytes(0), unmovable: false }
}
