//! What becomes memory where there are two pairs, or where that does not work out for all that is wanted.

use super::*;
use std::{cell::RefCell, rc::Rc};

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

#[test]
fn what_became_memory_counts_and_is_told_though_another_has_the_lock_before_the_next_device() {
    let mut rig = rig(|_| {});
    let (folder, machine) = (rig.folder.path().to_owned(), rig.daemon.options.machine.clone());
    let lock = Rc::new(RefCell::new(None));
    let others = {
        let lock = Rc::clone(&lock);
        move || {
            let seen = Journal::peek(&folder, &machine).unwrap();
            let memory = seen.values().any(|entry| entry.state == State::Memory);
            if memory && lock.borrow().is_none() {
                lock.replace(Some(Lock::change(&folder, Duration::ZERO).unwrap()));
            }
        }
    };
    rig.daemon.kernel.others.replace(Some(Box::new(others)));
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes(0));
    let error = rig.daemon.check(&nodes(), None).unwrap_err();
    assert!(matches!(error, DaemonError::Lock(LockError::Held { .. })), "{error}");
    let happened = rig.daemon.untold();
    assert!(matches!(&happened[..], [Happened::Grew { device, .. }] if device == "dax1.3"));
    assert_eq!(rig.daemon.untold(), []);
    rig.daemon.kernel.others.take();
    drop(lock.take());
    // Too much is free, but the other direction has to wait.
    for _ in 0..4 {
        assert_eq!(rig.check(Bytes::mib(2000)), []);
    }
    assert_eq!(devices(&rig.check(Bytes::mib(2000))), ["dax1.3"]);
}
