//! From an epoch's visits to heat: what was measured of each region, which a plan charges, and
//! what is expected of it by all that was seen so far, which policies rank by.

use super::alike::{self, VisitError};
use super::cache_gap::{Huge, WorkingSet};
use super::charge;
use super::glimpse;
use super::ladder::{LONGEST_NS, SHORTEST_NS};
use super::lines::{self, lines_of_whole};
use super::measured::{Measured, OfProcess};
use super::mixture::{Brackets, RATES, Weights, counts, flat, mean_rate};
use super::visit::{Slope, Visit};
use crate::pages::{BorneOut, OfRegion};
use crate::target::region::Region;
use pagetide_types::{Bytes, KEEP};
use std::collections::HashMap;

/// Traffic is measured between half and twice the cache gap: half of it must be long enough to be
/// looked at. A gap three times too long changes what is needed by some percent only
/// (docs/design.md).
const SHORTEST_GAP_NS: f64 = 2.0 * SHORTEST_NS as f64;
/// Steps of the fit of what is usual; it goes on from epoch to epoch.
const STEPS: usize = 30;
/// What is usual counts as so many pages of a region in one visit.
const PRIOR_PAGES: f64 = 8.0;
/// Pages' worth by which it is held to every rate being as likely.
const FLAT_PAGES: f32 = 1.0;
/// Among regions that are about as hot, such a part of the pages is taken to be like those of all: what is seen of it at once
/// is as hot as hot pages usually are, not as hot as can be.
const OF_OTHERS: f32 = 1.0 / 512.0;

/// What is known of a target as a whole, from epoch to epoch.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    /// How the rates of base pages are usually distributed, and of huge ones: a huge page is touched as
    /// often as all of its base pages together.
    usual: [Weights; 2],
    /// The same of regions of base pages that are about as hot, by [`Brackets::octave`]: a region is held to what is usual
    /// among its like, or a twentieth of its pages would count as such that are hot in others.
    alike: HashMap<i32, Weights>,
    cache_pages: f64,
    /// What usually comes in: pages, and their lines.
    came_in: Slope,
    processes: Vec<Process>,
    /// By process, how far one visit is off.
    errors: Vec<VisitError>,
}

/// What is known of a process.
#[derive(Clone, Debug, Default)]
struct Process {
    /// How many pages it touches within a gap.
    set: WorkingSet,
    /// The gap in which that fills the caches, by its CPU time, ns; None while that is unknown.
    gap_ns: Option<f64>,
    /// CPU seconds used per second: of the last epoch, and on average over the visits to it.
    cores: f64,
    cores_of_visits: f64,
}

/// An epoch's visits to one region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visits<'a> {
    pub(crate) visits: Vec<&'a Visit>,
    /// How likely it was to be visited.
    pub(crate) chance: f64,
}

impl Estimator {
    /// Of a target whose cores have a cache of this size each.
    pub(crate) fn new(cache_per_core: Bytes) -> Self {
        let cache_pages = cache_per_core.as_f64() / 4096.0;
        Self {
            usual: [flat(); 2],
            alike: HashMap::new(),
            cache_pages,
            came_in: Slope::default(),
            processes: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// This number is another process's from now on.
    pub(crate) fn forget(&mut self, process: usize) {
        if let Some(process) = self.processes.get_mut(process) {
            *process = Process::default();
        }
        if let Some(error) = self.errors.get_mut(process) {
            *error = VisitError::default();
        }
    }

    /// The time in which a process fills the caches, by its CPU time, ns; None while unknown.
    pub(crate) fn known_gap_ns(&self, process: usize) -> Option<f64> {
        self.processes.get(process).and_then(|process| process.gap_ns)
    }

    /// The same, as traffic can be measured, seconds: it is looked at by the wall clock.
    pub(crate) fn gap_s(&self, process: usize) -> f64 {
        let cores = self.processes.get(process).map_or(1.0, |process| process.cores.max(1.0));
        let gap_ns = self.known_gap_ns(process).unwrap_or(LONGEST_NS as f64);
        gap_ns.max(SHORTEST_GAP_NS * cores) * 1e-9
    }

    /// What a page counts for, by process and rate: all accesses as long as it is not known which of them the caches serve.
    pub(crate) fn accesses(&self, processes: usize) -> Vec<[f64; RATES]> {
        let gap_s = |process| self.known_gap_ns(process).map_or(0.0, |_| self.gap_s(process));
        (0..processes).map(|process| counts(gap_s(process))).collect()
    }

    fn of_process(&self, process: usize) -> OfProcess {
        let gap_ns = self.gap_s(process) * 1e9;
        let cores = self.processes.get(process).map_or(0.0, |process| process.cores_of_visits);
        OfProcess { gap_ns, cores }
    }

    /// Takes in an epoch: by region, what was measured of it, none if it was not watched. `cores`:
    /// by process, CPU seconds used per second.
    pub(crate) fn learn(
        &mut self,
        regions: &mut [Region],
        visits: &[Visits<'_>],
        cores: &[f32],
    ) -> Vec<Option<Measured>> {
        let changed = self.learn_rates(regions, visits);
        // With what this epoch saw of huge pages: without, the first one would take all of them for cached.
        self.learn_gaps(regions, visits, cores);
        self.learn_cores(regions, visits);
        let mut measured: Vec<Option<Measured>> = regions
            .iter()
            .zip(visits)
            .map(|(region, Visits { visits, chance })| {
                Measured::of(visits, region.present, self.of_process(region.process), *chance)
            })
            .collect();
        let usual = self.learn_lines(&measured, regions);
        for (region, seen) in regions.iter_mut().zip(&measured) {
            if let Some(seen) = seen {
                region.history.add_lines(seen.traffic);
            }
        }
        charge::charge(&mut measured, regions, cores);
        let counts: Vec<_> = (0..cores.len()).map(|process| counts(self.gap_s(process))).collect();
        let mut lines_of_page = Vec::with_capacity(regions.len());
        for (((region, Visits { visits, chance }), changed), seen) in
            regions.iter_mut().zip(visits).zip(changed).zip(&measured)
        {
            let gap_s = self.gap_s(region.process);
            let lines = region.history.lines_per_page(usual, PRIOR_PAGES / (1.5 * gap_s));
            if let Some(pages) = &mut region.pages {
                pages.begin();
                // Of what was glimpsed at, pages are not told apart.
                let whole = visits.iter().any(|visit| !visit.glimpse);
                if let Some(seen) = seen.filter(|_| !region.huge && whole) {
                    let weights = region.history.weights();
                    let cores = self.of_process(region.process).cores;
                    let came_in = seen.traffic.pages;
                    let charged = if came_in > 0.0 { seen.charged / came_in } else { lines };
                    let chance = *chance;
                    pages.learn(
                        visits,
                        &OfRegion { weights, gap_s, cores, chance, lines, charged, changed },
                    );
                }
            }
            lines_of_page.push((lines, region.history.in_order(lines, usual)));
        }
        find_alike(regions, &measured, &self.alike);
        glimpse::judge(regions, visits);
        for (region, lines) in regions.iter_mut().zip(lines_of_page) {
            region.expect(&counts[region.process], lines, self.gap_s(region.process));
        }
        self.errors.resize(cores.len(), VisitError::default());
        alike::shrink(regions, &mut self.errors);
        measured
    }

    /// Learns how many lines usually come in with a page of base size: those of a touch, unless pages are read in order by more
    /// than chance, but for one chance in fifty.
    fn learn_lines(&mut self, measured: &[Option<Measured>], regions: &[Region]) -> f64 {
        self.came_in = self.came_in.times(f64::from(KEEP));
        for (seen, region) in measured.iter().zip(regions).filter(|(_, region)| !region.huge) {
            if let Some(seen) = seen.filter(|_| region.present > 0) {
                self.came_in += seen.traffic;
            }
        }
        let Slope { pages, lines, noise, .. } = self.came_in;
        let more = lines - lines::TOUCH * pages;
        if pages > 0.0 && more > 2.0 * lines_of_whole(noise.sqrt()) {
            lines / pages
        } else {
            lines::TOUCH
        }
    }

    /// Finds the time in which each process fills the caches.
    fn learn_gaps(&mut self, regions: &[Region], visits: &[Visits<'_>], cores: &[f32]) {
        self.processes.resize(cores.len(), Process::default());
        let mut resident = vec![0.0; cores.len()];
        let mut huge: Vec<Huge> = vec![Huge::default(); cores.len()];
        let mut fresh = vec![false; cores.len()];
        for region in regions.iter().filter(|region| !region.unknown()) {
            if region.huge {
                let huge = &mut huge[region.process];
                huge.all += 1.0;
                if region.history.known() {
                    huge.rates.push(mean_rate(region.history.weights()));
                }
            } else {
                resident[region.process] += f64::from(region.own());
            }
        }
        for (region, Visits { visits, chance }) in regions.iter().zip(visits) {
            let set = &mut self.processes[region.process].set;
            if !visits.is_empty() && !std::mem::replace(&mut fresh[region.process], true) {
                set.fade();
            }
            for visit in visits {
                let regions = visit.stands_for(region.own());
                set.add(visit, regions / (visits.len() as f64 * chance));
            }
        }
        for (number, process) in self.processes.iter_mut().enumerate() {
            process.cores = f64::from(cores[number]);
            let pages = self.cache_pages * process.cores.max(1.0);
            process.gap_ns = process.set.gap_ns(pages, resident[number], &huge[number]);
            if fresh[number] {
                tracing::debug!(number, gap_ns = ?process.gap_ns);
            }
        }
    }

    /// How busy each process was while it was looked at.
    fn learn_cores(&mut self, regions: &[Region], visits: &[Visits<'_>]) {
        let mut sums = vec![(0.0, 0.0); self.processes.len()];
        for (region, Visits { visits, .. }) in regions.iter().zip(visits) {
            let gap_ns = self.gap_s(region.process) * 1e9;
            let (sum, count) = &mut sums[region.process];
            for visit in visits.iter().filter(|visit| visit.measures(gap_ns)) {
                (*sum, *count) = (*sum + visit.cores(), *count + 1.0);
            }
        }
        for (process, (sum, count)) in self.processes.iter_mut().zip(sums) {
            process.cores_of_visits = if count > 0.0 { sum / count } else { 0.0 };
        }
    }

    /// Adds what was seen to what is known; says which regions have changed.
    fn learn_rates(&mut self, regions: &mut [Region], visits: &[Visits<'_>]) -> Vec<bool> {
        let seen: Vec<Brackets> = visits
            .iter()
            .map(|Visits { visits, .. }| {
                let mut seen = Brackets::default();
                let valid = visits.iter().filter(|visit| visit.pages > 0 && !visit.refused);
                valid.for_each(|visit| seen.add(visit));
                seen
            })
            .collect();
        let mut all = [Brackets::default(), Brackets::default()];
        let mut alike: HashMap<i32, Brackets> = HashMap::new();
        let octaves: Vec<Option<i32>> = regions
            .iter()
            .zip(&seen)
            .map(|(region, seen)| {
                let mut known = region.history.brackets().clone();
                known.add_all(seen);
                all[usize::from(region.huge)].add_all(&known);
                let octave = known.octave().filter(|_| !region.huge)?;
                alike.entry(octave).or_default().add_all(&known);
                Some(octave)
            })
            .collect();
        for (all, usual) in all.iter().zip(&mut self.usual) {
            all.fit(usual, &flat(), FLAT_PAGES, STEPS);
        }
        let usual = self.usual;
        self.alike.retain(|octave, _| alike.contains_key(octave));
        for (octave, seen) in &alike {
            let weights = self.alike.entry(*octave).or_insert(usual[0]);
            seen.fit(weights, &usual[0], OF_OTHERS * seen.pages(), STEPS);
        }
        let learn = |((region, seen), octave): ((&mut Region, &Brackets), Option<i32>)| {
            let alike = octave.and_then(|octave| self.alike.get(&octave));
            let usual = alike.unwrap_or(&usual[usize::from(region.huge)]);
            region.history.learn(seen, usual, region.huge)
        };
        regions.iter_mut().zip(&seen).zip(octaves).map(learn).collect()
    }
}

/// What regions of a process that are about as hot, by factors of 2, say together of whether their pages differ.
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    borne_out: BorneOut,
    /// As a logarithm, how much likelier it is that they differ as the pages of all of them do than that those of each have
    /// one rate; of so many regions.
    likelier: f64,
    regions: u32,
}

impl Together {
    /// Fewer regions do not say it.
    const ENOUGH: u32 = 8;

    fn add(&mut self, region: &mut Region, borne_out: &BorneOut, rates: &Weights) {
        self.borne_out.add(borne_out);
        if let Some(likelier) = region.history.likelier_as(rates) {
            self.likelier += likelier;
            self.regions += 1;
        }
    }

    /// Whether it is likelier that they differ, before later visits tell.
    fn may_differ(&self) -> bool {
        self.regions < Self::ENOUGH || self.likelier > 0.0
    }
}

/// Finds out whose pages are accessed alike, of regions that were watched: by each itself, and by all of its process that are
/// about as hot; `rates`: how those of such regions are distributed, by octave.
fn find_alike(
    regions: &mut [Region],
    measured: &[Option<Measured>],
    rates: &HashMap<i32, Weights>,
) {
    let octave = |region: &Region| region.history.brackets().octave();
    let mut said: HashMap<(usize, i32), Together> = HashMap::new();
    for region in regions.iter_mut() {
        let own = region.pages.as_ref().and_then(|pages| pages.borne_out());
        if let Some((own, octave)) = own.zip(octave(region))
            && let Some(rates) = rates.get(&octave)
        {
            said.entry((region.process, octave)).or_default().add(region, &own, rates);
        }
    }
    let watched = regions.iter_mut().zip(measured).filter(|(_, seen)| seen.is_some());
    for (region, _) in watched.filter(|(region, _)| !region.huge) {
        let said = octave(region).and_then(|octave| said.get(&(region.process, octave)).copied());
        let Some(pages) = &mut region.pages else { continue };
        // A small region speaks for itself alone.
        let alone =
            || Together { borne_out: pages.borne_out().unwrap_or_default(), ..Together::default() };
        let said = said.unwrap_or_else(alone);
        if pages.beside(&said.borne_out, said.may_differ()) {
            region.history.found_alike();
        }
        pages.alike = pages.differ() != Some(true) && region.history.alike();
    }
}

/// By region, how much a visit to it steadies the sum of the traffic: its count is about Poisson,
/// so it deviates by its root. 0 where `can` says that it cannot be visited.
pub(crate) fn wanted(regions: &[Region], cores: &[f32], can: impl Fn(&Region) -> bool) -> Vec<f64> {
    /// What is hardly accessed is wanted by so much less than the usual region at most.
    const LEAST: f64 = 1e-3;
    let root = |region: &Region| {
        let cores = f64::from(cores[region.process]).max(LEAST);
        region.rate.map(|rate| (f64::from(rate) * cores).sqrt())
    };
    let (sum, count) =
        regions.iter().filter_map(root).fold((0.0, 0.0), |(sum, n), root| (sum + root, n + 1.0));
    let usual = if sum > 0.0 { sum / count } else { 1.0 };
    let of = |region: &Region| root(region).unwrap_or(usual).max(usual * LEAST);
    regions.iter().map(|region| if can(region) { of(region) } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn until_it_is_known_what_the_caches_serve_all_accesses_count() {
        let mut estimator = Estimator::new(Bytes::mib(2));
        assert_eq!(estimator.accesses(1), [counts(0.0)]);
        let known = Process { gap_ns: Some(1e6), ..Process::default() };
        estimator.processes.push(known);
        assert_eq!(estimator.accesses(1), [counts(1e-3)]);
    }
}
