//! `--clear-shared`: memory that `MADV_COLD` passes over is cleared by `clear_refs`, process by
//! process, as far as a share of the budget goes.
//!
//! `clear_refs` flushes no translations, but an `MADV_COLD` does, from the first page that it
//! clears to the last; where more than 33 pages lie between, all of the process at once (x86:
//! `tlb_single_page_flush_ceiling`). So mappings of files are cleared first, then two pages or more
//! of private memory. Where none can be used so, pages that are not seen are not believed to be
//! cold (docs/design.md, "Clearing bits").

use super::Recorder;
use crate::bits::clear_refs::{self, Kind};
use crate::bits::eyes::Eyes;
use crate::pages::{Mask, has};
use crate::survey::Cleared;
use crate::target::region::Region;
use crate::walk::row::Range;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// Share of the budget for it: that of the memory that needs it, within these bounds. A process
/// that costs more has its turn less often.
const LEAST_SHARE: f64 = 0.3;
const MOST_SHARE: f64 = 0.8;
/// What a huge page costs, in base pages.
const HUGE_AS_PAGES: u64 = 8;
/// Looks after one clearing, about, and what one at a region costs, ns.
const LOOKS: f64 = 5.0;
const LOOK_NS: f64 = 1_300.0;
/// Weight of the last measurement in a mean.
const LEARN: f64 = 0.2;
/// The kernel flushes all translations where the first and the last page that it clears are more
/// than so many apart; here some more, for the setting can be changed.
const FLUSHES: usize = 64;
/// Regions that are looked at for it, and cleared until one has flushed.
const FLUSHING_LOOKS: usize = 256;
const FLUSHING_TRIES: usize = 8;

/// Whose turn it is, and what it may cost.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The process that had its turn last.
    last: Option<usize>,
    /// Processes of which two kinds are to be cleared, in alternate turns, and of which it was the turn last.
    both: BTreeMap<usize, Kind>,
    /// CPU time saved up, ns.
    credit: f64,
    /// What clearing a base page costs, ns.
    page: f64,
    /// How likely each process was to have its turn in this epoch.
    chance: f64,
}

impl Default for Turns {
    /// 10 ms per GiB; what was measured corrects it.
    fn default() -> Self {
        Self { last: None, both: BTreeMap::new(), credit: 0.0, page: 40.0, chance: 1.0 }
    }
}

impl Turns {
    /// How likely a region of the process was cleared in this epoch.
    pub(super) fn chance_of(&self, process: usize) -> f64 {
        if self.both.contains_key(&process) { self.chance / 2.0 } else { self.chance }
    }

    /// For each process the kind whose turn it is: clearing one takes from the other what its flush needs.
    fn one_each(&mut self, jobs: &[Job]) -> Vec<Job> {
        let before = std::mem::take(&mut self.both);
        let mut chosen = Vec::new();
        for kinds in jobs.chunk_by(|a, b| a.process == b.process) {
            let process = kinds[0].process;
            let last = before.get(&process);
            chosen.extend(kinds.iter().find(|job| kinds.len() == 1 || Some(&job.kind) != last));
            if kinds.len() > 1 {
                self.both.insert(process, last.copied().unwrap_or(Kind::Anonymous));
            }
        }
        chosen
    }
}

/// The mappings of one kind of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Job {
    process: usize,
    kind: Kind,
    /// What `clear_refs` walks, and what of it nothing else clears.
    pages: u64,
    wanted: u64,
}

/// All jobs that have regions to clear, ascending; regions come sorted by process.
fn jobs(regions: &[Region]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for of_process in regions.chunk_by(|a, b| a.process == b.process) {
        for kind in [Kind::Files, Kind::Anonymous] {
            let mut job = Job { process: of_process[0].process, kind, pages: 0, wanted: 0 };
            for region in of_process.iter().filter(|region| region.refs == Some(kind)) {
                job.pages += if region.huge { HUGE_AS_PAGES } else { u64::from(region.present) };
                job.wanted += u64::from(region.uncleared);
            }
            jobs.extend((job.wanted > 0).then_some(job));
        }
    }
    jobs
}

/// `jobs` from the process after `last` on, round about.
fn in_turn(jobs: &mut [Job], last: Option<usize>) {
    let next = jobs.partition_point(|job| Some(job.process) <= last);
    jobs.rotate_left(next % jobs.len().max(1));
}

impl Recorder {
    /// Clears what is next in turn, if the user allowed it. `budget`: CPU time of this epoch, ns.
    pub(super) fn clear_shared(&mut self, budget: f64) -> Vec<Cleared> {
        let mut done: Vec<Cleared> = Vec::new();
        if !self.options.clear_shared {
            return done;
        }
        let all = jobs(&self.regions);
        let mut jobs = self.turns.one_each(&all);
        in_turn(&mut jobs, self.turns.last);
        let needs_it = |region: &&Region| region.uncleared && region.refs.is_some();
        let share =
            self.regions.iter().filter(needs_it).count() as f64 / self.regions.len().max(1) as f64;
        let allowance = budget * share.clamp(LEAST_SHARE, MOST_SHARE);
        self.turns.credit += allowance;
        let page = self.turns.page;
        let cost = |job: &Job| job.pages as f64 * page + job.wanted as f64 * LOOKS * LOOK_NS;
        let in_one_turn = |job: &Job| {
            cost(job) / f64::from(1 + u8::from(self.turns.both.contains_key(&job.process)))
        };
        let all: f64 = all.iter().map(in_one_turn).sum();
        self.turns.chance = if all > allowance { allowance / all } else { 1.0 };
        for job in jobs {
            let cost = cost(&job);
            if self.turns.credit < cost {
                // Saved for, but not beyond what it takes.
                return done;
            }
            self.turns.last = Some(job.process);
            self.turns.both.entry(job.process).and_modify(|kind| *kind = job.kind);
            self.turns.credit -= cost;
            done.extend(self.clear_job(&job));
        }
        // Nothing is waiting: what is left is not for later.
        self.turns.credit = self.turns.credit.min(allowance);
        done
    }

    fn clear_job(&mut self, job: &Job) -> Option<Cleared> {
        let pid = self.known[job.process].pid;
        let (from_ns, from_cpu) = (self.live.now(), self.live.cpu());
        if let Err(error) =
            clear_refs::clear(&self.host, pid, job.kind, || self.live.followed[job.process].runs())
        {
            // Gone, most likely; the survey will notice.
            tracing::debug!("clear_refs of process {pid}: {error}");
            return None;
        }
        // By CPU time, as the budget is: on a busy machine others run meanwhile.
        let page = (self.live.cpu() - from_cpu) as f64 / job.pages.max(1) as f64;
        self.turns.page += LEARN * (page - self.turns.page);
        let flushed = job.kind == Kind::Files && self.flush(job.process);
        let regions = self
            .regions
            .iter()
            .enumerate()
            .filter(|(_, region)| region.process == job.process && region.refs == Some(job.kind))
            .filter(|(_, region)| region.uncleared)
            .map(|(i, _)| i)
            .collect();
        tracing::debug!(%pid, kind = ?job.kind, pages = job.pages, flushed, "clear_refs");
        let activity = self.live.activity(job.process).ok()?;
        let to_ns = self.live.now();
        let process = job.process;
        Some(Cleared { process, regions, from_ns, to_ns, activity, flushed })
    }

    /// Flushes all translations of a process, by clearing some of its private memory; false where
    /// none of it did.
    fn flush(&mut self, process: usize) -> bool {
        let mut private: Vec<&Region> = self
            .regions
            .iter()
            .filter(|region| region.process == process && region.refs == Some(Kind::Anonymous))
            .filter(|region| !region.uncleared && !region.huge)
            .collect();
        private.sort_by(|a, b| b.rate.partial_cmp(&a.rate).unwrap_or(Ordering::Equal));
        let ranges: Vec<_> = private.iter().take(FLUSHING_LOOKS).map(|r| r.range).collect();
        let Some(mut accessed) = self.accessed(process, &ranges) else { return false };
        accessed.retain(|(_, accessed)| apart(accessed) >= FLUSHES);
        accessed.sort_by_key(|(_, accessed)| Reverse(apart(accessed)));
        accessed.into_iter().take(FLUSHING_TRIES).any(|(range, before)| {
            let mut refused = Vec::new();
            let cleared = self.live.clear(process, &[range], &mut refused);
            // Shared and fresh pages are passed over.
            let after = cleared.ok().and_then(|()| self.accessed(process, &[range]));
            let Some((_, after)) = after.and_then(|after| after.first().copied()) else {
                return false;
            };
            let cleared: Mask = std::array::from_fn(|i| before[i] & !after[i]);
            apart(&cleared) >= FLUSHES
        })
    }

    /// Accessed base pages of those of `ranges` where something is resident.
    fn accessed(&mut self, process: usize, ranges: &[Range]) -> Option<Vec<(Range, Mask)>> {
        let mut rows = Vec::new();
        self.live.look(process, ranges, &mut rows).ok()?;
        let rows = rows.iter().zip(self.live.bits()).filter(|(row, _)| !row.huge);
        Some(rows.map(|(row, bits)| (ranges[row.request as usize], bits.accessed)).collect())
    }
}

/// From the first to the last of some pages.
fn apart(pages: &Mask) -> usize {
    let all = || (0..512).filter(|page| has(pages, *page));
    all().next_back().zip(all().next()).map_or(0, |(last, first)| last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(process: usize, unit: u32, kind: Kind, uncleared: bool) -> Region {
        Region { process, refs: Some(kind), uncleared, ..Region::whole(unit, false) }
    }

    #[test]
    fn a_flush_needs_pages_far_apart() {
        let mut pages = Mask::default();
        assert_eq!(apart(&pages), 0);
        pages[1] = 1 << 3;
        assert_eq!(apart(&pages), 0, "one page");
        pages[7] = 1 << 63;
        assert_eq!(apart(&pages), 511 - 67);
    }

    #[test]
    fn every_process_with_something_to_clear_has_its_turn() {
        let hugetlb = Region { refs: None, uncleared: true, ..Region::whole(9, true) };
        let regions = [
            region(0, 0, Kind::Files, true),
            region(0, 1, Kind::Files, false),
            region(0, 2, Kind::Anonymous, false),
            region(1, 0, Kind::Anonymous, false),
            region(2, 0, Kind::Files, true),
            region(2, 3, Kind::Anonymous, true),
            Region { process: 3, ..hugetlb },
        ];
        let mut jobs = jobs(&regions);
        let names = |jobs: &[Job]| -> Vec<_> { jobs.iter().map(|j| (j.process, j.kind)).collect() };
        let all = [(0, Kind::Files), (2, Kind::Files), (2, Kind::Anonymous)];
        assert_eq!(names(&jobs), all, "nothing reaches the hugetlb pool");
        assert_eq!((jobs[0].pages, jobs[0].wanted), (1024, 1), "all files are walked");
        let mut turns = Turns::default();
        jobs = turns.one_each(&jobs);
        assert_eq!(names(&jobs), all[..2], "one kind of each process");
        in_turn(&mut jobs, Some(0));
        assert_eq!(names(&jobs), [all[1], all[0]]);
        in_turn(&mut [], Some(0));
    }

    #[test]
    fn of_two_kinds_each_has_every_other_turn() {
        let regions = [0, 1, 2].map(|process| {
            [Kind::Files, Kind::Anonymous]
                .map(|kind| region(process, 0, kind, process != 1 || kind == Kind::Files))
        });
        let jobs = jobs(regions.as_flattened());
        let mut turns = Turns::default();
        let mut had = [[0; 2]; 3];
        for _ in 0..10 {
            for job in turns.one_each(&jobs) {
                had[job.process][usize::from(job.kind == Kind::Anonymous)] += 1;
                turns.both.entry(job.process).and_modify(|kind| *kind = job.kind);
            }
        }
        assert_eq!(had, [[5, 5], [10, 0], [5, 5]]);
        assert_eq!([0, 1, 2].map(|process| turns.chance_of(process)), [0.5, 1.0, 0.5]);
    }
}
