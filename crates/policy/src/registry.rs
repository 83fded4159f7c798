//! The registry: one line per policy. Adding a policy takes its file, its `mod` line, and a line
//! here.

use crate::options::{self, PolicyOptions, Settings, SpecError};
use crate::{Policy, PolicyInfo, policies};
use std::{fmt, str::FromStr};

/// All policies, the simplest first, bounds last.
pub static REGISTRY: &[&PolicyInfo] = &[
    &policies::first_touch::INFO,
    &policies::random::INFO,
    &policies::lru::INFO,
    &policies::lfu::INFO,
    &policies::rate::INFO,
    &policies::two_lists::INFO,
    &policies::amp::INFO,
    &policies::clairvoyant::INFO,
    &policies::bounds::ALL_FAST,
    &policies::bounds::ALL_SLOW,
];

/// A policy with its options, checked; makes as many policies as are needed.
///
/// Written and read as `name` or `name:option=value,option=value`, e.g. `rate:interval=8`.
#[derive(Clone, Debug)]
pub struct PolicySpec {
    info: &'static PolicyInfo,
    options: PolicyOptions,
}

impl PolicySpec {
    /// A policy by name with options.
    ///
    /// # Errors
    /// Unknown names, each with the nearest known one, and values out of range.
    pub fn new(name: &str, options: PolicyOptions) -> Result<Self, SpecError> {
        let info = find(name)?;
        for (key, value) in &options.0 {
            options::check(info.name, info.options, key, *value)?;
        }
        Ok(Self { info, options })
    }

    /// Its registry entry.
    #[must_use]
    pub fn info(&self) -> &'static PolicyInfo {
        self.info
    }

    /// A fresh policy that has seen no epoch.
    #[must_use]
    pub fn build(&self) -> Policy {
        (self.info.build)(&Settings { infos: self.info.options, given: &self.options })
    }
}

fn find(name: &str) -> Result<&'static PolicyInfo, SpecError> {
    REGISTRY.iter().find(|info| info.name == name).copied().ok_or_else(|| {
        let names: Vec<_> = REGISTRY.iter().map(|info| info.name).collect();
        SpecError::UnknownPolicy {
            name: name.to_owned(),
            hint: options::nearest(name, &names),
            known: names.join(", "),
        }
    })
}

impl From<&'static PolicyInfo> for PolicySpec {
    /// The policy with its defaults.
    fn from(info: &'static PolicyInfo) -> Self {
        Self { info, options: PolicyOptions::default() }
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let info = find(name.trim())?;
        let options = given
            .split(',')
            .filter(|part| !part.trim().is_empty())
            .map(|part| options::parse(info.name, info.options, part))
            .collect::<Result<_, _>>()?;
        Ok(Self { info, options: PolicyOptions(options) })
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<_> = self.options.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let colon = if given.is_empty() { "" } else { ":" };
        f.pad(&format!("{}{colon}{}", self.info.name, given.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_as_they_print() {
        for text in ["lru", "rate:interval=8", "rate:interval=0.5,steps=16", "random:seed=7"] {
            assert_eq!(text.parse::<PolicySpec>().unwrap().to_string(), text);
        }
        let given = PolicyOptions([("window".to_owned(), 8.0)].into());
        assert_eq!(PolicySpec::new("lfu", given).unwrap().to_string(), "lfu:window=8");
    }

    #[test]
    fn what_is_unknown_or_senseless_is_named_with_a_remedy() {
        for (text, part) in [
            ("lru2", "unknown policy 'lru2'; did you mean 'lru'? known are first-touch, random"),
            ("zzz", "unknown policy 'zzz'; known are"),
            ("rate:intervall=8", "unknown option 'intervall'; did you mean 'interval'?"),
            ("clairvoyant:age=1", "policy clairvoyant: unknown option 'age'; it has none"),
            ("lru:age=1", "policy lru: unknown option 'age'; known are interval, phase"),
            ("lfu:window=65", "window must be a whole number from 1 to 64, not '65'"),
            ("lfu:window=1.5", "not '1.5'"),
            ("lfu:window=many", "not 'many'"),
            ("rate:interval=NaN", "interval must be a number from 0 to"),
            ("lfu:window", "'window' must read name=value"),
        ] {
            let error = text.parse::<PolicySpec>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let given = PolicyOptions([("windw".to_owned(), 8.0)].into());
        let error = PolicySpec::new("lfu", given).unwrap_err().to_string();
        assert!(error.contains("did you mean 'window'?"), "{error}");
    }
}
