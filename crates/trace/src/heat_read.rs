//! The heat table of one complete span, decoded by columns in parallel and split by epoch.

use crate::{
    Result,
    layout::Part,
    span_read::{EpochRow, check_rows},
    table::{FLAGS, MEASURED},
    table_read::TableFile,
};
use pagetide_types::{EpochHeat, EpochId, HeatFlags, NodeId, UnitId};
use parquet::data_type::{BoolType, DataType, FloatType, Int32Type};
use std::{
    mem,
    path::Path,
    thread::{self, ScopedJoinHandle},
};

/// Reads the heat table: one [`EpochHeat`] for each of `epochs`, every unit below `units`.
/// Columns are decoded by threads of their own.
pub(crate) fn heat(
    recording: &Path,
    span: usize,
    epochs: &[EpochRow],
    units: usize,
) -> Result<Vec<EpochHeat>> {
    let table = TableFile::open(recording, Part::Heat, span)?;
    check_rows(&table, epochs.iter().map(|row| row.live_units).sum())?;
    let order = order(&table, epochs)?;
    let live: Vec<usize> = epochs.iter().map(|row| row.live_units).collect();
    let split = Split { table: &table, order: &order, live: &live };
    let columns = thread::scope(|scope| {
        let unit = scope
            .spawn(|| split.column::<Int32Type, _>("unit", |v| Some(UnitId(v.cast_unsigned()))));
        let rate = scope.spawn(|| {
            split.column::<FloatType, _>("rate", |v| (v.is_finite() && v >= 0.0).then_some(v))
        });
        let flags = scope.spawn(|| split.flags());
        let pages = scope.spawn(|| split.small("pages"));
        let watched = scope.spawn(|| split.small("watched"));
        let touched = scope.spawn(|| split.small("touched"));
        let measured = MEASURED.map(|name| scope.spawn(move || split.measured(name)));
        let node = scope
            .spawn(|| split.column::<Int32Type, _>("node", |v| u16::try_from(v).ok().map(NodeId)));
        Ok((
            join(unit, &table)?,
            join(rate, &table)?,
            join(flags, &table)?,
            join(pages, &table)?,
            join(watched, &table)?,
            join(touched, &table)?,
            join(node, &table)?,
            measured.into_iter().map(|column| join(column, &table)).collect::<Result<Vec<_>>>()?,
        ))
    })?;
    let (unit, rate, flags, pages, watched, touched, node, measured) = columns;
    let mut measured = measured.into_iter().map(Vec::into_iter);
    let mut measured = || measured.next().unwrap_or_default();
    let (mut traffic, mut accesses, mut leads, mut writes) =
        (measured(), measured(), measured(), measured());
    check_units(&table, &unit, units)?;
    let (mut unit, mut rate, mut flags) = (unit.into_iter(), rate.into_iter(), flags.into_iter());
    let (mut pages, mut watched) = (pages.into_iter(), watched.into_iter());
    let (mut touched, mut node) = (touched.into_iter(), node.into_iter());
    Ok(epochs
        .iter()
        .map(|row| EpochHeat {
            epoch: row.epoch.epoch,
            unit: unit.next().unwrap_or_default(),
            rate: rate.next().unwrap_or_default(),
            flags: flags.next().unwrap_or_default(),
            pages: pages.next().unwrap_or_default(),
            watched: watched.next().unwrap_or_default(),
            touched: touched.next().unwrap_or_default(),
            node: node.next().unwrap_or_default(),
            // Not recorded.
            least: Vec::new(),
            in_order: Vec::new(),
            cores: 0.0,
            traffic: traffic.next().unwrap_or_default(),
            accesses: accesses.next().unwrap_or_default(),
            leads: leads.next().unwrap_or_default(),
            writes: writes.next().unwrap_or_default(),
        })
        .collect())
}

fn join<T>(thread: ScopedJoinHandle<'_, Result<T>>, table: &TableFile) -> Result<T> {
    thread.join().unwrap_or_else(|_| Err(table.damaged("its decoder failed")))
}

/// The position within the span of each row's epoch.
fn order(table: &TableFile, epochs: &[EpochRow]) -> Result<Vec<u8>> {
    let mut order = Vec::with_capacity(table.rows());
    let mut counts = vec![0usize; epochs.len()];
    let mut last = 0;
    let mut unknown = None;
    table.each::<Int32Type>("epoch", |chunk| {
        for number in chunk {
            let number = EpochId(number.cast_unsigned());
            // Rows of one unit follow each other in epoch order: the next one is the usual case.
            last = if last + 1 < epochs.len() && epochs[last + 1].epoch.epoch == number {
                last + 1
            } else {
                epochs.iter().position(|row| row.epoch.epoch == number).unwrap_or_else(|| {
                    unknown = Some(number);
                    0
                })
            };
            counts[last] += 1;
            // At most MAX_EPOCHS positions.
            order.push(u8::try_from(last).unwrap_or(u8::MAX));
        }
    })?;
    if let Some(number) = unknown {
        return Err(table.damaged(format!("epoch {number} is not one of its span")));
    }
    if counts.iter().zip(epochs).any(|(count, row)| *count != row.live_units) {
        return Err(table.damaged("its rows per epoch are not those of the epochs table"));
    }
    Ok(order)
}

/// Splits columns of rows in [`order`] into one vector per epoch.
#[derive(Clone, Copy)]
struct Split<'a> {
    table: &'a TableFile,
    order: &'a [u8],
    live: &'a [usize],
}

impl Split<'_> {
    fn column<T: DataType, V>(
        &self,
        name: &str,
        convert: impl Fn(T::T) -> Option<V>,
    ) -> Result<Vec<Vec<V>>>
    where
        T::T: Copy,
    {
        let mut epochs = self.epochs();
        let mut rest = self.order;
        let mut valid = true;
        self.table.each::<T>(name, |chunk| {
            let (positions, later) = rest.split_at(chunk.len());
            rest = later;
            for (position, value) in positions.iter().zip(chunk) {
                match convert(*value) {
                    Some(value) => epochs[usize::from(*position)].push(value),
                    None => valid = false,
                }
            }
        })?;
        if valid {
            Ok(epochs)
        } else {
            Err(self.table.damaged(format!("column '{name}' holds a value out of range")))
        }
    }

    /// The seven columns of [`FLAGS`], put together.
    fn flags(&self) -> Result<Vec<Vec<HeatFlags>>> {
        let mut rows = vec![HeatFlags::default(); self.order.len()];
        for (name, flag) in FLAGS {
            let mut rest = rows.as_mut_slice();
            self.table.each::<BoolType>(name, |chunk| {
                let (part, later) = mem::take(&mut rest).split_at_mut(chunk.len());
                rest = later;
                for (flags, set) in part.iter_mut().zip(chunk) {
                    flags.0 |= flag.0 * u8::from(*set);
                }
            })?;
        }
        let mut epochs = self.epochs();
        for (position, flags) in self.order.iter().zip(rows) {
            epochs[usize::from(*position)].push(flags);
        }
        Ok(epochs)
    }

    /// A column of rates that not every source measures: empty in epochs that do not have it.
    fn measured(&self, name: &str) -> Result<Vec<Vec<f32>>> {
        let none = || vec![Vec::new(); self.live.len()];
        let Some(rates) = self.table.if_there::<FloatType>(name)? else { return Ok(none()) };
        let mut epochs = none();
        for (position, rate) in self.order.iter().zip(rates) {
            if rate.is_some_and(|rate| !rate.is_finite() || rate < 0.0) {
                let reason = format!("column '{name}' holds a value out of range");
                return Err(self.table.damaged(reason));
            }
            epochs[usize::from(*position)].extend(rate);
        }
        if epochs
            .iter()
            .zip(self.live)
            .any(|(rates, live)| !matches!(rates.len(), 0) && rates.len() != *live)
        {
            return Err(self.table.damaged(format!("column '{name}' has a part of an epoch only")));
        }
        Ok(epochs)
    }

    fn epochs<V>(&self) -> Vec<Vec<V>> {
        self.live.iter().map(|rows| Vec::with_capacity(*rows)).collect()
    }

    fn small(&self, name: &str) -> Result<Vec<Vec<u16>>> {
        self.column::<Int32Type, _>(name, |value| u16::try_from(value).ok())
    }
}

fn check_units(table: &TableFile, epochs: &[Vec<UnitId>], units: usize) -> Result<()> {
    for epoch in epochs {
        if !epoch.is_sorted_by(|a, b| a < b) {
            return Err(table.damaged("the units of an epoch do not ascend"));
        }
        if epoch.last().is_some_and(|last| last.index() >= units) {
            return Err(table.damaged("it speaks of a unit that the units table does not have"));
        }
    }
    Ok(())
}
