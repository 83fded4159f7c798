//! From regions to single pages: what several mappings and processes show of one page becomes one
//! row. It is done for every resident page in every epoch, so it goes by runs of pages whose
//! numbers follow each other, and looks at nothing but a rate and some bits of each.

use super::part::{Part, Piece, add_shared_run, add_unmapped_run, first_pages, is_whole, union};
use crate::recorder::heat::{HeatTable, concluded};
use crate::survey::glimpse::Glimpsed;
use crate::survey::measured::Measured;
use crate::target::region::Region;
use crate::target::units::Units;
use pagetide_types::{EpochHeat, EpochId, HeatFlags, NodeId, UnitId};
use std::collections::HashMap;

/// What is known of the regions of an epoch.
pub(crate) struct Seen<'a, M, C> {
    pub(crate) regions: &'a [Region],
    /// What was measured of a region.
    pub(crate) measured: M,
    /// CPU time that a process used per second of the epoch, None if it is lost.
    pub(crate) cores: C,
    /// The walk's nodes.
    pub(crate) nodes: &'a [NodeId],
    /// Every page has a row; else those of a region that nobody has visited yet have one together, for nothing tells them
    /// apart.
    pub(crate) every_page: bool,
    /// Only units of which something was measured have rows.
    pub(crate) visited_alone: bool,
    /// Regions that no process maps, and how many pages they have.
    pub(crate) unmapped: &'a [(UnitId, u16)],
}

/// Accumulates the heat of one epoch.
#[derive(Debug, Default)]
pub(crate) struct PageHeat {
    /// Units of the last epoch.
    last: usize,
    uncleared: u64,
    /// Of regions that are one unit.
    whole: HeatTable,
    /// By region, what its rows were in the last epoch, and in the last one in which all had some.
    forms: Vec<Form>,
    of_all: Vec<Form>,
}

/// What the rows of a region are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// It has none.
    #[default]
    Absent,
    /// One for all of it.
    Whole,
    /// One for each page.
    Pages,
}

impl PageHeat {
    /// The epoch's heat of all resident pages of the regions. Regions without pages, and those of the
    /// same unit, have one row together.
    pub(crate) fn collect<'a, M, C>(
        &mut self,
        epoch: EpochId,
        seen: &Seen<'a, M, C>,
        units: &mut Units,
    ) -> EpochHeat
    where
        M: Fn(usize) -> Option<&'a Measured>,
        C: Fn(usize) -> Option<f32>,
    {
        let piece = |(region, of): (usize, &'a Region)| {
            let cores = (seen.cores)(of.process)?;
            let visited = of.rate.is_some() && of.glimpsed == Glimpsed::Never;
            let told_apart = seen.every_page || visited || of.unknown();
            let part = told_apart
                .then(|| Part::of(of, (seen.measured)(region), cores, seen.nodes))
                .flatten();
            Some(Piece { unit: of.unit, region, cores, part })
        };
        let mut pieces: Vec<Piece<'a>> =
            seen.regions.iter().enumerate().filter_map(piece).collect();
        pieces.sort_by_key(|piece| piece.unit);
        if seen.visited_alone {
            let mut visited: Vec<UnitId> = pieces
                .iter()
                .filter(|piece| (seen.measured)(piece.region).is_some())
                .map(|piece| piece.unit)
                .collect();
            visited.dedup();
            pieces.retain(|piece| visited.binary_search(&piece.unit).is_ok());
        }
        let mut of_region = vec![0..0; units.len()];
        let mut end = 0;
        let mut forms = vec![Form::Absent; units.len()];
        self.whole.begin(units.len());
        for group in pieces.chunk_by(|a, b| a.unit == b.unit) {
            let unit = group[0].unit;
            of_region[unit.index()] = end..end + group.len();
            end += group.len();
            if is_whole(group) {
                forms[unit.index()] = Form::Whole;
                units.number_whole(unit);
                for piece in group {
                    let measured = (seen.measured)(piece.region);
                    self.whole.add(&seen.regions[piece.region], measured, piece.cores);
                }
            } else {
                forms[unit.index()] = Form::Pages;
                units.number_pages(unit, &union(group));
            }
        }
        self.forms = forms;
        let before = if seen.visited_alone {
            std::mem::take(&mut self.of_all)
        } else {
            std::mem::replace(&mut self.of_all, self.forms.clone())
        };
        let renumbered = |region: UnitId, forms: &[Form]| {
            let before = before.get(region.index()).copied().unwrap_or_default();
            before != Form::Absent && before != forms[region.index()]
        };
        for (region, pages) in seen.unmapped {
            units.number_pages(*region, &first_pages(*pages));
        }
        let unmapped: HashMap<UnitId, u16> = seen.unmapped.iter().copied().collect();
        let mut heat = EpochHeat::with_capacity(epoch, self.last + self.last / 16);
        self.uncleared = self.whole.uncleared_pages();
        for run in units.runs() {
            let group = &pieces[of_region[run.region.index()].clone()];
            if group.is_empty() {
                if let Some(pages) = unmapped.get(&run.region) {
                    add_unmapped_run(*pages, run, &mut heat);
                    self.complete(&mut heat);
                }
                continue;
            }
            let from = heat.len();
            if is_whole(group) {
                if run.pages == 0 {
                    self.whole.add_row(run.region, run.first, &mut heat);
                }
            } else {
                match group {
                    [Piece { part: Some(part), .. }] => part.add_run(run, &mut heat),
                    _ => add_shared_run(group, run, &mut heat),
                }
                self.complete(&mut heat);
            }
            if renumbered(run.region, &self.forms) {
                heat.flags[from..].iter_mut().for_each(|flags| *flags |= HeatFlags::RENUMBERED);
            }
        }
        if seen.visited_alone {
            self.of_all = before;
        } else {
            self.last = heat.len();
        }
        heat
    }

    /// Whether a region had rows in the last epoch.
    pub(crate) fn has_rows(&self, region: UnitId) -> bool {
        self.forms.get(region.index()).is_some_and(|form| *form != Form::Absent)
    }

    /// Whether the pages of a region had one row together in the last epoch.
    pub(crate) fn is_whole(&self, region: UnitId) -> bool {
        self.forms.get(region.index()) == Some(&Form::Whole)
    }

    /// What follows from the flags of single pages that were added last.
    fn complete(&mut self, heat: &mut EpochHeat) {
        let from = heat.pages.len();
        heat.pages.resize(heat.unit.len(), 1);
        for flags in &mut heat.flags[from..] {
            *flags = concluded(*flags, false);
            self.uncleared += u64::from(flags.has(HeatFlags::UNCLEARED));
        }
        let count = |flag| heat.flags[from..].iter().map(move |flags| u16::from(flags.has(flag)));
        heat.watched.extend(count(HeatFlags::SAMPLED));
        heat.touched.extend(count(HeatFlags::ACCESSED));
    }

    /// Resident pages of this epoch whose bits could not be cleared.
    pub(crate) fn uncleared_pages(&self) -> u64 {
        self.uncleared
    }
}

#[cfg(test)]
#[path = "heat_tests.rs"]
mod tests;
