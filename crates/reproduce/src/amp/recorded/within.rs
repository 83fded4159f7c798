//! Figure 7: how many of the 512 base pages of 2 MiB are accessed within 32 s, where any is: what
//! a huge page would bring along for nothing if few are. From recordings of single pages; the
//! program's private memory only.

use pagetide_trace::{AreaMap, Error, Recording};
use pagetide_types::{AreaKind, EpochHeat, HeatFlags, UnitKey};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Eight epochs of 4 s.
const INTERVAL_S: f64 = 32.0;
const PAGES: usize = 512;

#[derive(Clone, Copy)]
struct Region {
    accessed: [bool; PAGES],
    /// Accessed, or watched in every epoch so far.
    known: [bool; PAGES],
    /// Epochs in which all pages were resident.
    whole: u32,
}

impl Region {
    fn new() -> Self {
        Self { accessed: [false; PAGES], known: [true; PAGES], whole: 0 }
    }
}

/// Counts as epochs of a recording go by.
#[derive(Default)]
pub(crate) struct Within {
    /// By object and number of the region.
    regions: BTreeMap<(u32, u64), Region>,
    epochs: u32,
    since_s: f64,
    /// Regions by accessed pages, over all intervals.
    regions_by_pages: BTreeMap<usize, u64>,
    /// Regions left out: pages are missing, or not known.
    partly_there: u64,
    not_known: u64,
}

/// Of a whole recording.
pub(crate) fn of(recording: &Recording) -> Result<Within, Error> {
    let (keys, areas) = (recording.units()?, AreaMap::new(&recording.areas()?));
    let private = |key: UnitKey| {
        let kind = areas.find(key).map(|area| area.kind);
        matches!(kind, Some(AreaKind::Anonymous | AreaKind::Heap)).then_some(key)
    };
    let keys: Vec<Option<UnitKey>> = keys.into_iter().map(private).collect();
    let mut within = Within::default();
    for (heat, epoch) in recording.heat().zip(recording.epochs()) {
        within.push(&heat?, &keys, epoch.length_s);
    }
    Ok(within)
}

impl Within {
    /// Takes in an epoch of a recording of single pages; `keys` has those of units that count.
    pub(crate) fn push(&mut self, heat: &EpochHeat, keys: &[Option<UnitKey>], length_s: f64) {
        let mut resident: BTreeMap<(u32, u64), usize> = BTreeMap::new();
        for row in heat.rows() {
            let Some(key) = keys[row.unit.index()] else { continue };
            let place = (key.object.0, key.index / PAGES as u64);
            #[expect(clippy::cast_possible_truncation, reason = "below 512")]
            let page = (key.index % PAGES as u64) as usize;
            *resident.entry(place).or_default() += 1;
            let region = self.regions.entry(place).or_insert_with(Region::new);
            region.accessed[page] |= row.flags.has(HeatFlags::ACCESSED);
            region.known[page] &= row.flags.has(HeatFlags::SAMPLED);
        }
        for (place, pages) in resident {
            if let Some(region) = self.regions.get_mut(&place).filter(|_| pages == PAGES) {
                region.whole += 1;
            }
        }
        self.epochs += 1;
        self.since_s += length_s;
        if self.since_s + length_s / 2.0 > INTERVAL_S {
            self.close();
        }
    }

    fn close(&mut self) {
        for region in std::mem::take(&mut self.regions).into_values() {
            let accessed = region.accessed.iter().filter(|is| **is).count();
            if accessed == 0 {
                continue;
            }
            if region.whole < self.epochs {
                self.partly_there += 1;
                continue;
            }
            let known = region.accessed.iter().zip(&region.known);
            if known.filter(|(accessed, known)| **accessed || **known).count() < PAGES {
                self.not_known += 1;
                continue;
            }
            *self.regions_by_pages.entry(accessed).or_default() += 1;
        }
        (self.epochs, self.since_s) = (0, 0.0);
    }

    /// A line for every number of accessed pages, and for what is left out: see [`HEADER`].
    pub(crate) fn lines(&self, name: &str) -> String {
        let mut text = format!(
            "{name},{NOT_WHOLE},{}\n{name},{UNKNOWN},{}\n",
            self.partly_there, self.not_known
        );
        for (pages, regions) in &self.regions_by_pages {
            let _ = writeln!(text, "{name},{pages},{regions}");
        }
        text
    }
}

/// In place of a number of pages: regions left out since some of their pages were not there, or
/// since it is not known whether some were accessed.
pub(crate) const NOT_WHOLE: &str = "not-whole";
pub(crate) const UNKNOWN: &str = "unknown";

/// The columns of [`Within::lines`].
pub(crate) const HEADER: &str = "recording,accessed_pages,regions";

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatRow, NodeId, ObjectId, UnitId};

    #[test]
    fn regions_count_once_per_interval_if_all_of_them_is_there_and_known() {
        // Four regions: all pages; one page missing; one page not always watched; never accessed.
        let key = |index| Some(UnitKey { object: ObjectId(0), index });
        let keys: Vec<Option<UnitKey>> = (0..4 * 512).map(key).collect();
        let mut within = Within::default();
        for epoch in 0..5u32 {
            let mut heat = EpochHeat::new(EpochId(epoch));
            for unit in (0..4 * 512u32).filter(|unit| *unit != 512) {
                let (region, page) = (unit / 512, unit % 512);
                let accessed = region < 3 && page >= 128 * epoch && page < 128 * epoch + 16;
                let watched = (unit, epoch) != (2 * 512 + 300, 1);
                let sampled = if watched { HeatFlags::SAMPLED } else { HeatFlags(0) };
                let seen = if accessed { HeatFlags::ACCESSED } else { HeatFlags(0) };
                let (unit, flags, node) = (UnitId(unit), sampled | seen, NodeId(0));
                heat.push(HeatRow {
                    unit,
                    rate: 0.0,
                    flags,
                    pages: 1,
                    watched: 1,
                    touched: 0,
                    node,
                });
            }
            within.push(&heat, &keys, 8.0);
        }
        // The fifth epoch is of an interval that has not ended.
        assert_eq!(within.lines("x"), "x,not-whole,1\nx,unknown,1\nx,64,1\n");
    }
}
