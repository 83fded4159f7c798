//! What the loop is told of the target, epoch by epoch.

use pagetide_scan::{End, Meanwhile, Place, Recorder, ScanError};
use pagetide_trace::EpochRecord;
use pagetide_types::{Bytes, MayBring, Pid};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// One epoch, as it was observed.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Its heat; none if it was too short to tell anything.
    pub record: Option<EpochRecord>,
    /// Where the units lay before anything moved in it.
    pub places: Vec<Place>,
    /// Only what was visited has rows ([`Tracker::glances`]), and so much is resident; none: all have.
    pub glance: Option<Bytes>,
    /// What the target accesses was seen to become another thing.
    pub changed: bool,
    /// Why there will be no further epoch.
    pub end: Option<End>,
}

/// Watches a target. Says what it saw and how much of the truth that is (the flags of the heat),
/// epoch by epoch, and refuses to serve when it is blind.
pub trait Tracker {
    /// Observes for an epoch. `stop` is asked now and then whether to end early; `moved`: pages were moved since it was
    /// looked where they lie. Once that is known, before anything is watched, `meanwhile` begins: from then on pages move.
    ///
    /// # Errors
    /// When the machine refuses; a target that ends is no error.
    fn epoch(
        &mut self,
        stop: &dyn Fn() -> bool,
        moved: bool,
        meanwhile: &mut dyn Meanwhile,
    ) -> Result<Watched, ScanError>;

    /// The processes whose memory may be moved, each with what tells whether its number is still its
    /// own; none: they are not told apart.
    fn held(&self) -> Option<Vec<(Pid, Arc<OwnedFd>)>> {
        None
    }

    /// CPU time that the process has used so far; none: nobody knows.
    fn cpu(&self, _process: Pid) -> Option<Duration> {
        None
    }

    /// The next epoch is to be a short one: what was decided is not done yet.
    fn hurry(&mut self) {}

    /// Much of what was decided is new: all of the target is to be looked at again, soon.
    fn changed(&mut self) {}

    /// Watching may bring so much; none: that is not known. It is to take no more than that is worth.
    fn may_bring(&mut self, _may_bring: Option<MayBring>) {}

    /// Deciding by the last epoch took so much CPU time.
    fn decided(&mut self, _cpu: Duration) {}

    /// From the next epoch on these processes may take so large a part of what watching them takes
    /// otherwise; all others as much as ever.
    fn watch_sparsely(&mut self, processes: &[Pid], share: f64);

    /// From the next epoch on what was not visited need not have rows: nothing is decided by them.
    fn glances(&mut self, _glances: bool) {}
}

impl Tracker for Recorder {
    fn epoch(
        &mut self,
        stop: &dyn Fn() -> bool,
        moved: bool,
        meanwhile: &mut dyn Meanwhile,
    ) -> Result<Watched, ScanError> {
        if moved {
            self.look_again();
        }
        let (record, end) = self.epoch_of_moves(stop, meanwhile)?;
        let (changed, glance) = (self.has_changed(), self.glance());
        Ok(Watched { record, places: self.places(), glance, changed, end })
    }

    fn held(&self) -> Option<Vec<(Pid, Arc<OwnedFd>)>> {
        Some(Self::held(self))
    }

    fn cpu(&self, process: Pid) -> Option<Duration> {
        Self::cpu(self, process)
    }

    fn hurry(&mut self) {
        Self::hurry(self);
    }

    fn changed(&mut self) {
        Self::changed(self);
    }

    fn may_bring(&mut self, may_bring: Option<MayBring>) {
        Self::may_bring(self, may_bring);
    }

    fn decided(&mut self, cpu: Duration) {
        Self::decided(self, cpu);
    }

    fn watch_sparsely(&mut self, processes: &[Pid], share: f64) {
        Self::watch_sparsely(self, processes, share);
    }

    fn glances(&mut self, glances: bool) {
        Self::glances(self, glances);
    }
}
