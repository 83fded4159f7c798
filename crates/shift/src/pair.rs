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

/// The nodes with CPUs, the one that a device belongs to first, then by their distance from its own node.
#[must_use]
pub(crate) fn drams_of(device: &DaxDevice, nodes: &[Node]) -> Vec<NodeId> {
    let Some(target) = device.target else { return Vec::new() };
    let first = dram_of(device, nodes);
    let others = by_distance(target, nodes).into_iter().filter(|node| Some(*node) != first);
    first.into_iter().chain(others).collect()
}

/// The node with CPUs that is nearest to a node.
fn nearest(node: NodeId, nodes: &[Node]) -> Option<NodeId> {
    by_distance(node, nodes).first().copied()
}

/// The nodes with CPUs by the firmware's distances from a node; of equal ones the lowest first.
fn by_distance(node: NodeId, nodes: &[Node]) -> Vec<NodeId> {
    let column = nodes.iter().position(|it| it.id == node);
    let mut drams: Vec<&Node> = nodes.iter().filter(|it| !it.cpus.is_empty()).collect();
    drams.sort_by_key(|it| {
        // A node without memory yet may not be in the table.
        let distance = column.and_then(|column| it.distances.get(column)).copied();
        (distance.unwrap_or(u32::MAX), it.id)
    });
    drams.into_iter().map(|it| it.id).collect()
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
        // What leaves a device goes to its own DRAM, then to the other, and to no other persistent memory.
        assert_eq!(drams_of(&device(Some(NodeId(0))), &nodes), [NodeId(0), NodeId(1)]);
        assert_eq!(drams_of(&device(None), &nodes), [NodeId(1), NodeId(0)]);
    }
}
