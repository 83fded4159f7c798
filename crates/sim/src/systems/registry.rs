//! The registry: one line per system. Adding one takes its file, its `mod` line, and a line here.

use super::setup::Given;
use super::{
    adaptive, amp, demotion, fixed, linux_tiering, memtis, nimble, nomad, pagetide,
    refault_distance, tpp, tpp_mod,
};
use crate::engine::System;
use pagetide_policy::SpecError;

/// A system's entry.
#[derive(Debug)]
pub struct SystemInfo {
    /// Unique; lower case and hyphens.
    pub name: &'static str,
    /// What it does, one line without a full stop.
    pub summary: &'static str,
    /// Paper and section it comes from.
    pub source: &'static str,
    /// The keys of a scenario's `[system]` that say something to it, but for `name` and `interval`.
    pub keys: &'static [&'static str],
    /// Makes one.
    pub(crate) build: fn(&Given) -> Result<Box<dyn System>, SpecError>,
}

impl SystemInfo {
    /// After so many seconds it decides for the first time; none where it does not decide in intervals.
    pub(crate) fn decides_after_s(&self, interval_s: f64) -> Option<f64> {
        let live = self.name == pagetide::PAGETIDE.name;
        let opening_s = if live { pagetide::LIVE.opening_s } else { interval_s };
        self.keys.contains(&"policy").then(|| interval_s.min(opening_s))
    }
}

/// What systems have in common of [`SystemInfo::keys`].
pub(super) mod keys {
    /// Of all that move pages.
    pub(in crate::systems) const MOVING: &[&str] = &["split", "threads", "together", "exchange"];
    /// Of those that rank units.
    pub(in crate::systems) const RANKED: &[&str] = &[
        "policy",
        "governor",
        "payback",
        "tracker",
        "sample_ns",
        "split",
        "threads",
        "together",
        "exchange",
    ];
    /// Of those that ask a governor.
    pub(in crate::systems) const GOVERNED: &[&str] =
        &["governor", "split", "threads", "together", "exchange"];
    /// Of those that limit what goes up.
    pub(in crate::systems) const LIMITED: &[&str] =
        &["promote_rate_limit", "governor", "split", "threads", "together", "exchange"];
}

/// All systems, the simplest first.
pub static REGISTRY: &[&SystemInfo] = &[
    &fixed::NO_MIGRATION,
    &fixed::ALL_FAST,
    &fixed::ALL_SLOW,
    &fixed::BIND,
    &demotion::DEMOTION,
    &linux_tiering::LINUX_TIERING,
    &tpp::TPP,
    &tpp_mod::TPP_MOD,
    &refault_distance::REFAULT_DISTANCE,
    &adaptive::ADAPTIVE,
    &nomad::NOMAD,
    &memtis::MEMTIS,
    &nimble::BASE,
    &nimble::EXCHANGE_BASE,
    &nimble::HUGE,
    &nimble::EXCHANGE_HUGE,
    &amp::AMP,
    &amp::LRU,
    &amp::LFU,
    &amp::RANDOM,
    &amp::POLICY,
    &pagetide::PAGETIDE,
];

/// There is no such system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no system '{name}'; {hint}known: {known}")]
pub struct SystemError {
    /// As given.
    pub name: String,
    /// The nearest known name, as half a sentence, or empty.
    pub hint: String,
    /// All names.
    pub known: String,
}

/// A system by name.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static SystemInfo, SystemError> {
    REGISTRY.iter().find(|info| info.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|info| info.name).collect();
        SystemError {
            name: name.to_owned(),
            hint: pagetide_types::nearest(name, names.iter().copied()),
            known: names.join(", "),
        }
    })
}
