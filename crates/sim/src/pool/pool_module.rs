//! A module of the pool: served in order, or as a memory controller would ([`Scheduler`]), if the machine says how.

use super::Ps;
use super::bank_queues::Module;
use super::bank_scheduler::Scheduler;
use super::hardware::module;
use pagetide_machine::Pool;

/// See the module.
#[derive(Clone, Debug)]
pub(super) enum PoolModule {
    InOrder(Module),
    Scheduled(Scheduler),
}

impl PoolModule {
    /// One that has served nothing.
    pub(super) fn new(pool: &Pool) -> Self {
        Scheduler::of(pool).map_or_else(|| Self::InOrder(module(pool)), Self::Scheduled)
    }

    /// Of all banks together, how long they were at work.
    pub(super) fn busy(&self) -> Ps {
        match self {
            Self::InOrder(module) => module.busy(),
            Self::Scheduled(module) => module.busy(),
        }
    }

    /// Remembers when banks are at work after a time, for [`Self::busy_after`].
    pub(super) fn remember(&mut self, after: Ps) {
        if let Self::InOrder(module) = self {
            module.remember(after);
        }
    }

    /// Of [`Self::busy`] what lies after a time; asked before anything happens that is later.
    pub(super) fn busy_after(&self, time: Ps) -> Ps {
        match self {
            Self::InOrder(module) => module.busy_after(time),
            Self::Scheduled(module) => module.busy_after(time),
        }
    }

    /// What reads waited in all before their bank began, and how many there were.
    pub(super) const fn queued(&self) -> (Ps, u64) {
        match self {
            Self::InOrder(module) => module.queued(),
            Self::Scheduled(module) => module.queued(),
        }
    }

    /// By how much a request keeps those behind it back, if all places are in use alike.
    pub(super) fn occupies(&self, write: bool) -> Ps {
        match self {
            Self::InOrder(module) => module.occupies(write),
            Self::Scheduled(module) => module.occupies(write),
        }
    }

    /// How many banks there are.
    pub(super) fn banks(&self) -> usize {
        match self {
            Self::InOrder(module) => module.banks(),
            Self::Scheduled(module) => module.banks(),
        }
    }
}
