//! How long the pool's banks were at work until the last core's end. Swaps whose lines take their turn in the banks
//! go on after it, and are counted, but nobody's run is as long.

use super::Engine;
use crate::pool::Ps;
use crate::pool::core::Core;
use crate::pool::pool_module::PoolModule;
use crate::pool::settings::Migration;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) enum AtWork {
    /// All that banks did: nothing is known to go on.
    All,
    /// What they did until the last core's end, which is not over.
    Running,
    /// As long as that.
    Until(Ps),
}

impl AtWork {
    pub(super) fn new(migration: Option<&Migration>) -> Self {
        if migration.is_some_and(Migration::works_in_banks) { Self::Running } else { Self::All }
    }
}

impl Engine<'_> {
    /// Has the modules remember when their banks are at work after a time.
    pub(super) fn remember(&mut self, after: Ps) {
        if matches!(self.at_work, AtWork::Running) {
            self.pool.iter_mut().for_each(|module| module.remember(after));
        }
    }

    /// Looks at the banks before something happens, if that is the first after the last core's end.
    pub(super) fn look_at_banks(&mut self, later: Ps) {
        if matches!(self.at_work, AtWork::Running)
            && let Some(end) = self.end().filter(|end| *end < later)
        {
            self.at_work = AtWork::Until(self.until(end));
        }
    }

    /// Of all banks together, how long they were at work.
    pub(super) fn busy_s(&self) -> f64 {
        let all = || self.pool.iter().map(|module| module.busy().seconds()).sum();
        match self.at_work {
            AtWork::All => all(),
            AtWork::Running => self.end().map_or_else(all, |end| self.until(end).seconds()),
            AtWork::Until(busy) => busy.seconds(),
        }
    }

    /// When the last core was done, if all are and wait for nothing.
    fn end(&self) -> Option<Ps> {
        let cores = self.nodes.iter().flat_map(|node| &node.cores).map(Core::done_at);
        cores.collect::<Option<Vec<Ps>>>().and_then(|all| all.into_iter().max())
    }

    fn until(&self, end: Ps) -> Ps {
        let until = |module: &PoolModule| module.busy() - module.busy_after(end);
        self.pool.iter().map(until).fold(Ps::ZERO, |sum, span| sum + span)
    }
}
