//! Memory that nothing clears: locked, and of the hugetlb pool.

use crate::child::{Area, Child, HUGE};
use crate::recorded::{Recorded, Seen, alone};
use pagetide_testing::skip;
use pagetide_types::HeatFlags;

const UNITS: usize = 4;

/// What is recorded of the units of a child's private, locked area in all epochs, in order of
/// their addresses, until `enough` is true of it; the child touches the first half of them.
fn locked(clear_shared: bool, enough: impl Fn(&[Vec<Seen>]) -> bool) -> Vec<Vec<Seen>> {
    let area = Area::private(UNITS * HUGE);
    let lock = || {
        // SAFETY: plain system call on a mapping of ours.
        unsafe { libc::mlock(area.start.cast(), area.len) };
        area.write(0, area.len);
    };
    let child = Child::fork(lock, || area.read(0, area.len / 2));
    let units = |recorded: &Recorded| recorded.private(area.unit(), UNITS);
    let recorded = Recorded::until(&[&child], clear_shared, |recorded| {
        let units = units(recorded);
        units.len() == UNITS && enough(&units)
    });
    let units = units(&recorded);
    assert_eq!(units.len(), UNITS);
    units
}

/// It is said to be unknown, and nothing else.
fn is_marked(seen: &Seen) -> bool {
    seen.has(HeatFlags::UNCLEARED) && !seen.has(HeatFlags::SAMPLED) && seen.rate == 0.0
}

#[test]
fn locked_memory_is_marked_and_seen_if_the_user_lets_it_be_cleared() {
    let name = "locked_memory_is_marked_and_seen_if_the_user_lets_it_be_cleared";
    let Some(_alone) = alone(name) else { return };
    for unit in locked(false, |units| units[0].len() >= 3) {
        assert!(unit.iter().all(is_marked), "{unit:?}");
    }

    // Its mappings of files have their turn as well, and on a busy machine neither has one in
    // every epoch.
    let accessed = |unit: &Vec<Seen>| unit.iter().any(|seen| seen.has(HeatFlags::ACCESSED));
    let saturated = |unit: &Vec<Seen>| unit.iter().any(|seen| seen.has(HeatFlags::SATURATED));
    let units = locked(true, |units| units[..UNITS / 2].iter().all(saturated));
    for unit in &units[..UNITS / 2] {
        assert!(saturated(unit), "{unit:?}");
        let reached = unit.iter().skip_while(|seen| seen.has(HeatFlags::UNCLEARED));
        for seen in reached {
            assert!(!seen.has(HeatFlags::UNCLEARED), "known once, and now no more: {unit:?}");
            seen.has_a_rate_that_explains_what_was_seen();
            if seen.has(HeatFlags::ACCESSED) {
                // Its translations may have stayed cached for a while: then it is seen less often
                // than it is accessed.
                assert!(seen.has(HeatFlags::SAMPLED) && seen.rate > 0.0, "{seen:?}");
            }
        }
    }
    for unit in &units[UNITS / 2..] {
        assert!(!accessed(unit), "{unit:?}");
        if unit.iter().all(Seen::ran) {
            // Its translations may just have stayed cached: nobody knows.
            assert!(unit.iter().all(is_marked), "{unit:?}");
        }
    }
}

#[test]
fn memory_of_the_hugetlb_pool_is_marked() {
    const NAME: &str = "memory_of_the_hugetlb_pool_is_marked";
    let Some(_alone) = alone(NAME) else { return };
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
    let Some(area) = Area::map(UNITS * HUGE, flags, -1) else {
        return skip(NAME, "the hugetlb pool (vm.nr_hugepages) has too few pages");
    };
    for clear_shared in [false, true] {
        let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len / 2));
        let recorded =
            Recorded::until(&[&child], clear_shared, |recorded| recorded.epochs.len() >= 4);
        let pool = recorded.objects(UNITS, |area| area.name.contains("anon_hugepage"));
        assert_eq!(pool.len(), 1, "{pool:?}");
        for unit in recorded.units_of(pool[0]).values() {
            assert!(unit.iter().all(is_marked), "{unit:?}");
        }
    }
}
