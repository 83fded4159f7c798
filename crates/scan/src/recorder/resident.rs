//! Which processes belong to the target, and what of their memory is resident.

use super::{Known, Recorder, whole};
use crate::bits::eyes::Eyes;
use crate::bits::madv_cold::{DESCRIPTORS, Followed};
use crate::error::ScanError;
use crate::observer::node_ranges;
use crate::target::region::Region;
use crate::target::resident_set::{PagesLeft, Subject};
use crate::target::sharing::Sharing;
use pagetide_types::{EpochId, Pid};
use std::collections::HashMap;

/// Share of it for finding out who belongs to the target, and for what of their memory is resident; what is dearer is
/// done less often.
const LOOKING_SHARE: f64 = 0.2;
/// Pages found shared are tried again after so many epochs.
const RETRY_EPOCHS: u32 = 16;
/// A virtual machine monitor opens its descriptors some time after it was started: new processes
/// are looked at in so many epochs.
const VM_LOOKS: u32 = 3;

/// Descriptors for everything but processes: the program and its maps, the recording's files, those
/// that are open for a moment.
const OTHER_DESCRIPTORS: u64 = 64;
/// Without any limit.
const MOST: u64 = 1 << 20;

/// So many processes can be followed at once, if `taken` descriptors are for other things. Raises
/// our limit as far as that is allowed.
pub(super) fn most_processes(taken: u64) -> usize {
    let limit = pagetide_privilege::raise_file_limit().unwrap_or(MOST).min(MOST);
    let most = limit.saturating_sub(OTHER_DESCRIPTORS + taken) / DESCRIPTORS;
    usize::try_from(most).unwrap_or(usize::MAX).max(1)
}

/// What several processes of the target map is not for `MADV_COLD`; to look up each page of each
/// would take longer than to watch them.
fn mark_shared(regions: &mut [Region], units: usize) {
    let mut owner: Vec<Option<usize>> = vec![None; units];
    let mut shared = vec![false; units];
    for region in regions.iter() {
        let unit = region.unit.index();
        shared[unit] |= owner[unit].is_some_and(|process| process != region.process);
        owner[unit] = Some(region.process);
    }
    for region in regions.iter_mut().filter(|region| shared[region.unit.index()]) {
        region.uncleared = true;
    }
}

/// Which numbers of processes are taken, and which could be given again: those of ended ones without regions.
#[derive(Default)]
struct Slots {
    alive: HashMap<Pid, usize>,
    free: Vec<usize>,
}

/// Whether something that cost so much the last time is to be done in this epoch, where one has so much, ns.
fn is_due(epoch: u32, cost_ns: u64, budget_ns: f64) -> bool {
    let every = (cost_ns as f64 / (budget_ns * LOOKING_SHARE)).ceil().max(1.0);
    u64::from(epoch).is_multiple_of(whole(every))
}

impl Recorder {
    /// Brings the list of processes up to date, if it is time: a target that starts others without end could take all
    /// of the budget. While nobody is left whom we know it is always time.
    pub(super) fn look_for_processes(&mut self, budget_ns: f64) -> Result<(), ScanError> {
        let mut known = self.known.iter().zip(&self.live.followed);
        let somebody = known.any(|(known, followed)| known.alive && followed.runs());
        if somebody && !is_due(self.epoch, self.refresh_ns, budget_ns) {
            return Ok(());
        }
        let cpu = self.live.cpu();
        self.refresh()?;
        self.refresh_ns = self.live.cpu() - cpu;
        Ok(())
    }

    /// Brings the list of processes up to date.
    pub(super) fn refresh(&mut self) -> Result<(), ScanError> {
        let pids = self.following.pids(&self.host);
        let mut slots = Slots::default();
        for (process, known) in self.known.iter_mut().enumerate() {
            let followed = &mut self.live.followed[process];
            if known.alive && pids.binary_search(&known.pid).is_ok() && followed.runs() {
                slots.alive.insert(known.pid, process);
                continue;
            }
            // Another process may have its number by now: then it is met as one.
            known.alive = false;
            if followed.close() {
                self.claims.give_up(known.pid);
            }
            slots.free.push(process);
        }
        let held = |process: &usize| {
            self.regions.binary_search_by_key(process, |region| region.process).is_ok()
        };
        slots.free.retain(|process| !held(process));
        let mut beyond = 0;
        for pid in pids {
            // A process that executed another program is there twice: as what it was, and alive.
            let known = slots.alive.get(&pid).map(|process| &mut self.known[*process]);
            let looked_at = match &known {
                Some(known) => known.epochs,
                None => 0,
            };
            if looked_at < VM_LOOKS && self.host.virtual_machine(pid).is_ok_and(|vm| vm.is_some()) {
                return Err(ScanError::VirtualMachine(pid));
            }
            if let Some(known) = known {
                known.epochs += 1;
                continue;
            }
            if slots.alive.len() >= self.most {
                beyond += 1;
                continue;
            }
            let handles = match Followed::new(&self.live.walker, pid) {
                Ok(handles) => handles,
                Err(ScanError::Gone(_)) => continue,
                Err(error) if error.is_out_of_files() => {
                    beyond += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let process = self.meet(pid, handles, slots.free.pop());
            slots.alive.insert(pid, process);
        }
        self.unwatched = self.unwatched.max(beyond);
        let alive = self.known.iter().filter(|known| known.alive).map(|known| known.pid);
        self.stalls.follow(&self.host, alive);
        Ok(())
    }

    /// A process that was not followed yet gets a number: that of one that has ended, if there is one, or what is
    /// kept of each would grow for as long as the target starts others.
    fn meet(&mut self, pid: Pid, handles: Followed, free: Option<usize>) -> usize {
        self.watched_twice += usize::from(!self.claims.take(pid));
        let command = self.host.process(pid).map_or_else(|_| String::new(), |p| p.name);
        self.spaces += 1;
        // What it used before it was met is not of this recording.
        self.used_cpu.met(pid, self.host.cpu_of(&[pid]));
        let known = Known {
            pid,
            command,
            space: self.spaces,
            alive: true,
            cpu: 0,
            cores: 0.0,
            epochs: 1,
            watch: 1.0,
        };
        let Some(process) = free else {
            self.known.push(known);
            self.live.followed.push(handles);
            return self.known.len() - 1;
        };
        self.known[process] = known;
        self.live.followed[process] = handles;
        self.estimator.forget(process);
        process
    }

    /// A process ended or executes another program: its regions are gone.
    pub(super) fn lose(&mut self, process: usize) {
        self.regions.retain(|region| region.process != process);
        // If it is still there it is met again as a new address space.
        self.known[process].alive = false;
    }

    /// Finds out what is resident, if it is time: a dear walk is made less often.
    pub(super) fn walk_resident_set(&mut self, budget_ns: f64) {
        let moved = std::mem::take(&mut self.moved);
        if !(moved || is_due(self.epoch, self.resident_set_ns, budget_ns)) {
            return;
        }
        let cpu = self.live.cpu();
        let walker = &mut self.live.walker;
        let nodes = node_ranges(&self.host).and_then(|ranges| walker.set_nodes(&ranges));
        // One without the other is better than neither.
        for error in [nodes, walker.refresh_memory()].into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "memory that was added meanwhile is not known");
        }
        let mut before = std::mem::take(&mut self.regions);
        let single = self.options.single_pages;
        let base = before.iter().filter(|region| !region.huge);
        let all = base.map(|region| u64::from(region.present)).sum();
        self.resident_set.pages_left = PagesLeft::new(single.map(|single| single.at_most), all);
        self.resident_set.matters = single.map_or(0.0, |single| single.matters);
        self.resident_set.unmapped.begin();
        let mut regions = Vec::with_capacity(before.len() + before.len() / 8);
        for process in 0..self.known.len() {
            if !self.known[process].alive {
                continue;
            }
            let from = before.partition_point(|region| region.process < process);
            let to = before.partition_point(|region| region.process <= process);
            let known = &self.known[process];
            let subject = Subject {
                process,
                pid: known.pid,
                space: known.space,
                command: &known.command,
                epoch: EpochId(self.epoch),
                within: self.options.within,
            };
            let first = from == to;
            let at = regions.len();
            let taken = self.resident_set.read(
                &self.host,
                &mut self.live,
                &mut self.units,
                &subject,
                &mut before[from..to],
                &mut regions,
            );
            match taken {
                Ok(same) if same || first => {}
                _ => {
                    // Gone, or another program: what was read belongs to nobody we know.
                    regions.truncate(at);
                    self.known[process].alive = false;
                }
            }
        }
        let spent = self.live.cpu() - cpu;
        self.resident_set_ns = spent;
        self.regions = regions;
        if self.epoch - self.retried >= RETRY_EPOCHS {
            self.retried = self.epoch;
            // Where `clear_refs` reaches them nothing is gained.
            let reached = self.options.clear_shared;
            for region in self.regions.iter_mut().filter(|region| !(reached && region.uncleared)) {
                (region.uncleared, region.sharing) = (false, Sharing::Unknown);
                if let Some(pages) = &mut region.pages {
                    pages.forget_shared();
                }
            }
        }
        if self.options.clear_shared {
            mark_shared(&mut self.regions, self.units.len());
        }
    }
}

#[cfg(test)]
#[path = "resident_tests.rs"]
mod tests;
