//! Streams a recording's epochs, with a thread that decodes the next span meanwhile.

use crate::{EpochRecord, Error, Result, heat_read, recording::Span, span_read};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
    vec::IntoIter,
};

/// An iterator over a recording's epochs in order; after an error it ends.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    spans_due: usize,
    epochs_due: usize,
    /// Rendezvous channel: one decoded span waits while the one before is used.
    decoded: Option<Receiver<Result<Vec<EpochRecord>>>>,
    current: IntoIter<EpochRecord>,
}

impl Records {
    /// Of the first `epochs` epochs.
    pub(crate) fn new(path: PathBuf, spans: Arc<Vec<Span>>, epochs: usize) -> Self {
        Self::start(path, spans, epochs, read_span)
    }

    pub(crate) fn heat_only(path: PathBuf, spans: Arc<Vec<Span>>, epochs: usize) -> Self {
        Self::start(path, spans, epochs, read_heat)
    }

    fn start(
        path: PathBuf,
        spans: Arc<Vec<Span>>,
        epochs_due: usize,
        read: fn(&Path, usize, &Span) -> Result<Vec<EpochRecord>>,
    ) -> Self {
        let (sender, receiver) = sync_channel(0);
        let spans_due = spans.len();
        let directory = path.clone();
        thread::spawn(move || {
            for (i, span) in spans.iter().enumerate() {
                let records = read(&directory, i, span);
                let failed = records.is_err();
                // A closed channel means that the reader wants no more.
                if sender.send(records).is_err() || failed {
                    return;
                }
            }
        });
        let current = Vec::new().into_iter();
        Self { path, spans_due, epochs_due, decoded: Some(receiver), current }
    }
}

impl Iterator for Records {
    type Item = Result<EpochRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.epochs_due == 0 {
                // The thread that decodes ends when nobody takes what it has.
                self.decoded = None;
                return None;
            }
            if let Some(record) = self.current.next() {
                self.epochs_due -= 1;
                return Some(Ok(record));
            }
            if self.spans_due == 0 {
                return None;
            }
            // Frees the span that is used up before the next one is taken.
            self.current = Vec::new().into_iter();
            match self.decoded.as_ref()?.recv() {
                Ok(Ok(records)) => {
                    self.spans_due -= 1;
                    self.current = records.into_iter();
                }
                failure => {
                    self.decoded = None;
                    let lost = || Error::damaged(&self.path, "the thread that decodes it failed");
                    return Some(Err(
                        failure.map_or_else(|_| lost(), |r| r.err().unwrap_or_else(lost))
                    ));
                }
            }
        }
    }
}

fn read_heat(path: &Path, number: usize, span: &Span) -> Result<Vec<EpochRecord>> {
    let heat = heat_read::heat(path, number, &span.rows, span.first_unit + span.new_units)?;
    let records = span.rows.iter().zip(heat).map(|(row, heat)| EpochRecord {
        epoch: row.epoch.clone(),
        heat,
        ..EpochRecord::default()
    });
    Ok(records.collect())
}

fn read_span(path: &Path, number: usize, span: &Span) -> Result<Vec<EpochRecord>> {
    let mut areas = span_read::areas(path, number, span.new_areas)?.into_iter();
    let mut units = span_read::units(path, number, span.first_unit, span.new_units)?.into_iter();
    let mut records = read_heat(path, number, span)?;
    for (record, row) in records.iter_mut().zip(&span.rows) {
        record.new_areas = areas.by_ref().take(row.new_areas).collect();
        record.new_units = units.by_ref().take(row.new_units).collect();
    }
    Ok(records)
}
