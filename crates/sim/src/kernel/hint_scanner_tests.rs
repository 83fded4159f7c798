//! How much is marked when, and what the faults say, by closed forms.

use super::*;
use crate::engine::{Access, Core, Engine, Fault, Pages, System};
use pagetide_machine::Machine;
use std::sync::{Arc, Mutex};

fn world(pages: Pages) -> World {
    World::new(&Machine::load("cxl").unwrap(), pages)
}

fn scanner(pages: usize) -> HintScanner {
    HintScanner::new(0, 0..pages, &[1], &Kernel { scan_ns: 0.0, ..Kernel::default() })
}

#[test]
fn the_address_space_is_covered_in_its_size_over_the_scan_size() {
    for (pages, size) in [(8192, 2048), (8192, 1024), (9216, 2048), (1024, 2048)] {
        let mut world = world(Pages::all_in(1, (pages as u64) << 12));
        let mut scanner = scanner(pages).with_size(size);
        let mut marked = 0;
        for scan in 1..=pages.div_ceil(size) {
            let done = scanner.scan(0.0, &mut world);
            marked += usize::try_from(done.marked).unwrap();
            assert_eq!(marked, (scan * size).min(pages));
            assert_eq!(done.wrapped, marked == pages, "{pages} by {size}, scan {scan}");
        }
        assert!((0..pages).all(|page| world.pages.entry(page) & bit::HINT != 0));
        assert_eq!(scanner.passed(), pages as u64);
    }
}

#[test]
fn only_pages_of_its_tiers_fault_and_the_rest_is_passed_over_at_eight_times_the_pace() {
    // 32 parts of 512 pages; the last two are slow.
    let mut pages = Pages::all_in(0, (32 * 512) << 12);
    pages.transfer(30 * 512..32 * 512, 1);
    let mut world = world(pages);
    let mut scanner = scanner(32 * 512).with_size(512);
    let marked: Vec<u64> = (0..5).map(|_| scanner.scan(0.0, &mut world).marked).collect();
    // Three times eight parts with nothing to mark, six and then the first slow one, the second.
    assert_eq!(marked, [0, 0, 0, 512, 512]);
    assert_eq!(scanner.scan(0.0, &mut world).entries, 8 * 512, "from the beginning");
}

#[test]
fn a_huge_page_is_one_entry_and_what_is_not_there_none() {
    let mut pages = Pages::absent(2048 << 12);
    pages.put_huge(512, 1);
    pages.put(1024, 1);
    let mut world = world(pages);
    world.cores.seat(0);
    world.cores.seat(0);
    let costs = Kernel::default();
    let scanner = HintScanner::new(0, 0..4 * 512, &[1], &costs);
    let done = scanner.with_size(4 * 512).scan(5e3, &mut world);
    assert_eq!(done, Scan { entries: 2, marked: 513, wrapped: true });
    // Both entries on one core, and a flush on both.
    let right = 2.0 * costs.scan_ns + 2.0 * costs.interrupt_us * 1e3;
    assert!((world.cores.stolen_ns() - right).abs() < 1e-6);
}

#[test]
fn a_page_that_is_marked_already_keeps_its_time() {
    let mut world = world(Pages::all_in(1, 512 << 12));
    let mut scanner = scanner(512);
    scanner.scan(1e6, &mut world);
    assert_eq!(scanner.scan(2e6, &mut world).marked, 0);
    world.pages.clear(7, bit::HINT);
    assert_eq!(scanner.scan(3e6, &mut world).marked, 1);
    assert_eq!(scanner.latency_ns(6, 5e6, &world), 4e6);
    assert_eq!(scanner.latency_ns(7, 5e6, &world), 2e6);
}

/// Scans, and notes the latency of every fault.
struct Scanning(HintScanner, Arc<Mutex<Vec<f64>>>);

impl System for Scanning {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        self.1.lock().unwrap().push(self.0.latency_ns(fault.page, fault.now_ns, world));
        fault.now_ns
    }

    fn daemons(&self) -> usize {
        1
    }

    fn wake(&mut self, _: usize, now_ns: f64, world: &mut World) -> f64 {
        self.0.wake(now_ns, world)
    }
}

#[test]
fn what_is_accessed_every_t_faults_half_of_t_after_its_marking_on_average() {
    // 1024 pages in turn, a microsecond each; scanned at other times.
    let turn_ns = 1024.0 * 1e3;
    let told = Arc::new(Mutex::new(Vec::new()));
    let costs = Kernel { scan_ns: 0.0, interrupt_us: 0.0, ..Kernel::default() };
    let period = ScanPeriod::between(3.3 * turn_ns, 3.3 * turn_ns);
    let scanner = HintScanner::new(0, 0..1024, &[1], &costs).with_size(1024).with_period(period);
    let world = world(Pages::all_in(1, 1024 << 12));
    let mut engine = Engine::new(world.with(Box::new(Scanning(scanner, Arc::clone(&told)))));
    let mut at = 0u64;
    let program = move |_: f64| {
        at += 1;
        let address = at * 4096 % (1024 << 12);
        Some(Access { address, compute_ns: 1e3, ..Access::default() })
    };
    let core = Core { outstanding: 10, issue_ns: 0.0, ..Core::default() };
    engine.thread(program, 0, core, 0.0);
    engine.run(100.0 * turn_ns);
    let latencies = told.lock().unwrap();
    // Scanned 31 times; every page has faulted once after each.
    assert!((30..=31).contains(&latencies.len().div_ceil(1024)), "{}", latencies.len());
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    assert!((mean / (turn_ns / 2.0) - 1.0).abs() < 0.01, "{mean}");
    assert!(latencies.iter().all(|latency| *latency <= 1.01 * turn_ns));
}

#[test]
fn faults_adapt_the_period_at_the_end_of_every_walk() {
    let mut world = world(Pages::all_in(1, 1024 << 12));
    let period = ScanPeriod::between(1e9, 60e9);
    let mut scanner = scanner(1024).with_size(512).with_period(period);
    assert_eq!(scanner.wake(0.0, &mut world), 0.5e9);
    // Nobody has faulted by the end of the walk: twice as long.
    assert_eq!(scanner.wake(0.0, &mut world), 1e9);
    let faults = HintFaultCounts { local: 10, shared: 10, ..HintFaultCounts::default() };
    scanner.count(faults);
    world.pages.clear_all(0..1024, bit::HINT);
    assert_eq!(scanner.wake(0.0, &mut world), 1e9);
    assert_eq!(scanner.wake(0.0, &mut world), 1.3e9);
}

#[test]
fn a_thread_scans_for_a_thirty_third_of_its_time_at_most() {
    let costs = Kernel { scan_ns: 1e6, ..Kernel::default() };
    let period = ScanPeriod::between(1e9, 60e9);
    let next = |threads| {
        let mut world = world(Pages::all_in(1, 1024 << 12));
        (0..threads).for_each(|_| _ = world.cores.seat(0));
        let scanner = HintScanner::new(0, 0..1024, &[1], &costs).with_size(512);
        scanner.with_period(period).wake(0.0, &mut world)
    };
    // Half a second, and 32 times 512 entries of a millisecond; threads take turns.
    assert_eq!(next(1), 0.5e9 + 32.0 * 0.512e9);
    assert_eq!(next(2), next(1) / 2.0);
    assert_eq!(next(24), next(1) / 24.0);
    assert_eq!(next(48), 0.5e9, "no sooner than the period of all");
}
