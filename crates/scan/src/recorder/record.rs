//! What an epoch adds: heat from what was seen, and what it cost.

use super::Recorder;
use crate::live::process_cpu;
use crate::survey::measured::Measured;
use crate::survey::mixture::Brackets;
use crate::survey::visit::Visit;
use crate::survey::{Outcome, mixture};
use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{EpochId, Pid, UnitSize};

/// What another thread uses to write a row (`trace-speed`, docs/recording.md).
const WRITE_ROW_NS: u64 = 45;
/// A region of which so many pages, and this share, are accessed at the first look after a clearing
/// is looked up: its pages may have become shared, which are not cleared.
const DOUBTFUL_PAGES: u16 = 16;
const DOUBTFUL_SHARE: f64 = 0.5;
/// Steps of the fit of what is usual; it goes on from epoch to epoch.
const STEPS: usize = 30;
/// Pages' worth by which it is held to every rate being as likely.
const FLAT_PAGES: f32 = 1.0;

impl Recorder {
    /// Turns what was seen into heat, and the epoch into its record. `expected`: how often each
    /// region was to be visited.
    pub(super) fn record(
        &mut self,
        outcome: &Outcome,
        expected: &[f64],
        start_ns: u64,
        end_ns: u64,
        start_cpu: u64,
    ) -> EpochRecord {
        let record_from = self.cpu_now();
        let mut visits: Vec<Vec<&Visit>> = vec![Vec::new(); self.regions.len()];
        for visit in &outcome.visits {
            visits[visit.region].push(visit);
        }
        let chance = |region: usize, late: bool| {
            if late { 1.0 } else { (expected[region] * outcome.tally.done()).clamp(1e-6, 1.0) }
        };
        let chances: Vec<f64> = visits
            .iter()
            .enumerate()
            .map(|(region, visits)| chance(region, visits.first().is_some_and(|v| v.late)))
            .collect();
        self.drop_doubtful(&mut visits);
        self.learn_gaps(&visits, &chances);
        let changed = self.learn_rates(&visits);
        let mut measured = Vec::with_capacity(self.regions.len());
        let mut watched_pages = 0;
        for (i, visits) in visits.iter().enumerate() {
            let gap_s = self.gap_s(self.regions[i].process);
            let region = &mut self.regions[i];
            if let Some(pages) = &mut region.pages {
                pages.begin();
            }
            let lost = outcome.lost.contains(&region.process);
            let seen = Measured::of(visits, region.present, gap_s * 1e9, chances[i]);
            let seen = seen.filter(|_| !lost);
            if visits.iter().any(|visit| visit.refused) {
                region.uncleared = true;
            }
            if let Some(seen) = &seen {
                region.reached = region.uncleared;
                watched_pages += u64::from(seen.pages);
                if let Some(pages) = region.pages.as_mut().filter(|_| !region.huge) {
                    let weights = region.history.weights();
                    pages.learn(visits, weights, gap_s, chances[i], changed[i]);
                }
            }
            region.expect(gap_s);
            measured.push(seen);
        }
        let heat = self.heat_of(&measured, &outcome.lost);
        self.epoch_record(
            outcome,
            heat,
            watched_pages,
            (start_ns, end_ns),
            (start_cpu, record_from),
        )
    }

    /// Leaves out visits to regions whose pages turn out to be mapped elsewhere too: what is not
    /// known to have been cleared is not what was accessed.
    fn drop_doubtful(&mut self, visits: &mut [Vec<&Visit>]) {
        for (region, visits) in self.regions.iter_mut().zip(visits) {
            let doubtful = visits.iter().any(|visit| {
                let first = visit.looks.first().map_or(0, |look| look.seen);
                let many = f64::from(first) >= DOUBTFUL_SHARE * f64::from(visit.pages);
                !visit.late && !visit.huge && first >= DOUBTFUL_PAGES && many
            });
            if doubtful && region.look_up_sharing(self.known[region.process].pid) {
                visits.clear();
            }
        }
    }

    /// Finds the time in which each process fills the caches.
    fn learn_gaps(&mut self, visits: &[Vec<&Visit>], chances: &[f64]) {
        let mut resident = vec![0.0; self.known.len()];
        let mut huge: Vec<Vec<f64>> = vec![Vec::new(); self.known.len()];
        let mut fresh = vec![false; self.known.len()];
        for region in self.regions.iter().filter(|region| !region.uncleared) {
            if region.huge {
                huge[region.process].extend(region.rate.map(f64::from));
            } else {
                resident[region.process] += f64::from(region.own());
            }
        }
        for (i, visits) in visits.iter().enumerate() {
            let process = self.regions[i].process;
            for visit in visits {
                if !std::mem::replace(&mut fresh[process], true) {
                    self.known[process].working_set.fade();
                }
                let weight = 1.0 / (visits.len() as f64 * chances[i]);
                self.known[process].working_set.add(visit, weight);
            }
        }
        for (process, known) in self.known.iter_mut().enumerate() {
            let cache = self.options.cache_per_core.as_f64() / 4096.0;
            let pages = cache * f64::from(known.cores).max(1.0);
            known.gap_ns = known.working_set.gap_ns(pages, resident[process], &huge[process]);
            if fresh[process] {
                tracing::debug!(epoch = self.epoch, pid = %known.pid, gap_ns = ?known.gap_ns);
            }
        }
    }

    /// Adds what was seen to what is known; says which regions have changed.
    fn learn_rates(&mut self, visits: &[Vec<&Visit>]) -> Vec<bool> {
        let mut all = Brackets::default();
        let seen: Vec<Brackets> = visits
            .iter()
            .map(|visits| {
                let mut seen = Brackets::default();
                let valid = visits.iter().filter(|visit| visit.pages > 0 && !visit.refused);
                valid.for_each(|visit| seen.add(visit));
                seen
            })
            .collect();
        for (region, seen) in self.regions.iter().zip(&seen) {
            all.add_all(region.history.brackets());
            all.add_all(seen);
        }
        let mut usual = self.usual;
        all.fit(&mut usual, &mixture::flat(), FLAT_PAGES, STEPS);
        self.usual = usual;
        let regions = self.regions.iter_mut().zip(&seen);
        regions.map(|(region, seen)| region.history.learn(seen, &usual)).collect()
    }

    fn heat_of(
        &mut self,
        measured: &[Option<Measured>],
        lost: &[usize],
    ) -> pagetide_types::EpochHeat {
        if self.options.unit == UnitSize::Huge {
            self.heat.begin(self.units.len());
            for (region, measured) in self.regions.iter().zip(measured) {
                if !lost.contains(&region.process) {
                    let cores = self.known[region.process].cores;
                    self.heat.add(region, measured.as_ref(), cores);
                }
            }
            return self.heat.finish(EpochId(self.epoch));
        }
        let known = &self.known;
        self.page_heat.collect(
            EpochId(self.epoch),
            &self.regions,
            &mut self.units,
            |region| measured[region].as_ref(),
            |process| (!lost.contains(&process)).then(|| known[process].cores),
        )
    }

    fn epoch_record(
        &mut self,
        outcome: &Outcome,
        heat: pagetide_types::EpochHeat,
        watched_pages: u64,
        (start_ns, end_ns): (u64, u64),
        (start_cpu, record_from): (u64, u64),
    ) -> EpochRecord {
        let uncleared = match self.options.unit {
            UnitSize::Huge => self.heat.uncleared_pages(),
            UnitSize::Base => self.page_heat.uncleared_pages(),
        };
        let pages: u64 = heat.pages.iter().map(|pages| u64::from(*pages)).sum();
        let pids: Vec<Pid> = self.known.iter().filter(|k| k.alive).map(|k| k.pid).collect();
        let cpu = self.host.cpu_of(&pids);
        let tally = &outcome.tally;
        let seconds = |ns: u64| ns as f64 * 1e-9;
        let epoch = Epoch {
            epoch: EpochId(self.epoch),
            start_s: seconds(start_ns - self.started_ns),
            length_s: seconds(end_ns - start_ns),
            processes: u32::try_from(pids.len()).unwrap_or(u32::MAX),
            target_cpu_s: cpu.saturating_sub(self.last_cpu).as_secs_f64(),
            clear_s: seconds(tally.clear_ns + tally.refs_ns),
            scan_s: seconds(tally.look_ns + self.census_ns),
            recorder_s: seconds(process_cpu() - start_cpu),
            longest_clear_s: seconds(tally.longest_clear_ns),
            watched_share: (watched_pages as f64 / pages.max(1) as f64).min(1.0),
            uncleared_bytes: uncleared << 12,
            stall_share: self.stalls.share(),
        };
        self.last_cpu = cpu;
        self.ending_ns = self.cpu_now() - record_from + heat.len() as u64 * WRITE_ROW_NS;
        tracing::debug!(epoch = self.epoch, rows = heat.len(), ending_ns = self.ending_ns);
        EpochRecord {
            epoch,
            new_units: std::mem::take(&mut self.units.new_units),
            new_areas: std::mem::take(&mut self.units.new_areas),
            heat,
        }
    }
}
