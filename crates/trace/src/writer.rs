//! Writes a recording, one span of epochs at a time.

use crate::{
    EpochRecord, Error, Header, Owner, Result, SCHEMA_VERSION, check,
    file::{Directory, RESERVED, Reserved},
    interleave,
    layout::{END, HEADER, Part, sums_path, temporary},
    span_write,
    sums::Sums,
};
use pagetide_types::EpochId;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Seconds after which a span ends: what a crash may lose.
const SPAN_SECONDS: f64 = 60.0;
/// The first span is one epoch and each further one so many times as long, up to the minute: a
/// crash early on loses little, and there are few small files.
const SPAN_GROWTH: usize = 3;
/// Rows after which a span ends early: some 64 MiB in memory.
pub(crate) const SPAN_ROWS: usize = 4 << 20;

/// What the recorder leaves in `end.json`, also when it had to give up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) epochs: usize,
    pub(crate) spans: usize,
    /// Why recording failed; none after a clean end.
    #[serde(default)]
    pub(crate) failed: Option<String>,
}

/// Writes a recording. The epochs since the last closed span are in memory only: what a crash,
/// or dropping the writer without [`Self::finish`], loses.
#[derive(Debug)]
pub struct RecordingWriter {
    directory: Directory,
    /// Room for the end mark, so that a full disk can be told afterwards.
    end: Reserved,
    pending: Vec<EpochRecord>,
    pending_rows: usize,
    pending_s: f64,
    spans: usize,
    epochs: usize,
    /// Epochs in closed spans.
    epochs_closed: usize,
    last: Option<EpochId>,
    /// Units in closed spans.
    units_closed: u32,
    /// Units in all.
    units: u32,
    ended: bool,
    /// Epochs after which the span under way ends at the latest.
    span_epochs: usize,
    span_growth: usize,
    span_seconds: f64,
    span_rows: usize,
}

impl RecordingWriter {
    /// Makes the directory `path` (mode 0700) with its header and nothing else. All of the
    /// recording is `owner`'s if one is given, else ours.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is anything at `path`; otherwise what the system said.
    pub fn create(path: impl AsRef<Path>, header: &Header, owner: Option<Owner>) -> Result<Self> {
        if header.schema_version != SCHEMA_VERSION {
            let reason = format!("schema {} instead of {SCHEMA_VERSION}", header.schema_version);
            return Err(Error::Invalid { epoch: 0, reason });
        }
        let directory = Directory::create(path.as_ref(), owner)?;
        let end = put_json(&directory, HEADER, header)
            .and_then(|()| directory.reserve(&directory.path().join(END)))
            .and_then(|end| directory.sync().map(|()| end));
        let end = match end {
            Ok(end) => end,
            Err(error) => {
                discard(&directory);
                return Err(error);
            }
        };
        Ok(Self {
            directory,
            end,
            pending: Vec::new(),
            pending_rows: 0,
            pending_s: 0.0,
            spans: 0,
            epochs: 0,
            epochs_closed: 0,
            last: None,
            units_closed: 0,
            units: 0,
            ended: false,
            span_epochs: 1,
            span_growth: SPAN_GROWTH,
            span_seconds: SPAN_SECONDS,
            span_rows: SPAN_ROWS,
        })
    }

    /// Removes a recording without a complete span; another one stays.
    pub fn discard(self) {
        if self.spans == 0 {
            discard(&self.directory);
        }
    }

    /// For tests: ends a span after `epochs` epochs (1 to 255) or `rows` unit-epochs.
    #[doc(hidden)]
    #[must_use]
    pub fn with_span(mut self, epochs: usize, rows: usize) -> Self {
        self.span_epochs = epochs.clamp(1, interleave::MAX_EPOCHS);
        self.span_growth = 1;
        self.span_seconds = f64::INFINITY;
        self.span_rows = rows;
        self
    }

    /// The recording's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Epochs taken so far, those of the span under way included.
    #[must_use]
    pub fn epochs(&self) -> usize {
        self.epochs
    }

    /// Adds an epoch; epochs ascend, and every unit in its heat is new in it or an earlier one.
    /// Rates are rounded ([`crate::round_rate`]). After the first epoch, after 3 and 9 more, and so
    /// on, then once a minute of epochs (or after 4 M rows, or 255 epochs) a call writes and
    /// synchronises a span, which takes some 50 ns of CPU time per row.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a record that breaks its contract; nothing of it is taken then.
    /// [`Error::DiskFull`] or [`Error::Io`] if the span cannot be written: its files are removed,
    /// the earlier spans stay readable, the end mark says why there are no more, and every later
    /// call fails with [`Error::Ended`].
    pub fn append(&mut self, record: EpochRecord) -> Result<()> {
        self.check_open()?;
        let epoch = record.epoch.epoch;
        let invalid = |reason| Error::Invalid { epoch: epoch.0, reason };
        let units = u32::try_from(record.new_units.len())
            .ok()
            .and_then(|new| self.units.checked_add(new))
            .ok_or_else(|| invalid("there are more than 2^32 units".to_owned()))?;
        check::check(&record, self.last, units as usize).map_err(invalid)?;
        self.last = Some(epoch);
        self.units = units;
        self.epochs += 1;
        self.pending_rows += record.heat.len();
        let length_s = record.epoch.length_s;
        self.pending_s += length_s;
        self.pending.push(record);
        // Half an epoch less, so that twelve epochs of nearly 5 s are a minute.
        if self.pending.len() >= self.span_epochs
            || self.pending_rows >= self.span_rows
            || self.pending_s + length_s / 2.0 >= self.span_seconds
        {
            self.close_span()?;
        }
        Ok(())
    }

    /// Writes what is left and marks the recording as ended cleanly.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn finish(mut self) -> Result<()> {
        self.check_open()?;
        if !self.pending.is_empty() {
            self.close_span()?;
        }
        self.mark_end(None)
    }

    /// Writes the end mark: how much there is, and why there is no more if recording failed.
    fn mark_end(&self, failed: Option<String>) -> Result<()> {
        let end = End { epochs: self.epochs_closed, spans: self.spans, failed };
        let text = json(&self.path().join(END), &end)?;
        self.directory.put_reserved(&self.end, &text)?;
        self.directory.sync()
    }

    fn check_open(&self) -> Result<()> {
        if self.ended { Err(Error::Ended { path: self.path().to_owned() }) } else { Ok(()) }
    }

    fn close_span(&mut self) -> Result<()> {
        let records = std::mem::take(&mut self.pending);
        (self.pending_rows, self.pending_s) = (0, 0.0);
        if let Err(error) = self.write_span(&records) {
            self.ended = true;
            // Part of a span is of no use.
            self.directory.remove(&sums_path(self.path(), self.spans));
            for part in Part::ALL {
                self.directory.remove(&part.path(self.path(), self.spans));
            }
            // Where not even that can be written, the missing mark says that something was wrong.
            let _ = self.mark_end(Some(reason(&error)));
            return Err(error);
        }
        self.spans += 1;
        self.epochs_closed = self.epochs;
        self.span_epochs = (self.span_epochs * self.span_growth).min(interleave::MAX_EPOCHS);
        self.units_closed = self.units;
        Ok(())
    }

    fn write_span(&self, records: &[EpochRecord]) -> Result<()> {
        let mut sums = Sums::default();
        let mut tables = Vec::new();
        for part in Part::ALL {
            let path = part.path(self.path(), self.spans);
            let bytes = span_write::table(part, records, self.units_closed)
                .map_err(|error| Error::Encode { path: path.clone(), reason: error.to_string() })?;
            sums.insert(part, &bytes);
            tables.push((path, bytes));
        }
        let path = sums_path(self.path(), self.spans);
        self.directory.put(&path, &json(&path, &sums)?)?;
        for (path, bytes) in tables {
            self.directory.put(&path, &bytes)?;
        }
        self.directory.sync()
    }
}

/// Removes what [`RecordingWriter::create`] made.
fn discard(directory: &Directory) {
    for name in [PathBuf::from(HEADER), PathBuf::from(END), temporary(END.as_ref())] {
        directory.remove(&directory.path().join(name));
    }
    // Goes only if it is empty; left behind it says itself that it is no recording.
    let _ = fs::remove_dir(directory.path());
}

/// An error for the end mark: short enough for its room, and without what helped at that time.
fn reason(error: &Error) -> String {
    let reason = match error {
        Error::DiskFull { path, .. } => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("the disk was full: {name} could not be written")
        }
        other => other.to_string(),
    };
    // JSON writes a character with twelve bytes at most.
    reason.chars().take(RESERVED / 16).collect()
}

fn put_json(directory: &Directory, name: &str, value: &impl Serialize) -> Result<()> {
    let path = directory.path().join(name);
    directory.put(&path, &json(&path, value)?)
}

fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::Encode { path: path.to_owned(), reason: error.to_string() })?;
    text.push(b'\n');
    Ok(text)
}
