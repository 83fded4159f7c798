//! The registry: one line per governor. Adding one takes its file, its `mod` line, and a line here.

use super::{Governor, GovernorInfo, adaptive, gain, none};
use crate::options::{Kind, OptionInfo};
use crate::spec::{Entry, Spec};

/// All governors, the simplest first.
pub static GOVERNORS: &[&GovernorInfo] = &[&none::INFO, &adaptive::INFO, &gain::INFO];

impl Entry for GovernorInfo {
    const KIND: Kind = Kind::Governor;

    fn registry() -> &'static [&'static Self] {
        GOVERNORS
    }
    fn name(&self) -> &'static str {
        self.name
    }
    fn options(&self) -> &'static [OptionInfo] {
        self.options
    }
}

/// A governor with its options, e.g. `adaptive:theta=0.5`.
pub type GovernorSpec = Spec<GovernorInfo>;

impl GovernorSpec {
    /// A fresh governor for one process.
    #[must_use]
    pub fn build(&self) -> Box<dyn Governor> {
        (self.info().build)(&self.settings())
    }
}

impl Default for GovernorSpec {
    /// Nobody is stopped.
    fn default() -> Self {
        Self::from(GOVERNORS[0])
    }
}

/// The governors of a tenant: one for each of its processes.
pub struct Governors {
    name: String,
    make: Box<dyn Fn(u32) -> Box<dyn Governor> + Send>,
}

impl Governors {
    /// Governors that are in no registry. `make`: one for the process of that number.
    pub fn with(name: &str, make: impl Fn(u32) -> Box<dyn Governor> + Send + 'static) -> Self {
        Self { name: name.to_owned(), make: Box::new(make) }
    }

    /// Their name with options, for the summary.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn build(&self, process: u32) -> Box<dyn Governor> {
        (self.make)(process)
    }
}

impl From<&GovernorSpec> for Governors {
    fn from(spec: &GovernorSpec) -> Self {
        let made = spec.clone();
        Self::with(&spec.to_string(), move |_| made.build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn governors_are_named_like_policies() {
        for text in ["none", "adaptive", "adaptive:theta=0.25,window=8", "gain:window=60"] {
            assert_eq!(text.parse::<GovernorSpec>().unwrap().to_string(), text);
        }
        assert_eq!(GovernorSpec::default().to_string(), "none");
        for (text, part) in [
            ("adaptiv", "unknown governor 'adaptiv'; did you mean 'adaptive'? known are none"),
            ("adaptive:theta=2", "governor adaptive: theta must be a number from 0 to 1, not '2'"),
            ("adaptive:tetha=0.5", "unknown option 'tetha'; did you mean 'theta'?"),
            ("none:theta=1", "governor none: unknown option 'theta'; it has none"),
        ] {
            let error = text.parse::<GovernorSpec>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn every_entry_is_whole() {
        for info in GOVERNORS {
            assert!(!info.summary.is_empty() && !info.summary.ends_with('.'), "{}", info.name);
            assert!(!info.source.is_empty(), "{}", info.name);
            let same = GOVERNORS.iter().filter(|other| other.name == info.name);
            assert_eq!(same.count(), 1, "{}", info.name);
            for option in info.options {
                let (low, high) = option.range;
                assert!((low..=high).contains(&option.default), "{}:{}", info.name, option.name);
                assert!(!option.whole || option.default.fract() == 0.0, "{}", option.name);
            }
        }
    }
}
