//! NUMA nodes as the eBPF program knows them: numbered from 0, with the page frames of each.

use crate::error::ScanError;
use pagetide_types::NodeId;

// As in walk.h.
pub(crate) const MAX_NODES: usize = 8;
pub(crate) const NODE_BITS: usize = 3;
const MAX_RANGES: usize = 32;

/// Physical page frames from `start_pfn` up to the next entry's belong to `node`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRange {
    /// First page frame.
    pub start_pfn: u64,
    /// Its node.
    pub node: NodeId,
}

/// The nodes in the order of the program's numbers: as they were met, for memory may come and go, and
/// what was read before keeps its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSlots {
    nodes: Vec<NodeId>,
}

impl NodeSlots {
    /// The same numbers, and further ones, ascending, for nodes among those that own `ranges` that were not met before.
    pub(crate) fn with(&self, ranges: &[NodeRange]) -> Result<Self, ScanError> {
        let mut new: Vec<NodeId> = ranges.iter().map(|range| range.node).collect();
        new.retain(|node| !self.nodes.contains(node));
        new.sort_unstable();
        new.dedup();
        let nodes = [self.nodes.as_slice(), &new].concat();
        if nodes.len() > 1 && (nodes.len() > MAX_NODES || ranges.len() > MAX_RANGES) {
            return Err(ScanError::Refused(format!(
                "at most {MAX_NODES} NUMA nodes in {MAX_RANGES} ranges are supported, \
                 this machine has {} in {}",
                nodes.len(),
                ranges.len()
            )));
        }
        Ok(Self { nodes })
    }

    /// First frames and numbers for the program; nothing with one node, where nothing is asked.
    pub(crate) fn ranges(&self, ranges: &[NodeRange]) -> Vec<(u64, u32)> {
        if self.nodes.len() < 2 {
            return Vec::new();
        }
        let number = |node| (0..).zip(&self.nodes).find(|(_, n)| **n == node).map_or(0, |(i, _)| i);
        ranges.iter().map(|range| (range.start_pfn, number(range.node))).collect()
    }

    /// All nodes that were ever met.
    pub(crate) fn all(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The program's counts per number, of `present` pages; with one node it counts nothing.
    pub(crate) fn spread(&self, counts: [u16; MAX_NODES], present: u16) -> [u16; MAX_NODES] {
        if self.nodes.len() > 1 {
            return counts;
        }
        let mut spread = [0; MAX_NODES];
        spread[0] = present;
        spread
    }

    /// The node that holds most, by the program's counts per number.
    pub(crate) fn main(&self, counts: &[u16; MAX_NODES]) -> NodeId {
        let most = self.nodes.iter().zip(counts).max_by_key(|(_, count)| **count);
        most.map_or(NodeId(0), |(node, _)| *node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start_pfn: u64, node: u16) -> NodeRange {
        NodeRange { start_pfn, node: NodeId(node) }
    }

    #[test]
    fn nodes_are_numbered_without_gaps_and_found_again() {
        let ranges = [range(0, 0), range(100, 4), range(200, 0), range(300, 7)];
        let slots = NodeSlots::default().with(&ranges).unwrap();
        assert_eq!(slots.ranges(&ranges), [(0, 0), (100, 1), (200, 0), (300, 2)]);
        assert_eq!(slots.main(&[3, 500, 9, 0, 0, 0, 0, 0]), NodeId(4));
        assert_eq!(slots.main(&[0, 0, 9, 0, 0, 0, 0, 0]), NodeId(7));
    }

    #[test]
    fn nodes_keep_their_numbers_when_others_come_and_go() {
        let slots = NodeSlots::default().with(&[range(0, 1), range(100, 3)]).unwrap();
        let ranges = [range(0, 1), range(100, 3), range(200, 2)];
        let more = slots.with(&ranges).unwrap();
        assert_eq!(more.all(), [NodeId(1), NodeId(3), NodeId(2)]);
        assert_eq!(more.ranges(&ranges), [(0, 0), (100, 1), (200, 2)]);
        let fewer = more.with(&[range(0, 1)]).unwrap();
        assert_eq!((fewer.all(), fewer.ranges(&[range(0, 1)])), (more.all(), vec![(0, 0)]));
        let alone = NodeSlots::default().with(&[range(0, 1)]).unwrap();
        assert_eq!(
            alone.with(&ranges).unwrap().spread([1, 2, 3, 0, 0, 0, 0, 0], 6)[..3],
            [1, 2, 3]
        );
    }

    #[test]
    fn one_node_is_not_asked_for_and_too_many_are_refused() {
        let slots = NodeSlots::default().with(&[range(0, 3), range(100, 3)]).unwrap();
        assert_eq!(slots.ranges(&[range(0, 3), range(100, 3)]), []);
        assert_eq!(slots.main(&[0; 8]), NodeId(3));
        assert_eq!(slots.spread([0; 8], 5), [5, 0, 0, 0, 0, 0, 0, 0]);
        let many: Vec<NodeRange> = (0..9).map(|n| range(u64::from(n) * 100, n)).collect();
        let refused = NodeSlots::default().with(&many).unwrap_err().to_string();
        assert!(refused.contains("has 9 in 9"), "{refused}");
    }
}
