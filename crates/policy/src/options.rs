//! Parameters of policies and governors: names, ranges and defaults; unknown ones are errors that
//! name the nearest known.

use std::collections::BTreeMap;
use std::fmt;

/// One parameter of a policy or a governor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionInfo {
    /// Lower case and hyphens.
    pub name: &'static str,
    /// What it does and its unit, one line.
    pub summary: &'static str,
    /// The value when none is given.
    pub default: f64,
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// Whether only whole numbers make sense.
    pub whole: bool,
}

/// Values given to parameters, by name; what is missing has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyOptions(pub BTreeMap<String, f64>);

/// Why a policy or a governor cannot be made. `kind` says which of the two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such name.
    #[error("unknown {kind} '{name}'; {known}")]
    UnknownName {
        /// Of what.
        kind: Kind,
        /// As given.
        name: String,
        /// The nearest known name, and all of them.
        known: String,
    },
    /// No such parameter.
    #[error("{owner}: unknown option '{key}'; {known}")]
    UnknownOption {
        /// Whose.
        owner: Owner,
        /// As given.
        key: String,
        /// The nearest known name, and all of them.
        known: String,
    },
    /// A value that makes no sense.
    #[error("{owner}: {key} must be {wanted}, not '{value}'")]
    Value {
        /// Whose.
        owner: Owner,
        /// The parameter.
        key: &'static str,
        /// As given.
        value: String,
        /// What it may be.
        wanted: String,
    },
    /// Text that does not read `name=value`.
    #[error("{owner}: '{text}' must read name=value")]
    Syntax {
        /// Whose.
        owner: Owner,
        /// As given.
        text: String,
    },
}

/// What a registry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Policies.
    Policy,
    /// Governors.
    Governor,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Policy => "policy",
            Self::Governor => "governor",
        })
    }
}

/// Whose parameter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// Checked values of parameters, as a constructor gets them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    pub(crate) infos: &'static [OptionInfo],
    pub(crate) given: &'a PolicyOptions,
}

impl Settings<'_> {
    /// The value of a parameter that is declared.
    pub(crate) fn get(&self, name: &str) -> f64 {
        let default = self.infos.iter().find(|info| info.name == name).map(|info| info.default);
        debug_assert!(default.is_some(), "undeclared option {name}");
        self.given.0.get(name).copied().or(default).unwrap_or_default()
    }

    /// The value of a whole-numbered parameter.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked")]
    pub(crate) fn whole(&self, name: &str) -> u64 {
        self.get(name) as u64
    }
}

/// Checks one value.
pub(crate) fn check(
    owner: Owner,
    infos: &'static [OptionInfo],
    key: &str,
    value: f64,
) -> Result<(), SpecError> {
    let info = find(owner, infos, key)?;
    let (low, high) = info.range;
    if (low..=high).contains(&value) && (!info.whole || value.fract() == 0.0) {
        return Ok(());
    }
    Err(wrong_value(owner, info, &value.to_string()))
}

/// Reads one `name=value`.
pub(crate) fn parse(
    owner: Owner,
    infos: &'static [OptionInfo],
    text: &str,
) -> Result<(String, f64), SpecError> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| SpecError::Syntax { owner, text: text.to_owned() })?;
    let (key, value) = (key.trim(), value.trim());
    let info = find(owner, infos, key)?;
    let number = value.parse().map_err(|_| wrong_value(owner, info, value))?;
    check(owner, infos, key, number)?;
    Ok((key.to_owned(), number))
}

fn find(
    owner: Owner,
    infos: &'static [OptionInfo],
    key: &str,
) -> Result<&'static OptionInfo, SpecError> {
    infos.iter().find(|info| info.name == key).ok_or_else(|| {
        let names: Vec<_> = infos.iter().map(|info| info.name).collect();
        SpecError::UnknownOption {
            owner,
            key: key.to_owned(),
            known: match names.len() {
                0 => "it has none".to_owned(),
                _ => known(key, &names),
            },
        }
    })
}

fn wrong_value(owner: Owner, info: &'static OptionInfo, value: &str) -> SpecError {
    let (low, high) = info.range;
    let kind = if info.whole { "a whole number" } else { "a number" };
    SpecError::Value {
        owner,
        key: info.name,
        value: value.to_owned(),
        wanted: format!("{kind} from {low} to {high}"),
    }
}

/// "did you mean 'x'? " for the nearest of all names, if one is near, and all of them.
pub(crate) fn known(wrong: &str, names: &[&str]) -> String {
    let hint = pagetide_types::nearest(wrong, names.iter().copied());
    format!("{hint}known are {}", names.join(", "))
}
