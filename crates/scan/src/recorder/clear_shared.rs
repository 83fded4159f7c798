//! `--clear-shared`: memory that `MADV_COLD` passes over is cleared by `clear_refs`, process by
//! process, as far as a share of the budget goes.
//!
//! `clear_refs` flushes no translations, but an `MADV_COLD` on more than 33 accessed pages does,
//! and flushes all of the process at once (x86: `tlb_single_page_flush_ceiling`). So mappings of
//! files are cleared first, then some hot private memory. Without private memory that can be used
//! so, pages that are not seen are not believed to be cold (docs/design.md, "Clearing bits").

use super::Recorder;
use crate::bits::clear_refs::{self, Kind};
use crate::bits::eyes::Eyes;
use crate::survey::Cleared;
use crate::target::region::Region;
use crate::target::sharing::exclusive_share;
use crate::walk::row::Range;
use pagetide_types::Pid;

/// Share of the budget for it; a process that costs more has its turn less often.
const SHARE: f64 = 0.3;
/// What a huge page costs, in base pages.
const HUGE_AS_PAGES: u64 = 8;
/// Looks after one clearing, about, and what one at a region costs, ns.
const LOOKS: f64 = 5.0;
const LOOK_NS: f64 = 1_300.0;
/// Weight of the last measurement in a mean.
const LEARN: f64 = 0.2;
/// Accessed pages of a region which make sure that more than 33 are cleared, and the share of its
/// pages that must be its own for that.
const FLUSHING_PAGES: u16 = 64;
/// So many pages cleared by one call make the kernel flush all translations.
const FLUSHES: u16 = 34;
const FLUSHING_SHARE: f64 = 0.75;
/// Regions that are looked at for it.
const FLUSHING_TRIES: usize = 8;

/// Whose turn it is, and what it may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    last: Option<(usize, Kind)>,
    /// CPU time saved up, ns.
    credit: f64,
    /// What clearing a base page costs, ns.
    page: f64,
}

impl Default for Turns {
    /// 10 ms per GiB; what was measured corrects it.
    fn default() -> Self {
        Self { last: None, credit: 0.0, page: 40.0 }
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

/// `jobs` from the one after `last` on, round about.
fn in_turn(jobs: &mut [Job], last: Option<(usize, Kind)>) {
    let next = jobs.partition_point(|job| Some((job.process, job.kind)) <= last);
    jobs.rotate_left(next % jobs.len().max(1));
}

impl Recorder {
    /// Clears what is next in turn, if the user allowed it. `budget`: CPU time of this epoch, ns.
    pub(super) fn clear_shared(&mut self, budget: f64) -> Vec<Cleared> {
        let mut done: Vec<Cleared> = Vec::new();
        if !self.options.clear_shared {
            return done;
        }
        let mut jobs = jobs(&self.regions);
        in_turn(&mut jobs, self.turns.last);
        let allowance = budget * SHARE;
        self.turns.credit += allowance;
        for job in jobs {
            let cost = job.pages as f64 * self.turns.page + job.wanted as f64 * LOOKS * LOOK_NS;
            if self.turns.credit < cost {
                // Saved for, but not beyond what it takes.
                return done;
            }
            // Clearing one kind takes from the other what its flush needs.
            if done.iter().any(|other| other.process == job.process) {
                continue;
            }
            self.turns.last = Some((job.process, job.kind));
            self.turns.credit -= cost;
            done.extend(self.clear_job(&job));
        }
        // Nothing is waiting: what is left is not for later.
        self.turns.credit = self.turns.credit.min(allowance);
        done
    }

    fn clear_job(&mut self, job: &Job) -> Option<Cleared> {
        let pid = self.known[job.process].pid;
        let flushing = if job.kind == Kind::Files { self.flushing(job.process, pid) } else { None };
        let from_ns = self.live.now();
        if let Err(error) = clear_refs::clear(&self.host, pid, job.kind) {
            // Gone, most likely; the survey will notice.
            tracing::debug!("clear_refs of process {pid}: {error}");
            return None;
        }
        let cleared_ns = self.live.now();
        let page = (cleared_ns - from_ns) as f64 / job.pages.max(1) as f64;
        self.turns.page += LEARN * (page - self.turns.page);
        let mut refused = Vec::new();
        let flushed = flushing.is_some_and(|(range, accessed)| {
            let cleared = self.live.clear(job.process, &[range], &mut refused);
            // Some pages may have been passed over.
            let left = cleared.ok().and_then(|()| self.accessed(job.process, &[range]));
            left.is_some_and(|left| left[0].1 + FLUSHES <= accessed)
        });
        let regions = self
            .regions
            .iter()
            .enumerate()
            .filter(|(_, region)| region.process == job.process && region.refs == Some(job.kind))
            .filter(|(_, region)| region.uncleared)
            .map(|(i, _)| i)
            .collect();
        let activity = self.live.activity(job.process).ok()?;
        let to_ns = self.live.now();
        let process = job.process;
        Some(Cleared { process, regions, from_ns, to_ns, activity, flushed })
    }

    /// Private memory of the process whose clearing flushes all its translations.
    /// And how many pages of it are accessed.
    fn flushing(&mut self, process: usize, pid: Pid) -> Option<(Range, u16)> {
        let mut hot: Vec<&Region> = self
            .regions
            .iter()
            .filter(|region| region.process == process && region.refs == Some(Kind::Anonymous))
            // Seen before: fresh pages wait where they cannot be cleared.
            .filter(|region| !region.uncleared && !region.huge && region.rate.is_some())
            .filter(|region| region.present >= FLUSHING_PAGES)
            .collect();
        hot.sort_by(|a, b| b.rate.partial_cmp(&a.rate).unwrap_or(std::cmp::Ordering::Equal));
        let ranges: Vec<_> = hot.iter().take(FLUSHING_TRIES).map(|region| region.range).collect();
        let accessed = self.accessed(process, &ranges)?;
        let mut fit = accessed.into_iter().filter(|(_, accessed)| *accessed >= FLUSHING_PAGES);
        let own = |range| exclusive_share(pid, range).is_ok_and(|share| share >= FLUSHING_SHARE);
        fit.find(|(range, _)| own(*range))
    }

    /// Accessed base pages in each of `ranges`.
    fn accessed(&mut self, process: usize, ranges: &[Range]) -> Option<Vec<(Range, u16)>> {
        let mut rows = Vec::new();
        self.live.look(process, ranges, &mut rows).ok()?;
        let mut counts: Vec<_> = ranges.iter().map(|range| (*range, 0)).collect();
        for row in rows.iter().filter(|row| !row.huge) {
            counts[row.request as usize].1 += row.accessed;
        }
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(process: usize, unit: u32, kind: Kind, uncleared: bool) -> Region {
        Region { process, refs: Some(kind), uncleared, ..Region::whole(unit, false) }
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
        in_turn(&mut jobs, Some((0, Kind::Files)));
        assert_eq!(names(&jobs), [all[1], all[2], all[0]]);
        in_turn(&mut [], Some((0, Kind::Files)));
    }
}
