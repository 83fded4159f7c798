//! Devices of the DRAM's own node, as where the firmware gives them none of their own.

use super::*;

fn of_the_drams_node(rig: &Rig) {
    rig.daemon.kernel.edit(|machine| {
        machine.devices.iter_mut().for_each(|it| it.device.target = Some(NodeId(0)));
    });
}

fn check(rig: &mut Rig, free: u64, total: u64) -> Check {
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(free));
    rig.daemon.kernel.sleep(Duration::from_secs(1));
    let nodes = vec![Node { total: Bytes::mib(total), ..nodes().remove(0) }];
    rig.daemon.check(&nodes, None).unwrap()
}

#[test]
fn what_is_free_there_is_counted_once() {
    let mut rig = rig(|_| {});
    of_the_drams_node(&rig);
    assert_eq!(check(&mut rig, 120, 1024).happened, [], "a tenth is 102 MiB");
    let seen = check(&mut rig, 80, 1024);
    assert_eq!(seen.pairs[0].free, Bytes::mib(80));
    assert_eq!(devices(&seen.happened)[0], "dax1.3");
}

#[test]
fn what_became_memory_there_is_no_dram_of_the_threshold() {
    let mut rig = rig(|_| {});
    of_the_drams_node(&rig);
    let before = check(&mut rig, 0, 1024).pairs[0].threshold;
    assert_eq!(rig.memory(), 2);
    assert_eq!(check(&mut rig, 500, 1024 + 2 * 384).pairs[0].threshold, before);
}
