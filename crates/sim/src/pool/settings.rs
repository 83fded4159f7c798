//! How pages move between the pool and the nodes, and what makes no sense.

use crate::scenario::{StreamProblem, hint};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Migration in epochs (section 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table, as { most = 50 }")]
pub struct Migration {
    /// What chooses the pages that move.
    pub policy: Chooser,
    /// A page is hot that was accessed more often than this in an epoch.
    pub threshold: u32,
    /// Pages that a node gets in an epoch, at most (the paper's M); 0: accesses are counted, and
    /// nothing moves.
    pub most: u32,
    /// Cycles of an epoch.
    pub epoch_cycles: u64,
    /// What a node stands still for one shootdown of all its pages that move, microseconds: the
    /// messages of Figure 2 are in it.
    pub shootdown_us: f64,
    /// What swapping a page takes, microseconds.
    pub swap_us: f64,
    /// Who waits for that.
    pub swap_stall: SwapStall,
    /// Lines that DMA moves take their turn in the banks as well; otherwise a swap takes its time
    /// and nothing else.
    pub dma_in_banks: bool,
    /// Frames that the clock looks at, at most.
    pub probes: u32,
    /// Lines that are written back count as accesses, too.
    pub count_writes: bool,
    /// Counts go on over the end of an epoch.
    pub keep_counts: bool,
    /// Epochs go by while a node stands still; otherwise the next one begins when all go on.
    pub tick_in_stall: bool,
    /// How the controller's counting is paid for.
    pub accounting: Accounting,
    /// Entries of the controller's table of counts; if none, nodes times `most`.
    pub pact_entries: Option<u32>,
    /// Entries of a node's table of pages to migrate, for the first that pass the threshold in an epoch; if none,
    /// those accessed most keep `most` entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmt_entries: Option<u32>,
    /// Under payback, what moves may have cost more than they brought, as a share of the time so far; a
    /// fiftieth, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_debt: Option<f64>,
    /// What says of each node whether its pages move at all: a governor's name, with options; none if
    /// not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// What a governor takes for a second, microseconds; 50 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor_second_us: Option<f64>,
}

impl Default for Migration {
    /// The paper's, with the values of its Figure 6: 10 accesses, 50 pages, 1 M cycles.
    fn default() -> Self {
        Self {
            policy: Chooser::Hottest,
            threshold: 10,
            most: 50,
            epoch_cycles: 1_000_000,
            shootdown_us: 8.0,
            swap_us: 1.0,
            swap_stall: SwapStall::Node,
            dma_in_banks: false,
            probes: super::clock::PROBES,
            count_writes: true,
            keep_counts: false,
            tick_in_stall: true,
            accounting: Accounting::Free,
            pact_entries: None,
            pmt_entries: None,
            most_debt: None,
            governor: None,
            governor_second_us: None,
        }
    }
}

/// Cycles of an epoch at least: in fewer not one line comes from a pool.
const LEAST_EPOCH: u64 = 100;

/// What chooses the pages that move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chooser {
    /// Those accessed most, of those above the threshold (the paper's).
    Hottest,
    /// Those whose further accesses are expected to bring more than moving them costs; see
    /// [`Payback`](super::Payback).
    Payback,
}

/// Who waits while pages are swapped (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwapStall {
    /// The node.
    Node,
    /// Nobody: DMA is done before the shootdown is.
    None,
    /// Who accesses the page that is being swapped, as marks in the node's page tables tell; those whose turn
    /// has not come are where they were.
    Page,
}

/// How the controller's counting is paid for (section 3.5, "Accounting overhead").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// It is not.
    Free,
    /// Counts that go to memory and come back are counted, and nobody waits.
    Beside,
    /// They take their turn in the banks, and who accesses a page waits for its count.
    Within,
}

/// Why a pool cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// A value makes no sense.
    #[error("{key} = {value}: {remedy}")]
    Value {
        /// The key, with its path.
        key: String,
        /// What was given.
        value: String,
        /// What is wrong, and what to give instead.
        remedy: String,
    },
    /// The scenario is no TOML, or a key is missing, unknown or of the wrong kind.
    #[error("{origin}: {source}{hint}")]
    Syntax {
        /// The file.
        origin: String,
        /// Where and why.
        source: Box<toml::de::Error>,
        /// The nearest known key, as a sentence, or empty.
        hint: String,
    },
    /// The machine cannot be used.
    #[error("{origin}: pool: {}", with_hint(problem))]
    Machine {
        /// The file.
        origin: String,
        /// Why; no source, since the text has all of it.
        problem: pagetide_machine::model::ModelError,
    },
    /// Recorded accesses cannot be read, or not to their end.
    #[error("program.stream: {}: {source}", path.display())]
    Stream {
        /// The file.
        path: PathBuf,
        /// Why.
        source: StreamProblem,
    },
    /// A value of the scenario makes no sense, or what it names.
    #[error("{origin}: {source}")]
    In {
        /// The file.
        origin: String,
        /// Which, and why.
        source: Box<PoolError>,
    },
    /// Whoever watches did not want to see the end.
    #[error("interrupted")]
    Stopped,
}

impl PoolError {
    /// Of a program with this number among several, whose keys are named with it.
    pub(in crate::pool) fn of_program(self, number: usize) -> Self {
        match self {
            Self::Value { key, value, remedy } => {
                let own = key.strip_prefix("program.").map(|own| format!("program.{number}.{own}"));
                Self::Value { key: own.unwrap_or(key), value, remedy }
            }
            other => other,
        }
    }

    /// With the file that it is in.
    pub(in crate::pool) fn in_file(self, origin: &str) -> Self {
        match self {
            Self::Value { .. } | Self::Stream { .. } => {
                Self::In { origin: origin.to_owned(), source: Box::new(self) }
            }
            other => other,
        }
    }
}

/// What is wrong with a machine, and what to give instead where a value is of the wrong kind.
fn with_hint(problem: &impl ToString) -> String {
    let said = problem.to_string();
    let instead = hint(&said);
    let said = said.trim_end();
    if instead.is_empty() { said.to_owned() } else { format!("{said}; {instead}") }
}

/// Refuses a value.
pub(in crate::pool) fn refuse<T>(
    key: &str,
    value: &impl ToString,
    remedy: impl Into<String>,
) -> Result<T, PoolError> {
    Err(PoolError::Value { key: key.to_owned(), value: value.to_string(), remedy: remedy.into() })
}

impl Migration {
    /// Its governor, if that can stop anything.
    #[must_use]
    pub fn governor(&self) -> Option<&str> {
        let named = super::governor::named(self).ok().flatten();
        self.governor.as_deref().filter(|_| named.is_some())
    }

    /// Pages may move, and their lines take their turn in ports and banks.
    pub(in crate::pool) const fn works_in_banks(&self) -> bool {
        self.dma_in_banks && self.most > 0
    }

    /// Whether it makes sense on nodes with so many frames of their own.
    pub(in crate::pool) fn check(&self, frames: u64) -> Result<(), PoolError> {
        if self.epoch_cycles < LEAST_EPOCH {
            let remedy = format!("an epoch takes time; give {LEAST_EPOCH} or more cycles");
            return refuse("migration.epoch_cycles", &self.epoch_cycles, remedy);
        }
        if u64::from(self.most) > frames {
            let remedy = format!(
                "a node has {frames} pages of its own; give that or less, or a larger pool.local.capacity"
            );
            return refuse("migration.most", &self.most, remedy);
        }
        for (key, us) in
            [("migration.shootdown_us", self.shootdown_us), ("migration.swap_us", self.swap_us)]
        {
            if !(0.0..=1e9).contains(&us) {
                return refuse(key, &us, "give a number from 0 to 10^9");
            }
        }
        for (key, entries) in [
            ("migration.pact_entries", self.pact_entries),
            ("migration.pmt_entries", self.pmt_entries),
        ] {
            if entries == Some(0) {
                return refuse(key, &0, "the table holds something; give 1 or more");
            }
        }
        if let Some(debt) = self.most_debt {
            if self.policy != Chooser::Payback {
                return refuse(
                    "migration.most_debt",
                    &debt,
                    "only policy = \"payback\" keeps such books",
                );
            }
            if !(0.0..=1e6).contains(&debt) {
                return refuse("migration.most_debt", &debt, "give a number from 0 to 10^6");
            }
        }
        super::governor::named(self)?;
        if let Some(us) = self.governor_second_us {
            if self.governor.is_none() {
                let remedy = "nothing counts in such seconds; give a governor, too";
                return refuse("migration.governor_second_us", &us, remedy);
            }
            if !(1.0..=1e9).contains(&us) {
                return refuse("migration.governor_second_us", &us, "give a number from 1 to 10^9");
            }
        }
        if self.probes == 0 {
            return refuse("migration.probes", &0, "the clock looks at frames; give 1 or more");
        }
        Ok(())
    }
}
