//! What a user names: an entry of a registry with its options, checked. Policies and governors are
//! named alike.

use crate::options::{self, Kind, OptionInfo, Owner, PolicyOptions, Settings, SpecError};
use std::{fmt, str::FromStr};

/// An entry of a registry.
pub trait Entry: fmt::Debug + 'static {
    /// What its registry holds, for errors.
    const KIND: Kind;

    /// All entries.
    fn registry() -> &'static [&'static Self];
    /// Unique; lower case and hyphens.
    fn name(&self) -> &'static str;
    /// Its parameters.
    fn options(&self) -> &'static [OptionInfo];
}

/// An entry with its options; makes as many of it as are needed.
///
/// Written and read as `name` or `name:option=value,option=value`.
#[derive(Debug)]
pub struct Spec<I: 'static> {
    info: &'static I,
    options: PolicyOptions,
}

impl<I> Clone for Spec<I> {
    fn clone(&self) -> Self {
        Self { info: self.info, options: self.options.clone() }
    }
}

impl<I: Entry> Spec<I> {
    /// An entry by name with options.
    ///
    /// # Errors
    /// Unknown names, each with the nearest known one, and values out of range.
    pub fn new(name: &str, options: PolicyOptions) -> Result<Self, SpecError> {
        let info = find::<I>(name)?;
        for (key, value) in &options.0 {
            options::check(owner(info), info.options(), key, *value)?;
        }
        Ok(Self { info, options })
    }

    /// Its registry entry.
    #[must_use]
    pub fn info(&self) -> &'static I {
        self.info
    }

    /// The value of a parameter, if it has one of that name.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<f64> {
        let has = self.info.options().iter().any(|info| info.name == name);
        has.then(|| self.settings().get(name))
    }

    /// What its constructor gets.
    pub(crate) fn settings(&self) -> Settings<'_> {
        Settings { infos: self.info.options(), given: &self.options }
    }
}

fn owner<I: Entry>(info: &I) -> Owner {
    Owner { kind: I::KIND, name: info.name() }
}

fn find<I: Entry>(name: &str) -> Result<&'static I, SpecError> {
    I::registry().iter().find(|info| info.name() == name).copied().ok_or_else(|| {
        let names: Vec<_> = I::registry().iter().map(|info| info.name()).collect();
        SpecError::UnknownName {
            kind: I::KIND,
            name: name.to_owned(),
            known: options::known(name, &names),
        }
    })
}

impl<I: Entry> From<&'static I> for Spec<I> {
    /// The entry with its defaults.
    fn from(info: &'static I) -> Self {
        Self { info, options: PolicyOptions::default() }
    }
}

impl<I: Entry> FromStr for Spec<I> {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let info = find::<I>(name.trim())?;
        let options = given
            .split(',')
            .filter(|part| !part.trim().is_empty())
            .map(|part| options::parse(owner(info), info.options(), part))
            .collect::<Result<_, _>>()?;
        Ok(Self { info, options: PolicyOptions(options) })
    }
}

impl<I: Entry> fmt::Display for Spec<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<_> = self.options.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let colon = if given.is_empty() { "" } else { ":" };
        f.pad(&format!("{}{colon}{}", self.info.name(), given.join(",")))
    }
}
