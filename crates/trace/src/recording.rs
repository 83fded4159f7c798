//! Opens a recording: header, epochs, units and areas; heat is streamed (see records.rs).

use crate::{
    Area, Epoch, EpochRecord, Error, Header, Records, Result, SCHEMA_VERSION, Window,
    layout::{self, END, HEADER, Part},
    limits,
    span_read::{self, EpochRow},
    writer::End,
};
use pagetide_types::{EpochHeat, UnitKey, printable};
use serde::Deserialize;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// One complete span.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) rows: Vec<EpochRow>,
    /// Units in the spans before.
    pub(crate) first_unit: usize,
    pub(crate) new_units: usize,
    pub(crate) new_areas: usize,
}

/// A recording opened for reading; cheap to clone. Only its complete spans are seen.
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    header: Header,
    epochs: Arc<Vec<Epoch>>,
    spans: Arc<Vec<Span>>,
    finished: bool,
    failed: Option<String>,
    leftovers: Vec<String>,
    window: Option<Window>,
}

/// The one field that any version of the header has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
    #[serde(default)]
    tool: String,
}

impl Recording {
    /// Reads the header and the epochs of every complete span.
    ///
    /// # Errors
    /// [`Error::NotARecording`], [`Error::Newer`], [`Error::Empty`] if no span is complete,
    /// [`Error::Missing`], [`Error::Damaged`] and [`Error::Column`] with the file at fault.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let header = read_header(&path)?;
        let listing = layout::list(&path)?;
        let end = read_end(&path)?;
        if end.as_ref().is_some_and(|end| end.spans > listing.spans) {
            return Err(Error::Missing { path: Part::Heat.path(&path, listing.spans) });
        }
        let finished = end.as_ref().is_some_and(|end| end.failed.is_none());
        let failed = end.and_then(|end| end.failed);
        if listing.spans == 0 {
            let reason = match failed {
                _ if finished => "it was stopped in its first epoch; record for longer".to_owned(),
                Some(_) => format!("{}; mend that and record again", unfinished(failed.as_deref())),
                None => format!("{}; record for longer", unfinished(None)),
            };
            return Err(Error::Empty { path, reason });
        }
        let mut spans: Vec<Span> = Vec::new();
        let mut epochs: Vec<Epoch> = Vec::new();
        let mut first_unit = 0;
        for span in 0..listing.spans {
            let rows = span_read::epochs(&path, span)?;
            let new_units = rows.iter().map(|row| row.new_units).sum();
            let new_areas = rows.iter().map(|row| row.new_areas).sum();
            epochs.extend(rows.iter().map(|row| row.epoch.clone()));
            spans.push(Span { rows, first_unit, new_units, new_areas });
            first_unit += new_units;
            if first_unit > limits::UNITS {
                let most = limits::UNITS;
                return Err(Error::damaged(&path, format!("it claims more than {most} units")));
            }
        }
        if let Some(pair) = epochs.windows(2).find(|pair| pair[0].epoch >= pair[1].epoch) {
            let reason = format!("epoch {} comes after {}", pair[1].epoch, pair[0].epoch);
            return Err(Error::damaged(&path, reason));
        }
        Ok(Self {
            path,
            header,
            epochs: Arc::new(epochs),
            spans: Arc::new(spans),
            finished,
            failed,
            leftovers: listing.leftovers,
            window: None,
        })
    }

    /// The part of it from `from_s` to `to_s`, seconds since it began. What comes after is not seen
    /// any more. What comes before is: a policy lives through it; who sums up begins with
    /// [`Self::first_epoch`].
    ///
    /// # Errors
    /// [`Error::Window`] if no epoch lies there, or it ends before.
    pub fn within(mut self, from_s: Option<f64>, to_s: Option<f64>) -> Result<Self> {
        if from_s.is_none() && to_s.is_none() {
            return Ok(self);
        }
        let window = Window::find(&self.epochs, self.header.epoch_s, from_s, to_s)
            .map_err(|reason| Error::Window { path: self.path.clone(), reason })?;
        self.epochs = Arc::new(self.epochs[..window.end()].to_vec());
        self.window = Some(window);
        Ok(self)
    }

    /// The part that was asked for; none if that is all of it.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// Position of the first epoch that was asked for.
    #[must_use]
    pub fn first_epoch(&self) -> usize {
        self.window.map_or(0, |window| window.first_epoch)
    }

    /// The recording's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What holds for the whole recording.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All epochs in order, up to the end of the part asked for; never empty.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// Whether the recording was ended cleanly. If not, the epochs of the span under way (a minute
    /// at most) are not seen.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Why the recorder had to give up, where it could still write that down.
    #[must_use]
    pub fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// What is known of why the recording was not ended cleanly; none if it was.
    #[must_use]
    pub fn unfinished(&self) -> Option<String> {
        (!self.finished).then(|| unfinished(self.failed()))
    }

    /// Names of the files of an interrupted span, which are ignored.
    #[must_use]
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Number of units, all epochs together.
    #[must_use]
    pub fn unit_count(&self) -> usize {
        self.spans.last().map_or(0, |span| span.first_unit + span.new_units)
    }

    /// Number of rows of heat, all epochs together.
    #[must_use]
    pub fn unit_epochs(&self) -> usize {
        let rows = self.spans.iter().flat_map(|span| &span.rows).take(self.epochs.len());
        rows.map(|row| row.live_units).sum()
    }

    /// The identity of every unit; a unit's number is its position.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Damaged`], [`Error::Column`].
    pub fn units(&self) -> Result<Vec<UnitKey>> {
        // Not reserved: the count is a claim of the file until the table was read.
        let mut units = Vec::new();
        for (i, span) in self.spans.iter().enumerate() {
            units.extend(span_read::units(&self.path, i, span.first_unit, span.new_units)?);
        }
        Ok(units)
    }

    /// All areas in order of first sight.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Damaged`], [`Error::Column`].
    pub fn areas(&self) -> Result<Vec<Area>> {
        let mut areas = Vec::new();
        for (i, span) in self.spans.iter().enumerate() {
            areas.extend(span_read::areas(&self.path, i, span.new_areas)?);
        }
        Ok(areas)
    }

    /// Everything, epoch by epoch, as it was given to the writer (rates rounded). A thread reads
    /// one span ahead: at most two spans (some 128 MiB) are in memory at a time.
    #[must_use]
    pub fn records(&self) -> Records {
        Records::new(self.path.clone(), Arc::clone(&self.spans), self.epochs.len())
    }

    /// The heat alone, epoch by epoch; otherwise as [`Self::records`].
    pub fn heat(&self) -> impl Iterator<Item = Result<EpochHeat>> + use<> {
        Records::heat_only(self.path.clone(), Arc::clone(&self.spans), self.epochs.len())
            .map(|record| record.map(|record: EpochRecord| record.heat))
    }
}

/// Why a recording was not ended cleanly, as far as its end mark tells.
pub(crate) fn unfinished(failed: Option<&str>) -> String {
    failed.map_or_else(
        || {
            "it has no end mark: its recorder was killed, its disk was full, or it is still being \
             written; its last minute, at most, is not here"
                .to_owned()
        },
        |reason| format!("recording ended early: {reason}"),
    )
}

fn read_end(path: &Path) -> Result<Option<End>> {
    let file = path.join(END);
    match limits::read(&file, limits::JSON) {
        Ok(text) => {
            let end = serde_json::from_slice(&text);
            let end: End = end.map_err(|error| Error::damaged(&file, error.to_string()))?;
            let failed = end.failed.map(|reason| printable(&reason).into_owned());
            Ok(Some(End { failed, ..end }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::reading(path, &file, error)),
    }
}

fn read_header(path: &Path) -> Result<Header> {
    let file = path.join(HEADER);
    let not_a_recording =
        |reason: &str| Error::NotARecording { path: path.to_owned(), reason: reason.to_owned() };
    let text = limits::read(&file, limits::JSON).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if !path.exists() => {
            not_a_recording("there is nothing of that name")
        }
        io::ErrorKind::NotFound => not_a_recording("it has no recording.json"),
        io::ErrorKind::NotADirectory => not_a_recording("it is a file"),
        _ => Error::reading(path, &file, error),
    })?;
    let version: Version =
        serde_json::from_slice(&text).map_err(|error| Error::damaged(&file, error.to_string()))?;
    if version.schema_version > SCHEMA_VERSION {
        return Err(Error::Newer {
            path: path.to_owned(),
            tool: if version.tool.is_empty() { "unknown".to_owned() } else { version.tool },
            found: version.schema_version,
            known: SCHEMA_VERSION,
        });
    }
    let header: Header =
        serde_json::from_slice(&text).map_err(|error| Error::damaged(&file, error.to_string()))?;
    let numbers = [("epoch_s", header.epoch_s), ("budget", header.budget)];
    if let Some((name, value)) = numbers.into_iter().find(|(_, value)| !is_quantity(*value)) {
        return Err(Error::damaged(&file, format!("{name} is {value}")));
    }
    if header.epoch_s <= 0.0 {
        return Err(Error::damaged(&file, "epoch_s is 0, and no epoch is that short".to_owned()));
    }
    Ok(harmless(header))
}

/// Whether a number can be a time in seconds, a share or the like: neither negative nor without
/// bounds.
pub(crate) fn is_quantity(value: f64) -> bool {
    (0.0..=1e12).contains(&value)
}

/// Who wrote the recording chose its words: none of them acts on what shows it.
fn harmless(header: Header) -> Header {
    let shown = |text: String| printable(&text).into_owned();
    Header {
        tool: shown(header.tool),
        target: shown(header.target),
        machine: header.machine.into_iter().map(|(k, v)| (shown(k), shown(v))).collect(),
        ..header
    }
}
