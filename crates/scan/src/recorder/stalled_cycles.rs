//! The share of the target's cycles that wait for memory, by the CPU's counters. **Unverified**: no
//! machine of the authors has them. What can be tried without (following processes and threads,
//! reading, adding up) is tried with counters of the kernel's.
//!
//! Best effort: where something fails the share is unknown, and recording goes on.

use crate::recorder::counters::{Group, Reading};
use pagetide_host::{Host, StallEvents};
use pagetide_types::Pid;
use std::collections::{BTreeMap, HashSet};
use std::fs;

/// Threads that are counted by a group of their own; each costs two file descriptors, and a
/// process may have 1,024 of them. Those started later are counted with the thread that did.
const MAX_THREADS: usize = 200;

#[derive(Debug)]
struct Counted {
    group: Group,
    before: Reading,
}

/// Counts in all processes that are followed.
#[derive(Debug)]
pub(crate) struct Stalls {
    events: Option<StallEvents>,
    processes: BTreeMap<Pid, Vec<Counted>>,
}

impl Stalls {
    /// `events`: what to count, if the machine can.
    pub(crate) fn new(events: Option<StallEvents>) -> Self {
        Self { events, processes: BTreeMap::new() }
    }

    /// Descriptors that counting may take.
    pub(crate) fn descriptors(&self) -> u64 {
        if self.events.is_some() { 2 * MAX_THREADS as u64 } else { 0 }
    }

    /// From now on counts in exactly these processes. Counters outlive a change of the program.
    pub(crate) fn follow(&mut self, host: &Host, pids: impl Iterator<Item = Pid> + Clone) {
        if self.events.is_none() {
            return;
        }
        let still: HashSet<Pid> = pids.clone().collect();
        self.processes.retain(|known, _| still.contains(known));
        for pid in pids {
            if !self.processes.contains_key(&pid) {
                let groups = self.open(host, pid);
                self.processes.insert(pid, groups);
            }
        }
    }

    fn open(&mut self, host: &Host, pid: Pid) -> Vec<Counted> {
        let mut room = MAX_THREADS.saturating_sub(self.processes.values().map(Vec::len).sum());
        let threads = fs::read_dir(host.path(format!("proc/{pid}/task"))).into_iter().flatten();
        let tids = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut groups = Vec::new();
        for tid in tids {
            let Some(StallEvents { name, whole, stalled }) = self.events else { break };
            if room == 0 {
                tracing::debug!("more threads than {MAX_THREADS}: not all are counted");
                break;
            }
            match Group::open(tid, whole, stalled) {
                Ok(group) => {
                    room -= 1;
                    groups.push(Counted { group, before: Reading::default() });
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => {
                    tracing::debug!("{name} cannot be counted: {error}");
                    self.events = None;
                }
            }
        }
        groups
    }

    /// The share since it was last asked; None where it was not counted. A count of no stall at
    /// all is not believed: some virtual machines have events that stay at zero.
    pub(crate) fn share(&mut self) -> Option<f64> {
        let (mut whole, mut stalled) = (0.0, 0.0);
        for groups in self.processes.values_mut() {
            groups.retain_mut(|counted| {
                let Ok(now) = counted.group.read() else { return false };
                if let Some((all, part)) = now.since(&counted.before) {
                    whole += all;
                    stalled += part;
                }
                counted.before = now;
                true
            });
        }
        (whole > 0.0 && stalled > 0.0).then(|| (stalled / whole).min(1.0))
    }
}

#[cfg(test)]
#[path = "stalled_cycles_tests.rs"]
mod tests;
