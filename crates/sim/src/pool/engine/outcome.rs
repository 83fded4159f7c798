//! What came of a replay, from what was counted.

use super::{Engine, start};
use crate::pool::core::Core;
use crate::pool::node::Node;
use crate::pool::outcome::{NodeOutcome, PoolOutcome};
use crate::pool::pool_module::PoolModule;

impl Engine<'_> {
    pub(super) fn outcome(self) -> PoolOutcome {
        let busy = self.busy_s();
        let Self { times, nodes, controller, manager, pool, requests, .. } = self;
        let of_node = |(number, node): (usize, &Node<'_>)| {
            let tally = &node.tally;
            let end = |core: &Core<'_>| core.done_at().unwrap_or_default();
            let start = start(number);
            let ipc = |core: &Core<'_>| {
                core.instructions() as f64 / times.in_cycles(end(core) - start).max(1e-9)
            };
            let mean = |delay: u128, count: u64| delay as f64 * 1e-3 / (count as f64).max(1.0);
            let (stopped, stood_still) =
                node.governed.as_ref().map_or_else(Default::default, |of| of.stopped);
            let walks = node.translations.as_ref().map_or((0, 0), |of| of.walks);
            NodeOutcome {
                instructions: node.cores.iter().map(Core::instructions).sum(),
                seconds: node.cores.iter().map(end).max().unwrap_or_default().seconds(),
                ipc: node.cores.iter().map(ipc).sum::<f64>() / node.cores.len().max(1) as f64,
                local_fetches: tally.fetched[0],
                pool_fetches: tally.fetched[1],
                local_write_backs: tally.written[0],
                pool_write_backs: tally.written[1],
                delay_ns: mean(
                    tally.delay[0] + tally.delay[1],
                    tally.fetched[0] + tally.fetched[1],
                ),
                pool_delay_ns: mean(tally.delay[1], tally.fetched[1]),
                moved_in: tally.moved_in,
                moved_out: tally.moved_out,
                stalls: tally.stalls,
                stalled_s: tally.stalled.seconds(),
                most_accesses: controller.as_ref().map_or(0, |all| all.most(number)),
                most_hot: tally.most_hot,
                walks: walks.0,
                walks_again: walks.1,
                stopped,
                stood_still_s: stood_still.seconds(),
            }
        };
        let all: Vec<NodeOutcome> = nodes.iter().enumerate().map(of_node).collect();
        let seconds = all.iter().map(|node| node.seconds).fold(0.0, f64::max);
        let banks: usize = pool.iter().map(PoolModule::banks).sum();
        let outcome = PoolOutcome {
            ipc: all.iter().map(|node| node.ipc).sum::<f64>() / all.len().max(1) as f64,
            seconds,
            busy_share: busy / (banks as f64 * seconds).max(1e-12),
            requests,
            nodes: all,
            ..PoolOutcome::default()
        };
        let swapped = manager.map(|manager| manager.swapped).unwrap_or_default();
        outcome.told(swapped, controller.map(|all| all.spills()).unwrap_or_default())
    }
}
