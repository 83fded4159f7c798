//! The address x time heatmap and the heat of every named area, gathered while a recording
//! streams by. Memory is bounded whatever the recording's size: neighbouring units share bins,
//! neighbouring epochs share columns, and both are merged two by two when there are too many.

use crate::recording::areas::{AreaNames, Layout};
use pagetide_trace::EpochRecord;
use pagetide_types::{AreaKind, Bytes, HeatFlags, UnitKey};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bins of neighbouring units kept while streaming.
const BINS: usize = 4096;
/// Columns kept while streaming; at the end they are merged to at most half of it.
const COLUMNS: usize = 120;
/// Bins hold at most 2^40 units; past that only objects and areas tell them apart.
const MAX_SHIFT: u32 = 40;

/// Mean access rates over address and time; rows are parts of areas, columns spans of epochs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Heatmap {
    /// Seconds of the longest column.
    pub column_s: f64,
    /// Seconds of each column: the last may hold less than the others, and the first ones do where epochs grow.
    pub lengths_s: Vec<f64>,
    /// Rows in order of areas, then address.
    pub rows: Vec<HeatmapRow>,
}

/// One row of the [`Heatmap`]: part of an area.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatmapRow {
    /// Position of its area in the plan's `areas`.
    pub area: usize,
    /// Resident bytes, mean over the time in which any of it was resident.
    pub bytes: Bytes,
    /// Accesses per second and MiB in every column; 0 where no access was seen though all of it was looked at, none
    /// where nothing was resident.
    pub rate_per_mib: Vec<Option<f32>>,
    /// Columns in which the heat of most of it is unknown: its accessed bits cannot be cleared. A
    /// rate there says nothing.
    pub unknown: Vec<bool>,
}

/// One named area's share of memory and accesses in the evaluated epochs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AreaHeat {
    /// `[heap]`, a file's path, ... as it is shown.
    pub name: String,
    /// What it is; none for small areas counted together, and for shared memory that no process maps.
    pub kind: Option<AreaKind>,
    /// Resident bytes, mean over time.
    pub bytes: Bytes,
    /// Its share of all resident bytes, 0 to 1.
    pub share_of_bytes: f64,
    /// Accesses per second.
    pub accesses_per_s: f64,
    /// Its share of all accesses, 0 to 1.
    pub share_of_accesses: f64,
    /// The same in the column of the heatmap where it was greatest: how stable it is.
    pub peak_share_of_accesses: f64,
}

/// Accesses, and bytes x seconds, of a bin in one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) accesses: f64,
    pub(crate) byte_s: f64,
    /// The part of them whose heat is unknown.
    pub(crate) unknown_byte_s: f64,
    /// The part of them that was seen accessed, or not looked at: all but what was found without an access.
    pub(crate) maybe_accessed_byte_s: f64,
}

impl Cell {
    pub(crate) fn add(&mut self, other: Self) {
        self.accesses += other.accesses;
        self.byte_s += other.byte_s;
        self.unknown_byte_s += other.unknown_byte_s;
        self.maybe_accessed_byte_s += other.maybe_accessed_byte_s;
    }

    /// Accesses per second and MiB, none if nothing was resident. What is to be expected of memory without an access that
    /// was seen is not 0, but a picture is of what was seen.
    pub(crate) fn rate_per_mib(&self) -> Option<f64> {
        let seen = if self.maybe_accessed_byte_s > 0.0 { self.accesses } else { 0.0 };
        (self.byte_s > 0.0).then(|| seen / self.byte_s * f64::from(1 << 20))
    }

    /// Whether the heat of most of it is unknown.
    pub(crate) fn is_unknown(&self) -> bool {
        2.0 * self.unknown_byte_s > self.byte_s
    }
}

/// Area, object, and index of a bin's units divided by 2^shift.
pub(crate) type BinKey = (u32, u32, u64);

/// Neighbouring bins of one area that share a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// The first and the last of them; none where the row got no bin.
    pub(crate) keys: Option<(BinKey, BinKey)>,
    /// Their sums per column.
    pub(crate) cells: Vec<Cell>,
}

/// Gathers a [`Heatmap`] and the areas from epochs given in order.
#[derive(Debug, Default)]
pub struct HeatmapBuilder {
    names: AreaNames,
    keys: Vec<UnitKey>,
    unit_bin: Vec<u32>,
    /// Units whose area nobody has said: what appears within an epoch has a number before the walk that finds its area.
    nameless: Vec<usize>,
    /// Of every unit whether no access was seen when it was looked at last.
    unseen: Vec<bool>,
    bins: Vec<(BinKey, Vec<Cell>)>,
    by_key: BTreeMap<BinKey, u32>,
    /// log2 of the units in a bin.
    pub(crate) shift: u32,
    epochs: usize,
    pub(crate) epochs_per_column: usize,
    most_columns: usize,
    pub(crate) column_s: Vec<f64>,
}

impl HeatmapBuilder {
    /// A builder that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::with_columns(COLUMNS)
    }

    /// A builder that keeps at most so many columns, an even number.
    pub(crate) fn with_columns(most_columns: usize) -> Self {
        Self { epochs_per_column: 1, most_columns, ..Self::default() }
    }

    /// Adds the next epoch. Linear in its units.
    pub fn push(&mut self, record: &EpochRecord) {
        self.names.add(&record.new_areas);
        if !record.new_areas.is_empty() {
            for unit in std::mem::take(&mut self.nameless) {
                self.unit_bin[unit] = self.bin_of(unit);
            }
            self.bound_bins();
        }
        for key in &record.new_units {
            self.keys.push(*key);
            let bin = self.bin_of(self.keys.len() - 1);
            self.unit_bin.push(bin);
            self.unseen.push(false);
            self.bound_bins();
        }
        let length = record.epoch.length_s;
        if length.is_finite() && length > 0.0 {
            let column = self.epochs / self.epochs_per_column;
            self.epochs += 1;
            if column == self.column_s.len() {
                self.column_s.push(0.0);
            }
            self.column_s[column] += length;
            let heat = &record.heat;
            for i in 0..heat.len() {
                let unit = heat.unit[i].index();
                let Some(bin) = self.unit_bin.get(unit) else { continue };
                let cells = &mut self.bins[*bin as usize].1;
                if cells.len() <= column {
                    cells.resize(column + 1, Cell::default());
                }
                let flags = heat.flags[i];
                let unknown = flags.has(HeatFlags::UNCLEARED) && !flags.has(HeatFlags::ACCESSED);
                if flags.has(HeatFlags::SAMPLED) {
                    self.unseen[unit] = flags.has(HeatFlags::UNSEEN);
                }
                let byte_s = heat.bytes(i).as_f64() * length;
                let part = |of: bool| if of { byte_s } else { 0.0 };
                cells[column].add(Cell {
                    accesses: f64::from(heat.rate[i]) * length,
                    byte_s,
                    unknown_byte_s: part(unknown),
                    maybe_accessed_byte_s: part(!self.unseen[unit]),
                });
            }
            if self.column_s.len() > self.most_columns {
                self.merge_columns();
            }
        }
    }

    /// The heatmap with about `rows` rows and at most 60 columns, and the areas, largest first.
    /// Areas leave out the first `warm_up` epochs, as far as whole columns can.
    #[must_use]
    pub fn finish(mut self, rows: usize, warm_up: usize) -> (Heatmap, Vec<AreaHeat>) {
        while self.column_s.len() > COLUMNS / 2 {
            self.merge_columns();
        }
        let (layout, from) = self.settle(rows, warm_up);
        let heatmap = Heatmap {
            column_s: self.column_s.iter().copied().fold(0.0, f64::max),
            lengths_s: self.column_s.clone(),
            rows: self.rows(&layout),
        };
        (heatmap, self.areas(&layout, from))
    }

    /// Puts the bins in order, and deals out about `rows` rows by what lies in the columns after
    /// the first `warm_up` epochs; also the first of those columns. Nothing is pushed afterwards.
    pub(crate) fn settle(&mut self, rows: usize, warm_up: usize) -> (Layout, usize) {
        let columns = self.column_s.len();
        for (_, cells) in &mut self.bins {
            cells.resize(columns, Cell::default());
        }
        self.bins.sort_by_key(|(key, _)| *key);
        let from = (warm_up / self.epochs_per_column.max(1)).min(columns.saturating_sub(1));
        (Layout::new(&self.sums(from), &self.names, rows), from)
    }

    /// Per area: accesses and byte seconds from column `from` on.
    fn sums(&self, from: usize) -> Vec<(f64, f64)> {
        let mut sums = vec![(0.0, 0.0); self.names.len()];
        for ((area, ..), cells) in &self.bins {
            for cell in &cells[from..] {
                sums[*area as usize].0 += cell.accesses;
                sums[*area as usize].1 += cell.byte_s;
            }
        }
        sums
    }

    fn areas(&self, layout: &Layout, from: usize) -> Vec<AreaHeat> {
        let columns = self.column_s.len();
        let mut cells = vec![vec![Cell::default(); columns]; layout.shown.len()];
        for ((area, ..), bin) in &self.bins {
            for (sum, cell) in cells[layout.place[*area as usize]].iter_mut().zip(bin) {
                sum.add(*cell);
            }
        }
        let column_accesses = |c: usize| cells.iter().map(|area| area[c].accesses).sum::<f64>();
        let totals: Vec<f64> = (0..columns).map(column_accesses).collect();
        let seconds: f64 = self.column_s[from..].iter().sum();
        let accesses: f64 = totals[from..].iter().sum();
        let byte_s: f64 = cells.iter().flat_map(|area| &area[from..]).map(|c| c.byte_s).sum();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        // The rest stands last, so leaving it out when it is empty moves no other area.
        std::iter::zip(&layout.shown, &cells)
            .filter(|(_, cells)| cells.iter().any(|cell| cell.byte_s > 0.0))
            .map(|((name, kind), cells)| {
                let own: f64 = cells[from..].iter().map(|c| c.accesses).sum();
                let own_bytes: f64 = cells[from..].iter().map(|c| c.byte_s).sum();
                AreaHeat {
                    name: name.clone(),
                    kind: *kind,
                    bytes: whole_bytes(share(own_bytes, seconds)),
                    share_of_bytes: share(own_bytes, byte_s),
                    accesses_per_s: share(own, seconds),
                    share_of_accesses: share(own, accesses),
                    peak_share_of_accesses: (from..columns)
                        .map(|c| share(cells[c].accesses, totals[c]))
                        .fold(0.0, f64::max),
                }
            })
            .collect()
    }

    fn rows(&self, layout: &Layout) -> Vec<HeatmapRow> {
        let mut rows = Vec::new();
        for area in 0..layout.rows.len() {
            let parts = self.parts(layout, area);
            rows.extend(parts.iter().filter_map(|part| self.row(area, &part.cells)));
        }
        rows
    }

    /// The bins of one shown area dealt out to its rows by their bytes, in order of address; none
    /// when the area was never resident.
    pub(crate) fn parts(&self, layout: &Layout, area: usize) -> Vec<Part> {
        let wanted = layout.rows[area];
        let bins = || self.bins.iter().filter(|((raw, ..), _)| layout.place[*raw as usize] == area);
        let size = |cells: &[Cell]| cells.iter().map(|c| c.byte_s).sum::<f64>();
        let all: f64 = bins().map(|(_, cells)| size(cells)).sum();
        if all <= 0.0 {
            return Vec::new();
        }
        let empty = Part { keys: None, cells: vec![Cell::default(); self.column_s.len()] };
        let mut parts = vec![empty; wanted];
        let mut before = 0.0;
        for (key, cells) in bins() {
            let own = size(cells);
            let middle = (before + own / 2.0) / all;
            let part = &mut parts[index(middle * wanted as f64).min(wanted - 1)];
            before += own;
            part.keys = Some((part.keys.map_or(*key, |keys| keys.0), *key));
            for (sum, cell) in part.cells.iter_mut().zip(cells) {
                sum.add(*cell);
            }
        }
        parts
    }

    fn row(&self, area: usize, cells: &[Cell]) -> Option<HeatmapRow> {
        let resident = std::iter::zip(cells, &self.column_s).filter(|(c, _)| c.byte_s > 0.0);
        let (byte_s, seconds) =
            resident.fold((0.0, 0.0), |(b, s), (cell, length)| (b + cell.byte_s, s + length));
        #[expect(clippy::cast_possible_truncation, reason = "for a picture")]
        let rate = |c: &Cell| c.rate_per_mib().map(|rate| rate as f32);
        (seconds > 0.0).then(|| HeatmapRow {
            area,
            bytes: whole_bytes(byte_s / seconds),
            rate_per_mib: cells.iter().map(rate).collect(),
            unknown: cells.iter().map(Cell::is_unknown).collect(),
        })
    }

    fn bin_of(&mut self, unit: usize) -> u32 {
        let key = self.keys[unit];
        let area = self.names.of(&key);
        if area.is_none() {
            self.nameless.push(unit);
        }
        let bin = (area.unwrap_or(0), key.object.0, key.index >> self.shift);
        let bins = &mut self.bins;
        *self.by_key.entry(bin).or_insert_with(|| {
            bins.push((bin, Vec::new()));
            u32::try_from(bins.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn bound_bins(&mut self) {
        while self.bins.len() > BINS && self.shift < MAX_SHIFT {
            self.merge_bins();
        }
    }

    fn merge_bins(&mut self) {
        self.shift += 1;
        self.by_key.clear();
        let old = std::mem::take(&mut self.bins);
        let mut moved_to = Vec::with_capacity(old.len());
        for ((area, object, index), cells) in old {
            let key = (area, object, index >> 1);
            let next = u32::try_from(self.bins.len()).unwrap_or(u32::MAX);
            let slot = *self.by_key.entry(key).or_insert(next);
            moved_to.push(slot);
            match self.bins.get_mut(slot as usize) {
                None => self.bins.push((key, cells)),
                Some((_, sums)) => {
                    sums.resize(sums.len().max(cells.len()), Cell::default());
                    for (sum, cell) in sums.iter_mut().zip(cells) {
                        sum.add(cell);
                    }
                }
            }
        }
        for bin in &mut self.unit_bin {
            *bin = moved_to[*bin as usize];
        }
    }

    fn merge_columns(&mut self) {
        self.epochs_per_column *= 2;
        self.column_s = self.column_s.chunks(2).map(|pair| pair.iter().sum()).collect();
        for (_, cells) in &mut self.bins {
            *cells = cells
                .chunks(2)
                .map(|pair| {
                    let mut sum = pair[0];
                    pair[1..].iter().for_each(|cell| sum.add(*cell));
                    sum
                })
                .collect();
        }
    }
}

/// Rounds a mean of bytes; never negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(crate) fn whole_bytes(value: f64) -> Bytes {
    Bytes(value.round().clamp(0.0, 1.8e19) as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, not negative")]
fn index(value: f64) -> usize {
    value.max(0.0) as usize
}
