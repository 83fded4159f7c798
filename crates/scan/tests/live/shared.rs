//! Memory that two processes map: counted once, and seen with `clear_shared` only.

use crate::child::{Area, Child, HUGE, PAGE, rest};
use crate::recorded::{Recorded, alone};
use pagetide_types::{AreaKind, HeatFlags};
use std::collections::HashSet;

const UNITS: usize = 8;

/// Two processes map `UNITS` units; one of them touches the first half over and over, and (beside
/// it) `private` pages of its own.
fn pair(private: usize) -> [Child; 2] {
    let area = Area::shared(UNITS * HUGE);
    let idle = Child::fork(|| area.write(0, area.len), rest);
    let own = Area::private(private.max(1) * PAGE);
    let busy = Child::fork(
        || {
            area.write(0, area.len);
            own.write(0, private * PAGE);
        },
        || {
            area.read(0, area.len / 2);
            own.read(0, private * PAGE);
        },
    );
    [busy, idle]
}

fn recorded(private: usize, clear_shared: bool) -> Recorded {
    let children = pair(private);
    Recorded::of(&[&children[0], &children[1]], 5, clear_shared)
}

#[test]
fn shared_memory_is_counted_once_and_marked_as_unknown() {
    let Some(_alone) = alone("shared_memory_is_counted_once_and_marked_as_unknown") else { return };
    let recorded = recorded(0, false);
    let units = recorded.units_of(recorded.object(UNITS, |area| area.kind == AreaKind::Shared));
    for (index, unit) in &units {
        assert_eq!(unit.pages, 512, "{index}");
        assert!(
            unit.has(HeatFlags::UNCLEARED) && !unit.has(HeatFlags::SAMPLED),
            "{index} {unit:?}"
        );
    }
    let areas = recorded.epochs.iter().flat_map(|epoch| &epoch.new_areas);
    let shared = areas.filter(|area| area.kind == AreaKind::Shared).map(|area| area.object);
    let objects: HashSet<_> =
        shared.filter(|object| recorded.units_of(*object).len() == UNITS).collect();
    assert_eq!(objects.len(), 1, "counted twice");
    let last = &recorded.epochs.last().unwrap();
    let shared = (UNITS * HUGE) as u64;
    assert!(last.epoch.uncleared_bytes >= shared);
}

#[test]
fn shared_memory_is_seen_if_the_user_lets_it_be_cleared() {
    let Some(_alone) = alone("shared_memory_is_seen_if_the_user_lets_it_be_cleared") else {
        return;
    };
    // With private memory all translations can be flushed, without only what is seen is believed.
    for private in [512, 0] {
        let recorded = recorded(private, true);
        let units = recorded.units_of(recorded.object(UNITS, |area| area.kind == AreaKind::Shared));
        for (index, unit) in &units {
            if *index < UNITS as u64 / 2 {
                assert!(unit.has(HeatFlags::SAMPLED) && unit.has(HeatFlags::ACCESSED), "{unit:?}");
                assert!(unit.rate > 512.0, "{private} {index}: {unit:?}");
            } else {
                assert!(!unit.has(HeatFlags::ACCESSED), "{private} {index}: {unit:?}");
            }
            let cold = *index >= UNITS as u64 / 2;
            assert!(unit.has(HeatFlags::UNSEEN) || !cold || private == 0, "{index}: {unit:?}");
        }
        let last = &recorded.epochs.last().unwrap().epoch;
        assert!(last.longest_clear_s > 0.0 && last.clear_s >= last.longest_clear_s, "{last:?}");
    }
}
