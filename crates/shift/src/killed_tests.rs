//! There and back, killed at every step.

use super::give_back_tests::CAREFUL;
use super::*;

/// There and back, in pieces, killed after so many changes of the machine, before or after the last of them; `wanted`:
/// and there again, for programs want it while it is zeroed. Whether it got to its end.
fn killed(rig: &mut Rig, changes: u32, after: bool, wanted: bool) -> bool {
    rig.kernel.kill.set(Some((changes, after)));
    let there = rig.shifter.to_memory(&id(1));
    if there.is_err() {
        return false;
    }
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.used = 100);
    });
    if rig.shifter.leave(&id(1), CAREFUL).is_err() {
        return false;
    }
    let mut zeroed = 0;
    loop {
        match rig.shifter.zero(&id(1), &mut zeroed, crate::simulated::ZEROING) {
            Ok(false) if wanted => return rig.shifter.again(&id(1)).is_ok(),
            Ok(false) => {}
            ended => return ended.is_ok(),
        }
    }
}

#[test]
fn killed_at_any_step_it_can_be_made_right_with_and_without_a_reboot() {
    let points = [false, true].map(killed_at_any_step);
    assert!(points[0] > 60 && points[1] > points[0], "{points:?}");
}

/// How many points there are.
fn killed_at_any_step(wanted: bool) -> u32 {
    let mut points = 0;
    for changes in 1.. {
        let mut ended = false;
        for (after, reboot) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut rig = rig();
            ended = killed(&mut rig, changes, after, wanted);
            points += 1;
            if reboot {
                rig.kernel.reboot();
            }
            rig.kernel.kill.set(None);
            let mut later = Shifter::new(rig.kernel.clone(), open(rig.folder.path()));
            for recovered in later.recover() {
                recovered.is.unwrap_or_else(|refusal| panic!("{changes} {after}: {refusal}"));
            }
            let state = later.journal().state(&id(1)).unwrap();
            match rig.driver() {
                // Nobody's secrets on what is storage.
                DaxDriver::Storage => {
                    assert_eq!((state, rig.contents()), (State::Storage, vec![0; 4]), "{changes}");
                }
                DaxDriver::Memory => assert_eq!((state, rig.online()), (State::Memory, 3)),
                other => panic!("{changes} {after}: {other:?}"),
            }
            assert!(later.recover().iter().all(|it| it.is.is_ok()), "again");
            assert!(!reboot || rig.driver() == DaxDriver::Storage);
        }
        if ended {
            break;
        }
    }
    points
}

#[test]
fn its_owner_gets_what_he_asked_for_wherever_that_was_killed() {
    let mut ended = false;
    for changes in 1.. {
        for (after, reboot) in [(false, false), (true, false), (false, true), (true, true)] {
            let at = format!("{changes} {after} {reboot}");
            let mut rig = rig();
            rig.shifter.to_memory(&id(1)).unwrap();
            rig.kernel.edit(|machine| {
                machine.devices[0].blocks.values_mut().for_each(|block| block.used = 100);
            });
            rig.kernel.kill.set(Some((changes, after)));
            ended = rig.shifter.to_storage(&id(1), GiveBack { withdraw: true, ..HOW }).is_ok();
            if reboot {
                rig.kernel.reboot();
            }
            rig.kernel.kill.set(None);
            let mut later = Shifter::new(rig.kernel.clone(), open(rig.folder.path()));
            // Nobody takes it on the way.
            if later.journal().state(&id(1)) == Some(State::ToStorage) {
                assert!(matches!(later.again(&id(1)), Ok(None)), "{at}");
            }
            assert!(later.recover().iter().all(|it| it.is.is_ok()), "{at}");
            assert_eq!(later.journal().state(&id(1)), Some(State::Withdrawn), "{at}");
            assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]), "{at}");
            assert!(matches!(later.to_memory(&id(1)), Err(Refusal::Withdrawn(_))), "{at}");
        }
        if ended {
            assert!(changes > 10, "{changes}");
            break;
        }
    }
}

/// One of two devices is zeroed while the other one leaves, killed after so many changes, before or after the last of them.
/// Whether it got to its end.
fn killed_beside(rig: &mut Rig, changes: u32, after: bool) -> bool {
    rig.shifter.leave(&id(1), CAREFUL).unwrap();
    rig.kernel.kill.set(Some((changes, after)));
    if rig.shifter.begin_beside(&id(1), 0).is_err() || rig.shifter.leave(&id(2), CAREFUL).is_err() {
        return false;
    }
    let ended = rig.shifter.end_beside(Duration::from_secs(1), &|| false);
    matches!(ended.unwrap().zeroed, Ok(None))
        && rig.shifter.zero(&id(2), &mut 0, Duration::MAX).is_ok()
}

#[test]
fn killed_while_one_is_zeroed_and_another_leaves_both_can_be_made_right() {
    let mut ended = false;
    for changes in 1.. {
        for (after, reboot) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut rig = rig_of(2);
            for number in [1, 2] {
                rig.shifter.to_memory(&id(number)).unwrap();
            }
            ended = killed_beside(&mut rig, changes, after);
            if reboot {
                rig.kernel.reboot();
            }
            rig.kernel.kill.set(None);
            let at = format!("{changes} {after} {reboot}");
            assert!(rig.kernel.beside.borrow().is_none(), "{at}");
            let journal = open(rig.folder.path());
            let machine = rig.kernel.machine.borrow().clone();
            for (number, it) in (1..).zip(&machine.devices) {
                let zeros = it.contents == [0; 4];
                assert!(
                    zeros || journal.state(&id(number)) != Some(State::Storage),
                    "{at} {number}"
                );
            }
            let mut later = Shifter::new(rig.kernel.clone(), journal);
            for recovered in later.recover() {
                recovered.is.unwrap_or_else(|refusal| panic!("{at}: {refusal}"));
            }
            let machine = rig.kernel.machine.borrow();
            for (number, it) in (1..).zip(&machine.devices) {
                let state = later.journal().state(&id(number)).unwrap();
                let online = it.blocks.values().filter(|block| block.online).count();
                match it.device.driver {
                    DaxDriver::Storage => {
                        assert_eq!((state, &it.contents), (State::Storage, &vec![0; 4]), "{at}");
                    }
                    DaxDriver::Memory => assert_eq!((state, online), (State::Memory, 3), "{at}"),
                    ref other => panic!("{at}: {other:?}"),
                }
            }
        }
        if ended {
            assert!(changes > 10, "{changes}");
            break;
        }
    }
    assert!(ended);
}
