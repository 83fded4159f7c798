//! How fast the engine simulates, beside what a random touch of memory takes on this machine:
//! `cargo run --release -p pagetide-sim --example sim-speed`.

use pagetide_access::patterns::{Pattern, Setup, Uniform};
use pagetide_machine::{Cache, Machine, Tlb};
use pagetide_sim::engine::{
    Core, Engine, Fault, HUGE_PAGES, Hardware, Pages, System, WalkProgram, World,
};
use pagetide_sim::kernel::Units;
use pagetide_sim::movers::{Exchange, Mechanism, Mover};
use pagetide_sim::trackers::{AccessedBits, Interval, Tracker};
use pagetide_types::Bytes;
use std::time::Instant;

/// What programs touch.
const SIZE: Bytes = Bytes::gib(4);
/// What moves, and programs do not touch: whoever touches memory that moves waits.
const COLD: Bytes = Bytes::mib(512);
const ACCESSES: u64 = 20_000_000;
/// Between two looks of the tracker, ns.
const INTERVAL_NS: f64 = 10e6;
/// Units that change places after each of them: the mover is at work half of the time.
const PAIRS: usize = 16;

/// A kernel of two threads: a tracker that looks at all accessed bits, and a mover that exchanges huge
/// pages with two threads that copy.
struct Kernel {
    units: Units,
    tracker: AccessedBits,
    mover: Mover,
    epoch: u32,
}

impl Kernel {
    fn new(pages: usize) -> Self {
        let mechanism =
            Mechanism { split: false, threads: 2, together: 4, exchange: Exchange::True };
        let costs = pagetide_machine::Kernel::default();
        Self {
            units: Units::new(0..pages, true),
            tracker: AccessedBits::new(costs.scan_ns),
            mover: Mover::new(0, mechanism, costs),
            epoch: 0,
        }
    }

    /// Looks, and asks for the next units to change places.
    fn track(&mut self, now_ns: f64, world: &mut World) {
        let units = &self.units;
        let length_s = INTERVAL_NS * 1e-9;
        let interval = Interval { tenant: 0, units, epoch: self.epoch, length_s };
        let looked = self.tracker.look(&interval, world);
        world.cores.kernel(now_ns, looked.cpu_ns);
        let cold = units.len() - units.of(Pages::page(SIZE.0));
        let first = self.epoch as usize * 2 * PAIRS;
        let unit = |number: usize| units.range(units.len() - 1 - (first + number) % cold);
        self.mover.request((0..PAIRS).map(|pair| (unit(2 * pair), unit(2 * pair + 1))), [], []);
        self.epoch += 1;
    }
}

impl System for Kernel {
    fn fault(&mut self, fault: Fault, _: &mut World) -> f64 {
        fault.now_ns
    }

    fn wait(&mut self, fault: Fault, _: &mut World) -> Option<f64> {
        self.mover.blocks(fault.page, fault.core, fault.now_ns)
    }

    fn daemons(&self) -> usize {
        2
    }

    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        if daemon == 0 {
            self.track(now_ns, world);
            return now_ns + INTERVAL_NS;
        }
        self.mover.step(now_ns, world).unwrap_or(now_ns + 100_000.0)
    }
}

/// What is simulated.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    threads: u32,
    filtered: bool,
    kernel: bool,
    /// What we want, M accesses/s.
    goal: f64,
}

const CASES: &[Case] = &[
    Case { name: "tiers and queues", threads: 1, filtered: false, kernel: false, goal: 20.0 },
    Case { name: "tiers and queues", threads: 4, filtered: false, kernel: false, goal: 0.0 },
    Case { name: "a tracker and a mover", threads: 1, filtered: false, kernel: true, goal: 0.0 },
    Case { name: "a tracker and a mover", threads: 2, filtered: false, kernel: true, goal: 10.0 },
    Case { name: "a TLB and three caches", threads: 1, filtered: true, kernel: false, goal: 5.0 },
    Case { name: "all of that", threads: 2, filtered: true, kernel: true, goal: 0.0 },
];

/// Simulated accesses by second, millions.
fn run(case: Case) -> Result<f64, Box<dyn std::error::Error>> {
    let machine = Machine::load(Machine::DEFAULT)?;
    let mut pages = Pages::all_in(0, SIZE.0 + COLD.0);
    for block in 0..pages.len() / HUGE_PAGES {
        pages.put_huge(block * HUGE_PAGES, u8::from(block % 4 == 0));
    }
    let kernel = Kernel::new(pages.len());
    let mut world = World::new(&machine, pages);
    if case.filtered {
        world = world.behind(Hardware::new(Some(&Tlb::default()), &Cache::haswell(), 1.0)?);
    }
    if case.kernel {
        world = world.with(Box::new(kernel));
        world.cores.set_spare(4);
    }
    let mut engine = Engine::new(world);
    for walk in Uniform.walks(&Setup::new(SIZE, case.threads, 1)?)? {
        let program = WalkProgram::new(walk, ACCESSES / u64::from(case.threads), 0, 0.0);
        engine.thread(program, 0, Core::default(), 0.0);
    }
    let begun = Instant::now();
    engine.run(f64::INFINITY);
    Ok(ACCESSES as f64 / begun.elapsed().as_secs_f64() / 1e6)
}

/// A dependent read of a random line of as many bytes as the page tables have, ns.
fn random_touch(bytes: usize) -> f64 {
    let memory: Vec<u64> = (0..bytes as u64 / 8).collect();
    let (mut at, mut sum) = (1u64, 0u64);
    let begun = Instant::now();
    for _ in 0..10_000_000 {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(sum | 1);
        sum = sum.wrapping_add(memory[(at >> 20) as usize % memory.len()]);
    }
    assert_ne!(sum, 0);
    begun.elapsed().as_secs_f64() * 100.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "a dependent touch of 1 MiB {:.1} ns, of 1 GiB {:.1} ns",
        random_touch(1 << 20),
        random_touch(1 << 30)
    );
    for case in CASES {
        let mut found: Vec<f64> = (0..5).map(|_| run(*case)).collect::<Result<_, _>>()?;
        found.sort_by(f64::total_cmp);
        let goal = match case.goal {
            0.0 => String::new(),
            goal => format!("; goal {goal}"),
        };
        println!(
            "{}, threads: {}: {:.1} M accesses/s (median of 5; {:.1} to {:.1}{goal})",
            case.name, case.threads, found[2], found[0], found[4]
        );
    }
    Ok(())
}
