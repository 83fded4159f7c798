//! Slow memory that comes when storage becomes memory, and goes when it is given back.

use crate::world::{EVERYTHING, FAST, SLOW, World, machine, settings, unit};
use pagetide_host::Host;
use pagetide_manager::{TierError, Tiers};
use pagetide_types::{Bytes, NodeId};
use std::cell::Cell;
use std::rc::Rc;

/// The tiers of a machine whose nodes have so many huge pages.
fn now(fast: u64, slow: u64, named: [&[NodeId]; 2]) -> Result<Tiers, TierError> {
    let machine = machine(fast, slow);
    Tiers::now(&Host::new(machine.path()), named[0], named[1])
}

#[test]
fn without_slow_memory_all_of_it_is_fast() {
    let found = now(512, 0, [&[], &[]]).unwrap();
    assert_eq!((found.fast.as_slice(), found.slow.as_slice()), (&[FAST][..], &[][..]));
    assert_eq!(found.describe(), "1.00 GiB of fast memory (node 0), no slow memory");
    let found = now(512, 0, [&[], &[SLOW]]).unwrap();
    assert!(found.slow.is_empty(), "it was named, and went");
    let found = now(512, 256, [&[], &[]]).unwrap();
    assert_eq!(found.slow, [SLOW]);
    assert_eq!(
        found.describe(),
        "1.00 GiB of fast memory (node 0), 512 MiB of slow memory (node 1)"
    );
    assert!(now(512, 256, [&[SLOW], &[SLOW]]).is_err(), "a node cannot be both");
}

#[test]
fn a_tier_is_another_one_when_memory_is_added_to_it_or_taken_away() {
    let tiers = |fast, slow| now(fast, slow, [&[], &[]]).unwrap();
    assert!(tiers(64, 64).are(&tiers(64, 64)));
    assert!(!tiers(64, 128).are(&tiers(64, 64)));
    assert!(!tiers(64, 0).are(&tiers(64, 64)));
}

#[test]
fn what_becomes_memory_is_used_and_what_is_given_back_is_forgotten() {
    // Of 24 huge pages 4 are free; the reserve is 8.
    let units: Vec<_> = (0..20).map(|_| unit(1.0, FAST)).collect();
    let mut world = World::new(24, 64, &units, settings(EVERYTHING));
    let slow = Rc::new(Cell::new(0));
    let seen = Rc::clone(&slow);
    let follow = move || now(24, seen.get(), [&[], &[]]).ok();
    world.manager = world.manager.following(Box::new(follow));

    let line = world.epoch();
    assert_eq!(line.tiers.as_deref(), Some("48.0 MiB of fast memory (node 0), no slow memory"));
    assert!(line.moves.is_none() && world.fast().len() == 20, "there is nowhere to go");
    assert_eq!(world.epoch().tiers, None, "as before");

    slow.set(64);
    let line = world.epoch();
    assert!(line.tiers.is_some_and(|tiers| tiers.contains("128 MiB of slow memory (node 1)")));
    assert_eq!((world.fast().len(), world.free()), (16, Bytes::mib(16)), "the reserve is made");
    let slow_units: Vec<usize> =
        (0..20).filter(|at| !world.fast().contains(&(*at as u64))).collect();
    slow_units.iter().for_each(|at| world.manager.tracker().rates[*at] = 1000.0);
    world.epoch();
    assert!(
        slow_units.iter().all(|at| world.fast().contains(&(*at as u64))),
        "the hot ones went up"
    );

    slow.set(0);
    world.manager.tracker().rates.fill(1.0);
    let line = world.epoch();
    assert!(line.tiers.is_some() && line.demote == Bytes(0));
    assert_eq!(world.fast().len(), 20, "the reserve is no reason to be elsewhere any more");
    let summary = world.manager.summary();
    assert_eq!(summary.tier_changes.len(), 3);
    assert_eq!(summary.slow_nodes, [1], "what the moves were about");
}
