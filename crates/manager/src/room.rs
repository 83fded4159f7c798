//! The free memory of the nodes when an epoch ends.

use crate::budget::FastNow;
use crate::{Leaving, Tiers};
use pagetide_migrate::{Kernel, NodeRoom};
use pagetide_types::{Bytes, NodeId};
use std::collections::BTreeMap;

/// What the nodes of both tiers could take.
pub(crate) struct NodesRoom {
    nodes: BTreeMap<NodeId, NodeRoom>,
}

impl NodesRoom {
    /// `page_cache`: that which nothing uses may be taken.
    pub(crate) fn look(kernel: &impl Kernel, tiers: &Tiers, page_cache: bool) -> Self {
        let nodes = tiers.fast.iter().chain(&tiers.slow);
        let room = |node: &NodeId| {
            let room = kernel.room(*node);
            let idle_cache = if page_cache { room.idle_cache } else { Bytes(0) };
            (*node, NodeRoom { idle_cache, ..room })
        };
        Self { nodes: nodes.map(room).collect() }
    }

    /// The fast tier, of which the target holds so much.
    pub(crate) fn of_fast(&self, tiers: &Tiers, held: Bytes) -> FastNow {
        let sum = |what: fn(&NodeRoom) -> Bytes| {
            tiers.fast.iter().filter_map(|node| self.nodes.get(node)).map(what).sum::<Bytes>()
        };
        let (free, full) = (sum(|room| room.free), sum(|room| room.full));
        let idle_cache = sum(|room| room.idle_cache);
        FastNow { total: tiers.fast_total(), free, idle_cache, full, held, ahead: Bytes(0) }
    }

    /// Free memory of a node.
    pub(crate) fn free(&self, node: NodeId) -> Bytes {
        self.nodes.get(&node).map_or(Bytes(0), |room| room.free)
    }

    /// What each node could take before the kernel reclaims what is in use, and of what stays where some of it is about to leave.
    pub(crate) fn above_floor(&self, leaving: Option<Leaving>) -> BTreeMap<NodeId, Bytes> {
        let leaves = |node: &NodeId| {
            leaving.filter(|it| it.node == *node).map_or(Bytes(0), |leaving| leaving.bytes)
        };
        let left = |(node, room): (&NodeId, &NodeRoom)| {
            (*node, free_or_idle(room).saturating_sub(room.floor).saturating_sub(leaves(node)))
        };
        self.nodes.iter().map(left).collect()
    }

    /// What must stay free of each fast node, or page cache that may be taken, so that the target never holds more than it
    /// may, also if demotions fail: all that is so now, but for what it may still get.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of u64")]
    pub(crate) fn kept(
        &self,
        tiers: &Tiers,
        now: &FastNow,
        capacity: Bytes,
    ) -> BTreeMap<NodeId, Bytes> {
        let kept = (now.room() + now.held).saturating_sub(capacity).as_f64();
        let nodes = tiers.fast.iter().filter_map(|node| Some((*node, self.nodes.get(node)?)));
        nodes
            .map(|(node, room)| {
                let share = match now.room() {
                    Bytes(0) => 1.0 / tiers.fast.len() as f64,
                    all => free_or_idle(room).as_f64() / all.as_f64(),
                };
                (node, Bytes((kept * share).ceil() as u64))
            })
            .collect()
    }
}

/// What is free of a node, and the page cache that may be taken.
fn free_or_idle(room: &NodeRoom) -> Bytes {
    room.free + room.idle_cache
}
