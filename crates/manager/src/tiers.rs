//! Which nodes are fast and which are slow: from the kernel's memory tiers, or from distances
//! where it knows of one tier only, or as the user says. Slow memory may come and go.

use crate::Leaving;
use pagetide_host::{Error, Host, MemoryTier, Node};
use pagetide_types::{Bytes, NodeId};

/// The nodes between which pages move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiers {
    /// Nodes of the fast tier, ascending.
    pub fast: Vec<NodeId>,
    /// Nodes of slower tiers, ascending.
    pub slow: Vec<NodeId>,
    /// How they were found, for people.
    pub source: String,
    /// What of the slow ones is about to be taken away.
    pub leaving: Option<Leaving>,
    nodes: Vec<Node>,
}

/// Why there is nothing to move pages between.
#[derive(Debug, thiserror::Error)]
pub enum TierError {
    /// There is one node only.
    #[error(
        "one memory node ({0}): nothing to move pages between; see `pagetide doctor`, try it in \
         the two-tier lab (`make lab`, docs/lab.md), or look at the decisions with --dry-run --fast SIZE"
    )]
    OneNode(NodeId),
    /// Several nodes of one tier, all with processors.
    #[error(
        "the kernel takes all memory nodes ({0}) for equally fast, and all have processors; say \
         which are fast and which are slow with --fast-nodes and --slow-nodes"
    )]
    OneTier(String),
    /// A node that the user named.
    #[error("node {node} {what}; nodes with memory here: {known}")]
    NoNode {
        /// As named.
        node: NodeId,
        /// What is wrong with it.
        what: &'static str,
        /// Those that there are.
        known: String,
    },
    /// The host cannot be read.
    #[error(transparent)]
    Host(#[from] Error),
}

impl Tiers {
    /// The tiers of a host. `fast` and `slow` override what the kernel says; empty: as it says.
    ///
    /// # Errors
    /// When there are no two tiers, or a node named does not exist or has no memory.
    pub fn read(host: &Host, fast: &[NodeId], slow: &[NodeId]) -> Result<Self, TierError> {
        let nodes: Vec<Node> =
            host.nodes()?.into_iter().filter(|node| node.total > Bytes(0)).collect();
        let online = host.online_nodes()?;
        let tiers = host.memory_tiers()?;
        Self::of(nodes, &online, &tiers, fast, slow)
    }

    /// The tiers of a host whose slow memory may come later, and go: until then all of it is fast.
    ///
    /// # Errors
    /// When the host cannot be read, or a node is said to be both fast and slow.
    pub fn now(host: &Host, fast: &[NodeId], slow: &[NodeId]) -> Result<Self, TierError> {
        match Self::read(host, fast, slow) {
            Err(TierError::OneNode(_) | TierError::OneTier(_)) => {}
            Err(TierError::NoNode { node, .. })
                if !(fast.contains(&node) && slow.contains(&node)) => {}
            other => return other,
        }
        let mut nodes = host.nodes()?;
        nodes.retain(|node| node.total > Bytes(0) && !slow.contains(&node.id));
        let source = "there is no slow memory".to_owned();
        Ok(Self {
            fast: nodes.iter().map(|node| node.id).collect(),
            slow: Vec::new(),
            source,
            leaving: None,
            nodes,
        })
    }

    /// Whether nodes and how much memory they have are those of `before`.
    #[must_use]
    pub fn are(&self, before: &Self) -> bool {
        let sizes = |tiers: &Self| -> Vec<(NodeId, Bytes)> {
            tiers.nodes.iter().map(|node| (node.id, node.total)).collect()
        };
        (&self.fast, &self.slow) == (&before.fast, &before.slow) && sizes(self) == sizes(before)
    }

    /// Its nodes and their memory, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let of = |name: &str, nodes: &[NodeId]| match nodes {
            [] => format!("no {name} memory"),
            nodes => format!("{} of {name} memory (node {})", self.total(nodes), list(nodes)),
        };
        format!("{}, {}", of("fast", &self.fast), of("slow", &self.slow))
    }

    /// One node for all memory: what is decided there cannot be carried out.
    #[must_use]
    pub fn assumed(host: &Host) -> Self {
        let nodes = host.nodes().unwrap_or_default();
        let source = "assumed: nothing can be moved here".to_owned();
        Self {
            fast: Vec::new(),
            slow: nodes.iter().map(|node| node.id).collect(),
            source,
            leaving: None,
            nodes,
        }
    }

    pub(crate) fn of(
        nodes: Vec<Node>,
        online: &[NodeId],
        tiers: &[MemoryTier],
        fast: &[NodeId],
        slow: &[NodeId],
    ) -> Result<Self, TierError> {
        let ids: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
        let known = list(&ids);
        for node in fast.iter().chain(slow) {
            if !ids.contains(node) {
                let what = if online.contains(node) { "has no memory" } else { "does not exist" };
                return Err(TierError::NoNode { node: *node, what, known });
            }
            if fast.contains(node) && slow.contains(node) {
                let what = "cannot be both fast and slow";
                return Err(TierError::NoNode { node: *node, what, known });
            }
        }
        if let [only] = ids.as_slice() {
            return Err(TierError::OneNode(*only));
        }
        let but = |these: &[NodeId]| -> Vec<NodeId> {
            ids.iter().copied().filter(|node| !these.contains(node)).collect()
        };
        let (fast, slow, source) = match (fast, slow) {
            ([], []) => Self::found(&nodes, tiers).ok_or(TierError::OneTier(known))?,
            (fast, []) => (fast.to_vec(), but(fast), "as given".to_owned()),
            ([], slow) => (but(slow), slow.to_vec(), "as given".to_owned()),
            (fast, slow) => (fast.to_vec(), slow.to_vec(), "as given".to_owned()),
        };
        if fast.is_empty() || slow.is_empty() {
            return Err(TierError::OneTier(list(&ids)));
        }
        Ok(Self { fast, slow, source, leaving: None, nodes })
    }

    fn found(nodes: &[Node], tiers: &[MemoryTier]) -> Option<(Vec<NodeId>, Vec<NodeId>, String)> {
        let with_memory = |tier: &MemoryTier| -> Vec<NodeId> {
            let has = |id: &&NodeId| nodes.iter().any(|node| node.id == **id);
            tier.nodes.iter().filter(has).copied().collect()
        };
        let mut tiers = tiers.iter().map(with_memory).filter(|tier| !tier.is_empty());
        let first = tiers.next();
        let mut rest: Vec<NodeId> = tiers.flatten().collect();
        if let (Some(first), false) = (first, rest.is_empty()) {
            rest.sort_unstable();
            return Some((first, rest, "the kernel's memory tiers".to_owned()));
        }
        // Memory without processors is taken for slower: a device, or persistent memory.
        let (fast, slow): (Vec<&Node>, Vec<&Node>) =
            nodes.iter().partition(|node| !node.cpus.is_empty());
        let ids = |nodes: Vec<&Node>| nodes.into_iter().map(|node| node.id).collect::<Vec<_>>();
        let source = "nodes without processors are taken for the slow ones".to_owned();
        (!fast.is_empty() && !slow.is_empty()).then(|| (ids(fast), ids(slow), source))
    }

    /// Whether a node belongs to the fast tier.
    #[must_use]
    pub fn is_fast(&self, node: NodeId) -> bool {
        self.fast.contains(&node)
    }

    /// The memory of the fast tier.
    #[must_use]
    pub fn fast_total(&self) -> Bytes {
        self.total(&self.fast)
    }

    /// The memory of these nodes.
    #[must_use]
    pub fn total(&self, of: &[NodeId]) -> Bytes {
        self.nodes.iter().filter(|node| of.contains(&node.id)).map(|node| node.total).sum()
    }

    /// The node with memory to which a CPU belongs.
    #[must_use]
    pub fn node_of(&self, cpu: u32) -> Option<NodeId> {
        self.nodes.iter().find(|node| node.cpus.contains(&cpu)).map(|node| node.id)
    }

    /// `nodes` in the order of their distance from a node, the nearest first.
    #[must_use]
    pub fn nearest(&self, from: NodeId, nodes: &[NodeId]) -> Vec<NodeId> {
        let distances = self.nodes.iter().find(|node| node.id == from).map(|node| &node.distances);
        let distance = |to: &NodeId| {
            let at = self.nodes.iter().position(|node| node.id == *to);
            at.and_then(|at| distances.and_then(|all| all.get(at))).copied().unwrap_or(u32::MAX)
        };
        let mut nearest = nodes.to_vec();
        nearest.sort_by_key(distance);
        nearest
    }
}

/// `0, 1 and 3` without the `and`.
fn list(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u16, cpus: u32, mib: u64, distances: &[u32]) -> Node {
        let total = Bytes::mib(mib);
        Node {
            id: NodeId(id),
            cpus: (u32::from(id) * cpus..).take(cpus as usize).collect(),
            total,
            free: total,
            distances: distances.to_vec(),
        }
    }

    /// Two sockets, each with a CXL expander.
    fn four() -> Vec<Node> {
        vec![
            node(0, 4, 1024, &[10, 21, 14, 24]),
            node(1, 4, 1024, &[21, 10, 24, 14]),
            node(2, 0, 4096, &[14, 24, 10, 26]),
            node(3, 0, 4096, &[24, 14, 26, 10]),
        ]
    }

    fn tier(number: u32, nodes: &[u16]) -> MemoryTier {
        MemoryTier { number, nodes: ids(nodes) }
    }

    fn ids(nodes: &[u16]) -> Vec<NodeId> {
        nodes.iter().map(|node| NodeId(*node)).collect()
    }

    fn of(
        nodes: Vec<Node>,
        tiers: &[MemoryTier],
        fast: &[u16],
        slow: &[u16],
    ) -> Result<Tiers, String> {
        let online: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
        Tiers::of(nodes, &online, tiers, &ids(fast), &ids(slow)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_kernels_tiers_are_followed_and_the_nearest_node_is_the_target() {
        let tiers =
            of(four(), &[tier(4, &[0, 1]), tier(22, &[2]), tier(30, &[3])], &[], &[]).unwrap();
        assert_eq!((tiers.fast.clone(), tiers.slow.clone()), (ids(&[0, 1]), ids(&[2, 3])));
        assert_eq!(tiers.nearest(NodeId(3), &tiers.fast), ids(&[1, 0]));
        assert_eq!(tiers.nearest(NodeId(0), &tiers.slow), ids(&[2, 3]));
        assert_eq!(tiers.fast_total(), Bytes::gib(2));
        assert!(tiers.is_fast(NodeId(1)) && !tiers.is_fast(NodeId(2)));
    }

    #[test]
    fn a_cpu_belongs_to_its_node() {
        let tiers = of(four(), &[tier(4, &[0, 1, 2, 3])], &[], &[]).unwrap();
        assert_eq!(
            [3, 4, 99].map(|cpu| tiers.node_of(cpu)),
            [Some(NodeId(0)), Some(NodeId(1)), None]
        );
    }

    #[test]
    fn without_latencies_memory_without_processors_is_slow() {
        let tiers = of(four(), &[tier(4, &[0, 1, 2, 3])], &[], &[]).unwrap();
        assert_eq!((tiers.fast, tiers.slow), (ids(&[0, 1]), ids(&[2, 3])));
        assert!(tiers.source.contains("without processors"));
    }

    #[test]
    fn the_user_knows_better() {
        let kernel = [tier(4, &[0, 1]), tier(22, &[2, 3])];
        let fast = |fast: &[u16], slow: &[u16]| {
            let tiers = of(four(), &kernel, fast, slow).unwrap();
            (tiers.fast, tiers.slow)
        };
        assert_eq!(fast(&[0], &[]), (ids(&[0]), ids(&[1, 2, 3])));
        assert_eq!(fast(&[], &[3]), (ids(&[0, 1, 2]), ids(&[3])));
        assert_eq!(fast(&[0], &[2]), (ids(&[0]), ids(&[2])));
    }

    #[test]
    fn what_cannot_be_is_said_with_its_remedy() {
        let one = of(vec![node(0, 2, 64, &[10])], &[tier(4, &[0])], &[], &[]).unwrap_err();
        assert!(one.contains("one memory node (0): nothing to move") && one.contains("doctor"));
        let sockets = vec![node(0, 4, 64, &[10, 21]), node(1, 4, 64, &[21, 10])];
        let same = of(sockets, &[tier(4, &[0, 1])], &[], &[]).unwrap_err();
        assert!(same.contains("(0, 1)") && same.contains("--slow-nodes"), "{same}");
        let none = of(four(), &[], &[7], &[]).unwrap_err();
        assert!(none.contains("node 7 does not exist") && none.contains("0, 1, 2, 3"), "{none}");
        let both = of(four(), &[], &[1], &[1]).unwrap_err();
        assert!(both.contains("both fast and slow"), "{both}");
        let all = of(four(), &[], &[0, 1, 2, 3], &[]).unwrap_err();
        assert!(all.contains("equally fast"), "{all}");
    }
}
