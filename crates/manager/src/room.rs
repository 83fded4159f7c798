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
    pub(crate) fn look(kernel: &impl Kernel, tiers: &Tiers) -> Self {
        let nodes = tiers.fast.iter().chain(&tiers.slow);
        Self { nodes: nodes.map(|node| (*node, kernel.room(*node))).collect() }
    }

    /// The fast tier, of which the target holds so much.
    pub(crate) fn of_fast(&self, tiers: &Tiers, held: Bytes) -> FastNow {
        let sum = |what: fn(&NodeRoom) -> Bytes| {
            tiers.fast.iter().filter_map(|node| self.nodes.get(node)).map(what).sum::<Bytes>()
        };
        let (free, full) = (sum(|room| room.free), sum(|room| room.full));
        FastNow { total: tiers.fast_total(), free, full, held, ..FastNow::default() }
    }

    /// Page cache of the fast tier that the kernel may be made to give up.
    pub(crate) fn idle_cache(&self, tiers: &Tiers) -> Bytes {
        let nodes = tiers.fast.iter().filter_map(|node| self.nodes.get(node));
        nodes.map(|room| room.idle_cache).sum()
    }

    /// Free memory of a node.
    pub(crate) fn free(&self, node: NodeId) -> Bytes {
        self.nodes.get(&node).map_or(Bytes(0), |room| room.free)
    }

    /// What each node could take before the kernel reclaims what is in use, and of what stays where some of it is about to leave.
    /// `cache`: what page cache may be given up.
    pub(crate) fn above_floor(
        &self,
        leaving: Option<Leaving>,
        cache: &BTreeMap<NodeId, Bytes>,
    ) -> BTreeMap<NodeId, Bytes> {
        let leaves = |node: &NodeId| {
            leaving.filter(|it| it.node == *node).map_or(Bytes(0), |leaving| leaving.bytes)
        };
        let left = |(node, room): (&NodeId, &NodeRoom)| {
            let all = room.free + cache.get(node).copied().unwrap_or_default();
            (*node, all.saturating_sub(room.floor).saturating_sub(leaves(node)))
        };
        self.nodes.iter().map(left).collect()
    }

    /// What of `all` of the fast tier falls to each of its nodes that has some, in proportion.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of u64")]
    fn shares(
        &self,
        tiers: &Tiers,
        all: Bytes,
        of: impl Fn(NodeId, &NodeRoom) -> Bytes,
    ) -> BTreeMap<NodeId, Bytes> {
        let nodes = tiers
            .fast
            .iter()
            .map(|node| (*node, self.nodes.get(node).map_or(Bytes(0), |room| of(*node, room))));
        let sum = nodes.clone().map(|(_, bytes)| bytes).sum::<Bytes>();
        nodes
            .map(|(node, bytes)| {
                let share = match sum {
                    Bytes(0) => 1.0 / tiers.fast.len() as f64,
                    sum => bytes.as_f64() / sum.as_f64(),
                };
                (node, Bytes((all.as_f64() * share).ceil() as u64))
            })
            .collect()
    }

    /// What must stay free of each fast node, and what of its page cache may be given up, so that the target never holds more
    /// than it may, also if demotions fail, and the reserve stays. `beyond`: what it may have more, rather than give back what is
    /// worth its place.
    pub(crate) fn kept(
        &self,
        tiers: &Tiers,
        now: &FastNow,
        (capacity, reserve, beyond): (Bytes, Bytes, Bytes),
    ) -> [BTreeMap<NodeId, Bytes>; 2] {
        let have = now.free + now.held;
        // So much of what it may have is not free yet.
        let cache = (capacity + reserve).saturating_sub(have).min(now.idle_cache);
        let kept = (have + cache).saturating_sub(capacity + beyond);
        let cache = self.shares(tiers, cache, |_, room| room.idle_cache);
        let kept = self.shares(tiers, kept, |node, room| {
            room.free + cache.get(&node).copied().unwrap_or_default()
        });
        [kept, cache]
    }
}
