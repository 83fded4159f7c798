//! How transactions end, and when.

use super::*;
use crate::engine::Pages;
use pagetide_machine::Machine;

fn costs() -> Kernel {
    Kernel { page_us: 7.0, copy_gb_s: 4.0, ..Kernel::default() }
}

/// What becomes of a page that is written to once in each of its first copies; when, ns, and with
/// how many copies wasted.
fn moved(written: u64) -> (Ended, f64, u64, World) {
    let mut world = World::new(&Machine::load("cxl").unwrap(), Pages::all_in(1, 512 << 12));
    world.pages.set(3, bit::DIRTY | bit::HINT);
    let mut mover = TransactionalMover::new(&costs());
    mover.begin(Transaction { tenant: 0, pages: 3..4 });
    let (mut now_ns, mut copies) = (0.0, 0);
    let ended = loop {
        let before = matches!(mover.state, State::Copying(..));
        let next = mover.step(now_ns, &mut world);
        if !before && matches!(mover.state, State::Copying(..)) {
            copies += 1;
            assert_eq!(world.pages.entry(3) & (bit::MOVING | bit::DIRTY), 0, "mapped, clean");
            if copies <= written {
                world.pages.set(3, bit::DIRTY);
            }
        }
        match mover.take_ended() {
            Some(ended) => break ended,
            None => now_ns = next.unwrap(),
        }
    };
    assert!(mover.is_idle());
    (ended, now_ns, mover.wasted(), world)
}

#[test]
fn a_page_that_nobody_writes_to_moves_in_the_time_of_its_copy_and_ends_clean() {
    let (ended, took_ns, wasted, world) = moved(0);
    assert_eq!(ended, Ended::Committed(Transaction { tenant: 0, pages: 3..4 }));
    let right = 7_000.0 + 4096.0 / 4.0;
    assert!((right..1.05 * right).contains(&took_ns), "{took_ns} for {right}");
    assert_eq!((wasted, world.pages.entry(3)), (0, 0));
}

#[test]
fn a_write_during_the_copy_aborts_it_and_it_is_made_again() {
    let (ended, took_ns, wasted, world) = moved(3);
    assert!(matches!(ended, Ended::Committed(_)) && world.pages.tier(3) == 0);
    let right = 4.0 * (3_500.0 + 4096.0 / 4.0) + 3_500.0;
    assert!((right..1.05 * right).contains(&took_ns), "{took_ns} for {right}");
    assert_eq!(wasted, 3);
}

#[test]
fn scaled_down_a_page_is_watched_for_a_share_of_its_copy() {
    let whole_ns = 3_500.0 + 4096.0 / 4.0;
    for (scale, written_ns, right) in [
        (16.0, 0.9 * whole_ns / 16.0, 1),
        (16.0, 1.1 * whole_ns / 16.0, 0),
        (1.0, 0.9 * whole_ns, 1),
    ] {
        let mut world = World::new(&Machine::load("cxl").unwrap(), Pages::all_in(1, 512 << 12));
        let mut mover = TransactionalMover::new(&costs()).scaled(scale);
        mover.begin(Transaction { tenant: 0, pages: 3..4 });
        let (mut now_ns, mut written) = (0.0, false);
        let ended = loop {
            if !written && now_ns >= written_ns {
                world.pages.set(3, bit::DIRTY);
                written = true;
            }
            let next = mover.step(now_ns, &mut world);
            match mover.take_ended() {
                Some(ended) => break ended,
                None => now_ns = next.unwrap(),
            }
            if !written {
                now_ns = now_ns.min(written_ns);
            }
        };
        assert!(matches!(ended, Ended::Committed(_)) && written);
        assert_eq!(mover.wasted(), right, "{scale} {written_ns}");
        assert_eq!(world.pages.entry(3), 0, "clean");
    }
}

#[test]
fn after_ten_copies_for_nothing_the_page_stays() {
    let (ended, _, wasted, world) = moved(10);
    assert!(matches!(ended, Ended::Aborted(_)) && wasted == 10);
    assert_eq!(world.pages.entry(3) & (bit::TIER | bit::DIRTY), 1 | bit::DIRTY);
    assert!(matches!(moved(9).0, Ended::Committed(_)), "the tenth succeeds");
}
