//! Parameters of policies: names, ranges and defaults; unknown ones are errors that name the
//! nearest known.

use std::collections::BTreeMap;

/// One parameter of a policy.
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

/// Why a policy cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such policy.
    #[error("unknown policy '{name}'; {hint}known are {known}")]
    UnknownPolicy {
        /// As given.
        name: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All names.
        known: String,
    },
    /// No such parameter.
    #[error("policy {policy}: unknown option '{key}'; {hint}{known}")]
    UnknownOption {
        /// The policy.
        policy: &'static str,
        /// As given.
        key: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All names, as half a sentence.
        known: String,
    },
    /// A value that makes no sense.
    #[error("policy {policy}: {key} must be {wanted}, not '{value}'")]
    Value {
        /// The policy.
        policy: &'static str,
        /// The parameter.
        key: &'static str,
        /// As given.
        value: String,
        /// What it may be.
        wanted: String,
    },
    /// Text that does not read `name=value`.
    #[error("policy {policy}: '{text}' must read name=value")]
    Syntax {
        /// The policy.
        policy: &'static str,
        /// As given.
        text: String,
    },
}

/// Checked values of a policy's parameters, as its constructor gets them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    pub(crate) infos: &'static [OptionInfo],
    pub(crate) given: &'a PolicyOptions,
}

impl Settings<'_> {
    /// The value of a parameter that the policy declares.
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
    policy: &'static str,
    infos: &'static [OptionInfo],
    key: &str,
    value: f64,
) -> Result<(), SpecError> {
    let info = find(policy, infos, key)?;
    let (low, high) = info.range;
    if (low..=high).contains(&value) && (!info.whole || value.fract() == 0.0) {
        return Ok(());
    }
    Err(wrong_value(policy, info, &value.to_string()))
}

/// Reads one `name=value`.
pub(crate) fn parse(
    policy: &'static str,
    infos: &'static [OptionInfo],
    text: &str,
) -> Result<(String, f64), SpecError> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| SpecError::Syntax { policy, text: text.to_owned() })?;
    let (key, value) = (key.trim(), value.trim());
    let info = find(policy, infos, key)?;
    let number = value.parse().map_err(|_| wrong_value(policy, info, value))?;
    check(policy, infos, key, number)?;
    Ok((key.to_owned(), number))
}

fn find(
    policy: &'static str,
    infos: &'static [OptionInfo],
    key: &str,
) -> Result<&'static OptionInfo, SpecError> {
    infos.iter().find(|info| info.name == key).ok_or_else(|| {
        let names: Vec<_> = infos.iter().map(|info| info.name).collect();
        SpecError::UnknownOption {
            policy,
            key: key.to_owned(),
            hint: nearest(key, &names),
            known: match names.len() {
                0 => "it has none".to_owned(),
                _ => format!("known are {}", names.join(", ")),
            },
        }
    })
}

fn wrong_value(policy: &'static str, info: &'static OptionInfo, value: &str) -> SpecError {
    let (low, high) = info.range;
    let kind = if info.whole { "a whole number" } else { "a number" };
    SpecError::Value {
        policy,
        key: info.name,
        value: value.to_owned(),
        wanted: format!("{kind} from {low} to {high}"),
    }
}

/// "did you mean 'x'? " for the nearest of `known`, or nothing when none is near.
pub(crate) fn nearest(wrong: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, name)| format!("did you mean '{name}'? "))
}
