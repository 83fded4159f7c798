//! What guests did that compacted on request: benches/frames.py, Linux 6.12.

use crate::ReproduceError;
use pagetide_sim::frames::{Buddy, observed};
use serde_json::Value;

/// One guest.
pub(super) struct Guest {
    pub(super) name: &'static str,
    frames: &'static str,
    samples: &'static str,
    about: &'static str,
}

macro_rules! guests {
    ($($name:literal),* $(,)?) => {
        /// All that were measured.
        pub(super) const GUESTS: &[Guest] = &[$(Guest {
            name: $name,
            frames: include_str!(concat!(guests!(@folder), $name, ".frames")),
            samples: include_str!(concat!(guests!(@folder), $name, ".csv")),
            about: include_str!(concat!(guests!(@folder), $name, ".json")),
        }),*];
    };
    (@folder) => { "../../../../benches/results/2026-11-23-amdepyc-2cores/frames/" };
}
guests!["movable", "few-pipes", "many-pipes", "mostly-free", "mostly-used", "uneven"];

/// A point of a curve: pages that were migrated, and blocks of 2 MiB that are free.
pub(super) type At = (f64, f64);

impl Guest {
    /// The frames of its zone before anything was compacted.
    pub(super) fn memory(&self) -> Result<Buddy, ReproduceError> {
        observed(self.frames).map_err(|error| self.wrong(&error.to_string()))
    }

    /// Its samples.
    pub(super) fn curve(&self) -> Result<Vec<At>, ReproduceError> {
        let mut lines = self.samples.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let place = |name: &str| {
            let found = header.iter().position(|column| *column == name);
            found.ok_or_else(|| self.wrong(&format!("no column {name}")))
        };
        let (migrated, large, largest) =
            (place("migrated")?, place("order_9")?, place("order_10")?);
        let point = |line: &str| {
            let cells: Vec<f64> = line.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
            Some((*cells.get(migrated)?, cells.get(large)? + 2.0 * cells.get(largest)?))
        };
        lines.map(|line| point(line).ok_or_else(|| self.wrong(line))).collect()
    }

    /// How much a counter of `/proc/vmstat` grew.
    pub(super) fn grew(&self, counter: &str) -> Result<f64, ReproduceError> {
        let about: Value =
            serde_json::from_str(self.about).map_err(|error| self.wrong(&error.to_string()))?;
        let at = |state: &str| {
            let value = about.pointer(&format!("/states/{state}/vmstat/{counter}"));
            value.and_then(Value::as_f64).ok_or_else(|| self.wrong(counter))
        };
        Ok(at("drained")? - at("before")?)
    }

    fn wrong(&self, what: &str) -> ReproduceError {
        ReproduceError::Other(format!("guest {}: {what}", self.name))
    }
}
