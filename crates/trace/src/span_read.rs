//! The small tables of one complete span (epochs, areas, units), decoded and checked.

use crate::{
    Area, Epoch, Result, interleave::MAX_EPOCHS, layout::Part, recording::is_quantity,
    table_read::TableFile,
};
use pagetide_types::{AreaKind, EpochId, ObjectId, Pid, UnitKey, printable};
use parquet::data_type::BoolType;
use std::path::Path;

/// One row of the epochs table, with the numbers of rows that the epoch has in the others.
#[derive(Clone, Debug)]
pub(crate) struct EpochRow {
    pub(crate) epoch: Epoch,
    pub(crate) live_units: usize,
    pub(crate) new_units: usize,
    pub(crate) new_areas: usize,
}

/// Reads the epochs table.
pub(crate) fn epochs(recording: &Path, span: usize) -> Result<Vec<EpochRow>> {
    let table = TableFile::open(recording, Part::Epochs, span)?;
    let epoch = table.u32s("epoch")?;
    let start_s = table.doubles("start_s")?;
    let length_s = table.doubles("length_s")?;
    let processes = table.u32s("processes")?;
    let target_cpu_s = table.doubles("target_cpu_s")?;
    let clear_s = table.doubles("clear_s")?;
    let scan_s = table.doubles("scan_s")?;
    let recorder_s = table.doubles("recorder_s")?;
    let longest_clear_s = table.doubles("longest_clear_s")?;
    let watched_share = table.doubles("watched_share")?;
    let uncleared_bytes = table.u64s("uncleared_bytes")?;
    let stall_share = table.optional_doubles("stall_share")?;
    let live_units = table.u32s("live_units")?;
    let new_units = table.u32s("new_units")?;
    let new_areas = table.u32s("new_areas")?;
    let rows: Vec<EpochRow> = (0..table.rows())
        .map(|i| EpochRow {
            epoch: Epoch {
                epoch: EpochId(epoch[i]),
                start_s: start_s[i],
                length_s: length_s[i],
                processes: processes[i],
                target_cpu_s: target_cpu_s[i],
                clear_s: clear_s[i],
                scan_s: scan_s[i],
                recorder_s: recorder_s[i],
                longest_clear_s: longest_clear_s[i],
                watched_share: watched_share[i],
                uncleared_bytes: uncleared_bytes[i],
                stall_share: stall_share[i],
            },
            live_units: live_units[i] as usize,
            new_units: new_units[i] as usize,
            new_areas: new_areas[i] as usize,
        })
        .collect();
    let odd = |row: &EpochRow| {
        let e = &row.epoch;
        let times = [e.start_s, e.length_s, e.target_cpu_s, e.clear_s, e.scan_s, e.recorder_s];
        let others = [e.longest_clear_s, e.watched_share, e.stall_share.unwrap_or(0.0)];
        !times.into_iter().chain(others).all(is_quantity)
    };
    if let Some(row) = rows.iter().find(|row| odd(row)) {
        let number = row.epoch.epoch;
        return Err(table.damaged(format!("a number of epoch {number} cannot be")));
    }
    if rows.is_empty() || rows.len() > MAX_EPOCHS {
        return Err(table.damaged(format!("{} epochs in a span", rows.len())));
    }
    Ok(rows)
}

/// Fails unless `table` has as many rows as the epochs table says.
pub(crate) fn check_rows(table: &TableFile, expected: usize) -> Result<()> {
    if table.rows() == expected {
        return Ok(());
    }
    let found = table.rows();
    Err(table.damaged(format!("it has {found} rows where the epochs table counts {expected}")))
}

/// Reads the areas table, of `expected` rows.
pub(crate) fn areas(recording: &Path, span: usize, expected: usize) -> Result<Vec<Area>> {
    let table = TableFile::open(recording, Part::Areas, span)?;
    check_rows(&table, expected)?;
    let object = table.u32s("object")?;
    let first = table.u64s("first")?;
    let end = table.u64s("end")?;
    let kind = table.texts("kind")?;
    let name = table.texts("name")?;
    let pid = table.i32s("pid")?;
    let command = table.texts("command")?;
    let since = table.u32s("since")?;
    let mapped = table.if_there::<BoolType>("mapped")?;
    let texts = kind.iter().zip(name).zip(command);
    texts
        .enumerate()
        .map(|(i, ((kind, name), command))| {
            Ok(Area {
                object: ObjectId(object[i]),
                first: first[i],
                end: end[i],
                kind: kind.parse::<AreaKind>().map_err(|reason| table.damaged(reason))?,
                // Programs choose both.
                name: printable(&name).into_owned(),
                pid: Pid(pid[i]),
                command: printable(&command).into_owned(),
                since: EpochId(since[i]),
                mapped: mapped.as_ref().and_then(|mapped| mapped[i]),
            })
        })
        .collect()
}

/// Reads the units table, of `expected` rows, the first of which must be unit `first`.
pub(crate) fn units(
    recording: &Path,
    span: usize,
    first: usize,
    expected: usize,
) -> Result<Vec<UnitKey>> {
    let table = TableFile::open(recording, Part::Units, span)?;
    check_rows(&table, expected)?;
    let unit = table.u32s("unit")?;
    if let Some((found, wanted)) =
        unit.iter().zip(first..).find(|(found, wanted)| **found as usize != *wanted)
    {
        return Err(table.damaged(format!("unit {found} where {wanted} is due")));
    }
    let object = table.u32s("object")?;
    let index = table.u64s("index")?;
    Ok(object
        .into_iter()
        .zip(index)
        .map(|(object, index)| UnitKey { object: ObjectId(object), index })
        .collect())
}
