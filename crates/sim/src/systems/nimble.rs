//! Nimble (section 4.3): two-list hotness every 5 s, and its pages moved in four ways. With
//! `all-slow` and `all-fast` these are the paper's six configurations.

use super::ranked::{Parts, Ranked};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use crate::engine::System;
use crate::movers::Mechanism;
use pagetide_policy::SpecError;

fn build(given: &Given, mechanism: Mechanism) -> Result<Box<dyn System>, SpecError> {
    // The period is the system's; the policy decides whenever it is asked.
    Ranked::build(given, &Parts::of("two-lists:interval=0"), mechanism)
}

pub(super) const BASE: SystemInfo = SystemInfo {
    name: "nimble-base",
    summary: "two lists; huge pages are split, base pages move one by one: Linux before Nimble",
    source: "Nimble, section 4.3: Base Page Migration",
    keys: keys::RANKED,
    build: |given| build(given, Mechanism::BASE),
};

pub(super) const EXCHANGE_BASE: SystemInfo = SystemInfo {
    name: "nimble-exchange-base",
    summary: "two lists; base pages exchanged 512 at a time by 4 threads",
    source: "Nimble, section 4.3: Opt. Exchange Base Pages",
    keys: keys::RANKED,
    build: |given| build(given, Mechanism::EXCHANGE_BASE),
};

pub(super) const HUGE: SystemInfo = SystemInfo {
    name: "nimble-huge",
    summary: "two lists; huge pages move whole, one by one",
    source: "Nimble, section 4.3: THP Migration",
    keys: keys::RANKED,
    build: |given| build(given, Mechanism::HUGE),
};

pub(super) const EXCHANGE_HUGE: SystemInfo = SystemInfo {
    name: "nimble-exchange-huge",
    summary: "two lists; huge pages exchanged 8 at a time by 4 threads",
    source: "Nimble, section 4.3: Opt. Exchange Pages",
    keys: keys::RANKED,
    build: |given| build(given, Mechanism::EXCHANGE_HUGE),
};
