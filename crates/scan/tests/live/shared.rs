//! Memory that two processes map: counted once, and seen with `clear_shared` only.

use crate::child::{Area, Child, HUGE, PAGE, rest};
use crate::recorded::{Recorded, Seen, alone};
use pagetide_types::{AreaKind, HeatFlags};

const UNITS: usize = 8;

/// Two processes map `UNITS` units; one of them touches the first half over and over, and (beside
/// it) `private` pages of its own. Recorded until `enough` is true of what `shared` says.
fn recorded(private: usize, clear_shared: bool, enough: impl Fn(&[Vec<Seen>]) -> bool) -> Recorded {
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
    Recorded::until(&[&busy, &idle], clear_shared, |recorded| {
        let units = shared(recorded);
        units.len() == UNITS && enough(&units)
    })
}

/// The units of the shared memory in order, in all epochs in which they are there; none as long as
/// not all are known.
fn shared(recorded: &Recorded) -> Vec<Vec<Seen>> {
    let objects = recorded.objects(UNITS, |area| {
        // Children inherit what other tests left behind.
        area.kind == AreaKind::Shared && area.mapped != Some(false)
    });
    assert!(objects.len() <= 1, "counted twice");
    let mut units: Vec<_> =
        objects.into_iter().flat_map(|object| recorded.units_of(object)).collect();
    units.sort_unstable_by_key(|(index, _)| *index);
    units.into_iter().map(|(_, seen)| seen).collect()
}

fn once(unit: &[Seen], flag: HeatFlags) -> bool {
    unit.iter().any(|seen| seen.has(flag))
}

#[test]
fn shared_memory_is_counted_once_and_marked_as_unknown() {
    let Some(_alone) = alone("shared_memory_is_counted_once_and_marked_as_unknown") else { return };
    let marked = |unit: &Vec<Seen>| unit.last().is_some_and(|s| s.has(HeatFlags::UNCLEARED));
    let recorded = recorded(0, false, |units| units.iter().all(marked));
    let units = shared(&recorded);
    assert_eq!(units.len(), UNITS);
    for unit in units {
        let last = unit.last().unwrap();
        assert_eq!(last.pages, 512, "{last:?}");
        assert!(last.has(HeatFlags::UNCLEARED) && !last.has(HeatFlags::SAMPLED), "{last:?}");
    }
    let last = recorded.epochs.last().unwrap();
    let (unknown, resident) = (last.epoch.uncleared_bytes, last.heat.resident().0);
    assert!((UNITS * HUGE) as u64 <= unknown && unknown <= resident, "{unknown} of {resident}");
}

/// What must be true of the memory that was touched, in whatever epoch.
fn is_hot(unit: &[Seen]) {
    assert!(once(unit, HeatFlags::ACCESSED), "{unit:?}");
    for seen in unit {
        seen.has_a_rate_that_explains_what_was_seen();
        if seen.has(HeatFlags::SAMPLED) && seen.ran() {
            // Also where only the process that does not touch it had its turn.
            assert!(seen.has(HeatFlags::ACCESSED) && seen.rate > 0.0, "{seen:?} of {unit:?}");
        }
    }
}

#[test]
fn shared_memory_is_seen_if_the_user_lets_it_be_cleared() {
    let Some(_alone) = alone("shared_memory_is_seen_if_the_user_lets_it_be_cleared") else {
        return;
    };
    // With private memory all translations can be flushed; without (or with a page or two) what is
    // not seen is believed only if that could be made sure of.
    for private in [512, 0] {
        let flushed = private > 0;
        let recorded = recorded(private, true, |units| {
            let (hot, cold) = units.split_at(UNITS / 2);
            hot.iter().all(|unit| once(unit, HeatFlags::ACCESSED))
                && (!flushed || cold.iter().all(|unit| once(unit, HeatFlags::UNSEEN)))
        });
        let units = shared(&recorded);
        assert_eq!(units.len(), UNITS);
        let (hot, cold) = units.split_at(UNITS / 2);
        hot.iter().for_each(|unit| is_hot(unit));
        for unit in cold {
            assert!(!once(unit, HeatFlags::ACCESSED), "{private}: {unit:?}");
            assert!(!flushed || once(unit, HeatFlags::UNSEEN), "{private}: {unit:?}");
        }
        let all = || recorded.epochs.iter().map(|record| &record.epoch);
        assert!(all().all(|epoch| epoch.clear_s >= epoch.longest_clear_s));
        assert!(all().any(|epoch| epoch.longest_clear_s > 0.0));
    }
}
