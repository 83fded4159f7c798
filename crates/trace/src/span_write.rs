//! A span of epochs as the bytes of its four tables.

use crate::{
    EpochRecord, interleave,
    layout::Part,
    rate::round_rate,
    table::{AREAS, EPOCHS, FLAGS, HEAT, UNITS},
    table_write::encode,
};
use pagetide_types::{EpochHeat, HeatFlags, UnitId};
use parquet::{
    data_type::{BoolType, DoubleType},
    errors::{ParquetError, Result},
};

/// Encodes one table of the span `records`, whose first new unit is `first_unit`.
pub(crate) fn table(part: Part, records: &[EpochRecord], first_unit: u32) -> Result<Vec<u8>> {
    match part {
        Part::Epochs => epochs(records),
        Part::Areas => areas(records),
        Part::Units => units(records, first_unit),
        Part::Heat => heat(records),
    }
}

fn count(length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|error| ParquetError::General(error.to_string()))
}

fn epochs(records: &[EpochRecord]) -> Result<Vec<u8>> {
    let rows = || records.iter().map(|record| &record.epoch);
    let counts = |length: fn(&EpochRecord) -> usize| {
        records.iter().map(|record| count(length(record))).collect::<Result<Vec<u32>>>()
    };
    encode(&EPOCHS, records.len(), |table| {
        table.u32s(rows().map(|row| row.epoch.0))?;
        table.doubles(rows().map(|row| row.start_s))?;
        table.doubles(rows().map(|row| row.length_s))?;
        table.u32s(rows().map(|row| row.processes))?;
        table.doubles(rows().map(|row| row.target_cpu_s))?;
        table.doubles(rows().map(|row| row.clear_s))?;
        table.doubles(rows().map(|row| row.scan_s))?;
        table.doubles(rows().map(|row| row.recorder_s))?;
        table.doubles(rows().map(|row| row.longest_clear_s))?;
        table.doubles(rows().map(|row| row.watched_share))?;
        table.u64s(rows().map(|row| row.uncleared_bytes))?;
        table.optionals::<DoubleType>(rows().map(|row| row.stall_share))?;
        table.u32s(counts(|record| record.heat.len())?.into_iter())?;
        table.u32s(counts(|record| record.new_units.len())?.into_iter())?;
        table.u32s(counts(|record| record.new_areas.len())?.into_iter())
    })
}

fn areas(records: &[EpochRecord]) -> Result<Vec<u8>> {
    let rows = || records.iter().flat_map(|record| &record.new_areas);
    encode(&AREAS, rows().count(), |table| {
        table.u32s(rows().map(|row| row.object.0))?;
        table.u64s(rows().map(|row| row.first))?;
        table.u64s(rows().map(|row| row.end))?;
        table.texts(rows().map(|row| row.kind.as_str()))?;
        table.texts(rows().map(|row| row.name.as_str()))?;
        table.ints(rows().map(|row| row.pid.0))?;
        table.texts(rows().map(|row| row.command.as_str()))?;
        table.u32s(rows().map(|row| row.since.0))?;
        table.optionals::<BoolType>(rows().map(|row| row.mapped))
    })
}

fn units(records: &[EpochRecord], first_unit: u32) -> Result<Vec<u8>> {
    let rows = || records.iter().flat_map(|record| &record.new_units);
    encode(&UNITS, rows().count(), |table| {
        table.u32s((first_unit..).zip(rows()).map(|(unit, _)| unit))?;
        table.u32s(rows().map(|row| row.object.0))?;
        table.u64s(rows().map(|row| row.index))
    })
}

fn columns<'a, T>(
    records: &'a [EpochRecord],
    column: impl Fn(&'a EpochHeat) -> &'a Vec<T>,
) -> Vec<&'a [T]> {
    records.iter().map(|record| column(&record.heat).as_slice()).collect()
}

fn heat(records: &[EpochRecord]) -> Result<Vec<u8>> {
    let units: Vec<&[UnitId]> = columns(records, |heat| &heat.unit);
    let order = interleave::order(&units);
    encode(&HEAT, order.len(), |table| {
        let numbers: Vec<u32> = records.iter().map(|record| record.epoch.epoch.0).collect();
        table.u32s(order.iter().map(|position| numbers[usize::from(*position)]))?;
        table.u32s(interleave::merge(&order, &units).map(|unit| unit.0))?;
        let rate = columns(records, |heat| &heat.rate);
        table.floats(interleave::merge(&order, &rate).map(round_rate))?;
        let flags = columns(records, |heat| &heat.flags);
        let flags: Vec<HeatFlags> = interleave::merge(&order, &flags).collect();
        for (_, flag) in FLAGS {
            table.bools(flags.iter().map(|flags| flags.has(flag)))?;
        }
        let pages = columns(records, |heat| &heat.pages);
        table.ints(interleave::merge(&order, &pages).map(i32::from))?;
        let watched = columns(records, |heat| &heat.watched);
        table.ints(interleave::merge(&order, &watched).map(i32::from))?;
        let touched = columns(records, |heat| &heat.touched);
        table.ints(interleave::merge(&order, &touched).map(i32::from))?;
        let node = columns(records, |heat| &heat.node);
        table.ints(interleave::merge(&order, &node).map(|node| i32::from(node.0)))?;
        for measured in [traffic, accesses, leads, writes] {
            table.optional_floats(&order, &columns(records, measured))?;
        }
        Ok(())
    })
}

/// The columns of [`crate::table::MEASURED`].
fn traffic(heat: &EpochHeat) -> &Vec<f32> {
    &heat.traffic
}
fn accesses(heat: &EpochHeat) -> &Vec<f32> {
    &heat.accesses
}
fn leads(heat: &EpochHeat) -> &Vec<f32> {
    &heat.leads
}
fn writes(heat: &EpochHeat) -> &Vec<f32> {
    &heat.writes
}
