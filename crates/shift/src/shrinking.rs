//! What the daemon does where more is memory than is needed: devices go back, one after the other.

use crate::{
    Answer, Candidate, DaemonError, GaveBack, GiveBack, Happened, Kernel, LEFTMOST, Refusal, State,
    daemon::{Daemon, Ours, Pair},
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

/// The device to give back first.
#[derive(Debug, Default)]
pub(crate) struct Best {
    /// Which; none where none goes.
    pub(crate) which: Option<usize>,
    /// Those that were passed over, for they hold pages that do not move.
    pub(crate) fixed: Vec<usize>,
}

/// Of devices and what they have as memory, no more than `at_most`, the one that is best given back. What is used is
/// looked up of those alone that it can be: where there are many, reading that of all takes long.
pub(crate) fn best(
    kernel: &impl Kernel,
    devices: &[(&DaxDevice, Bytes)],
    at_most: Bytes,
) -> Answer<Best> {
    let mut order: Vec<usize> = (0..devices.len()).filter(|at| devices[*at].1 <= at_most).collect();
    order.sort_by_key(|at| devices[*at].0.start);
    let (mut compared, mut candidates, mut best) = (Vec::new(), Vec::new(), Best::default());
    for at in order {
        let (device, size) = devices[at];
        let (used, unmovable) = usage(kernel, device)?;
        if unmovable {
            best.fixed.push(at);
            continue;
        }
        compared.push(at);
        candidates.push(Candidate { start: device.start, size, used, unmovable });
        if compared.len() == LEFTMOST {
            break;
        }
    }
    best.which = to_give_back(&candidates, at_most).map(|which| compared[which]);
    Ok(best)
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
