//! What an epoch adds: heat from what was seen, and what it cost.

use super::Recorder;
use crate::bits::eyes::Eyes;
use crate::pages::Seen;
use crate::survey::Outcome;
use crate::survey::estimate::Visits;
use crate::survey::glimpse::Glimpsed;
use crate::survey::measured::Measured;
use crate::survey::visit::Visit;
use crate::target::region::Region;
use crate::target::sharing::Sharing;
use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{EpochId, Pid, UnitId, UnitSize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What another thread uses to write a row (`trace-speed`, docs/recording.md).
const WRITE_ROW_NS: u64 = 45;
/// A region of which so many pages, and this share, are accessed at the first look after a clearing
/// is looked up: its pages may have become shared, which are not cleared.
const DOUBTFUL_PAGES: u16 = 16;
const DOUBTFUL_SHARE: f64 = 0.5;

/// Leaves out visits to a region whose pages turn out to be mapped elsewhere too: what is not known to have been
/// cleared is not what was accessed. Where nobody has looked yet that is found out now.
fn drop_if_shared(region: &mut Region, pid: Pid, Visits { visits, .. }: &mut Visits<'_>) {
    let doubtful = visits.iter().any(|visit| {
        let first = visit.looks.first().map_or(0, |look| look.seen);
        let many = f64::from(first) >= DOUBTFUL_SHARE * f64::from(visit.pages);
        !visit.late && !visit.huge && first >= DOUBTFUL_PAGES && many
    });
    let unknown = !visits.is_empty() && !region.huge && region.sharing == Sharing::Unknown;
    let glimpses = visits.iter().all(|visit| visit.glimpse);
    if unknown && glimpses && !doubtful {
        // Of the pages that were seen it is enough to know.
        let own = |visit: &&Visit| Sharing::look_up(pid, visit.range) == Sharing::Own;
        if visits.iter().all(own) {
            return;
        }
    }
    if (doubtful || unknown) && region.look_up_sharing(pid) {
        // `clear_refs` clears shared pages as well.
        visits.retain(|visit| visit.late);
    }
}

impl Recorder {
    /// Turns what was seen into heat, and the epoch into its record. `chances`: how likely each
    /// region was visited. What all of it cost the caller adds.
    pub(super) fn record(
        &mut self,
        outcome: &Outcome,
        chances: &[f64],
        start_ns: u64,
        end_ns: u64,
    ) -> EpochRecord {
        let record_from = self.live.cpu();
        for region in &mut self.regions {
            region.sparse = self.known[region.process].watch < 1.0;
        }
        let none = |chance: &f64| Visits { visits: Vec::new(), chance: *chance };
        let mut visits: Vec<Visits<'_>> = chances.iter().map(none).collect();
        for visit in &outcome.visits {
            self.regions[visit.region].outdated = false;
            let of_region = &mut visits[visit.region];
            of_region.visits.push(visit);
            if visit.late {
                // Not drawn, but cleared with all of its kind.
                of_region.chance = self.turns.chance_of(self.regions[visit.region].process);
            }
        }
        self.drop_doubtful(&mut visits);
        let cores: Vec<f32> = self.known.iter().map(|known| known.cores).collect();
        let mut measured = self.estimator.learn(&mut self.regions, &visits, &cores);
        let mut watched_pages = 0;
        for ((region, visits), seen) in self.regions.iter_mut().zip(&visits).zip(&mut measured) {
            region.uncleared |= visits.visits.iter().any(|visit| visit.refused);
            *seen = seen.filter(|_| !outcome.lost.contains(&region.process));
            if let Some(seen) = seen {
                // Not by visits before it was locked or shared, in the same epoch.
                region.reached = visits.visits.iter().any(|visit| visit.late);
                watched_pages += u64::from(seen.pages);
                seen.partly = region.glimpsed == Glimpsed::Part;
            }
        }
        let unmapped = match self.options.unmapped {
            true => self.resident_set.unmapped.regions(&mut self.units, EpochId(self.epoch)),
            false => Vec::new(),
        };
        watched_pages += unmapped.iter().map(|(_, pages)| u64::from(*pages)).sum::<u64>();
        let mut heat = self.heat_of(&measured, &outcome.lost, &unmapped);
        heat.cores = self.known.iter().filter(|known| known.alive).map(|known| known.cores).sum();
        self.epoch_record(outcome, heat, watched_pages, (start_ns, end_ns), record_from)
    }

    fn drop_doubtful(&mut self, visits: &mut [Visits<'_>]) {
        for (region, of_region) in self.regions.iter_mut().zip(visits) {
            drop_if_shared(region, self.known[region.process].pid, of_region);
        }
    }

    fn heat_of(
        &mut self,
        measured: &[Option<Measured>],
        lost: &[usize],
        unmapped: &[(UnitId, u16)],
    ) -> pagetide_types::EpochHeat {
        if self.options.unit == UnitSize::Huge {
            self.heat.begin(self.units.len());
            for (region, measured) in self.regions.iter().zip(measured) {
                // What ended meanwhile is found gone by the next walk.
                let known = &self.known[region.process];
                if known.alive && !lost.contains(&region.process) {
                    let cores = known.cores;
                    self.heat.add(region, measured.as_ref(), cores);
                }
            }
            let shared = self.resident_set.unmapped.mapped_pages();
            shared.for_each(|(unit, pages)| self.heat.mapped_together(unit, pages));
            unmapped.iter().for_each(|(unit, pages)| self.heat.add_unmapped(*unit, *pages));
            return self.heat.finish(EpochId(self.epoch));
        }
        if self.options.single_pages.is_some() {
            // What is accessed alike is one unit from now on.
            let alike = |region: &&mut Region| region.pages.as_ref().is_some_and(|it| it.alike);
            self.regions.iter_mut().filter(alike).for_each(|region| region.pages = None);
        }
        self.glanced = self.glances && self.options.single_pages.is_some();
        let known = &self.known;
        let seen = Seen {
            regions: &self.regions,
            measured: |region: usize| measured[region].as_ref(),
            cores: |process: usize| {
                (known[process].alive && !lost.contains(&process)).then(|| known[process].cores)
            },
            nodes: self.live.walker.nodes(),
            every_page: self.options.single_pages.is_none(),
            visited_alone: self.glanced,
            unmapped: if self.glanced { &[] } else { unmapped },
        };
        self.page_heat.collect(EpochId(self.epoch), &seen, &mut self.units)
    }

    /// Adds up what the target computed, and what of it nobody did who was watched.
    fn count_unseen(&mut self, all_s: f64, length_s: f64) {
        let watched = self.known.iter().filter(|known| known.alive);
        let seen_s: f64 = watched.map(|known| f64::from(known.cores) * length_s).sum();
        self.cpu_s.0 += all_s;
        self.cpu_s.1 += (all_s - seen_s).max(0.0);
    }

    fn epoch_record(
        &mut self,
        outcome: &Outcome,
        heat: pagetide_types::EpochHeat,
        watched_pages: u64,
        (start_ns, end_ns): (u64, u64),
        record_from: u64,
    ) -> EpochRecord {
        let uncleared = match self.options.unit {
            UnitSize::Huge => self.heat.uncleared_pages(),
            UnitSize::Base => self.page_heat.uncleared_pages(),
        };
        let pages = match self.glance() {
            Some(resident) => resident.0 >> 12,
            None => heat.pages.iter().map(|pages| u64::from(*pages)).sum(),
        };
        let known = self.known.iter().enumerate();
        let left = known.filter(|(process, known)| known.alive && !outcome.lost.contains(process));
        let cpu: BTreeMap<Pid, Duration> =
            left.map(|(_, known)| (known.pid, self.host.cpu_of(&[known.pid]))).collect();
        let tally = &outcome.tally;
        let seconds = |ns: u64| ns as f64 * 1e-9;
        let epoch = Epoch {
            epoch: EpochId(self.epoch),
            start_s: seconds(start_ns - self.started_ns),
            length_s: seconds(end_ns - start_ns),
            processes: u32::try_from(cpu.len()).unwrap_or(u32::MAX),
            target_cpu_s: self.used_cpu.since(cpu).as_secs_f64(),
            clear_s: seconds(tally.clear_ns + tally.refs_ns),
            scan_s: seconds(tally.look_ns + self.resident_set_ns),
            longest_clear_s: seconds(tally.longest_clear_ns),
            watched_share: (watched_pages as f64 / pages.max(1) as f64).min(1.0),
            uncleared_bytes: uncleared << 12,
            stall_share: self.stalls.share(),
            ..Epoch::default()
        };
        self.count_unseen(epoch.target_cpu_s, epoch.length_s);
        // Units of two sizes are written nowhere.
        let written = if self.options.single_pages.is_none() { heat.len() as u64 } else { 0 };
        let ending_ns = self.live.cpu() - record_from + written * WRITE_ROW_NS;
        self.ending_ns = [ending_ns, self.ending_ns[0]];
        tracing::debug!(epoch = self.epoch, rows = heat.len(), ending_ns);
        EpochRecord {
            epoch,
            new_units: std::mem::take(&mut self.units.new_units),
            new_areas: std::mem::take(&mut self.units.new_areas),
            heat,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::row::Range;
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    /// One page of a file, mapped and touched; left mapped.
    fn mapped(file: &File) -> Range {
        // SAFETY: a fresh mapping of a page that the file has.
        let start = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, flags, file.as_raw_fd(), 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        Range { start: start as u64, end: start as u64 + 4096 }
    }

    #[test]
    fn of_shared_memory_only_visits_after_clear_refs_count() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 4096]).unwrap();
        let (range, _other) = (mapped(&file), mapped(&file));
        let pid = Pid(i32::try_from(std::process::id()).unwrap());
        let whole = Region::whole(0, false);
        let mut region = Region { range, present: 1, sharing: Sharing::Unknown, ..whole };
        let drawn = Visit { pages: 1, ..Visit::default() };
        let late = Visit { late: true, ..drawn.clone() };
        let mut of_region = Visits { visits: vec![&drawn, &late], chance: 1.0 };
        drop_if_shared(&mut region, pid, &mut of_region);
        assert!(region.uncleared, "mapped twice");
        assert_eq!(of_region.visits.len(), 1, "the drawn one cleared nothing");
        assert!(of_region.visits[0].late);
    }
}
