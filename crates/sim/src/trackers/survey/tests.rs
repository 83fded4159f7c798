//! What a survey sees of known programs, and what that takes.

use super::*;
use crate::engine::{Access, Core, Engine, Fault, Pages, System};
use pagetide_machine::Machine;
use pagetide_types::{EpochHeat, HeatFlags};
use std::sync::{Arc, Mutex};

const UNITS: usize = 64;
const INTERVAL_S: f64 = 0.1;
/// Base pages that one stands for.
const SCALE: f64 = 1000.0;
/// Between two accesses of the program, ns.
const EACH_NS: f32 = 1000.0;
/// It waits for nothing but what it computes.
const WIDE: Core =
    Core { outstanding: 1000, reorder: 1000, issue_ns: 0.0, ahead_ns: f64::INFINITY };

/// A system that does nothing but watch.
#[derive(Clone)]
struct Watched(Arc<Mutex<Survey>>, Units);

impl System for Watched {
    fn fault(&mut self, fault: Fault, _: &mut World) -> f64 {
        fault.now_ns
    }

    fn daemons(&self) -> usize {
        1
    }

    fn wake(&mut self, _: usize, now_ns: f64, world: &mut World) -> f64 {
        let mut survey = self.0.lock().unwrap();
        if now_ns == 0.0 {
            survey.begin(world);
        }
        survey.work(0, &self.1, now_ns, world)
    }
}

/// What each of `intervals` shows of a program on huge or base pages that accesses units at random, the
/// first eight of them ten times as often as the others, the last eight never; and the survey's
/// share of a CPU.
fn surveyed(huge: bool, intervals: u32, scan_ns: f64) -> (Vec<EpochHeat>, f64) {
    surveyed_by(huge, intervals, scan_ns, (1, Watch::Full))
}

/// The same of a tenant with so many cores, watched so.
fn surveyed_by(
    huge: bool,
    intervals: u32,
    scan_ns: f64,
    (cores, watch): (usize, Watch),
) -> (Vec<EpochHeat>, f64) {
    let size = if huge { HUGE_PAGES } else { 1 };
    let mut pages = Pages::all_in(1, ((UNITS * size) as u64) << 12);
    if huge {
        (0..UNITS).for_each(|unit| pages.put_huge(unit * size, 1));
    }
    let units = Units::new(0..UNITS * size, huge);
    let costs = Kernel { scan_ns, interrupt_us: 0.0, ..Kernel::default() };
    let survey = Arc::new(Mutex::new(Survey::new(&costs, INTERVAL_S, SCALE)));
    survey.lock().unwrap().watch(watch);
    let system = Watched(Arc::clone(&survey), units.clone());
    let world = World::new(&Machine::load("cxl").unwrap(), pages).with(Box::new(system));
    let mut engine = Engine::new(world);
    engine.world().cores.set_spare(1);
    let mut state = 1u64;
    let program = move |_: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let drawn = (state >> 33) % (80 + 48);
        // The last eight are never accessed.
        let unit = if drawn < 80 { drawn % 8 } else { drawn - 72 };
        // Somewhere in it.
        let address = ((unit * size as u64) << 12) + (state >> 50) % ((size as u64) << 12);
        Some(Access { address, write: false, dependent: false, compute_ns: EACH_NS })
    };
    engine.thread(program, 0, WIDE, 1.0);
    (1..cores).for_each(|_| _ = engine.world().cores.seat(0));
    let (mut heats, mut told_ns) = (Vec::new(), 0.0);
    for epoch in 0..intervals {
        engine.run(f64::from(epoch + 1) * INTERVAL_S * 1e9);
        let interval = Interval { tenant: 0, units: &units, epoch, length_s: INTERVAL_S };
        let looked = survey.lock().unwrap().look(&interval, engine.world());
        told_ns += looked.thread_ns;
        heats.push(looked.heat);
    }
    let all_ns = f64::from(intervals) * INTERVAL_S * 1e9;
    let took_ns = engine.world().cores.kernel_ns();
    assert!(took_ns > 0.0 && (told_ns / took_ns - 1.0).abs() < 1e-9, "what it took is told");
    (heats, took_ns / all_ns)
}

/// The mean rate of units, over the true one.
fn over_truth(heat: &EpochHeat, units: Range<usize>, weight: f32) -> f32 {
    let truth = weight / 128.0 * 1e9 / EACH_NS;
    heat.rate[units.clone()].iter().sum::<f32>() / units.len() as f32 / truth
}

#[test]
fn rates_are_what_they_are() {
    // Over few waits for one bit the mean is too high.
    for (huge, within) in [(false, 1.05), (true, 1.4)] {
        let (heats, _) = surveyed(huge, 4, 1.0);
        for (units, weight) in [(0..8, 10.0), (8..56, 1.0)] {
            // Of base pages one that is accessed twice in a row is touched once.
            let touches = if huge { 1.0 } else { 1.0 - weight / 128.0 };
            let ratio = over_truth(&heats[3], units, weight) / touches;
            assert!((1.0 / within..within).contains(&ratio), "{huge} {weight}: {ratio}");
        }
        assert_eq!(over_truth(&heats[3], 56..64, 1.0), 0.0);
        assert!(heats[3].flags[60].has(HeatFlags::UNSEEN));
        assert!(heats[3].flags[0].has(HeatFlags::ACCESSED));
    }
}

#[test]
fn of_one_bit_little_is_sure_of_many_much() {
    let (huge, _) = surveyed(true, 1, 1.0);
    let (base, _) = surveyed(false, 1, 1.0);
    for unit in 0..56 {
        assert!(huge[0].least_rate(unit) < 0.6 * huge[0].rate[unit]);
        assert!(base[0].least_rate(unit) > 0.9 * base[0].rate[unit]);
    }
}

#[test]
fn a_share_of_a_cpu_is_kept_and_all_come_in_turn() {
    // Clearing all takes four times what a wave may cost.
    let scan_ns = 4.0 * BUDGET * INTERVAL_S / WAVES * 1e9 / UNITS as f64 / CLEAR;
    let (heats, share) = surveyed(false, 4, scan_ns);
    assert!((0.5 * BUDGET..1.2 * BUDGET).contains(&share), "{share}");
    let watched = |heat: &EpochHeat| heat.watched.iter().filter(|pages| **pages > 0).count();
    assert!((30..=56).contains(&watched(&heats[0])), "{}", watched(&heats[0]));
    assert!(heats[3].rate[..56].iter().all(|rate| *rate > 0.0));
}

#[test]
fn the_traffic_is_of_an_interval_alone_and_adds_up_whether_all_fit_or_not() {
    for (times, part) in [(0.25, 56..=56), (8.0, 10..=40)] {
        // Clearing all takes so many times what a wave may cost.
        let scan_ns = times * BUDGET * INTERVAL_S / WAVES * 1e9 / UNITS as f64 / CLEAR;
        let (heats, _) = surveyed(false, 18, scan_ns);
        let mut all = 0.0;
        for heat in &heats[2..] {
            let seen = heat.traffic.iter().filter(|traffic| **traffic > 0.0).count();
            assert!(part.contains(&seen), "{seen} of {part:?}");
            all += heat.traffic.iter().map(|traffic| f64::from(*traffic)).sum::<f64>() / 16.0;
        }
        // One access in 19 goes to the same page as the one before and is no touch of its own.
        let over = all * f64::from(EACH_NS) / 1e9 / (1.0 - 848.0 / 128.0_f64.powi(2));
        assert!((0.85..1.15).contains(&over), "{over}");
    }
}

#[test]
fn units_in_a_row_are_spread_over_all_and_each_has_its_turn() {
    for count in [1, 2, 7, 64, 1000, 18_074] {
        let step = apart(count);
        let mut order: Vec<usize> = (0..count).map(|visit| visit * step % count).collect();
        // Of a tenth of the visits each tenth of the units has its share.
        let tenth = count / 10;
        for visits in order.chunks_exact(tenth.max(100)) {
            let mut share = [0_usize; 10];
            visits.iter().for_each(|unit| share[unit * 10 / count] += 1);
            let even = visits.len() / 10;
            assert!(share.iter().all(|units| units.abs_diff(even) <= 3), "{count}: {share:?}");
        }
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..count), "{count}");
    }
}

#[test]
fn who_has_more_cores_is_watched_more_up_to_half_a_core() {
    let scan_ns = 20.0 * BUDGET * INTERVAL_S / WAVES * 1e9 / UNITS as f64 / CLEAR;
    let share = |cores| surveyed_by(false, 4, scan_ns, (cores, Watch::Full)).1;
    for (cores, right) in [(1, BUDGET), (8, 8.0 * BUDGET), (64, MOST)] {
        let found = share(cores);
        assert!((0.5 * right..1.5 * right).contains(&found), "{cores}: {found} for {right}");
    }
}

#[test]
fn watched_sparsely_the_same_tenth_is_seen_for_a_tenth() {
    let (heats, share) = surveyed_by(false, 4, 1.0, (1, Watch::Sparse));
    let full = surveyed(false, 4, 1.0).1;
    assert!((0.03..0.2).contains(&(share / full)), "{share} for {full}");
    let watched = |heat: &EpochHeat| -> Vec<usize> {
        (0..UNITS).filter(|unit| heat.watched[*unit] > 0).collect()
    };
    let first = watched(&heats[0]);
    assert!((3..=10).contains(&first.len()), "{first:?}");
    assert!(heats.iter().all(|heat| watched(heat) == first));
}
