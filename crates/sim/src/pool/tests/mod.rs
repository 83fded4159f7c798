//! The pool against closed formulas, from both sides, and what migration does step by step.

mod closed_forms;
mod governed;
mod migration;
mod prices;
mod scheduled;
mod swaps;
mod two_stages;

use super::{
    Accounting, Chooser, Engine, Migration, Misses, NodeOutcome, Placement, PoolError, PoolOutcome,
    Program, Ps, SwapStall,
};
use pagetide_access::Kind;
use pagetide_machine::PoolMachine;

/// The paper's machine with so many nodes.
fn machine(nodes: u32) -> PoolMachine {
    PoolMachine { nodes, ..PoolMachine::load("pcm-2019").unwrap() }
}

/// Pages that pay for their move, as docs/pool.md has it.
fn payback() -> Migration {
    Migration {
        policy: Chooser::Payback,
        threshold: 3,
        epoch_cycles: 10_000,
        keep_counts: true,
        most: 500,
        ..Migration::default()
    }
}

/// So many misses of lines that `line` gives, each after `gap` instructions.
fn misses(count: u32, gap: u64, kind: Kind, line: impl Fn(u32) -> u32) -> Misses {
    let mut misses = Misses::default();
    (0..count).for_each(|number| misses.push(line(number), kind, gap));
    misses
}

/// What comes of the same cores on every node.
fn replay(
    machine: &PoolMachine,
    cores: &[Misses],
    placement: Placement,
    migration: Option<&Migration>,
) -> Result<PoolOutcome, PoolError> {
    let lines = cores.iter().flat_map(|core| core.all()).map(|miss| miss.line());
    let pages = lines.max().unwrap_or(0) / 64 + 1;
    let programs = vec![Program { misses: cores, pages }; machine.nodes as usize];
    Engine::new(machine, &programs, (placement, 1), migration)?.run(&mut |_| true)
}

/// Within so many percent of what is expected.
#[track_caller]
fn close(found: f64, expected: f64, percent: f64) {
    let off = 100.0 * (found / expected - 1.0).abs();
    assert!(off <= percent, "{found} instead of {expected}: {off:.2} % off");
}
