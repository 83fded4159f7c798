//! What the features of a machine mean for someone who wants to use Pagetide on it: one line
//! per feature, with the remedy where there is one.

mod interference;
mod memory;
mod recording;

use crate::Features;
use serde::Serialize;
use std::collections::BTreeMap;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Works; the meaning says what to keep in mind.
    Note,
    /// Recording does not work without it; the meaning says how to get it.
    Missing,
}

/// One feature of the machine and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Short stable name, e.g. `btf`.
    pub name: &'static str,
    /// What was found.
    pub value: String,
    /// How much it matters.
    pub status: Status,
    /// What it means for the user, and the remedy.
    pub meaning: String,
}

impl Finding {
    fn new(
        name: &'static str,
        value: impl Into<String>,
        status: Status,
        meaning: impl Into<String>,
    ) -> Self {
        Self { name, value: value.into(), status, meaning: meaning.into() }
    }
}

impl Features {
    /// All findings: first what recording needs, then the memory, then what interferes.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        [recording::findings(self), memory::findings(self), interference::findings(self)].concat()
    }

    /// The findings' names and values, to keep with a recording.
    #[must_use]
    pub fn facts(&self) -> BTreeMap<String, String> {
        self.findings().into_iter().map(|f| (f.name.to_owned(), f.value)).collect()
    }
}

#[cfg(test)]
mod tests;
