//! Steady states and times by closed forms, from both sides.

use super::*;
use crate::engine::{Fault, HUGE_PAGES, Pages, bit};
use crate::kernel::{Nodes, Rules, Share, Watermarks};
use pagetide_machine::Machine;

/// 600 ns for an entry, so that it shows beside 7 us and 4096 B at 6 GB/s for a page.
fn costs() -> Kernel {
    Kernel { scan_ns: 600.0, page_us: 7.0, copy_gb_s: 6.0, ..Kernel::default() }
}

struct Machinery {
    memory: FirstTouch,
    lru: Lru,
    kswapd: Kswapd,
    world: World,
    now_ns: f64,
}

impl Machinery {
    /// A fast node of so many pages, two tenants with memory of `pages` in turn.
    fn new(fast: u64, slow: u64, pages: usize, huge: bool) -> Self {
        let share = |pages| Share { pages, capacity: u64::MAX, fast: 0, huge };
        let shares = vec![share(0..pages / 2), share(pages / 2..pages)];
        let world = World::new(&Machine::load("cxl").unwrap(), Pages::absent((pages as u64) << 12));
        Self {
            memory: FirstTouch::new(Nodes::new(&[fast, slow], 100), shares, costs()),
            lru: Lru::new(2, pages, Rules::InactiveFirst, 1.0),
            kswapd: Kswapd::new(2, Kswapd::TOGETHER, &costs()),
            world,
            now_ns: 0.0,
        }
    }

    /// Touches pages for the first time, as a system does; how many came fast.
    fn map(&mut self, pages: Range<usize>) -> usize {
        let mut fast = 0;
        for page in pages {
            let entry = self.world.pages.entry(page);
            if entry & bit::ABSENT != 0 {
                let tenant = self.memory.owner(page);
                let fault =
                    Fault { tenant, core: 0, page, write: true, entry, now_ns: self.now_ns };
                self.memory.map(&fault, &mut self.world);
                self.lru.add_new(page, &self.world);
                if self.world.pages.tier(page) > 0 {
                    self.kswapd.wake_up(self.world.pages.mapped_with(page).len() as u64);
                }
            }
            fast += usize::from(self.world.pages.tier(page) == 0);
        }
        fast
    }

    fn step(&mut self) {
        let Self { memory, lru, kswapd, world, now_ns } = self;
        *now_ns = kswapd.wake(*now_ns, memory, lru, world);
    }

    /// Until it sleeps again; how long it worked, ns.
    fn reclaim(&mut self) -> f64 {
        let begun = self.now_ns;
        let mut last = begun;
        while self.kswapd.is_awake() {
            last = self.now_ns;
            self.step();
        }
        last - begun
    }

    fn marks(&self) -> Watermarks {
        self.memory.nodes().node(0).marks
    }

    fn free(&self) -> u64 {
        self.memory.nodes().node(0).free
    }
}

#[test]
fn it_sleeps_while_there_is_room_and_demotes_to_the_high_mark_exactly() {
    let mut all = Machinery::new(10_000, 100_000, 20_480, false);
    let low = usize::try_from(all.marks().low).unwrap();
    assert_eq!(all.map(0..10_000 - low), 10_000 - low);
    all.step();
    assert_eq!((all.kswapd.looked(), all.kswapd.is_awake()), (0, false), "at the low mark");
    assert_eq!(all.map(10_000 - low..10_001 - low), 0, "one more page goes elsewhere");
    all.reclaim();
    assert_eq!(all.free(), all.marks().high);
    let demoted = all.kswapd.take_demoted();
    let right = all.marks().high - all.marks().low;
    assert_eq!(demoted.len() as u64, right);
    // The oldest ones, in order, and they are where their entries and lists say.
    assert!(demoted.iter().enumerate().all(|(at, one)| one.pages == (at..at + 1)));
    assert!(demoted.iter().all(|one| all.world.pages.tier(one.pages.start) == 1));
    assert_eq!(all.lru.pages(1, Kind::Inactive), right + 1);
    assert_eq!(all.lru.pages(0, Kind::Inactive), 10_000 - all.marks().high);
    assert_eq!(all.memory.nodes().node(1).free, 100_000 - right - 1);
}

#[test]
fn its_time_is_pages_times_what_one_costs() {
    let mut all = Machinery::new(10_000, 100_000, 20_480, false);
    all.map(0..10_000);
    let took = all.reclaim();
    let pages = (all.marks().high - all.marks().low) as f64;
    let right = pages * (600.0 + 7_000.0 + 4096.0 / 6.0);
    assert!((took / right - 1.0).abs() < 0.01, "{took} for {right}");
    assert!((all.world.cores.kernel_ns() / right - 1.0).abs() < 0.01);
}

#[test]
fn each_batch_is_one_flush_on_every_core_of_its_tenant() {
    let mut all = Machinery::new(10_000, 100_000, 20_480, false);
    (0..3).for_each(|core| assert_eq!(all.world.cores.seat(0), core));
    all.world.cores.set_spare(4);
    all.map(0..10_000);
    all.reclaim();
    let pages = all.marks().high - all.marks().low;
    let flushes = pages.div_ceil(SWAP_CLUSTER_MAX) as f64;
    let right = 3.0 * flushes * costs().interrupt_us * 1e3;
    let found = all.world.cores.stolen_ns();
    assert!(flushes > 2.0 && (found - right).abs() < 1.0, "{found} for {right}");
}

#[test]
fn scaled_down_who_has_waited_for_what_is_on_its_way_goes_on() {
    for scale in [1.0, 16.0] {
        let mut all = Machinery::new(10_000, 100_000, 20_480, false);
        all.kswapd = all.kswapd.scaled(scale);
        all.map(0..10_000);
        let moving = |page: usize, world: &World| world.pages.entry(page) & bit::MOVING != 0;
        let page = loop {
            all.step();
            if let Some(page) = (0..10_000).find(|page| moving(*page, &all.world)) {
                break page;
            }
        };
        let mut waits = 0;
        while moving(page, &all.world) {
            waits += u32::from(all.kswapd.blocks(page, 0, all.now_ns).is_some());
            all.step();
        }
        // Once more where it comes back after a while.
        assert!(if scale > 1.0 { (1..=2).contains(&waits) } else { waits > 2 }, "{scale}: {waits}");
    }
}

#[test]
fn what_has_a_shadow_is_demoted_without_a_copy() {
    let demoted = |shadowed: bool, written: bool| {
        let mut all = Machinery::new(10_000, 100_000, 20_480, false);
        all.map(0..10_000);
        if shadowed {
            let Machinery { memory, kswapd, .. } = &mut all;
            (0..5_000).for_each(|page| kswapd.shadows().link(page..page + 1, memory));
        }
        all.world.pages.set_all(0..10_000, if written { bit::DIRTY } else { 0 });
        let took = all.reclaim();
        let pages = (all.marks().high - all.marks().low) as f64;
        assert_eq!(all.free(), all.marks().high);
        let slow = all.memory.nodes().node(1);
        let mapped = (0..20_480).filter(|page| all.world.pages.entry(*page) & bit::ABSENT == 0);
        let there = mapped.filter(|page| all.world.pages.tier(*page) == 1).count() as u64;
        let shadows = all.kswapd.shadows().len() as u64;
        assert_eq!(slow.pages - slow.free, there + shadows, "a frame for each page and shadow");
        (took / pages, all.world.memory[1].bytes()[1] / pages)
    };
    let near = |found: f64, right: f64| assert!((found / right - 1.0).abs() < 0.01, "{found}");
    let (plain, clean, dirty) = (demoted(false, false), demoted(true, false), demoted(true, true));
    near(plain.0, 600.0 + 7_000.0 + 4096.0 / 6.0);
    near(clean.0, 600.0 + 7_000.0);
    assert_eq!((plain.1, clean.1, dirty.1), (4096.0, 0.0, 4096.0), "bytes written for a page");
}

#[test]
fn what_is_accessed_is_looked_at_and_stays() {
    // Every page was accessed since it came, so each is looked at twice before it goes.
    let mut all = Machinery::new(10_000, 100_000, 20_480, false);
    all.map(0..10_000);
    all.world.pages.set_all(0..10_000, bit::ACCESSED);
    all.reclaim();
    let fast = 10_000 - all.marks().low;
    let right = all.marks().high - all.marks().low;
    assert_eq!(all.kswapd.looked(), fast + right);
    assert_eq!(all.free(), all.marks().high);
}

#[test]
fn a_huge_page_that_found_no_room_finds_it_afterwards() {
    let mut all = Machinery::new(20_480, 100_000, 40_960, true);
    all.map(0..40_960);
    assert!(all.free() < all.marks().low + 512);
    all.reclaim();
    // A huge one fits above the high mark, and no more than one was too many.
    let least = all.marks().high + 511;
    assert!((least..least + 512).contains(&all.free()), "{} for {least}", all.free());
    let demoted = all.kswapd.take_demoted();
    assert!(demoted.iter().all(|one| one.pages.len() == HUGE_PAGES && one.tenant == 0));
}

#[test]
fn each_tenant_loses_its_own_pages() {
    let mut all = Machinery::new(1000, 100_000, 4096, false);
    // In turn from both.
    for at in 0..1000 {
        all.map(at..at + 1);
        all.map(2048 + at..2049 + at);
    }
    all.reclaim();
    let demoted = all.kswapd.take_demoted();
    let of = |tenant| demoted.iter().filter(|one| one.tenant == tenant).count();
    assert!(of(0).abs_diff(of(1)) <= 1 && of(0) > 3, "{} and {}", of(0), of(1));
    assert!(demoted.iter().all(|one| (one.pages.start >= 2048) == (one.tenant == 1)));
}

#[test]
fn with_a_raised_mark_it_works_before_anybody_asked() {
    let mut all = Machinery::new(10_000, 100_000, 20_480, false);
    let marks = all.marks().demoting_early(10_000, 1500);
    all.memory.set_marks(0, marks);
    let first = 10_000 - usize::try_from(marks.sleep).unwrap();
    all.map(0..first);
    all.step();
    assert!(!all.kswapd.is_awake(), "1500 pages are free");
    all.map(first..first + 100);
    all.step();
    assert!(all.kswapd.is_awake());
    all.reclaim();
    assert_eq!((all.free(), all.kswapd.take_demoted().len()), (1500, 100));
}

#[test]
fn it_gives_up_where_all_is_hot_and_where_the_slow_node_is_full() {
    let mut hot = Machinery::new(1000, 100_000, 4096, false);
    hot.map(0..1000);
    while hot.kswapd.is_awake() {
        hot.world.pages.set_all(0..1000, bit::ACCESSED);
        hot.step();
    }
    assert_eq!(hot.kswapd.take_demoted(), []);
    let (fast, looked) = (1000 - hot.marks().low, hot.kswapd.looked());
    assert!((4 * fast..4 * fast + 64).contains(&looked), "{looked} of {fast}");

    let mut full = Machinery::new(1000, 200, 4096, false);
    full.map(0..1200);
    full.reclaim();
    let slow = full.memory.nodes().node(1);
    assert!(!full.kswapd.is_awake() && slow.free == slow.marks.min, "{slow:?}");
}
