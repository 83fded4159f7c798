//! Six programs, on a machine on which every access waits for the one before: what the cost model of
//! plans is about.

use pagetide_machine::{Machine, model};
use pagetide_sim::scenario::{Outcome, Scenario, parse, run};
use pagetide_types::Bytes;

/// Of every program: 48 units of 2 MiB.
pub(crate) const MEMORY: Bytes = Bytes::mib(96);
/// Between two decisions, seconds: time for 54 moves of a unit.
pub(crate) const INTERVAL_S: f64 = 0.02;
/// Intervals that are not counted, and all.
pub(crate) const WARM_UP: usize = 5;
pub(crate) const EPOCHS: usize = 29;

/// Machine `cxl`, whose accesses come one after the other.
const MACHINE: &str = r#"
name = "cxl-one-by-one"
title = "cxl, one access after the other"
source = "machines/cxl.toml"
[[tier]]
name = "DDR5"
read_latency_ns = 100
write_latency_ns = 100
read_bandwidth_gb_s = 215
write_bandwidth_gb_s = 215
[[tier]]
name = "CXL"
read_latency_ns = 250
write_latency_ns = 250
read_bandwidth_gb_s = 28
write_bandwidth_gb_s = 25
[migration]
page_4k_us = 12
page_2m_us = 370
source = "machines/cxl.toml"
[core]
count = 16
outstanding = 1
"#;

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// It computes for longer than any access takes: it waits for no memory, and makes the same
    /// accesses at the same times wherever its memory is. And pages move in next to no time.
    MovesAtOnce,
    /// The same, and moves take their time.
    OfItsOwn,
    /// It computes nothing: it only waits for memory.
    OfMemory,
}

impl Pace {
    fn compute_ns(self) -> u32 {
        if self == Self::OfMemory { 0 } else { 250 }
    }

    /// Threads that copy, and pages that move together. One by one is what `page_2m_us` is the price
    /// of; many hide each other's latencies.
    fn threads_and_together(self) -> (u32, u32) {
        if self == Self::MovesAtOnce { (32, 0) } else { (1, 1) }
    }

    fn machine(self) -> toml::Table {
        let moves =
            "[kernel]\ncopy_gb_s = 1e5\npage_us = 0.01\ncall_us = 0.01\ninterrupt_us = 0.0\n";
        let bandwidth = |text: &str| {
            ["215", "28", "25"].iter().fold(text.to_owned(), |text, gb_s| {
                text.replace(&format!("gb_s = {gb_s}\n"), "gb_s = 1e6\n")
            })
        };
        match self {
            Self::MovesAtOnce => (bandwidth(MACHINE) + moves).parse().unwrap(),
            _ => MACHINE.parse().unwrap(),
        }
    }
}

/// Programs by name, with their patterns. Phases end within intervals: at the end of one, a few accesses
/// more or less would say whether the next one has accessed all of the phase before.
pub(crate) const PROGRAMS: [(&str, &str); 6] = [
    ("zipf", r#"{ kind = "zipf" }"#),
    ("hot-cold", r#"{ kind = "hot-cold" }"#),
    ("phases", r#"{ kind = "phases", sets = 2, every = 0.113 }"#),
    ("uniform", r#"{ kind = "uniform" }"#),
    ("sweep", r#"{ kind = "strided", stride = "128B" }"#),
    (
        "regions",
        r#"{ kind = "regions", part = [
            { name = "table", from = 0.0, to = 0.5, weight = 4, walk = "zipf", exponent = 0.9, object = "256K" },
            { name = "grid", from = 0.5, to = 0.75, weight = 2, walk = "sequential", run = 8 },
            { name = "rest", from = 0.75, to = 1.0, weight = 1, walk = "random" },
        ], phase = [
            { seconds = 0.165 },
            { seconds = 0.088, weights = { grid = 0.2, rest = 8 } },
        ] }"#,
    ),
];

/// The machine of all of them.
pub(crate) fn machine() -> Machine {
    model::parse(MACHINE, "the test's machine").unwrap()
}

/// A program under a policy with so large a share of its memory fast; none: all of it.
pub(crate) fn scenario(pattern: &str, pace: Pace, policy: Option<&str>, share: f64) -> Scenario {
    let mut scenario: toml::Table = toml::from_str(&format!(
        r#"
        seconds = {}
        warm_up = {}
        [[tenant]]
        memory = "{}M"
        fast_share = {share}
        compute_ns = {}
        pattern = {}
        "#,
        INTERVAL_S * EPOCHS as f64,
        INTERVAL_S * WARM_UP as f64,
        MEMORY.0 >> 20,
        pace.compute_ns(),
        pattern.replace('\n', ""),
    ))
    .unwrap();
    let (threads, together) = pace.threads_and_together();
    let system = match policy {
        None => "name = \"all-fast\"".to_owned(),
        Some(policy) => format!(
            "name = \"policy\"\npolicy = \"{policy}\"\ninterval = {INTERVAL_S}\ntracker = \"{}\"\n\
             split = false\nthreads = {threads}\ntogether = {together}\nexchange = \"never\"",
            if policy.starts_with("rate") { "exact" } else { "accessed-bits" }
        ),
    };
    scenario.insert("machine".to_owned(), pace.machine().into());
    scenario.insert("system".to_owned(), system.parse::<toml::Table>().unwrap().into());
    parse(&toml::to_string(&scenario).unwrap(), "the test's scenario").unwrap()
}

/// What becomes of it.
pub(crate) fn simulate(pattern: &str, pace: Pace, policy: Option<&str>, share: f64) -> Outcome {
    run(&scenario(pattern, pace, policy, share), None, "the test's scenario").unwrap()
}

/// Accesses a second of a program that only waits, ten at a time, with a share of its memory fast;
/// none: all of it.
pub(crate) fn overlapping(pattern: &str, share: Option<f64>) -> f64 {
    let mut scenario = scenario(pattern, Pace::OfMemory, None, share.unwrap_or(1.0));
    let mut machine: toml::Table = MACHINE.parse().unwrap();
    machine.remove("core");
    scenario.machine = machine.into();
    (scenario.seconds, scenario.warm_up) = (0.011, 0.001);
    let system = if share.is_some() { "no-migration" } else { "all-fast" };
    run(&scenario, Some(system), "the test's scenario").unwrap().tenants[0].accesses_per_s
}
