//! What a move in a fault takes, from whom, and who waits for it.

use super::super::{Mechanism, time_of};
use super::*;
use crate::engine::{Access, Core, Engine, HUGE_PAGES, Pages, System};
use pagetide_machine::Machine;

fn costs() -> Kernel {
    Kernel {
        page_us: 7.0,
        copy_gb_s: 4.0,
        hint_fault_us: 5.0,
        interrupt_us: 0.7,
        ..Kernel::default()
    }
}

/// A hint fault of a core.
fn fault(core: usize, page: usize, now_ns: f64) -> Fault {
    Fault { tenant: 0, core, page, write: false, entry: bit::HINT, now_ns }
}

/// A machine whose pages are slow, base ones or two huge ones, with a move of page 7 begun by core 0.
fn begun(machine: &Machine, costs: &Kernel, huge: bool) -> (InFaultMover, World) {
    let mut pages = Pages::all_in(1, 2 << 21);
    if huge {
        pages.put_huge(0, 1);
    }
    let mut world = World::new(machine, pages);
    let mapped = world.pages.mapped_with(7);
    world.pages.set_all(mapped.clone(), bit::HINT | bit::DIRTY);
    let mut mover = InFaultMover::new(costs);
    mover.begin(&fault(0, 7, 0.0), mapped, &mut world);
    (mover, world)
}

/// Until it is moved from `now_ns` on; when, ns, and which pages.
fn finish(mover: &mut InFaultMover, mut now_ns: f64, world: &mut World) -> (f64, Range<usize>) {
    loop {
        now_ns = mover.wait(&fault(0, 7, now_ns), world).unwrap();
        if let Some(pages) = mover.take_moved() {
            return (now_ns, pages);
        }
    }
}

#[test]
fn a_move_in_a_fault_takes_what_a_page_costs_and_its_copy() {
    for huge in [false, true] {
        let (mut mover, mut world) = begun(&Machine::load("cxl").unwrap(), &costs(), huge);
        (0..3).for_each(|_| assert!(world.cores.seat(0) < 3));
        let (done, mapped) = finish(&mut mover, 5e3, &mut world);
        assert_eq!(mapped, if huge { 0..HUGE_PAGES } else { 7..8 });
        let right = 7e3 + (mapped.len() * 4096) as f64 / 4.0;
        assert!((right..1.05 * right).contains(&(done - 5e3)), "{done} for {right}");
        let entry = |page| world.pages.entry(page) & !bit::HUGE;
        assert!(mapped.clone().all(|page| entry(page) == bit::DIRTY));
        assert_eq!((world.pages.tier(mapped.end), mover.moves(7)), (1, false));
        assert_eq!(world.cores.kernel_ns(), 0.0, "no thread of the kernel");
        // A flush on each core, but where no core has a translation.
        assert_eq!(world.cores.stolen_ns(), if huge { 3.0 * 700.0 } else { 0.0 });
    }
}

#[test]
fn on_the_machine_of_adaptive_a_page_takes_what_was_measured_there() {
    let machine = Machine::load("adaptive-cxl").unwrap();
    let costs = machine.kernel.clone().unwrap();
    let (mut mover, mut world) = begun(&machine, &costs, false);
    let fault_us = costs.hint_fault_us;
    assert!((4.0..5.0).contains(&fault_us), "{fault_us}");
    let move_us = finish(&mut mover, 0.0, &mut world).0 / 1e3;
    assert!((13.0..28.0).contains(&(fault_us + move_us)), "{move_us}");
    let one = Mechanism { together: 0, ..Mechanism::HUGE };
    let demotion_us =
        (time_of(&machine, one, (32, false), false).total_ns / 1e3 - costs.call_us) / 32.0;
    assert!((9.0..14.0).contains(&demotion_us), "{demotion_us}");
}

#[test]
fn others_go_on_until_the_page_is_unmapped_and_then_wait_until_it_is_there() {
    let (mut mover, mut world) = begun(&Machine::load("cxl").unwrap(), &costs(), false);
    assert_eq!(mover.wait(&fault(1, 7, 1e3), &mut world), None);
    mover.wait(&fault(0, 7, 5e3), &mut world);
    let mut now_ns = 5e3;
    while mover.moves(7) {
        let next = mover.wait(&fault(0, 7, now_ns), &mut world).unwrap();
        let again = mover.wait(&fault(1, 7, now_ns), &mut world);
        assert_eq!(again.is_some(), mover.moves(7), "at {now_ns}");
        now_ns = next;
    }
    assert!(now_ns > 13e3 && !mover.moves(8), "{now_ns}");
}

#[test]
fn scaled_down_others_wait_for_a_share_of_the_time_and_go_on() {
    let (_, mut world) = begun(&Machine::load("cxl").unwrap(), &costs(), false);
    // 7 us and 4 KiB at 4 GB/s; half of that on average, for one of 16 pages.
    let right = (7e3 + 1024.0) / 2.0 / 16.0;
    let mut mover = InFaultMover::new(&costs()).scaled(16.0);
    mover.begin(&fault(0, 7, 0.0), 7..8, &mut world);
    mover.wait(&fault(0, 7, 5e3), &mut world);
    let until = mover.wait(&fault(1, 7, 6e3), &mut world).unwrap();
    assert!((until - 6e3 - right).abs() < 1e-6, "{until}");
    assert_eq!(mover.wait(&fault(1, 7, until), &mut world), None, "who has waited goes on");
}

#[test]
fn scaled_down_all_threads_share_what_one_does_in_a_fault() {
    // What the one that faulted takes, and the others.
    let took = |huge: bool, threads: usize, scale: f64| {
        let mut pages = Pages::all_in(1, 2 << 21);
        if huge {
            pages.put_huge(0, 1);
        }
        let mut world = World::new(&Machine::load("cxl").unwrap(), pages);
        let mapped = world.pages.mapped_with(7);
        (0..threads).for_each(|_| _ = world.cores.seat(0));
        world.cores.set_scale(scale);
        let mut mover = InFaultMover::new(&costs()).scaled(scale);
        mover.begin(&fault(0, 7, 0.0), mapped, &mut world);
        let own_ns = finish(&mut mover, 0.0, &mut world).0;
        let charged: f64 = (0..threads).map(|core| world.cores.at(core).stolen_ns).sum();
        (own_ns, charged - world.cores.stolen_ns())
    };
    for huge in [false, true] {
        let (alone_ns, none) = took(huge, 1, 100.0);
        assert_eq!(none, 0.0, "nobody else is there");
        assert_eq!(took(huge, 4, 1.0), (alone_ns, 0.0), "a page is a page");
        for threads in [4, 16, 32] {
            let (own_ns, others_ns) = took(huge, threads, 100.0);
            assert!(own_ns < alone_ns && others_ns > 0.0, "{huge} {threads}");
            // But for the latency of what it copies.
            let ratio = (own_ns + others_ns) / alone_ns;
            assert!((0.9..1.05).contains(&ratio), "{huge} {threads}: {ratio}");
        }
    }
}

/// Promotes what faults.
struct Promoting(InFaultMover);

impl System for Promoting {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        let pages = world.pages.mapped_with(fault.page);
        self.0.begin(&fault, pages, world);
        fault.now_ns + costs().hint_fault_us * 1e3
    }

    fn wait(&mut self, fault: Fault, world: &mut World) -> Option<f64> {
        self.0.wait(&fault, world)
    }
}

/// A chaser in fast memory, beside a tenant that touches slow pages one after the other, which are
/// promoted or stay; how long 20,000 accesses take, ns, and for how long the fast channel is busy.
fn chased(huge: bool, promoted: bool) -> (f64, f64) {
    let mut pages = Pages::all_in(0, 16 << 21);
    for block in 1..16 {
        let range = block * HUGE_PAGES..(block + 1) * HUGE_PAGES;
        pages.transfer(range.clone(), 1);
        if huge {
            pages.put_huge(range.start, 1);
        }
        pages.set_all(range, if promoted { bit::HINT } else { 0 });
    }
    let world = World::new(&Machine::load("cxl").unwrap(), pages);
    let mut engine = Engine::new(world.with(Box::new(Promoting(InFaultMover::new(&costs())))));
    let (mut at, mut page) = (0, HUGE_PAGES as u64);
    let chase = move |_: f64| {
        at += 1;
        let address = at * 4096 % (2 << 20);
        (at <= 20_000).then_some(Access { address, dependent: true, ..Access::default() })
    };
    let touch = move |_: f64| {
        page = if page == 8191 { HUGE_PAGES as u64 } else { page + 1 };
        Some(Access { address: page << 12, dependent: true, ..Access::default() })
    };
    let chaser = engine.thread(chase, 1, Core::default(), 0.0);
    engine.thread(touch, 0, Core::default(), 0.0);
    let mut until = 0.0;
    while !engine.ended(chaser) {
        until += 1e5;
        engine.run(until);
    }
    (engine.clock_ns(chaser), engine.world().memory[0].busy_ns())
}

#[test]
fn others_lose_no_more_than_the_bandwidth_that_is_used() {
    for huge in [false, true] {
        let (alone, own) = chased(huge, false);
        let (beside, all) = chased(huge, true);
        assert!(all > 1.05 * own, "pages were promoted: {all} beside {own}");
        // Whatever is transferred makes a chaser wait for so long at most.
        assert!(beside - alone <= all - own, "{huge}: {beside} for {alone}, {all} for {own}");
    }
}
