//! What of devices that are memory is used, and which of them is best given back for it.

use crate::{Answer, Candidate, Kernel, LEFTMOST, to_give_back};
use pagetide_host::{BlockState, DaxDevice};
use pagetide_types::Bytes;

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
