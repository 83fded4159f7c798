//! Heat as text, one line per unit and epoch, with the area that the unit lies in:
//! `pagetide trace export`. For tools that do not read Parquet.

use crate::{AreaMap, Error, Recording, Result};
use pagetide_types::{HeatFlags, HeatRow, UnitKey};
use serde::Serialize;
use std::{
    borrow::Cow,
    io::{self, Write},
    str::FromStr,
};

/// A textual form of the heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated with a line of names; flags are 0 or 1.
    Csv,
    /// One JSON object per line; flags are booleans.
    JsonLines,
}

impl FromStr for ExportFormat {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::JsonLines),
            _ => Err(format!("'{text}' is not an export format; use csv or jsonl")),
        }
    }
}

/// One line. Fields have the names of the columns.
#[derive(Serialize)]
struct Line<'a> {
    epoch: u32,
    /// Seconds since the recording began.
    start_s: f64,
    unit: u32,
    object: u32,
    /// Byte address in the process; for files and shared memory the byte offset in them.
    address: u64,
    /// Empty if no area is known.
    kind: &'static str,
    area: &'a str,
    /// 0 if no area is known.
    pid: i32,
    /// Accesses per second.
    rate: f32,
    sampled: bool,
    accessed: bool,
    dirty: bool,
    saturated: bool,
    unseen: bool,
    uncleared: bool,
    huge: bool,
    pages: u16,
    watched: u16,
    touched: u16,
    node: u16,
    /// Accesses per second past the CPU caches; null, in CSV an empty field, where not measured.
    traffic: Option<f32>,
    /// Accesses per second; null where not measured.
    accesses: Option<f32>,
    /// Of the traffic, what no prefetcher can have fetched; null where not measured.
    leads: Option<f32>,
    /// Lines that the caches write back per second; null where not measured.
    writes: Option<f32>,
}

const NAMES: &str = "epoch,start_s,unit,object,address,kind,area,pid,rate,sampled,accessed,dirty,\
                     saturated,unseen,uncleared,huge,pages,watched,touched,node,traffic,accesses,\
                     leads,writes";

/// Writes all heat of `recording` to `out`, in order of epoch, then unit; returns the rows
/// written. `out` should be buffered.
///
/// # Errors
/// [`Error::Output`] if `out` fails; otherwise as for reading.
pub fn export(recording: &Recording, format: ExportFormat, out: &mut impl Write) -> Result<u64> {
    let shift = recording.header().unit.shift();
    let mut units: Vec<UnitKey> = Vec::new();
    let mut areas = AreaMap::default();
    let mut rows = 0;
    if format == ExportFormat::Csv {
        writeln!(out, "{NAMES}").map_err(Error::Output)?;
    }
    for record in recording.records() {
        let record = record?;
        units.extend_from_slice(&record.new_units);
        areas.extend(&record.new_areas);
        let heat = &record.heat;
        for (i, row) in heat.rows().enumerate() {
            let key = units[row.unit.index()];
            let line = Line {
                traffic: heat.traffic.get(i).copied(),
                accesses: heat.accesses.get(i).copied(),
                leads: heat.leads.get(i).copied(),
                writes: heat.writes.get(i).copied(),
                ..line(&record.epoch, key, shift, &areas, row)
            };
            match format {
                ExportFormat::Csv => csv(&line, out),
                ExportFormat::JsonLines => json(&line, out),
            }
            .map_err(Error::Output)?;
            rows += 1;
        }
    }
    out.flush().map_err(Error::Output)?;
    Ok(rows)
}

fn line<'a>(
    epoch: &crate::Epoch,
    key: UnitKey,
    shift: u32,
    areas: &'a AreaMap,
    row: HeatRow,
) -> Line<'a> {
    let area = areas.find(key);
    Line {
        epoch: epoch.epoch.0,
        start_s: epoch.start_s,
        unit: row.unit.0,
        object: key.object.0,
        address: key.index << shift,
        kind: area.map_or("", |area| area.kind.as_str()),
        area: area.map_or("", |area| &area.name),
        pid: area.map_or(0, |area| area.pid.0),
        rate: row.rate,
        sampled: row.flags.has(HeatFlags::SAMPLED),
        accessed: row.flags.has(HeatFlags::ACCESSED),
        dirty: row.flags.has(HeatFlags::DIRTY),
        saturated: row.flags.has(HeatFlags::SATURATED),
        unseen: row.flags.has(HeatFlags::UNSEEN),
        uncleared: row.flags.has(HeatFlags::UNCLEARED),
        huge: row.flags.has(HeatFlags::HUGE),
        pages: row.pages,
        watched: row.watched,
        touched: row.touched,
        node: row.node.0,
        traffic: None,
        accesses: None,
        leads: None,
        writes: None,
    }
}

fn json(line: &Line<'_>, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn csv(line: &Line<'_>, out: &mut impl Write) -> io::Result<()> {
    let Line { epoch, start_s, unit, object, address, kind, area, pid, rate, .. } = line;
    let area = quoted(area);
    write!(out, "{epoch},{start_s},{unit},{object},{address},{kind},{area},{pid},{rate}")?;
    let flags = [
        line.sampled,
        line.accessed,
        line.dirty,
        line.saturated,
        line.unseen,
        line.uncleared,
        line.huge,
    ];
    for flag in flags {
        out.write_all(if flag { b",1" } else { b",0" })?;
    }
    let Line { pages, watched, touched, node, .. } = line;
    write!(out, ",{pages},{watched},{touched},{node}")?;
    for measured in [line.traffic, line.accesses, line.leads, line.writes] {
        match measured {
            Some(rate) => write!(out, ",{rate}")?,
            None => out.write_all(b",")?,
        }
    }
    out.write_all(b"\n")
}

/// A CSV field (RFC 4180): file names may hold commas, quotes and line breaks.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::HEAT;

    #[test]
    fn every_column_of_heat_is_exported() {
        let names: Vec<&str> = NAMES.split(',').collect();
        for column in HEAT.schema().unwrap().get_fields() {
            assert!(names.contains(&column.name()), "{} is not exported", column.name());
        }
    }
}
