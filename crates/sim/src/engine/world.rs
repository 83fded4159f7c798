//! What all actors share: the tiers, the page tables, the system, and until when a tenant's threads are
//! held up.

use super::channel::Channel;
use super::pages::Pages;
use super::system::{Fault, System};
use pagetide_machine::Machine;

/// See the module.
pub struct World {
    /// The tiers, fastest first.
    pub memory: Vec<Channel>,
    /// The page tables.
    pub pages: Pages,
    system: Option<Box<dyn System>>,
    /// By tenant.
    held_ns: Vec<f64>,
}

impl World {
    /// An idle machine with these page tables, on which nothing faults.
    #[must_use]
    pub fn new(machine: &Machine, pages: Pages) -> Self {
        let memory = machine.tiers.iter().map(Channel::new).collect();
        Self { memory, pages, system: None, held_ns: Vec::new() }
    }

    /// The same with a system on it.
    #[must_use]
    pub fn with(mut self, system: Box<dyn System>) -> Self {
        self.system = Some(system);
        self
    }

    /// Calls the system with the world around it; none without one.
    pub(super) fn with_system<T>(
        &mut self,
        call: impl FnOnce(&mut dyn System, &mut Self) -> T,
    ) -> Option<T> {
        let mut system = self.system.take()?;
        let done = call(system.as_mut(), self);
        self.system = Some(system);
        Some(done)
    }

    /// Threads of the system.
    pub(super) fn daemons(&self) -> usize {
        self.system.as_ref().map_or(0, |system| system.daemons())
    }

    /// Handles a fault; when the thread goes on, ns. Without a system pages are mapped where they
    /// are said to be, for nothing.
    #[cold]
    pub(super) fn fault(&mut self, fault: Fault) -> f64 {
        let done = self.with_system(|system, world| system.fault(fault, world));
        let asks = super::bit::ABSENT | super::bit::HINT;
        self.pages.clear(fault.page, asks);
        done.unwrap_or(fault.now_ns).max(fault.now_ns)
    }

    /// No thread of a tenant goes on before `until_ns`: its translations are flushed, its cores are
    /// taken.
    pub fn hold(&mut self, tenant: usize, until_ns: f64) {
        if self.held_ns.len() <= tenant {
            self.held_ns.resize(tenant + 1, 0.0);
        }
        self.held_ns[tenant] = self.held_ns[tenant].max(until_ns);
    }

    /// Until when a tenant's threads are held up.
    #[inline]
    #[must_use]
    pub fn held_ns(&self, tenant: usize) -> f64 {
        self.held_ns.get(tenant).copied().unwrap_or(0.0)
    }
}
