//! One device is zeroed while the next one leaves. The lock is held for both, and the journal written by one hand: a device
//! is storage when it was zeroed to its end, read, and that is written down, as ever.

use crate::{Identity, Journal, Kernel, Refusal, Shifter, zero_device::now_storage};
use pagetide_types::Bytes;
use std::time::Duration;

/// A device that is being zeroed beside another change.
#[derive(Debug)]
pub(crate) struct Beside {
    id: Identity,
    name: String,
    size: Bytes,
    ended: Option<Ended>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Ended {
    /// When that was seen.
    pub(crate) at: Duration,
    /// How far it is zeros; none: it is storage.
    pub(crate) zeroed: Result<Option<u64>, Refusal>,
}

impl Beside {
    /// Looks whether it has ended, and waits so long for it; writes down what is storage now.
    pub(crate) fn look(
        &mut self,
        kernel: &impl Kernel,
        journal: &mut Journal,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) {
        if self.ended.is_some() {
            return;
        }
        let zeroed = match kernel.zeroed(limit, stop) {
            Ok(None) => return,
            Ok(Some(end)) if end < self.size.0 => Ok(Some(end)),
            Ok(Some(_)) => now_storage(journal, &self.id).map(|()| None),
            Err(fault) => Err(Refusal::of(&self.name)(fault)),
        };
        self.ended = Some(Ended { at: kernel.now(), zeroed });
    }
}

impl<K: Kernel> Shifter<K> {
    /// Begins to zero a device whose memory was taken out of use, from an offset on.
    ///
    /// # Errors
    /// As [`zero`](Self::zero), and nothing was begun.
    pub(crate) fn begin_beside(&mut self, id: &Identity, from: u64) -> Result<(), Refusal> {
        self.must_be_left(id)?;
        let device = self.to_be_zeroed(id, from)?;
        self.must_be_the_same(id, &device)?;
        self.kernel.begin_zeroing(&device, from).map_err(Refusal::of(&device.name))?;
        let (id, name, size) = (id.clone(), device.name, device.size);
        self.beside = Some(Beside { id, name, size, ended: None });
        Ok(())
    }

    /// Looks whether it has ended, and waits so long for it; writes down what is storage now.
    fn look_beside(&mut self, limit: Duration, stop: &dyn Fn() -> bool) {
        if let Some(beside) = &mut self.beside {
            beside.look(&self.kernel, &mut self.journal, limit, stop);
        }
    }

    /// Waits so long until it has ended, unless it is to stop before, and ends it; what came of it. None: nothing was
    /// begun, or it was ended before its time.
    pub(crate) fn end_beside(&mut self, limit: Duration, stop: &dyn Fn() -> bool) -> Option<Ended> {
        self.look_beside(limit, stop);
        let beside = self.beside.take()?;
        if beside.ended.is_none() {
            // Nobody must write to it any more when the lock is let go.
            let ended = self.kernel.end_zeroing().map_err(Refusal::of(&beside.name));
            let at = self.kernel.now();
            return ended.err().map(|refusal| Ended { at, zeroed: Err(refusal) });
        }
        beside.ended
    }
}
