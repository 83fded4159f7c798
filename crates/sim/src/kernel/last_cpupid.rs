//! Who faulted on a page last: faults count as private while it is the same thread, and as shared once
//! it is another (`folio_xchg_last_cpupid`, and `task_numa_fault` of Linux's kernel/sched/fair.c).
//!
//! Simpler than Linux: a thread is its core, for it stays there.

use super::HintFaultCounts;

/// What became of the page that faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It was not to move.
    None,
    /// It was to move and there was no room.
    Failed,
    /// It moved.
    Migrated,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct LastCpupid {
    /// By page, the first one of a huge page, the core and one; 0 if nobody faulted there.
    last: Vec<u16>,
}

impl LastCpupid {
    /// Nobody has faulted on any of so many pages.
    #[must_use]
    pub fn new(pages: usize) -> Self {
        Self { last: vec![0; pages] }
    }

    /// What a fault counts for that a core had on so many base pages of another node.
    pub fn fault(
        &mut self,
        core: usize,
        (first, pages): (usize, u64),
        attempt: Attempt,
    ) -> HintFaultCounts {
        let now = u16::try_from(core + 1).unwrap_or(u16::MAX);
        let before = std::mem::replace(&mut self.last[first], now);
        let private = before == 0 || before == now;
        HintFaultCounts {
            remote: pages,
            private: if private { pages } else { 0 },
            shared: if private { 0 } else { pages },
            failed: if attempt == Attempt::Failed { pages } else { 0 },
            local: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_private_until_another_thread_has_it() {
        let mut last = LastCpupid::new(10);
        let mut shared = |core| last.fault(core, (3, 1), Attempt::None).shared;
        assert_eq!([0, 0, 5, 5, 0].map(&mut shared), [0, 0, 1, 0, 1]);
        let huge = last.fault(2, (4, 512), Attempt::Failed);
        assert_eq!((huge.remote, huge.private, huge.failed, huge.local), (512, 512, 512, 0));
    }
}
