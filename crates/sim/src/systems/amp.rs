//! AMP and its fixed policies (sections 3 and 4): accessed bits of 2 MiB pages every 5 s, moved by
//! Nimble's exchange (section 5). And every other rank policy in the same frame.

use super::ranked::{Parts, Ranked};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use crate::engine::System;
use crate::movers::Mechanism;
use pagetide_policy::SpecError;

fn build(given: &Given, policy: &'static str) -> Result<Box<dyn System>, SpecError> {
    Ranked::build(given, &Parts::of(policy), Mechanism::EXCHANGE_HUGE)
}

pub(super) const AMP: SystemInfo = SystemInfo {
    name: "amp",
    summary: "LRU, LFU or random, whichever hits more in real or shadow placement",
    source: "AMP, algorithm 1",
    keys: keys::RANKED,
    build: |given| build(given, "amp:interval=0"),
};

pub(super) const LRU: SystemInfo = SystemInfo {
    name: "lru",
    summary: "what was accessed last is fast",
    source: "AMP, section 3.1",
    keys: keys::RANKED,
    build: |given| build(given, "lru"),
};

pub(super) const LFU: SystemInfo = SystemInfo {
    name: "lfu",
    summary: "what was accessed in most of the last 64 intervals is fast",
    source: "AMP, section 3.1",
    keys: keys::RANKED,
    build: |given| build(given, "lfu"),
};

pub(super) const RANDOM: SystemInfo = SystemInfo {
    name: "random",
    summary: "what is fast stays; freed room is filled at random",
    source: "AMP, section 3.1",
    keys: keys::RANKED,
    build: |given| build(given, "random"),
};

pub(super) const POLICY: SystemInfo = SystemInfo {
    name: "policy",
    summary: "the rank policy that `policy` names, e.g. policy = \"rate:interval=8\"",
    source: "ours",
    keys: keys::RANKED,
    build: |given| build(given, "rate"),
};
