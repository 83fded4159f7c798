//! Nodes with a governor: stopped where moves do not pay, and let go on when accesses change.

use super::*;

/// Pages that are read from end to end, once, and after that eight pages again and again.
fn swept_then_reread(swept: u32, reread: u32) -> Vec<Misses> {
    let line = |core: u32| {
        move |i: u32| match i.checked_sub(swept) {
            None => core << 18 | i,
            Some(i) => core << 18 | 1 << 17 | (i % 8) << 6 | (i / 8 % 64),
        }
    };
    (0..2).map(|core| misses(swept + reread, 20, Kind::Read, line(core))).collect()
}

fn under(governor: Option<&str>, misses: &[Misses]) -> PoolOutcome {
    let migration = Migration {
        epoch_cycles: 10_000,
        governor: governor.map(str::to_owned),
        governor_second_us: governor.map(|_| 5.0),
        ..Migration::default()
    };
    replay(&machine(1), misses, Placement::Pool, Some(&migration)).unwrap()
}

#[test]
fn moves_that_do_not_pay_are_stopped() {
    let all = swept_then_reread(100_000, 0);
    let [free, none, gain] = [None, Some("none"), Some("gain")].map(|name| under(name, &all));
    assert_eq!(free, none);
    let (free, node) = (&free.nodes[0], &gain.nodes[0]);
    assert_eq!((free.stopped, free.stood_still_s), (0, 0.0));
    assert!(node.stopped >= 1 && node.stood_still_s > 0.5 * node.seconds, "{node:?}");
    assert!(node.moved_in < free.moved_in / 3 && node.ipc > 1.2 * free.ipc, "{free:?} {node:?}");
}

#[test]
fn moves_go_on_when_accesses_change() {
    let all = swept_then_reread(60_000, 60_000);
    let [none, gain] = [None, Some("gain")].map(|name| under(name, &all));
    let (none, node) = (&none.nodes[0], &gain.nodes[0]);
    assert!(node.stopped >= 1 && node.stood_still_s > 0.2 * node.seconds, "{node:?}");
    // Most of what is read again and again is read from local memory.
    assert!(node.local_fetches > 80_000 && node.ipc > none.ipc, "{none:?} {node:?}");
}

#[test]
fn what_moves_bring_all_who_share_the_pool_counts() {
    // Fetches sweep, so that no page pays for them; write-backs, of a microsecond of a bank each, go to four pages a core
    // that are others every so often.
    let line = |core: u32| {
        move |i: u32| match i % 2 {
            0 => (core << 18) | (i / 2),
            _ => core << 18 | 1 << 17 | (i / 12_000 * 4 + i / 2 % 4) << 6 | (i / 8 % 64),
        }
    };
    let kind = |i: u32| if i.is_multiple_of(2) { Kind::Read } else { Kind::WriteBack };
    let core = |core: u32| {
        let mut misses = Misses::default();
        (0..90_000).for_each(|i| misses.push(line(core)(i), kind(i), 20));
        misses
    };
    let all = [core(0), core(1)];
    let under = |governor: Option<&str>, most| {
        let migration = Migration {
            epoch_cycles: 30_000,
            most,
            governor: governor.map(str::to_owned),
            governor_second_us: governor.map(|_| 50.0),
            ..Migration::default()
        };
        replay(&machine(8), &all, Placement::Pool, Some(&migration)).unwrap().ipc
    };
    let [still, free, gain] = [(None, 0), (None, 50), (Some("gain:horizon=20,credit=0"), 50)]
        .map(|(governor, most)| under(governor, most));
    assert!(free > 1.2 * still && gain > 0.95 * free, "{still} {free} {gain}");
}

#[test]
fn moves_that_pay_go_on() {
    let all = swept_then_reread(0, 100_000);
    for name in ["gain", "adaptive"] {
        let [none, governed] = [None, Some(name)].map(|name| under(name, &all));
        close(governed.ipc, none.ipc, 0.5);
    }
}

#[test]
fn a_governor_that_does_not_exist_is_refused() {
    for (governor, second, part) in [
        ("gian", 5.0, "governor = gian: unknown governor 'gian'; did you mean 'gain'?"),
        ("gain:again=0", 5.0, "again must be a number"),
        ("gain", 0.0, "governor_second_us = 0: give a number from 1"),
    ] {
        let migration = Migration {
            governor: Some(governor.to_owned()),
            governor_second_us: Some(second),
            ..Migration::default()
        };
        let all = swept_then_reread(10, 0);
        let said = replay(&machine(1), &all, Placement::Pool, Some(&migration)).unwrap_err();
        assert!(said.to_string().contains(part), "{said}");
    }
}
