//! What a record must fulfil before it is written, so that no recording contradicts itself.

use crate::{
    EpochRecord, limits,
    table::{FLAGS, MEASURED},
    writer::SPAN_ROWS,
};
use pagetide_types::{EpochId, HeatFlags};

/// Says what is wrong with `record`, given the epoch before it and how many units there are.
pub(crate) fn check(
    record: &EpochRecord,
    last: Option<EpochId>,
    units: usize,
) -> Result<(), String> {
    let heat = &record.heat;
    let epoch = record.epoch.epoch;
    if last.is_some_and(|last| epoch <= last) {
        return Err(format!(
            "epochs must ascend, and {epoch} comes after {}",
            last.unwrap_or_default()
        ));
    }
    if heat.epoch != epoch {
        return Err(format!("its heat is of epoch {}", heat.epoch));
    }
    let most = limits::ROWS - SPAN_ROWS;
    if heat.len().max(record.new_areas.len()).max(record.new_units.len()) > most {
        return Err(format!("it has more than {most} rows; record with --unit 2M, or --range"));
    }
    if units > limits::UNITS {
        let most = limits::UNITS;
        return Err(format!("there are more than {most} units; record with --unit 2M"));
    }
    let columns = [
        ("rate", heat.rate.len()),
        ("flags", heat.flags.len()),
        ("pages", heat.pages.len()),
        ("watched", heat.watched.len()),
        ("touched", heat.touched.len()),
        ("node", heat.node.len()),
    ];
    let measured = [&heat.traffic, &heat.accesses, &heat.leads, &heat.writes];
    let partly =
        MEASURED.iter().zip(measured).find(|(_, c)| !c.is_empty() && c.len() != heat.len());
    if let Some((name, column)) = partly {
        return Err(format!("column {name} has {} rows for {} units", column.len(), heat.len()));
    }
    if let Some((name, rows)) = columns.iter().find(|(_, rows)| *rows != heat.len()) {
        return Err(format!("column {name} has {rows} rows for {} units", heat.len()));
    }
    if let Some(pair) = heat.unit.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(format!("units must ascend, and {} comes after {}", pair[1], pair[0]));
    }
    if let Some(unit) = heat.unit.last().filter(|unit| unit.index() >= units) {
        return Err(format!("unit {unit} is unknown, only {units} have been announced"));
    }
    let known = FLAGS.iter().fold(HeatFlags::default(), |all, (_, flag)| all | *flag);
    if let Some(flags) = heat.flags.iter().find(|flags| flags.without(known) != HeatFlags(0)) {
        return Err(format!("flags of {:#x} have no column", flags.without(known).0));
    }
    let rates = heat.rate.iter().chain(measured.into_iter().flatten());
    if let Some(rate) = rates.into_iter().find(|rate| !rate.is_finite() || **rate < 0.0) {
        return Err(format!("a rate of {rate} is not finite and at least 0"));
    }
    Ok(())
}
