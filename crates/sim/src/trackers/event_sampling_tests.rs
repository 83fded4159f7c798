//! What is counted of known programs, and what that takes.

use super::*;
use crate::engine::{Access, Core, Engine, Fault, Pages, System};
use pagetide_machine::Machine;
use std::sync::{Arc, Mutex};

const PAGES: usize = 64;
/// It waits for nothing but what it computes.
const WIDE: Core =
    Core { outstanding: 1000, reorder: 1000, issue_ns: 0.0, ahead_ns: f64::INFINITY };

/// A system that does nothing but sample.
#[derive(Clone)]
struct Sampled(Arc<Mutex<EventSampling>>);

impl System for Sampled {
    fn fault(&mut self, fault: Fault, _: &mut World) -> f64 {
        fault.now_ns
    }

    fn daemons(&self) -> usize {
        1
    }

    fn wake(&mut self, _: usize, now_ns: f64, world: &mut World) -> f64 {
        self.0.lock().unwrap().work(0, &units(), now_ns, world)
    }
}

fn units() -> Units {
    Units::new(0..PAGES, false)
}

/// Accesses of a thread, each to a page at random, so many ns after each other; of pages below `stored`
/// they are stores.
fn random(count: u64, each_ns: f32, stored: u64) -> impl FnMut(f64) -> Option<Access> + Send {
    let (mut left, mut state) = (count, 1u64);
    move |_| {
        left = left.checked_sub(1)?;
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let page = (state >> 33) % PAGES as u64;
        let (address, write) = (page << 12, page < stored);
        Some(Access { address, write, dependent: false, compute_ns: each_ns })
    }
}

/// A program under sampling: its counts by page, the tracker, the machine, and how long it took, ns.
fn sampled(
    tracker: EventSampling,
    program: impl FnMut(f64) -> Option<Access> + Send,
) -> (Vec<u32>, EventSampling, World) {
    let sampled = Sampled(Arc::new(Mutex::new(tracker)));
    let pages = Pages::all_in(1, (PAGES as u64) << 12);
    let world = World::new(&Machine::load("cxl").unwrap(), pages).with(Box::new(sampled.clone()));
    let mut engine = Engine::new(world);
    engine.world().cores.set_spare(1);
    engine.thread(program, 0, WIDE, 1.0);
    let end = engine.run(f64::INFINITY);
    let mut world = std::mem::replace(
        engine.world(),
        World::new(&Machine::load("cxl").unwrap(), Pages::all_in(1, 4096)),
    );
    let mut tracker = sampled.0.lock().unwrap().clone();
    tracker.work(0, &units(), end, &mut world);
    (tracker.counts.clone(), tracker, world)
}

/// Simulated time is 10^4 times shorter: periods can change every 1.5 ms, the buffer has room for one
/// record, and the thread sleeps for 200 ns.
fn quick(sample_ns: f64) -> EventSampling {
    EventSampling::new(sample_ns, 1e4)
}

#[test]
fn a_page_is_seen_as_often_as_its_accesses_over_the_period_within_their_error() {
    let (counts, tracker, mut world) = sampled(quick(0.0), random(2_000_000, 40.0, 0));
    assert_eq!(tracker.periods().loads, 199, "it takes nothing");
    let all: u32 = counts.iter().sum();
    assert!(all.abs_diff(2_000_000 / 199) <= 1, "{all}");
    assert_eq!(world.events(0).unwrap().lost(), 0);
    let right = 2e6 / 199.0 / PAGES as f64;
    // The sum of squares has a mean of 63 and a deviation of 11.2.
    let chi: f64 = counts.iter().map(|count| (f64::from(*count) - right).powi(2) / right).sum();
    assert!((30.0..108.0).contains(&chi), "{chi}");
}

#[test]
fn stores_are_seen_by_a_period_of_their_own() {
    let (counts, ..) = sampled(quick(0.0), random(4_000_000, 40.0, PAGES as u64 / 2));
    let (stores, loads) = counts.split_at(PAGES / 2);
    let (stores, loads): (u32, u32) = (stores.iter().sum(), loads.iter().sum());
    assert!((18..=20).contains(&stores), "{stores}");
    assert!(loads.abs_diff(2_000_000 / 199) < 30, "{loads}");
}

#[test]
fn its_thread_takes_three_hundredths_of_a_cpu() {
    // A load every 40 ns is 12.6 % of a CPU by one record of 199, and 3.1 % by one of 797.
    let (_, tracker, world) = sampled(quick(1000.0), random(5_000_000, 40.0, 0));
    assert_eq!(tracker.periods(), EventPeriods { loads: 797, stores: 1_500_003 });
    let all = world.cores.kernel_ns() / 0.2e9;
    assert!((0.03..0.035).contains(&all), "{all}");
    // A slow program is sampled as often as may be, and takes less.
    let (_, tracker, world) = sampled(quick(1000.0), random(200_000, 800.0, 0));
    assert_eq!(tracker.periods(), EventPeriods { loads: 199, stores: 100_007 });
    assert!(world.cores.kernel_ns() / 0.16e9 < 0.0065);
}

#[test]
fn periods_come_down_again_when_a_program_slows_down() {
    let (mut fast, mut slow) = (random(1_000_000, 40.0, 0), random(200_000, 400.0, 0));
    let program = move |now| fast(now).or_else(|| slow(now));
    let (_, tracker, _) = sampled(quick(1000.0), program);
    assert_eq!(tracker.periods().loads, 199, "1.3 % of a CPU");
}

#[test]
fn what_its_thread_has_no_time_for_is_lost() {
    // A record every 8 us that takes 100: at the end of the lists it is an eighth of a CPU still.
    let (counts, tracker, mut world) = sampled(quick(100_000.0), random(3_000_000, 40.0, 0));
    assert_eq!(tracker.periods().loads, LOADS[LOADS.len() - 1]);
    let (lost, read) = (world.events(0).unwrap().lost(), u64::from(counts.iter().sum::<u32>()));
    assert!(lost > read, "{lost} of {read}");
    assert!(world.cores.kernel_ns() < 0.12e9, "it is one thread");
}

#[test]
fn a_smaller_machine_has_smaller_buffers() {
    let room = |scale| {
        let mut world = World::new(&Machine::load("cxl").unwrap(), Pages::all_in(1, 4096));
        world.cores.seat(0);
        let mut tracker = EventSampling::new(1.0, scale);
        tracker.work(0, &units(), 0.0, &mut world);
        let events = world.events(0).unwrap();
        (0..199 * 10_000).for_each(|_| events.count(0, false, false));
        events.take().len()
    };
    assert_eq!((room(1.0), room(1024.0), room(1e6)), (4096, 4, 1));
}
