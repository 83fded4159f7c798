//! What the daemon does where more is memory than is needed: devices go back, one after the other.

use crate::{
    Answer, Candidate, DaemonError, GaveBack, GiveBack, Happened, Kernel, Refusal, State,
    daemon::{Daemon, Ours, Pair, candidate},
    to_give_back,
    zeroing::Left,
};
use pagetide_host::{BlockState, DaxDevice};
use pagetide_types::Bytes;

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
        loop {
            let candidates: Answer<Vec<Candidate>> =
                left.iter().map(|ours| self.usage(ours)).collect();
            let Some(which) = to_give_back(&candidates?, by) else { break };
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
            match self.change(|shifter| shifter.leave(&ours.id, how))? {
                Ok(GaveBack { memory: bytes, moved }) => {
                    let now = self.kernel.now();
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
        Ok(false)
    }

    /// What of a device is in use.
    fn usage(&self, ours: &Ours) -> Answer<Candidate> {
        usage(&self.kernel, &ours.device).map(|(used, fixed)| candidate(ours, used.0, fixed))
    }
}

/// What of a device that is memory is in use, and whether some of it does not move.
///
/// # Errors
/// When the kernel does not tell.
pub fn usage(kernel: &impl Kernel, device: &DaxDevice) -> Answer<(Bytes, bool)> {
    let size = kernel.block_size()?.unwrap_or_default();
    let (mut used, mut fixed) = (0, false);
    for block in device.blocks(size) {
        if kernel.block(block)?.is_some_and(|now| now.state == BlockState::Online) {
            let frames = kernel.frames(block)?;
            used += frames.used() * 4096;
            fixed |= frames.unmovable > 0;
        }
    }
    Ok((Bytes(used), fixed))
}
