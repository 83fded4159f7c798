//! Memory that nothing clears: locked, and of the hugetlb pool.

use crate::child::{Area, Child, HUGE};
use crate::recorded::{Recorded, Seen, alone};
use pagetide_types::HeatFlags;

const UNITS: usize = 4;

/// What is recorded of the units of a child's private area, in order of their addresses; it
/// touches the first half of them.
fn units(area: Area, prepare: impl FnOnce(), clear_shared: bool) -> Vec<Seen> {
    let child = Child::fork(prepare, || area.read(0, area.len / 2));
    let recorded = Recorded::of(&[&child], 5, clear_shared);
    let first = area.unit();
    let units = recorded.units_of(recorded.private_object(first));
    (first..first + UNITS as u64).map(|index| units[&index]).collect()
}

fn lock(area: Area) {
    // SAFETY: plain system call on a mapping of ours.
    unsafe { libc::mlock(area.start.cast(), area.len) };
    area.write(0, area.len);
}

#[test]
fn locked_memory_is_marked_and_seen_if_the_user_lets_it_be_cleared() {
    let Some(_alone) = alone("locked_memory_is_marked_and_seen_if_the_user_lets_it_be_cleared")
    else {
        return;
    };
    let area = Area::private(UNITS * HUGE);
    for unit in units(area, || lock(area), false) {
        assert!(unit.has(HeatFlags::UNCLEARED) && !unit.has(HeatFlags::SAMPLED), "{unit:?}");
    }
    let units = units(area, || lock(area), true);
    for unit in &units[..UNITS / 2] {
        // In this epoch it may have been the turn of its mappings of files.
        assert!(!unit.has(HeatFlags::UNCLEARED) && unit.rate > 512.0, "{unit:?}");
    }
    for unit in &units[UNITS / 2..] {
        // Its translations may just have stayed cached: nobody knows.
        assert!(unit.has(HeatFlags::UNCLEARED) && !unit.has(HeatFlags::ACCESSED), "{unit:?}");
    }
}

#[test]
fn memory_of_the_hugetlb_pool_is_marked() {
    const NAME: &str = "memory_of_the_hugetlb_pool_is_marked";
    let Some(_alone) = alone(NAME) else { return };
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
    let Some(area) = Area::map(UNITS * HUGE, flags, -1) else {
        eprintln!("SKIPPED {NAME}: the hugetlb pool (vm.nr_hugepages) is empty");
        return;
    };
    for clear_shared in [false, true] {
        let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len / 2));
        let recorded = Recorded::of(&[&child], 4, clear_shared);
        let object = recorded.object(UNITS, |area| area.name.contains("anon_hugepage"));
        let units = recorded.units_of(object);
        for unit in units.values() {
            assert!(unit.has(HeatFlags::UNCLEARED) && !unit.has(HeatFlags::SAMPLED), "{unit:?}");
        }
    }
}
