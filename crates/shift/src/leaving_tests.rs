//! How long is waited for whom, and what the two sides read of each other.

use super::*;
use crate::simulated::SimKernel;

const NODE: NodeId = NodeId(1);
const LIMIT: Duration = Duration::from_secs(30);

fn heeds(seconds: u64) -> Heeding {
    Heeding { heeded: 0, epoch: Duration::from_secs(seconds) }
}

#[test]
fn two_epochs_are_waited_for_whoever_heeds_it_and_not_for_ever() {
    let wait = |seconds: &[u64], limit| {
        let all: Vec<Heeding> = seconds.iter().copied().map(heeds).collect();
        patience(&all, Duration::from_secs(limit)).map(|wait| wait.as_secs())
    };
    assert_eq!(wait(&[], 30), None, "nobody runs");
    assert_eq!(wait(&[1, 5], 30), Some(10), "the longest epochs count");
    assert_eq!(wait(&[5], 8), Some(4), "half of the time for giving back");
    assert_eq!(wait(&[3600], 600), Some(20), "never longer");
    let forged = Heeding { heeded: 0, epoch: Duration::MAX };
    assert_eq!(patience(&[forged], LIMIT), Some(Duration::from_secs(15)));
}

/// A machine on which so much of the node is free.
fn machine(free: Bytes, heeding: Vec<Heeding>) -> SimKernel {
    let kernel = SimKernel::new(1);
    kernel.edit(|machine| (machine.demotes_to, machine.heeding) = (Some(free), heeding));
    kernel
}

fn announce(kernel: &SimKernel) -> Option<Announced> {
    Announced::make(kernel, (NODE, Bytes::mib(384)), LIMIT)
}

#[test]
fn nobody_is_told_where_nobody_heeds_it() {
    let kernel = machine(Bytes(0), vec![]);
    assert!(announce(&kernel).is_none());
    assert_eq!(kernel.machine.borrow().announced, []);
}

#[test]
fn it_is_over_when_all_have_heeded_it_or_what_stays_has_room_or_the_time_is_over() {
    let kernel = machine(Bytes::mib(100), vec![heeds(5), heeds(2)]);
    let announced = announce(&kernel).unwrap();
    let is_over = || announced.is_over(&kernel);
    let since = kernel.machine.borrow().announced[0].unwrap().since;
    assert!(!is_over());
    kernel.edit(|machine| machine.heeding[1].heeded = since);
    assert!(!is_over(), "one of them has not");
    kernel.edit(|machine| machine.heeding[0].heeded = since);
    assert!(is_over());
    kernel.edit(|machine| machine.heeding[0].heeded = since - 1);
    assert!(!is_over(), "that was another announcement");
    kernel.edit(|machine| machine.demotes_to = Some(Bytes::mib(384)));
    assert!(is_over(), "what stays has room");
    kernel.edit(|machine| machine.demotes_to = Some(Bytes::mib(383)));
    kernel.sleep(Duration::from_millis(9_900));
    assert!(!is_over(), "one that does nothing");
    kernel.sleep(Duration::from_millis(100));
    assert!(is_over(), "is not waited for");
    let announced = announce(&kernel).unwrap();
    kernel.edit(|machine| machine.heeding.clear());
    assert!(announced.is_over(&kernel), "all were killed");
}

#[test]
fn what_has_left_is_about_to_leave_no_more() {
    let kernel = machine(Bytes(0), vec![heeds(5)]);
    let announced = announce(&kernel).unwrap();
    let rest = announced.left(&kernel, Bytes::mib(128)).unwrap();
    assert!(rest.is_over(&kernel), "it was waited for once");
    assert!(rest.left(&kernel, Bytes::mib(256)).is_none());
    let said = kernel.machine.borrow().announced.clone();
    let said: Vec<Option<Bytes>> = said.into_iter().map(|it| it.map(|it| it.bytes)).collect();
    assert_eq!(said, [Some(Bytes::mib(384)), Some(Bytes::mib(256)), None]);
}

#[test]
fn each_side_reads_what_the_other_says_as_long_as_that_lives() {
    let root = tempfile::tempdir().unwrap();
    let host = Host::new(root.path());
    // Root's alone is believed.
    let believed = nix::unistd::geteuid().is_root();
    assert_eq!((leaving(&host), heeding(&host)), (None, vec![]));
    let (said, notice) = say(&host, NODE, Bytes::mib(384)).unwrap();
    assert_eq!(leaving(&host), believed.then_some(said));
    let (later, second) = say(&host, NODE, Bytes::mib(128)).unwrap();
    assert!(later.since > said.since, "each has another number");
    drop(notice);
    assert_eq!(leaving(&host), believed.then_some(later));
    drop(second);
    assert_eq!(leaving(&host), None);

    let epoch = Duration::from_millis(2500);
    let mut heeds = Heeds::begin(&host, epoch).unwrap();
    let says = |heeded| if believed { vec![Heeding { heeded, epoch }] } else { vec![] };
    assert_eq!(heeding(&host), says(0));
    heeds.heeded(later.since).unwrap();
    assert_eq!(heeding(&host), says(later.since));
    drop(heeds);
    assert_eq!(heeding(&host), []);
}

#[test]
fn what_makes_no_sense_is_as_if_nothing_was_said() {
    let root = tempfile::tempdir().unwrap();
    let host = Host::new(root.path());
    for text in ["", "{", "7", r#"{"since":1,"node":1}"#, r#"{"since":-1,"node":1,"bytes":1}"#] {
        let _leaving = Notice::put(&host.path(LEAVING), text).unwrap();
        let _heeds = Notice::put(&host.path(HEEDING).join("7"), text).unwrap();
        assert_eq!((leaving(&host), heeding(&host)), (None, vec![]), "{text}");
    }
}
