//! Heat over address and time, as finely as a screen shows it.

use crate::HeatmapBuilder;
use crate::Plan;
use crate::recording::{Cell, Part};
use pagetide_types::Bytes;
use serde::Serialize;

/// Mean access rates over address and time. Unlike [`crate::Heatmap`] it knows the time and the
/// addresses of its cells, so that gaps stay gaps and a reader finds the memory again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeatPicture {
    /// Epochs summed up in a column.
    pub epochs_per_column: usize,
    /// Neighbouring units that could not be told apart any more, for boundedness: at most so many.
    pub units_per_bin: u64,
    /// The columns in order of time.
    pub columns: Vec<HeatColumn>,
    /// The areas in order of size, what is too small for a name of its own last.
    pub areas: Vec<PictureArea>,
}

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HeatColumn {
    /// Seconds since the recording began.
    pub start_s: f64,
    /// The same for its end; what lies between columns was not recorded.
    pub end_s: f64,
}

/// A named area of the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PictureArea {
    /// As in the plan's areas.
    pub name: String,
    /// Resident bytes, mean over the time in which any of it was.
    pub bytes: Bytes,
    /// Its parts in order of address.
    pub rows: Vec<PictureRow>,
}

/// A part of an area.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PictureRow {
    /// Resident bytes, mean over the time in which any of it was.
    pub bytes: Bytes,
    /// Address (or offset in a file) of its first byte.
    pub first: u64,
    /// One past its last; none where it holds parts of several address spaces or files.
    pub end: Option<u64>,
    /// Accesses per second and MiB in every column, as in a [`crate::HeatmapRow`].
    pub rate_per_mib: Vec<Option<f32>>,
    /// Columns in which the heat of most of it is unknown.
    pub unknown: Vec<bool>,
}

/// The picture from everything that was pushed; `times` are those of all epochs.
pub(super) fn picture(
    mut builder: HeatmapBuilder,
    times: &[(f64, f64)],
    rows: usize,
    plan: &Plan,
) -> HeatPicture {
    let (layout, _) = builder.settle(rows, plan.warm_up.epochs);
    // Epochs without a length are in no column.
    let counted: Vec<_> = times.iter().filter(|(start, end)| end > start).collect();
    let columns = counted
        .chunks(builder.epochs_per_column.max(1))
        .filter_map(|chunk| Some(HeatColumn { start_s: chunk.first()?.0, end_s: chunk.last()?.1 }))
        .collect();
    let unit_shift = plan.recording.unit.shift();
    let row = |part: &Part| {
        let bytes = mean_bytes(&part.cells, &builder.column_s)?;
        let (first, last) = part.keys?;
        let at = |index: u64| index << builder.shift << unit_shift;
        Some(PictureRow {
            bytes,
            first: at(first.2),
            end: (first.1 == last.1).then(|| at(last.2.saturating_add(1))),
            rate_per_mib: part.cells.iter().map(rate).collect(),
            unknown: part.cells.iter().map(Cell::is_unknown).collect(),
        })
    };
    let areas = layout
        .shown
        .iter()
        .enumerate()
        .filter_map(|(position, (name, _))| {
            let parts = builder.parts(&layout, position);
            let mut sums = vec![Cell::default(); builder.column_s.len()];
            for part in &parts {
                for (sum, cell) in sums.iter_mut().zip(&part.cells) {
                    sum.add(*cell);
                }
            }
            let bytes = mean_bytes(&sums, &builder.column_s)?;
            let rows = parts.iter().filter_map(row).collect();
            Some(PictureArea { name: name.clone(), bytes, rows })
        })
        .collect();
    HeatPicture {
        epochs_per_column: builder.epochs_per_column,
        units_per_bin: 1 << builder.shift,
        columns,
        areas,
    }
}

/// Mean over the columns with any of it; none if there is no such.
fn mean_bytes(cells: &[Cell], column_s: &[f64]) -> Option<Bytes> {
    let resident = std::iter::zip(cells, column_s).filter(|(cell, _)| cell.byte_s > 0.0);
    let (byte_s, seconds) = resident.fold((0.0, 0.0), |(b, s), (c, own)| (b + c.byte_s, s + own));
    (seconds > 0.0).then(|| crate::recording::whole_bytes(byte_s / seconds))
}

/// To three digits: the recording itself has little more, and a page is read over a wire.
#[expect(clippy::cast_possible_truncation, reason = "for a picture")]
fn rate(cell: &Cell) -> Option<f32> {
    let value = cell.rate_per_mib()?;
    let digit = 10f64.powf((value.max(1e-9).log10() - 2.0).floor());
    Some(((value / digit).round() * digit) as f32)
}
