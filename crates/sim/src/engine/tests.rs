//! Closed forms, from both sides: what a formula gives is met within 1 %.

mod caches;
mod translations;

use super::*;
use pagetide_machine::{Machine, Tier};

/// DRAM of 100 ns and 100 GB/s beside memory of 250 ns and 20 GB/s.
fn machine() -> Machine {
    let mut machine = Machine::load("cxl").unwrap();
    let set = |tier: &mut Tier, latency, bandwidth| {
        (tier.read_latency_ns, tier.write_latency_ns) = (latency, latency);
        (tier.read_bandwidth_gb_s, tier.write_bandwidth_gb_s) = (bandwidth, bandwidth);
    };
    set(&mut machine.tiers[0], 100.0, 100.0);
    set(&mut machine.tiers[1], 250.0, 20.0);
    machine
}

const PAGES: u64 = 1024;

/// Accesses to lines in order.
fn stream(count: u64, dependent: bool, write: bool) -> impl FnMut(f64) -> Option<Access> + Send {
    let mut at = 0;
    move |_| {
        at += 1;
        let address = at * 64 % (PAGES << 12);
        (at <= count).then_some(Access { address, write, dependent, compute_ns: 0.0 })
    }
}

fn engine<'a>(tier: u8) -> Engine<'a> {
    Engine::new(World::new(&machine(), Pages::all_in(tier, PAGES << 12)))
}

fn near(found: f64, right: f64) {
    assert!((found / right - 1.0).abs() < 0.01, "{found} for {right}");
}

const WIDE: Core =
    Core { outstanding: 1000, reorder: 1000, issue_ns: 0.0, ahead_ns: f64::INFINITY };

#[test]
fn a_stream_takes_its_bytes_over_the_bandwidth() {
    for (tier, bandwidth) in [(0, 100.0), (1, 20.0)] {
        for write in [false, true] {
            let mut engine = engine(tier);
            let stream = stream(100_000, false, write);
            engine.thread(stream, 0, WIDE, 0.0);
            near(engine.run(f64::INFINITY), 100_000.0 * 64.0 / bandwidth);
            near(engine.world().memory[usize::from(tier)].busy_ns(), 100_000.0 * 64.0 / bandwidth);
        }
    }
}

#[test]
fn a_chase_takes_a_latency_per_access() {
    for (tier, latency) in [(0, 100.0), (1, 250.0)] {
        let mut engine = engine(tier);
        let chase = stream(10_000, true, false);
        engine.thread(chase, 0, Core::default(), 0.0);
        near(engine.run(f64::INFINITY), 10_000.0 * latency);
    }
}

#[test]
fn a_known_share_of_hits_mixes_the_latencies() {
    // Three of four pages are fast.
    let mut engine = engine(0);
    for page in (0..PAGES).step_by(4) {
        engine.world().pages.put(usize::try_from(page).unwrap(), 1);
    }
    let chase = stream(PAGES * 64, true, false);
    engine.thread(chase, 0, Core::default(), 0.0);
    near(engine.run(f64::INFINITY), (PAGES * 64) as f64 * (0.75 * 100.0 + 0.25 * 250.0));
}

#[test]
fn k_accesses_under_way_are_k_per_latency_until_the_channel_is_full() {
    for k in [1, 2, 4, 8, 16, 32, 64, 200] {
        let mut engine = engine(1);
        let stream = stream(50_000, false, false);
        engine.thread(stream, 0, Core { outstanding: k, issue_ns: 0.0, ..Core::default() }, 0.0);
        // Little's law: 78 lines are under way at 20 GB/s and 250 ns.
        let each = (250.0 / f64::from(k)).max(64.0 / 20.0);
        near(engine.run(f64::INFINITY), 50_000.0 * each);
    }
}

#[test]
fn a_saturated_tier_is_shared_alike() {
    // Four threads that could each take it all, and one whose chain waits behind them.
    let mut engine = engine(1);
    let core = Core { outstanding: 64, issue_ns: 0.0, ..Core::default() };
    for _ in 0..4 {
        engine.thread(stream(20_000, false, false), 0, core, 0.0);
    }
    near(engine.run(f64::INFINITY), 80_000.0 * 64.0 / 20.0);
    let clocks: Vec<f64> = (0..4).map(|thread| engine.clock_ns(thread)).collect();
    let (least, most) =
        clocks.iter().fold((f64::MAX, 0.0), |(l, m): (f64, f64), c| (l.min(*c), m.max(*c)));
    assert!(least > 0.97 * most, "{clocks:?}");
}

#[test]
fn who_waits_behind_a_full_channel_waits_for_all_before_it() {
    // 64 lines of others are always ahead of a chain: 64 x 3.2 ns, and no latency on top of that.
    let mut engine = engine(1);
    engine.thread(
        stream(200_000, false, false),
        0,
        Core { outstanding: 256, issue_ns: 0.0, ..Core::default() },
        0.0,
    );
    let chase = engine.thread(stream(500, true, false), 0, Core::default(), 5_000.0);
    engine.run(f64::INFINITY);
    let each = (engine.clock_ns(chase) - 5_000.0) / 500.0;
    // The stream keeps 256 lines under way, of which 250 ns / 3.2 ns = 78 have been served.
    let right = (256.0 - 250.0 / 3.2) * 3.2 + 250.0;
    assert!((each / right - 1.0).abs() < 0.03, "{each} for {right}");
}

#[test]
fn the_same_seed_gives_the_same_time_and_a_stop_changes_nothing() {
    let run = |stops: &[f64]| {
        let mut engine = engine(0);
        for number in 0..3u64 {
            let mut state = number + 1;
            let mut left = 5_000;
            let random = move |_: f64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                left -= 1;
                let (address, dependent) = ((state >> 33) % (PAGES << 12), state >> 63 != 0);
                (left > 0).then_some(Access { address, dependent, ..Access::default() })
            };
            engine.thread(random, 0, Core::default(), 0.0);
        }
        stops.iter().for_each(|stop| {
            engine.run(*stop);
        });
        engine.run(f64::INFINITY)
    };
    assert_eq!(run(&[]).to_bits(), run(&[]).to_bits());
    near(run(&[10_000.0, 50_000.0]), run(&[]));
}

#[test]
fn a_copy_beside_a_stream_leaves_it_the_rest() {
    // A stream and a copy with 100 lines under way each; the copy's take 100 ns more, to be written.
    // With T for a line of the stream, 100 / T + 100 / (T + 100) is a line per 3.2 ns.
    let core = Core { outstanding: 100, issue_ns: 0.0, ..Core::default() };
    let mut engine = engine(1);
    let stream = engine.thread(stream(200_000, false, false), 0, core, 0.0);
    let copy = engine.add(Copier::new(core, 0.0, (1, 0), 4 << 20));
    engine.run(f64::INFINITY);
    let (a, b, c) = (1.0 / 3.2, 100.0 / 3.2 - 200.0, -10_000.0);
    let line_ns = (-b + f64::sqrt(b * b - 4.0 * a * c)) / (2.0 * a);
    near(engine.clock_ns(copy), f64::from(4 << 14) * (line_ns + 100.0) / 100.0);
    near(engine.clock_ns(stream), (200_000.0 * 64.0 + f64::from(4 << 20)) / 20.0);
    near(engine.world().memory[0].bytes()[1], f64::from(4 << 20));
}

#[test]
fn a_copy_alone_is_as_fast_as_both_tiers_and_what_it_has_under_way_let_it() {
    for (outstanding, from, to) in [(1000, 1, 0), (1000, 0, 1), (4, 1, 0)] {
        let mut engine = engine(0);
        let core = Core { outstanding, issue_ns: 0.0, ..Core::default() };
        let copy = engine.add(Copier::new(core, 0.0, (from, to), 8 << 20));
        engine.run(f64::INFINITY);
        // Read and written: 350 ns for each of 4 lines; or 20 GB/s.
        let each = (350.0 / f64::from(outstanding)).max(64.0 / 20.0);
        near(engine.clock_ns(copy), f64::from(8 << 14) * each / 1.0);
    }
}

#[test]
fn who_computes_has_as_many_accesses_under_way_as_its_reorder_buffer_holds() {
    // 40 ns between two and a buffer of 48: the second waits for none, the third for the first.
    for (sequential, each) in [(false, 250.0 / 2.0), (true, 40.0)] {
        let mut engine = engine(1);
        let mut at = 0u64;
        let program = move |_: f64| {
            at += 1;
            let line = if sequential { at } else { at * 7919 };
            let address = line * 64 % (PAGES << 12);
            (at <= 10_000).then_some(Access { address, compute_ns: 40.0, ..Access::default() })
        };
        engine.thread(program, 0, Core { issue_ns: 0.0, ..Core::default() }, 0.0);
        near(engine.run(f64::INFINITY), 10_000.0 * each);
    }
}

#[test]
fn threads_that_meet_are_as_fast_as_the_slowest_of_each_round() {
    // Two chains that compute beside the access before, which takes longer in one or the other, in
    // turns of a round.
    for (meets, each) in [(false, 150.0), (true, 200.0)] {
        let mut engine = engine(0);
        if meets {
            engine.world().meet(0, 100);
        }
        for slow in [0, 1] {
            let mut at = 0;
            let chain = move |_: f64| {
                let compute_ns = if at / 100 % 2 == slow { 200.0 } else { 0.0 };
                at += 1;
                let access =
                    Access { address: at * 64, dependent: true, compute_ns, ..Access::default() };
                (at <= 2_000).then_some(access)
            };
            engine.thread(chain, 0, Core::default(), 0.0);
        }
        near(engine.run(f64::INFINITY), 2_000.0 * each);
    }
}

#[test]
fn who_has_ended_is_not_waited_for() {
    let mut engine = engine(0);
    engine.world().meet(0, 64);
    for count in [10, 1_000, 100] {
        engine.thread(stream(count, true, false), 0, Core::default(), 0.0);
    }
    near(engine.run(f64::INFINITY), 1_000.0 * 100.0);
}

#[test]
fn who_is_held_up_goes_on_afterwards() {
    let mut engine = engine(0);
    engine.thread(stream(1000, true, false), 1, Core::default(), 0.0);
    engine.run(50_000.0);
    engine.world().cores.hold(1, 80_000.0);
    engine.world().cores.hold(0, 1e9);
    // The access under way comes in meanwhile.
    let end = engine.run(f64::INFINITY);
    assert!((end - 130_000.0).abs() <= 200.0, "{end}");
}

/// Looks every 100 us which pages were accessed since, and asks for a fault on each that was not.
struct Scanner(std::sync::Arc<std::sync::Mutex<(Vec<usize>, Vec<Fault>)>>);

impl System for Scanner {
    fn fault(&mut self, fault: Fault, _: &mut World) -> f64 {
        self.0.lock().unwrap().1.push(fault);
        fault.now_ns + 5_000.0
    }

    fn daemons(&self) -> usize {
        1
    }

    fn wake(&mut self, _: usize, now_ns: f64, world: &mut World) -> f64 {
        let mut seen = 0;
        for page in 0..world.pages.len() {
            if world.pages.clear(page, bit::ACCESSED) != 0 {
                seen += 1;
            } else {
                world.pages.set(page, bit::HINT);
            }
        }
        self.0.lock().unwrap().0.push(seen);
        now_ns + 100_000.0
    }
}

#[test]
fn a_scanner_sees_what_was_accessed_since_and_its_faults_cost_what_they_cost() {
    let told = std::sync::Arc::default();
    let scanner = Box::new(Scanner(std::sync::Arc::clone(&told)));
    let world = World::new(&machine(), Pages::all_in(0, PAGES << 12)).with(scanner);
    let mut engine = Engine::new(world);
    // One page after the other, 64 lines of each: 6.4 us, and a fault of 5 us before.
    let pages = 100;
    engine.thread(stream(64 * pages - 1, true, false), 3, Core::default(), 0.0);
    let end = engine.run(f64::INFINITY);
    let (seen, faults) = told.lock().unwrap().clone();
    near(end, (64 * pages) as f64 * 100.0 + 5_000.0 * faults.len() as f64);
    assert!((95..=110).contains(&faults.len()), "{}", faults.len());
    assert!(faults.iter().all(|fault| fault.tenant == 3 && !fault.absent() && !fault.write));
    assert_eq!(seen[0], 0, "nothing was accessed yet");
    // 100 us hold 8.8 pages, and the one at each end.
    assert!(seen[1..seen.len() - 1].iter().all(|seen| (8..=10).contains(seen)), "{seen:?}");
}

#[test]
fn patterns_run_as_programs_and_a_chase_waits_where_a_uniform_one_does_not() {
    use pagetide_access::patterns::{Pattern, PointerChase, Setup, Uniform};
    use pagetide_types::Bytes;

    let setup = Setup::new(Bytes(PAGES << 12), 1, 1).unwrap();
    let core = Core { outstanding: 8, issue_ns: 0.0, ..Core::default() };
    let time = |walk: &mut dyn FnMut(&mut Engine<'_>)| {
        // Half of the pages are slow.
        let mut engine = engine(0);
        (0..PAGES).step_by(2).for_each(|page| {
            engine.world().pages.put(usize::try_from(page).unwrap(), 1);
        });
        walk(&mut engine);
        engine.run(f64::INFINITY)
    };
    let chase = PointerChase { slot: Bytes(64) }.walks(&setup).unwrap().remove(0);
    let chased = time(&mut |engine| {
        let program = WalkProgram::new(chase.clone(), 100_000, 0, 0.0);
        engine.thread(program, 0, core, 0.0);
    });
    near(chased, 100_000.0 * 175.0);
    let uniform = Uniform.walks(&setup).unwrap().remove(0);
    let spread = time(&mut |engine| {
        let program = WalkProgram::new(uniform.clone(), 100_000, 0, 0.0);
        engine.thread(program, 0, core, 0.0);
    });
    // Eight buffers that are free when their access is there: the mean latency over eight. A run
    // of 72 accesses in which a slow one is last waits for it.
    let right = 100_000.0 * 175.0 / 8.0;
    assert!((right..1.1 * right).contains(&spread), "{spread} for {right}");
}

#[test]
fn who_sees_pages_alone_sees_one_touch_of_an_object_and_eight_of_a_page_that_comes_in_order() {
    let touches = |dependent, lines: &[u64]| {
        let mut engine = engine(0);
        engine.world().count_touches();
        let lines = lines.to_vec();
        let mut at = 0;
        let program = move |_: f64| {
            let address = lines.get(at)? * 64;
            at += 1;
            Some(Access { address, write: false, dependent, compute_ns: 1.0 })
        };
        engine.thread(program, 0, WIDE, 0.0);
        engine.run(f64::INFINITY);
        let mut page = |page: usize| engine.world().take_touches(page..page + 1);
        [page(0), page(1), page(2)]
    };
    let object = |at: u64| (at..at + 4).collect::<Vec<_>>();
    let objects = [object(4), object(64 + 20), object(40), object(128 + 8)].concat();
    for dependent in [false, true] {
        assert_eq!(touches(dependent, &objects), [[2, 0], [1, 0], [1, 0]], "{dependent}");
    }
    // A stream begins somewhere, goes through a page, and comes to the next in order.
    assert_eq!(touches(false, &(10..190).collect::<Vec<_>>()), [[1, 0], [1, 0], [0, 8]]);
}
