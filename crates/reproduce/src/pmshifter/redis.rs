//! Table 1: redis lies in the persistent memory of a socket whose DRAM is full, and that memory becomes storage. Where its
//! pages land, and which misses its operations have there, comes from guests (benches/shift.py, the meter); how fast redis
//! is where all memory is the socket's DRAM is measured on this machine; what a miss takes is the machine model's.

use super::WITHIN;
use crate::{Context, Figure, Outcome, ReproduceError, Row};
use pagetide_machine::Machine;
use serde_json::Value;

pub(super) const FIGURE: Figure = Figure {
    id: "table-1",
    title: "redis after its memory became storage (where pages land: guests; times: a model)",
    source: "section 5.4",
    slow: false,
    run,
};

/// The remote socket is so much farther [I]: as in the lab's topology of two pairs.
const HOP_NS: f64 = 70.0;
/// Each operation, and the published throughput over Linux.
const PUBLISHED: [(&str, f64); 5] =
    [("mset", 2.02), ("set", 1.62), ("get", 1.92), ("lpush", 2.09), ("rpop", 1.92)];
const WHY: &str = "of a request's time here less than a fifth is misses, in a store of 0.1 GB for 16; even a program that did \
                   nothing but wait for them would gain less than the paper's redis";

macro_rules! raw {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../benches/results/2026-11-24-amdepyc-2cores/shift-redis/redis-",
            $name,
            ".json"
        ))
    };
}

/// What one of the files says.
struct Measured {
    name: &'static str,
    said: Value,
}

impl Measured {
    fn new(name: &'static str, text: &str) -> Result<Self, ReproduceError> {
        let said = serde_json::from_str(text)
            .map_err(|error| ReproduceError::Other(format!("redis-{name}: {error}")))?;
        Ok(Self { name, said })
    }

    fn number(&self, pointer: &str) -> Result<f64, ReproduceError> {
        let value = self.said.pointer(pointer).and_then(Value::as_f64);
        value.ok_or_else(|| ReproduceError::Other(format!("redis-{}: no {pointer}", self.name)))
    }

    /// MiB of redis on a node.
    fn on(&self, when: &str, node: usize) -> Result<f64, ReproduceError> {
        self.number(&format!("/where/{when}/{node}"))
    }

    /// Misses of a kind (`reads`, `writes`) of a request on each node.
    fn misses(&self, operation: &str, kind: &str) -> Result<[f64; 4], ReproduceError> {
        let requests = self.number(&format!("/operations/{operation}/requests"))?;
        let mut found = [0.0; 4];
        for (node, misses) in found.iter_mut().enumerate() {
            let pointer = format!("/operations/{operation}/{kind}/{node}");
            *misses = self.number(&pointer)? / requests;
        }
        Ok(found)
    }
}

/// Nanoseconds that misses take more than if all were on the socket's own DRAM.
fn more_ns(misses: [f64; 4], dram_ns: f64, slow_ns: f64) -> f64 {
    let [_, remote, slow, remote_slow] = misses;
    (remote + remote_slow) * HOP_NS + (slow + remote_slow) * (slow_ns - dram_ns)
}

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let machine = Machine::load("pmshifter-optane")
        .map_err(|error| ReproduceError::Other(error.to_string()))?;
    let [dram, optane] = machine.tiers.as_slice() else {
        return Err(ReproduceError::Other("pmshifter-optane has not two tiers".into()));
    };
    let guests = [Measured::new("stock", raw!("stock"))?, Measured::new("ours", raw!("ours"))?];
    let here = Measured::new("here", raw!("here"))?;
    let mut outcome = Outcome::default();
    for (guest, name) in guests.iter().zip(["Linux", "ours"]) {
        for (node, of) in ["local DRAM", "remote DRAM", "local PM", "remote PM"].iter().enumerate()
        {
            let what = format!("{name}: redis in {of} afterwards");
            let before = guest.on("populated", node)?;
            let row = Row::new(what, "MiB", guest.on("offline", node)?);
            outcome.rows.push(row.why(format!("{before:.0} MiB before")));
        }
    }
    for (operation, published) in PUBLISHED {
        let alone_ns = 1e9 / here.number(&format!("/per_second/{operation}"))?;
        let takes = |guest: &Measured, stores: bool| -> Result<f64, ReproduceError> {
            let reads = guest.misses(operation, "reads")?;
            let mut ns = alone_ns + more_ns(reads, dram.read_latency_ns, optane.read_latency_ns);
            if stores {
                let writes = guest.misses(operation, "writes")?;
                ns += more_ns(writes, dram.write_latency_ns, optane.write_latency_ns);
            }
            Ok(ns)
        };
        let [stock, ours] = &guests;
        let gain = takes(stock, false)? / takes(ours, false)?;
        let row = Row::new(format!("{operation}: throughput over Linux"), "x", gain);
        outcome.rows.push(row.published(published, WITHIN).why(WHY));
        let gain = takes(stock, true)? / takes(ours, true)?;
        outcome.rows.push(Row::new(format!("{operation}: if stores wait as loads do"), "x", gain));
        // What of the memory it is: with nothing but its misses.
        let waits = |guest: &Measured| -> Result<f64, ReproduceError> {
            let reads = guest.misses(operation, "reads")?;
            let own = reads.iter().sum::<f64>() * dram.read_latency_ns;
            Ok(own + more_ns(reads, dram.read_latency_ns, optane.read_latency_ns))
        };
        let most = waits(stock)? / waits(ours)?;
        outcome.rows.push(Row::new(format!("{operation}: if it did nothing but wait"), "x", most));
    }
    outcome.notes.push(
        "latencies (the paper's come from queues of 50 clients) are not made: the model has no queue".into(),
    );
    Ok(outcome)
}
