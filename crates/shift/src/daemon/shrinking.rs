//! What the daemon does where more is memory than is needed: devices go back, one after the other.

use super::{Daemon, DaemonError, Happened, Ours, Pair, zeroing::Left};
use crate::{GaveBack, GiveBack, Kernel, Refusal, State, usage::best};
use pagetide_host::DaxDevice;
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
            let devices: Vec<(&DaxDevice, Bytes)> =
                left.iter().map(|it| (&it.device, it.bytes)).collect();
            let Some(which) = best(&self.kernel, &devices, by)?.which else { break };
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
}
