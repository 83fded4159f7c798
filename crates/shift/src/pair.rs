//! Pairs of DRAM and the memory behind it: whose free memory is looked at together.

use pagetide_host::{DaxDevice, Node};
use pagetide_types::NodeId;

/// The node with CPUs that a device belongs to: the nearest by the firmware's affinity, which is told while
/// the device's own node has no memory yet, or else by its distances; none for a device of no node.
#[must_use]
pub fn dram_of(device: &DaxDevice, nodes: &[Node]) -> Option<NodeId> {
    let target = device.target?;
    let near = nodes.iter().find(|node| device.near == Some(node.id) && !node.cpus.is_empty());
    near.map(|node| node.id).or_else(|| nearest(target, nodes))
}

/// The node with CPUs that is nearest to a node, by the firmware's distances; of equal ones the lowest.
fn nearest(node: NodeId, nodes: &[Node]) -> Option<NodeId> {
    let column = nodes.iter().position(|it| it.id == node);
    nodes
        .iter()
        .filter(|it| !it.cpus.is_empty())
        .min_by_key(|it| {
            // A node without memory yet may not be in the table.
            let distance = column.and_then(|column| it.distances.get(column)).copied();
            (distance.unwrap_or(u32::MAX), it.id)
        })
        .map(|it| it.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::device;
    use pagetide_types::Bytes;

    fn node(id: u16, cpus: &[u32], distances: &[u32]) -> Node {
        Node {
            id: NodeId(id),
            cpus: cpus.to_vec(),
            total: Bytes::gib(1),
            free: Bytes(0),
            distances: distances.to_vec(),
        }
    }

    #[test]
    fn persistent_memory_belongs_to_the_dram_nearest_to_it() {
        let nodes = [
            node(0, &[0], &[10, 18, 37, 46]),
            node(1, &[1], &[18, 10, 46, 37]),
            node(2, &[], &[37, 46, 10, 50]),
            node(3, &[], &[46, 37, 50, 10]),
        ];
        assert_eq!(nearest(NodeId(2), &nodes), Some(NodeId(0)));
        assert_eq!(nearest(NodeId(3), &nodes), Some(NodeId(1)));
        // What the device itself says comes first, where that has CPUs.
        let device = |near| DaxDevice { near, target: Some(NodeId(3)), ..device(1) };
        assert_eq!(dram_of(&device(Some(NodeId(0))), &nodes), Some(NodeId(0)));
        assert_eq!(dram_of(&device(Some(NodeId(3))), &nodes), Some(NodeId(1)));
        assert_eq!(dram_of(&device(None), &nodes), Some(NodeId(1)));
        // Of one that the firmware knows nothing of, the first.
        assert_eq!(nearest(NodeId(9), &nodes), Some(NodeId(0)));
        assert_eq!(nearest(NodeId(2), &nodes[2..]), None);
    }
}
