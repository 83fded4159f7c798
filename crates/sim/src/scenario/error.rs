//! Why a scenario cannot be run: the file, the key, and what to write instead.

use super::stream::StreamProblem;
use crate::systems::SystemError;
use pagetide_access::parameter::ParameterError;
use pagetide_machine::model::ModelError;
use pagetide_policy::SpecError;
use pagetide_types::nearest;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// It is no TOML, a key is missing, unknown, or of the wrong kind.
    #[error("{origin}: {source}{hint}")]
    Syntax {
        /// The file.
        origin: String,
        /// Where and why.
        source: Box<toml::de::Error>,
        /// The nearest known key, as a sentence, or empty.
        hint: String,
    },
    /// A value makes no sense.
    #[error("{origin}: {problem}")]
    Value {
        /// The file.
        origin: String,
        /// Which, and what to write instead.
        problem: String,
    },
    /// The machine cannot be used.
    #[error("{origin}: machine: {source}")]
    Machine {
        /// The file.
        origin: String,
        /// Why.
        source: ModelError,
    },
    /// There is no such system.
    #[error("{origin}: system.name: {source}")]
    System {
        /// The file.
        origin: String,
        /// Which there are.
        source: SystemError,
    },
    /// The policy makes no sense.
    #[error("{origin}: system.policy: {source}")]
    Policy {
        /// The file.
        origin: String,
        /// Why.
        source: SpecError,
    },
    /// The governor makes no sense.
    #[error("{origin}: system.governor: {source}")]
    Governor {
        /// The file.
        origin: String,
        /// Why.
        source: SpecError,
    },
    /// A tenant's pattern makes no sense.
    #[error("{origin}: tenant '{tenant}': {source}")]
    Pattern {
        /// The file.
        origin: String,
        /// Whose.
        tenant: String,
        /// Why.
        source: ParameterError,
    },
    /// A tenant's stream cannot be read, or not to its end.
    #[error("{origin}: tenant '{tenant}': {}: {source}", path.display())]
    Stream {
        /// The file of the scenario.
        origin: String,
        /// Whose.
        tenant: String,
        /// The stream.
        path: PathBuf,
        /// Why.
        source: StreamProblem,
    },
    /// Whoever watches did not want to see the end.
    #[error("interrupted")]
    Stopped,
}

/// What is to be given instead: the nearest of the keys that a parser lists, or in words the kind of value
/// that it names by a type.
pub(crate) fn hint(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(wrong) if message.contains("unknown field") || message.contains("unknown variant") => {
            let known: Vec<&str> = quoted.collect();
            of_the_other_kind(wrong, &known)
                .unwrap_or_else(|| nearest(wrong, known).trim_end().to_owned())
        }
        _ => KINDS
            .iter()
            .find(|(kind, _)| message.contains("invalid") && message.contains(kind))
            .map_or_else(String::new, |(_, words)| format!("give {words}")),
    }
}

/// A text without the digits of very long numbers: 9e99 has a hundred.
pub(crate) fn shorter(text: &str) -> String {
    let (mut out, mut digits) = (String::new(), 0);
    for letter in text.chars() {
        digits = if letter.is_ascii_digit() { digits + 1 } else { 0 };
        match digits {
            0..=DIGITS => out.push(letter),
            _ if !out.ends_with("...") => out.push_str("..."),
            _ => {}
        }
    }
    out
}

/// As many tell a number; 2^64 has 20.
const DIGITS: usize = 20;

/// Keys of a scenario of tiers that one of a pool has not, and the other way round.
const OF_TIERS: [&str; 8] =
    ["machine", "scale", "seconds", "huge_pages", "caches", "spare_cores", "system", "tenant"];
pub(crate) const OF_POOLS: [&str; 6] =
    ["pool", "nodes", "placement", "instructions", "migration", "program"];

/// Where a key belongs that is none of those that are known here, if that is in a scenario of the other kind.
fn of_the_other_kind(key: &str, known: &[&str]) -> Option<String> {
    let other = |ours: &[&str], others: &[&str]| {
        others.contains(&key) && ours.iter().all(|one| known.contains(one))
    };
    let says = |kind, docs| format!("'{key}' is a key of scenarios of {kind} ({docs})");
    if other(&OF_TIERS, &OF_POOLS) {
        return Some(says("a pool", "docs/pool.md"));
    }
    other(&OF_POOLS, &OF_TIERS).then(|| says("tiers", "docs/sim.md"))
}

/// What a parser expects, in its words and in ours.
const KINDS: [(&str, &str); 8] = [
    ("expected u32", "a whole number from 0 to 4294967295, without quotes"),
    ("expected u64", "a whole number from 0 on, without quotes"),
    ("expected f32", "a number, without quotes or unit"),
    ("expected f64", "a number, without quotes or unit"),
    ("expected a string", "a text in quotes (a size as \"64G\")"),
    ("expected a sequence", "a list, of tables as [{ kind = \"...\" }]"),
    ("expected a boolean", "true or false"),
    ("internally tagged enum", "a table, as { kind = \"uniform\" }"),
];
