//! Epochs in which everybody stands still: only what was visited has rows, and the governors alone are asked. What an epoch
//! costs is mostly what all other rows cost, by which nothing is decided then. What else a decision looks at is looked at in a
//! whole epoch now and then, and when there is less fast memory or the target has become larger or smaller.

use super::Manager;
use crate::place::Layout;
use crate::room::NodesRoom;
use crate::{EpochLine, Tracker, Turn};
use pagetide_migrate::Kernel;
use pagetide_policy::{Glance, Here};
use pagetide_trace::EpochRecord;
use pagetide_types::Bytes;

/// A whole epoch follows after so many seconds at most.
const WHOLE_S: f64 = 60.0;
/// So large a part of memory that came or went is another thing.
const OTHER: f64 = 1.0 / 64.0;

/// As of the last whole epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    capacity: Bytes,
    /// As of the first epoch after it.
    resident: Option<Bytes>,
}

impl Whole {
    /// Whether there is less fast memory, or the target is not as large.
    fn differs(&mut self, capacity: Bytes, resident: Bytes) -> bool {
        let before = self.resident.get_or_insert(resident).as_f64();
        let came = resident.as_f64() - before;
        came.abs() > OTHER * before || capacity.as_f64() < (1.0 - OTHER) * self.capacity.as_f64()
    }
}

impl<T: Tracker, K: Kernel + Send + 'static> Manager<T, K> {
    /// A whole epoch is over. Whether the next one may leave out what is not visited: everybody stands still, and nothing moved
    /// or has to.
    pub(super) fn may_glance(&mut self, line: &EpochLine, differs: bool) -> bool {
        self.whole = Whole { capacity: line.capacity, resident: None };
        let keeps_room = line.room_for_births > Bytes(0) || self.settings.budget.reserve.is_some();
        !line.migrate
            && !differs
            && line.turns.is_empty()
            && line.promote + line.demote == Bytes(0)
            && line.moves.is_none()
            // Page cache is given up for it.
            && !(keeps_room && line.idle_cache > Bytes(0))
            && !self.later
            && self.tiers.leaving.is_none()
            && !self.moving.is_ordered()
    }

    /// Asks the governors at the end of an epoch of which only what was visited has rows. `resident`: memory of the target.
    /// What is told of that memory is what was told last. `differs`: the target was seen to change, or the tiers did.
    pub(super) fn glance(
        &mut self,
        record: &EpochRecord,
        layout: &Layout,
        (resident, differs): (Bytes, bool),
    ) -> EpochLine {
        let (heat, epoch) = (&record.heat, &record.epoch);
        let last = self.summary.last.clone();
        let (mut free, mut capacity) = (last.free, last.capacity);
        if !self.settings.dry_run {
            let room = NodesRoom::look(self.moving.mover().kernel(), &self.tiers);
            let mut now = room.of_fast(&self.tiers, last.held);
            (now.idle_cache, now.ahead) = (last.idle_cache, last.room_for_births);
            (free, capacity) = (now.free, self.settings.budget.capacity(&now));
        }
        let assumed =
            |row: usize| self.assumed.of(heat.unit[row]).filter(|_| self.settings.dry_run);
        let is_fast = |row: usize| assumed(row).unwrap_or_else(|| layout.is_fast(row));
        let fast: Vec<bool> = (0..heat.len()).map(is_fast).collect();
        let now_s = epoch.start_s + epoch.length_s;
        let passed_s = now_s - std::mem::replace(&mut self.asked_s, now_s);
        self.tell_what_was_watched(epoch.recorder_s);
        let room = capacity.as_f64() - last.held.as_f64();
        let here = Here { fast: &fast, process: &layout.process, room };
        let Glance { migrating, strangers, sparse, changes } =
            self.tenant.glance(heat, passed_s, &here);
        self.watch_sparsely(sparse);
        if migrating > 0 {
            // It is decided on soon, by all of its memory.
            self.tracker.hurry();
        }
        let differs = self.whole.differs(capacity, resident) || differs;
        let late = now_s - self.decided_s >= WHOLE_S;
        let whole = migrating > 0 || strangers || differs || late || self.tiers.leaving.is_some();
        self.tracker.glances(!whole);
        EpochLine {
            epoch: epoch.epoch.0,
            start_s: epoch.start_s,
            length_s: epoch.length_s,
            observer_s: epoch.recorder_s,
            free,
            capacity,
            watched_share: epoch.watched_share,
            migrate: migrating > 0,
            turns: changes.into_iter().map(|change| Turn::new(change, now_s)).collect(),
            glance: true,
            promote: Bytes(0),
            demote: Bytes(0),
            moves: None,
            tiers: None,
            ..last
        }
    }
}
