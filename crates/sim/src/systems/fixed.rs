//! Systems that move nothing: what all others are compared with.

use super::registry::SystemInfo;
use super::setup::Given;
use crate::engine::{Fault, System, World};
use crate::kernel::FirstTouch;
use pagetide_policy::SpecError;

/// Where new memory goes.
enum Rule {
    /// Fast while there is room.
    FirstTouch,
    /// All to one tier.
    All(u8),
    /// Fast are the parts that somebody named.
    Bind(Vec<(f64, f64)>),
}

struct Fixed {
    memory: FirstTouch,
    rule: Rule,
}

impl System for Fixed {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        if !fault.absent() {
            return fault.now_ns;
        }
        match &self.rule {
            Rule::FirstTouch => self.memory.map(&fault, world),
            Rule::All(tier) => self.memory.map_in(&fault, *tier, world),
            Rule::Bind(parts) => {
                let pages = &self.memory.share(fault.tenant).pages;
                let at = (fault.page - pages.start) as f64 / pages.len() as f64;
                let slow = !parts.iter().any(|(from, to)| (*from..*to).contains(&at));
                self.memory.map_in(&fault, u8::from(slow), world)
            }
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given, rule: Rule) -> Result<Box<dyn System>, SpecError> {
    Ok(Box::new(Fixed { memory: given.first_touch(), rule }))
}

pub(super) const NO_MIGRATION: SystemInfo = SystemInfo {
    name: "no-migration",
    summary: "memory stays where it was first touched, fast while there was room",
    source: "Linux",
    keys: &[],
    build: |given| build(given, Rule::FirstTouch),
};

pub(super) const ALL_FAST: SystemInfo = SystemInfo {
    name: "all-fast",
    summary: "all memory is fast, whatever the limit: the upper bound",
    source: "Nimble, section 4.3: All Local",
    keys: &[],
    build: |given| build(given, Rule::All(0)),
};

pub(super) const ALL_SLOW: SystemInfo = SystemInfo {
    name: "all-slow",
    summary: "all memory is slow: the lower bound",
    source: "Nimble, section 4.3: All Remote",
    keys: &[],
    build: |given| build(given, Rule::All(1)),
};

pub(super) const BIND: SystemInfo = SystemInfo {
    name: "bind",
    summary: "the parts of the memory that `bind` names are fast, as by mbind(2)",
    source: "Linux",
    keys: &["bind"],
    build: |given| build(given, Rule::Bind(given.bind.clone())),
};
