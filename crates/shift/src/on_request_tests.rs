//! Devices go back on request one by one: what others can do in between, and when that is stopped.

use super::*;
use crate::{
    Machine,
    simulated::{SECRET, SimKernel, device},
};
use pagetide_host::DaxDriver;
use std::{path::Path, time::Duration};

const ALL: Request<'static> = Request {
    size: Bytes::gib(8),
    device: None,
    how: GiveBack {
        limit: Duration::from_secs(10),
        evict: false,
        withdraw: true,
        unless_used_up: None,
    },
    dry_run: false,
};

fn journal(folder: &Path) -> Journal {
    Journal::open(folder, Machine { machine: "m".into(), boot: "b".into() }).unwrap()
}

fn id(number: u64) -> Identity {
    Identity::of(&device(number))
}

/// A machine on which so many devices are memory.
fn grown(devices: u64) -> (SimKernel, tempfile::TempDir) {
    let kernel = SimKernel::new(devices);
    let folder = tempfile::tempdir().unwrap();
    let mut shifter = Shifter::new(kernel.clone(), journal(folder.path()));
    for number in 1..=devices {
        shifter.offer(&format!("dax1.{number}")).unwrap();
        shifter.to_memory(&id(number)).unwrap();
    }
    (kernel, folder)
}

/// The journal under the lock, which must be free now.
fn opened(folder: &Path) -> Opened {
    let lock = Some(Lock::change(folder, Duration::ZERO).unwrap());
    Opened { journal: journal(folder), lock }
}

/// As often as that, then it is asked to stop.
fn so_often(folder: &Path, mut times: u32) -> impl FnMut() -> Result<Option<Opened>, Refusal> {
    move || {
        let again = times > 0;
        times = times.saturating_sub(1);
        Ok(again.then(|| opened(folder)))
    }
}

#[test]
fn the_lock_is_free_between_two_devices() {
    let (kernel, folder) = grown(3);
    let done = give_back(&kernel, &ALL, so_often(folder.path(), 9)).unwrap();
    assert_eq!((done.devices.len(), done.bytes), (3, Bytes::mib(3 * 384)));
    assert!(!done.stopped && done.refused.is_empty(), "{done:?}");
    assert!(kernel.machine.borrow().devices.iter().all(|it| it.contents == [0; 4]));
    let after = journal(folder.path());
    assert!(after.devices().values().all(|entry| entry.state == State::Withdrawn));
}

#[test]
fn who_is_asked_to_stop_does_so_after_the_device_at_hand() {
    let (kernel, folder) = grown(3);
    let done = give_back(&kernel, &ALL, so_often(folder.path(), 1)).unwrap();
    assert!(done.stopped && done.devices == ["dax1.1"], "{done:?}");
    let after = journal(folder.path());
    let states: Vec<State> = after.devices().values().map(|entry| entry.state).collect();
    assert_eq!(states, [State::Withdrawn, State::Memory, State::Memory]);
    // Recovering stops there, too.
    kernel.reboot();
    let (recovered, all) = recover(&kernel, &[], so_often(folder.path(), 3)).unwrap();
    assert_eq!((recovered.len(), all), (1, false));
    assert_eq!(kernel.machine.borrow().devices[2].contents, [SECRET; 4]);
    let (recovered, all) = recover(&kernel, &[], so_often(folder.path(), 9)).unwrap();
    assert_eq!((recovered.len(), all), (1, true));
    assert_eq!(kernel.machine.borrow().devices[2].contents, [0; 4]);
}

#[test]
fn what_does_not_go_is_named_and_the_next_is_tried_once() {
    let (kernel, folder) = grown(2);
    kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.pinned = true);
        machine.devices[1].blocks.values_mut().for_each(|block| block.unmovable = 1);
    });
    let done = give_back(&kernel, &ALL, so_often(folder.path(), 9)).unwrap();
    assert_eq!((done.bytes, done.refused.len()), (Bytes(0), 2), "{done:?}");
    assert!(done.refused[0].contains("did not go offline"), "{done:?}");
    assert_eq!(done.refused[1], "dax1.2 holds pages that do not move");
}

#[test]
fn a_device_that_is_no_memory_is_told_from_one_that_is_not_there() {
    let (kernel, folder) = grown(2);
    kernel.edit(|machine| machine.devices[1].device.uuid = Some("somebody's".into()));
    let refused = |name| {
        let named = Request { device: Some(name), ..ALL };
        give_back(&kernel, &named, so_often(folder.path(), 9)).unwrap_err().to_string()
    };
    assert!(refused("dax1.2").contains("dax1.2 is no memory of ours"), "{}", refused("dax1.2"));
    assert!(refused("dax1.7").contains("dax1.7 is not there"), "{}", refused("dax1.7"));
}

#[test]
fn a_dry_run_names_the_devices_and_changes_nothing() {
    let (kernel, folder) = grown(3);
    let wanted = Request { size: Bytes::mib(500), dry_run: true, ..ALL };
    let done = give_back(&kernel, &wanted, so_often(folder.path(), 9)).unwrap();
    assert_eq!((done.devices.len(), done.bytes), (2, Bytes::mib(2 * 384)));
    let machine = kernel.machine.borrow();
    assert!(machine.devices.iter().all(|it| it.device.driver == DaxDriver::Memory));
}

#[test]
fn what_is_used_is_looked_up_of_the_leftmost_devices_only() {
    let (kernel, folder) = grown(8);
    kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.unmovable = 1);
    });
    let wanted = Request { size: Bytes(1), dry_run: true, ..ALL };
    give_back(&kernel, &wanted, so_often(folder.path(), 9)).unwrap();
    let mut looked: Vec<u64> = kernel.machine.borrow().looked.iter().map(|it| it.0 / 4).collect();
    looked.dedup();
    assert_eq!(looked, [1, 2, 3, 4, 5], "one that stays, and four to choose from");
}

#[test]
fn what_is_said_to_be_wanted_by_nobody_is_zeroed() {
    let (kernel, folder) = grown(2);
    kernel.edit(|machine| machine.devices.iter_mut().for_each(|it| it.device.uuid = None));
    let mut written = journal(folder.path());
    let places = [1, 2].map(|number| Identity { uuid: None, ..id(number) });
    places.iter().for_each(|id| written.write(crate::Event::Memory, id).unwrap());
    kernel.reboot();
    let open = || -> Result<Option<Opened>, Refusal> {
        let later = Machine { machine: "m".into(), boot: "c".into() };
        Ok(Some(Opened { journal: Journal::open(folder.path(), later).unwrap(), lock: None }))
    };
    let refusal = recover(&kernel, &["dax1.2".into(), "dax7.7".into()], open).unwrap_err();
    assert!(refusal.to_string().contains("device dax7.7 is not there"), "{refusal}");
    assert!(kernel.machine.borrow().devices.iter().all(|it| it.contents == [SECRET; 4]));
    recover(&kernel, &["dax1.2".into()], open).unwrap();
    let contents: Vec<u8> =
        kernel.machine.borrow().devices.iter().map(|it| it.contents[0]).collect();
    assert_eq!(contents, [SECRET, 0]);
}

/// A machine of so many devices that are memory, whose node has nothing free, and of one who heeds that they go.
fn heeded(devices: u64) -> (SimKernel, tempfile::TempDir) {
    let (kernel, folder) = grown(devices);
    kernel.edit(|machine| {
        machine.demotes_to = Some(Bytes(0));
        machine.heeding = vec![crate::Heeding { heeded: 0, epoch: Duration::from_secs(2) }];
    });
    (kernel, folder)
}

fn said(kernel: &SimKernel) -> Vec<Option<u64>> {
    let said = kernel.machine.borrow().announced.clone();
    said.into_iter().map(|it| it.map(|it| it.bytes.0 >> 20)).collect()
}

#[test]
fn who_heeds_that_devices_go_is_told_first_and_the_lock_is_free_meanwhile() {
    let (kernel, folder) = heeded(3);
    let mut waited = 0;
    let wanted = Request { size: Bytes::mib(500), ..ALL };
    let done = give_back(&kernel, &wanted, || {
        let memory = kernel.machine.borrow().devices.iter().all(|it| !it.blocks.is_empty());
        if memory && !said(&kernel).is_empty() {
            waited += 1;
            if waited == 5 {
                kernel.edit(|machine| machine.heeding[0].heeded = 1);
            }
        }
        Ok::<_, Refusal>(Some(opened(folder.path())))
    });
    assert_eq!(done.unwrap().devices, ["dax1.1", "dax1.2"]);
    let zeroing = 8 * crate::simulated::ZEROING;
    assert_eq!((waited, kernel.now.get()), (5, 4 * LOOK + zeroing), "looked at in between");
    assert_eq!(said(&kernel), [Some(500), Some(116), None]);
}

#[test]
fn who_does_not_answer_is_waited_for_once_and_nobody_where_nobody_runs() {
    let time = |kernel: &SimKernel, folder: &Path, request: &Request<'_>| {
        let done = give_back(kernel, request, || Ok::<_, Refusal>(Some(opened(folder)))).unwrap();
        assert_eq!(done.devices.len(), 2, "{done:?}");
        (kernel.now.get(), said(kernel).len())
    };
    let (kernel, folder) = heeded(2);
    kernel.edit(|machine| machine.heeding.clear());
    let (alone, told) = time(&kernel, folder.path(), &ALL);
    assert_eq!(told, 0);
    let (kernel, folder) = heeded(2);
    let (stuck, told) = time(&kernel, folder.path(), &ALL);
    assert_eq!((stuck - alone, told), (Duration::from_secs(4), 3));
    let (kernel, folder) = heeded(2);
    let dry = Request { dry_run: true, ..ALL };
    assert_eq!(time(&kernel, folder.path(), &dry), (Duration::ZERO, 0), "a dry run tells nobody");
}

#[test]
fn what_was_waited_is_part_of_the_time_for_giving_back() {
    let (kernel, folder) = heeded(1);
    kernel.edit(|machine| machine.offlining = Duration::from_secs(2));
    let how = GiveBack { limit: Duration::from_secs(5), ..ALL.how };
    let request = Request { how, ..ALL };
    let done = give_back(&kernel, &request, || Ok::<_, Refusal>(Some(opened(folder.path()))));
    // Half of it is waited, and three blocks do not go offline in the rest.
    assert!(done.unwrap().refused[0].contains("did not go offline"));
    assert!(kernel.now.get() <= Duration::from_millis(5200), "{:?}", kernel.now.get());
    assert_eq!(said(&kernel), [Some(384), None]);
}

#[test]
fn who_is_asked_to_stop_does_not_wait_any_longer() {
    let (kernel, folder) = heeded(1);
    let done = give_back(&kernel, &ALL, so_often(folder.path(), 3)).unwrap();
    assert!(done.stopped && done.devices.is_empty(), "{done:?}");
    assert_eq!(kernel.now.get(), 2 * LOOK);
    assert_eq!(said(&kernel).last(), Some(&None));
}
