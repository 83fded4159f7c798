//! A machine's figures as what they are simulated by.

use super::Ps;
use super::bank_queues::{Banks, Module};
use pagetide_machine::{LocalMemory, Pool, PoolMachine};
use pagetide_types::Bytes;

/// Times of a machine that do not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// An instruction of a core, in 2^-16 ps.
    instruction: u64,
    /// A cycle, in ns.
    cycle_ns: f64,
    /// From a node to the pool.
    pub(super) there: Ps,
    /// From the pool to a node.
    pub(super) back: Ps,
}

impl Times {
    pub(super) fn of(machine: &PoolMachine) -> Self {
        let core = &machine.core;
        let ps = 1e3 / (core.ghz * core.instructions_per_cycle);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 2^-16 and 10^12, checked by the machine"
        )]
        let instruction = (ps * 65_536.0).round() as u64;
        let latency = machine.network.latency_ns;
        let each = Ps::from_ns(if machine.network.round_trip { latency / 2.0 } else { latency });
        Self { instruction, cycle_ns: 1.0 / core.ghz, there: each, back: each }
    }

    /// What so many instructions take that wait for nothing.
    #[inline]
    pub(super) fn instructions(&self, count: u32) -> Ps {
        let all = u128::from(count) * u128::from(self.instruction);
        #[expect(clippy::cast_possible_truncation, reason = "2^30 of at most 10^12 ps")]
        let ps = (all >> 16) as u64;
        Ps(ps)
    }

    /// So many cycles.
    pub(super) fn cycles(&self, count: u64) -> Ps {
        Ps::from_ns(count as f64 * self.cycle_ns).max(Ps(1))
    }

    /// A span in cycles.
    pub(super) fn in_cycles(&self, span: Ps) -> f64 {
        span.ns() / self.cycle_ns
    }
}

/// Whole pages in so much memory.
pub(super) const fn pages_of(memory: Bytes) -> u64 {
    memory.0 >> 12
}

/// A node's own memory.
pub(super) fn local(memory: &LocalMemory) -> Module {
    Module::new(&Banks {
        banks: memory.banks,
        outstanding: memory.outstanding,
        read_ns: memory.read_ns,
        write_ns: memory.write_ns,
        path_ns: memory.path_ns,
        bandwidth_gb_s: memory.bandwidth_gb_s,
        interleave: Bytes(64),
    })
}

/// A module of the pool.
pub(super) fn module(pool: &Pool) -> Module {
    Module::new(&Banks {
        banks: pool.banks,
        outstanding: pool.outstanding,
        read_ns: pool.read_ns,
        write_ns: pool.write_ns,
        path_ns: pool.path_ns,
        bandwidth_gb_s: pool.bandwidth_gb_s,
        interleave: pool.interleave,
    })
}
