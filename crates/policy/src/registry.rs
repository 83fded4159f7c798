//! The registry: one line per policy. Adding a policy takes its file, its `mod` line, and a line
//! here.

use crate::options::{Kind, OptionInfo};
use crate::spec::{Entry, Spec};
use crate::{Policy, PolicyInfo, policies};

/// All policies, the simplest first, bounds last.
pub static REGISTRY: &[&PolicyInfo] = &[
    &policies::first_touch::INFO,
    &policies::random::INFO,
    &policies::lru::INFO,
    &policies::lfu::INFO,
    &policies::rate::INFO,
    &policies::two_lists::INFO,
    &policies::amp::INFO,
    &policies::memtis::INFO,
    &policies::clairvoyant::INFO,
    &policies::bounds::ALL_FAST,
    &policies::bounds::ALL_SLOW,
];

impl Entry for PolicyInfo {
    const KIND: Kind = Kind::Policy;

    fn registry() -> &'static [&'static Self] {
        REGISTRY
    }
    fn name(&self) -> &'static str {
        self.name
    }
    fn options(&self) -> &'static [OptionInfo] {
        self.options
    }
}

/// A policy with its options, e.g. `rate:interval=8`.
pub type PolicySpec = Spec<PolicyInfo>;

impl PolicySpec {
    /// A fresh policy that has seen no epoch.
    #[must_use]
    pub fn build(&self) -> Policy {
        (self.info().build)(&self.settings())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicyOptions;

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
