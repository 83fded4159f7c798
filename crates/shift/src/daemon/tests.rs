//! Checks of a daemon on a simulated kernel.

use super::*;
use crate::{Event, FreeBlocks, LockError, Machine, Trigger, simulated::SimKernel};

fn options(folder: &std::path::Path) -> DaemonOptions {
    DaemonOptions {
        folder: folder.to_owned(),
        machine: Machine { machine: "m".into(), boot: "b".into() },
        threshold: Threshold::Share(0.1),
        pressure: PressureOptions {
            smoothing: 0.5,
            threshold: Bytes(0),
            growth: 5.0,
            lead: 1.0,
            apart: Duration::from_secs(5),
            stalled: None,
        },
        limit: Duration::from_secs(10),
        at_most: None,
        compact: None,
        dry_run: false,
    }
}

fn nodes() -> Vec<Node> {
    vec![Node {
        id: NodeId(0),
        cpus: vec![0],
        total: Bytes::gib(1),
        free: Bytes(0),
        distances: vec![10],
    }]
}

/// A daemon of three devices, with so much free: of DRAM, and, the simulation knows no difference,
/// of the node behind it.
struct Rig {
    daemon: Daemon<SimKernel>,
    folder: tempfile::TempDir,
}

fn rig(change: impl FnOnce(&mut DaemonOptions)) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let kernel = SimKernel::new(3);
    let mut options = options(folder.path());
    let journal = Journal::open(folder.path(), options.machine.clone()).unwrap();
    let mut shifter = Shifter::new(kernel.clone(), journal);
    for number in 1..=3 {
        shifter.offer(&format!("dax1.{number}")).unwrap();
    }
    change(&mut options);
    Rig { daemon: Daemon::new(kernel, options), folder }
}

impl Rig {
    fn check(&mut self, free: Bytes) -> Vec<Happened> {
        self.daemon.kernel.edit(|machine| machine.free_dram = Bytes(free.0 / 2));
        self.daemon.kernel.sleep(Duration::from_secs(1));
        self.daemon.check(&nodes(), None).unwrap().happened
    }
    fn memory(&self) -> usize {
        let seen = Journal::peek(self.folder.path(), &self.daemon.options.machine).unwrap();
        seen.values().filter(|entry| entry.state == State::Memory).count()
    }
}

fn devices(happened: &[Happened]) -> Vec<&str> {
    happened
        .iter()
        .map(|it| match it {
            Happened::Grew { device, .. }
            | Happened::Shrank { device, .. }
            | Happened::Zeroed { device, .. }
            | Happened::Again { device, .. }
            | Happened::Restored { device, .. }
            | Happened::Refused { device, .. }
            | Happened::Would { device, .. } => device.as_str(),
            Happened::Exhausted { .. } => "exhausted",
            Happened::NoDevice => "none",
            Happened::Compacted(_) => "compacted",
        })
        .collect()
}

#[test]
fn short_memory_grows_from_the_right_end_and_shrinks_from_the_left() {
    let mut rig = rig(|_| {});
    assert_eq!(rig.check(Bytes::mib(200)), []);
    // Nothing is free, and five times a tenth of 1 GiB is wanted: two devices of 384 MiB.
    let happened = rig.check(Bytes::mib(0));
    assert_eq!(devices(&happened), ["dax1.3", "dax1.2"]);
    assert_eq!(rig.memory(), 2);
    // Too much at once, but the other direction has to wait.
    assert_eq!(rig.check(Bytes::mib(1500)), []);
    for _ in 0..3 {
        rig.check(Bytes::mib(1500));
    }
    let happened = rig.check(Bytes::mib(1500));
    assert_eq!(devices(&happened), ["dax1.2", "dax1.3", "dax1.2"], "the last is zeroed");
    assert_eq!(rig.memory(), 0);
}

/// Two devices are memory, and so many MiB of it are free, for long enough that some may go back.
fn grown(free: u64) -> Rig {
    let mut rig = rig(|_| {});
    assert_eq!(devices(&rig.check(Bytes::mib(0))), ["dax1.3", "dax1.2"]);
    // What a block had free goes with it. The simulation counts free memory twice.
    rig.daemon.kernel.edit(|machine| {
        machine.used_up = Bytes::mib(64);
        machine.one_by_one = true;
    });
    rig.daemon.kernel.sleep(Duration::from_secs(10));
    rig.check(Bytes::mib(500));
    rig.check(Bytes::mib(500));
    assert_eq!(rig.memory(), 2);
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(free / 2));
    rig
}

impl Rig {
    /// A check with what is free now.
    fn look(&mut self) -> Vec<Happened> {
        self.daemon.kernel.sleep(Duration::from_secs(1));
        self.daemon.check(&nodes(), None).unwrap().happened
    }
    fn use_up(&self, mib: u64) {
        self.daemon.kernel.edit(|machine| {
            machine.free_dram = machine.free_dram.saturating_sub(Bytes::mib(mib / 2));
        });
    }
    fn contents(&self, number: usize) -> Vec<u8> {
        self.daemon.kernel.machine.borrow().devices[number - 1].contents.clone()
    }
    fn finish(&mut self) -> Vec<Happened> {
        self.daemon.finish().unwrap();
        self.daemon.untold()
    }
    /// Zeroes until nothing is left to do, and tells what happened.
    fn zero(&mut self) -> Vec<Happened> {
        while self.daemon.zero(Duration::from_secs(1)).unwrap() {}
        self.daemon.untold()
    }
}

#[test]
fn memory_that_programs_want_meanwhile_is_not_given_back() {
    let mut rig = rig(|_| {});
    rig.check(Bytes(0));
    rig.check(Bytes::mib(700));
    rig.daemon.kernel.sleep(Duration::from_secs(10));
    // A device has three blocks; a quarter of the 512 MiB that are to stay free is 128. The simulation counts free
    // memory twice.
    rig.daemon.kernel.edit(|machine| machine.used_up = Bytes::mib(300));
    let happened = rig.check(Bytes::mib(1800));
    let [Happened::Refused { device, why }] = &happened[..] else { panic!("{happened:?}") };
    assert!(device == "dax1.2" && why.contains("is being used up"), "{why}");
    assert_eq!(rig.memory(), 2, "as it was");
    // It need not rest, and growing need not wait for five seconds.
    let happened: Vec<Happened> = (0..4).flat_map(|_| rig.check(Bytes(0))).collect();
    assert_eq!(devices(&happened), ["dax1.1", "exhausted"]);
    rig.daemon.kernel.edit(|machine| machine.used_up = Bytes(0));
    rig.daemon.kernel.sleep(Duration::from_secs(10));
    let happened: Vec<Happened> = (0..3).flat_map(|_| rig.check(Bytes::mib(5000))).collect();
    let shrank = happened.iter().filter(|it| matches!(it, Happened::Shrank { .. }));
    assert_eq!(shrank.count(), 3);
}

#[test]
fn what_became_memory_is_compacted_from_time_to_time_unless_memory_is_short() {
    let mut rig = rig(|options| options.compact = Some(Duration::from_secs(10)));
    let pieces = FreeBlocks { free: Bytes::mib(400), blocks: 3 };
    rig.daemon.kernel.edit(|machine| machine.free_blocks = pieces);
    let checks = |rig: &mut Rig, count: u32, mib| -> Vec<Happened> {
        (0..count).flat_map(|_| rig.check(Bytes::mib(mib))).collect()
    };
    assert_eq!(checks(&mut rig, 20, 600), [], "nothing of ours is memory");
    assert_eq!(devices(&checks(&mut rig, 4, 0))[..2], ["dax1.3", "dax1.2"]);
    let happened = checks(&mut rig, 15, 600);
    let [Happened::Compacted(compacted)] = &happened[..] else { panic!("{happened:?}") };
    assert_eq!((compacted.node, compacted.ended), (NodeId(1), true));
    assert_eq!((compacted.before, compacted.after.blocks), (pieces, 200));
    let second = vec![(NodeId(1), Duration::from_secs(1))];
    assert_eq!(rig.daemon.kernel.machine.borrow().compacted, second, "ended at the next check");
    assert_eq!(checks(&mut rig, 15, 600), [], "it is whole");
    checks(&mut rig, 15, 90);
    rig.daemon.kernel.edit(|machine| machine.free_blocks = pieces);
    assert!(!devices(&checks(&mut rig, 15, 90)).contains(&"compacted"), "memory is short");
}

#[test]
fn a_kernel_that_compacts_nothing_is_said() {
    let mut rig = rig(|options| options.compact = Some(Duration::from_secs(1)));
    rig.daemon.kernel.edit(|machine| {
        machine.free_blocks = FreeBlocks { free: Bytes::mib(400), blocks: 3 };
        machine.fails = vec!["compact"];
    });
    rig.check(Bytes::mib(0));
    let happened: Vec<Happened> = (0..3).flat_map(|_| rig.check(Bytes::mib(600))).collect();
    let [Happened::Refused { device, why }, ..] = &happened[..] else { panic!("{happened:?}") };
    assert!(device == "node 1" && why.contains("cannot compact"), "{device}: {why}");
}

#[test]
fn what_runs_out_is_said_once() {
    let mut rig = rig(|options| options.at_most = Some(Bytes::mib(400)));
    let happened = rig.check(Bytes::mib(0));
    assert_eq!(devices(&happened), ["dax1.3", "exhausted"]);
    assert_eq!(rig.check(Bytes::mib(0)), []);
    assert_eq!(rig.memory(), 1);
}

#[test]
fn a_device_that_refuses_rests_and_the_next_is_taken() {
    let mut rig = rig(|_| {});
    rig.daemon.kernel.edit(|machine| machine.devices[2].contents[0] = 1);
    let happened = rig.check(Bytes::mib(80));
    assert_eq!(devices(&happened), ["dax1.3", "dax1.2", "dax1.1"]);
    assert!(matches!(&happened[0], Happened::Refused { why, .. } if why.contains("holds data")));
    // It is not asked again at the next check.
    assert_eq!(devices(&rig.check(Bytes::mib(80))), ["exhausted"]);
}

#[test]
fn a_dry_run_changes_nothing() {
    let mut rig = rig(|options| options.dry_run = true);
    let happened = rig.check(Bytes::mib(100));
    assert!(matches!(happened[0], Happened::Would { what: "grow", .. }), "{happened:?}");
    assert_eq!(rig.memory(), 0);
    // Nor does it go on with what was left in the middle.
    let id = Identity::of(&crate::simulated::device(1));
    let machine = rig.daemon.options.machine.clone();
    let mut journal = Journal::open(rig.folder.path(), machine.clone()).unwrap();
    journal.write(Event::ToStorage, &id).unwrap();
    rig.check(Bytes::mib(500));
    assert_eq!(rig.finish(), []);
    let seen = Journal::peek(rig.folder.path(), &machine).unwrap();
    assert_eq!(seen[&id].state, State::ToStorage);
}

#[test]
fn what_another_took_back_meanwhile_is_left_to_him() {
    let mut rig = rig(|_| {});
    let machine = rig.daemon.options.machine.clone();
    let mut journal = Journal::open(rig.folder.path(), machine).unwrap();
    for device in rig.daemon.kernel.devices().unwrap() {
        journal.write(Event::Withdrawn, &Identity::of(&device)).unwrap();
    }
    assert_eq!(devices(&rig.check(Bytes::mib(0))), ["exhausted"]);
}

/// What becomes memory while so much is free at each check; a device takes three seconds.
fn filled(lead: f64, free: &[u64]) -> Vec<Happened> {
    let mut rig = rig(|options| options.pressure.lead = lead);
    rig.daemon.kernel.edit(|machine| machine.reading = Duration::from_secs(3));
    free.iter().flat_map(|free| rig.check(Bytes::mib(*free))).collect()
}

#[test]
fn memory_that_is_used_up_fast_grows_before_the_threshold() {
    // 80 MiB a second; the threshold is a tenth of 1 GiB, and the next device is assumed to take a second.
    let free = [600, 520, 440, 360, 265, 185];
    let happened = filled(1.0, &free);
    assert!(matches!(&happened[..], [Happened::Grew { why: Trigger::Lead, .. }]), "{happened:?}");
    assert_eq!(filled(0.0, &free), []);
    // One piece of as much is no reason.
    assert_eq!(filled(1.0, &[600, 600, 280, 280]), []);
}

#[test]
fn how_long_a_device_takes_is_learned() {
    let mut rig = rig(|_| {});
    rig.daemon.kernel.edit(|machine| machine.reading = Duration::from_secs(3));
    let conversion = |rig: &mut Rig, free: u64| {
        rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(free / 2));
        rig.daemon.kernel.sleep(Duration::from_secs(1));
        rig.daemon.check(&nodes(), None).unwrap().pairs[0].conversion
    };
    // 502 MiB at half a gigabyte a second, then as long as the last ones took.
    let assumed = conversion(&mut rig, 300).unwrap();
    assert!((assumed - 502.0 / 512.0).abs() < 0.01, "{assumed}");
    conversion(&mut rig, 0);
    conversion(&mut rig, 0);
    let learned = conversion(&mut rig, 300).unwrap();
    assert!((learned - 3.0).abs() < 0.01, "{learned}");
    // Without a device there is nothing to be ahead of.
    rig.daemon.options.at_most = Some(Bytes::mib(800));
    assert_eq!(conversion(&mut rig, 300), None);
}

#[path = "beside_tests.rs"]
mod beside_tests;

#[path = "arriving_tests.rs"]
mod arriving_tests;

#[path = "growing_tests.rs"]
mod growing_tests;

#[path = "own_node_tests.rs"]
mod own_node_tests;

#[path = "zeroing_tests.rs"]
mod zeroing_tests;

#[path = "telling_tests.rs"]
mod telling_tests;
