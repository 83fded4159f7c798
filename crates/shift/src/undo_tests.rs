//! A conversion that is given up, where not all that it did can be undone.

use super::*;

#[test]
fn where_a_block_does_not_come_back_the_others_do_and_the_first_reason_is_told() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().last().unwrap().pinned = true;
        machine.fails = vec!["online 5"];
    });
    let error = rig.shifter.to_storage(&id(1), HOW).unwrap_err().to_string();
    assert!(error.starts_with("block 7 of dax1.1 did not go offline"), "{error}");
    assert!(error.contains("cannot online 5") && error.contains("shift recover"), "{error}");
    assert_eq!((rig.online(), rig.shifter.journal().state(&id(1))), (2, Some(State::ToStorage)));
    // The same the other way round.
    rig.kernel.edit(|machine| machine.fails.clear());
    assert!(rig.shifter.recover().iter().all(|it| it.is.is_ok()));
    rig.kernel
        .edit(|machine| machine.devices[0].blocks.values_mut().for_each(|it| it.pinned = false));
    rig.shifter.to_storage(&id(1), HOW).unwrap();
    rig.kernel.edit(|machine| machine.fails = vec!["online 7", "offline 5"]);
    let error = rig.shifter.to_memory(&id(1)).unwrap_err().to_string();
    assert!(error.starts_with("dax1.1: cannot online 7"), "{error}");
    assert!(error.contains("cannot offline 5"), "{error}");
    assert_eq!((rig.online(), rig.shifter.journal().state(&id(1))), (1, Some(State::ToMemory)));
}
