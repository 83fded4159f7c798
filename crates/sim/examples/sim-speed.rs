//! How fast the engine simulates, beside what a random touch of memory takes on this machine:
//! `cargo run --release -p pagetide-sim --example sim-speed`.

use pagetide_access::patterns::{Pattern, Setup, Uniform};
use pagetide_machine::Machine;
use pagetide_sim::engine::{Core, Engine, Fault, Pages, System, WalkProgram, World, bit};
use pagetide_types::Bytes;
use std::time::Instant;

const SIZE: Bytes = Bytes::gib(4);
const ACCESSES: u64 = 20_000_000;

/// Clears accessed bits in turn and sets hints, as a tracker does: 1 % of the pages every 10 ms.
struct Tracker {
    at: usize,
}

impl System for Tracker {
    fn fault(&mut self, fault: Fault, _: &mut World) -> f64 {
        fault.now_ns + 1_000.0
    }

    fn daemons(&self) -> usize {
        1
    }

    fn wake(&mut self, _: usize, now_ns: f64, world: &mut World) -> f64 {
        for _ in 0..world.pages.len() / 100 {
            self.at = (self.at + 1) % world.pages.len();
            if world.pages.clear(self.at, bit::ACCESSED) == 0 {
                world.pages.set(self.at, bit::HINT);
            }
        }
        now_ns + 10e6
    }
}

fn run(threads: u32, tracked: bool) -> Result<f64, Box<dyn std::error::Error>> {
    let machine = Machine::load(Machine::DEFAULT)?;
    let mut pages = Pages::all_in(0, SIZE.0);
    (0..pages.len()).step_by(4).for_each(|page| pages.put(page, 1));
    let world = World::new(&machine, pages);
    let world = if tracked { world.with(Box::new(Tracker { at: 0 })) } else { world };
    let mut engine = Engine::new(world);
    for walk in Uniform.walks(&Setup::new(SIZE, threads, 1)?)? {
        let program = WalkProgram::new(walk, ACCESSES / u64::from(threads), 0, 0.0);
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
    for (threads, tracked) in [(1, false), (4, false), (1, true), (4, true)] {
        let mut found: Vec<f64> =
            (0..5).map(|_| run(threads, tracked)).collect::<Result<_, _>>()?;
        found.sort_by(f64::total_cmp);
        let with = if tracked { ", a tracker and faults" } else { "" };
        println!(
            "{threads} threads{with}: {:.1} M accesses/s (median of 5; {:.1} to {:.1})",
            found[2], found[0], found[4]
        );
    }
    Ok(())
}
