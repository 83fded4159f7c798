//! What becomes memory where there are two pairs, or where that does not work out for all that is wanted.

use super::*;

/// `dax1.1` belongs to node 2, which has CPUs as well.
fn two_pairs(rig: &Rig) -> Vec<Node> {
    rig.daemon.kernel.edit(|machine| machine.devices[0].device.near = Some(NodeId(2)));
    let second = Node { id: NodeId(2), cpus: vec![1], ..nodes().remove(0) };
    [nodes(), vec![second]].concat()
}

#[test]
fn no_more_is_memory_than_that_of_all_pairs_together() {
    let mut rig = rig(|options| options.at_most = Some(Bytes::mib(800)));
    let nodes = two_pairs(&rig);
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes(0));
    let seen = rig.daemon.check(&nodes, None).unwrap();
    assert_eq!(seen.pairs.len(), 2);
    assert_eq!(devices(&seen.happened), ["dax1.3", "dax1.2", "exhausted"]);
    assert_eq!((rig.memory(), seen.pairs[1].conversion), (2, None));
    rig.daemon.options.at_most = None;
    let happened = rig.daemon.check(&nodes, None).unwrap().happened;
    assert!(devices(&happened).contains(&"dax1.1"), "{happened:?}");
}
