//! How long a batch blocks on a machine that is scaled down.

use super::*;
use crate::engine::Pages;
use pagetide_machine::Machine;

/// Of the time that a batch takes to be unmapped the share that a visit waits for; 64 huge pages go up,
/// so many at a time.
fn blocking(scale: f64, together: u32) -> f64 {
    let mut pages = Pages::all_in(1, 64 << 21);
    (0..64).for_each(|page| pages.put_huge(page * 512, 1));
    let mut world = World::new(&Machine::load("cxl").unwrap(), pages);
    let mechanism = Mechanism { together, ..Mechanism::HUGE };
    let mut mover = Mover::new(0, mechanism, Kernel::default()).scaled(scale);
    mover.request([], [], (0..64).map(|page| page * 512..(page + 1) * 512));
    let (mut waited, mut met, mut now_ns) = (0.0, 0.0, 0.0);
    // Of the first batch only, for there is none yet that says how long one lasts.
    while let Some(next) = mover.step(now_ns, &mut world) {
        if matches!(mover.state, State::Unmapping(_)) && met == 0.0 {
            let page = mover.batch[0].up.clone().unwrap().start;
            for core in 0..100 {
                let until = mover.blocks(page, core, now_ns).unwrap();
                waited += until - now_ns;
                met += next - now_ns;
                let again = mover.blocks(page, core, until);
                assert_eq!(again.is_some(), until >= next, "who has waited goes on");
            }
        }
        now_ns = next;
    }
    waited / met
}

#[test]
fn scaled_down_who_meets_a_bounded_batch_waits_as_short_as_for_the_one_it_stands_for() {
    for (scale, together, right) in
        [(1.0, 1, 1.0), (16.0, 1, 1.0 / 16.0), (16.0, 8, 1.0 / 16.0), (16.0, 0, 1.0)]
    {
        let found = blocking(scale, together);
        assert!((found - right).abs() < 0.02, "{scale} {together}: {found} for {right}");
    }
    // 64 pages stand for 256: a batch of 128 is half of them.
    assert!((blocking(4.0, 128) - 0.5).abs() < 0.02);
}

/// What interrupts take from a core, over those of a flush for each of so many base pages that go up.
fn flushing(scale: f64, pages: usize, calling: bool) -> f64 {
    let mut world = World::new(
        &Machine::load("cxl").unwrap(),
        Pages::all_in(1, (pages.next_multiple_of(512) as u64) << 12),
    );
    let core = world.cores.seat(0);
    let costs = Kernel { page_us: 0.0, call_us: 0.0, ..Kernel::default() };
    let each_ns = costs.interrupt_us * 1e3;
    // With a spare core nothing but interrupts takes time from the program's.
    world.cores.set_spare(8);
    let mover = Mover::new(0, Mechanism::HUGE, costs).scaled(scale);
    let mut mover = if calling { mover.calling() } else { mover };
    mover.request([], [], (0..pages).map(|page| page..page + 1));
    let mut now_ns = 0.0;
    while let Some(next) = mover.step(now_ns, &mut world) {
        now_ns = next;
    }
    assert_eq!(mover.take_moved().len(), pages);
    world.cores.at(core).stolen_ns / (each_ns * pages as f64)
}

#[test]
fn a_call_flushes_once_whatever_it_moves() {
    assert!((flushing(1.0, 1024, false) - 1.0).abs() < 1e-9);
    assert!((flushing(1.0, 1024, true) - 1.0 / 512.0).abs() < 1e-9, "two calls");
    assert!((flushing(1.0, 100, true) - 0.01).abs() < 1e-9, "one");
    // Each of these stands for 256.
    assert!((flushing(256.0, 1024, true) - 1.0 / 512.0).abs() < 1e-9);
}
