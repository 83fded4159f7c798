//! The names of a recording's files, and which spans of it are there.

use crate::{Error, Result, limits};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The header's file.
pub(crate) const HEADER: &str = "recording.json";
/// The file that the recorder leaves at its end. Its room is taken at the start.
pub(crate) const END: &str = "end.json";

/// The tables of a span, in the order in which they are written: heat last, so that a span is
/// complete if and only if its heat file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Epochs,
    Areas,
    Units,
    Heat,
}

impl Part {
    pub(crate) const ALL: [Self; 4] = [Self::Epochs, Self::Areas, Self::Units, Self::Heat];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Epochs => "epochs",
            Self::Areas => "areas",
            Self::Units => "units",
            Self::Heat => "heat",
        }
    }

    /// The path of this table of span `span`: `heat-00000.parquet`.
    pub(crate) fn path(self, recording: &Path, span: usize) -> PathBuf {
        recording.join(format!("{}-{span:05}.parquet", self.as_str()))
    }

    fn parse(name: &str) -> Option<(Self, usize)> {
        let (part, span) = name.strip_suffix(".parquet")?.split_once('-')?;
        let part = Self::ALL.into_iter().find(|p| p.as_str() == part)?;
        Some((part, span.parse().ok()?))
    }
}

/// The path of the checksums of span `span`.
pub(crate) fn sums_path(recording: &Path, span: usize) -> PathBuf {
    recording.join(format!("sums-{span:05}.json"))
}

fn parse_sums(name: &str) -> Option<usize> {
    name.strip_prefix("sums-")?.strip_suffix(".json")?.parse().ok()
}

/// The name under which a file is written before it is renamed to `path`.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// What lies in a recording's directory.
pub(crate) struct Listing {
    /// Complete spans: 0 to here.
    pub(crate) spans: usize,
    /// Files of a span that never became complete, temporary ones included, by name.
    pub(crate) leftovers: Vec<String>,
}

/// Lists the directory `recording`; fails if a heat file is missing between others.
pub(crate) fn list(recording: &Path) -> Result<Listing> {
    let io_error = |e: io::Error| Error::reading(recording, recording, e);
    let mut heat = BTreeSet::new();
    let mut files = Vec::new();
    for entry in fs::read_dir(recording).map_err(io_error)? {
        let name = entry.map_err(io_error)?.file_name().to_string_lossy().into_owned();
        let part = Part::parse(&name);
        if let Some((Part::Heat, span)) = part {
            heat.insert(span);
        }
        files.push((name, part));
    }
    if heat.len() > limits::SPANS {
        return Err(Error::damaged(recording, format!("it has more than {} spans", limits::SPANS)));
    }
    if let Some(gap) = (0..heat.len()).find(|span| !heat.contains(span)) {
        return Err(Error::Missing { path: Part::Heat.path(recording, gap) });
    }
    let reserved = temporary(END.as_ref()).to_string_lossy().into_owned();
    let mut leftovers: Vec<String> = files
        .into_iter()
        .filter(|(name, part)| match part {
            Some((_, span)) => *span >= heat.len(),
            None => {
                parse_sums(name).is_some_and(|span| span >= heat.len())
                    || (name.starts_with('.') && name.ends_with(".tmp") && *name != reserved)
            }
        })
        .map(|(name, _)| name)
        .collect();
    leftovers.sort();
    Ok(Listing { spans: heat.len(), leftovers })
}
