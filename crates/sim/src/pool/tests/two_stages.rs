//! What is kept of a program and replayed, beside caches all of which are simulated in time.

use super::*;
use crate::pool::counts::PageId;
use crate::pool::kept::Nothing;
use crate::pool::lost::Left;
use crate::pool::scenario::ProgramSpec;
use crate::pool::shared::Shared;
use crate::pool::{Filtering, NodeCaches, filter};
use pagetide_access::patterns::{Op, Source, Step};
use pagetide_machine::PoolCache;
use pagetide_types::Bytes;
use std::time::Duration;

/// A replay, and caches in time.
fn both(
    machine: &PoolMachine,
    sources: &dyn Fn() -> Vec<Box<dyn Source>>,
    filtering: Filtering,
    migration: &Migration,
) -> [PoolOutcome; 2] {
    let kept = filter(sources(), &machine.caches, None, filtering).unwrap();
    let programs =
        vec![Program { misses: &kept.misses, pages: filtering.pages }; machine.nodes as usize];
    let engine = || Engine::new(machine, &programs, (Placement::Pool, 1), Some(migration)).unwrap();
    let replayed = if migration.most > 0 { engine().sharing(&[&kept; 8]) } else { engine() };
    let caches = |_| NodeCaches::new(sources(), &machine.caches, None, filtering).unwrap();
    let full = engine().behind((0..machine.nodes).map(caches).collect());
    [replayed, full].map(|engine| engine.run(&mut |_| true).unwrap())
}

#[test]
fn a_replay_is_caches_in_time_to_one_percent() {
    let programs = [
        ProgramSpec::Simplemoc { regions: 15_000 },
        ProgramSpec::Pennant { zones: 160 * 1440 },
        ProgramSpec::Minife { edge: 60 },
        ProgramSpec::Is { keys: 22, largest: 18 },
    ];
    for program in programs {
        let none = Migration { most: 0, ..Migration::default() };
        let often = Migration { epoch_cycles: 100_000, ..Migration::default() };
        let rarely = Migration { threshold: 30, most: 500, ..Migration::default() };
        for migration in [none, often, rarely] {
            let pages = program.threads(2, 1).unwrap().pages;
            let (warm_up, instructions) = (2_000_000, 2_000_000);
            let filtering = Filtering { warm_up, instructions, pages, seed: 1 };
            let sources = || program.threads(2, 1).unwrap().sources;
            let [replayed, full] = both(&machine(8), &sources, filtering, &migration);
            let off = 100.0 * (replayed.ipc / full.ipc - 1.0);
            eprintln!("{program:?} {migration:?}: {:.4} {:.4} {off:+.2} %", replayed.ipc, full.ipc);
            close(replayed.ipc, full.ipc, 1.0);
        }
    }
}

/// Page after page line by line, for which the pool is asked, each with the same line of the page before, which
/// a core's own caches have.
struct Sweep {
    at: u64,
    op: Op,
}

impl Source for Sweep {
    fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
        for _ in 0..n {
            let line = 64 + self.at / 2 - 64 * (self.at % 2);
            steps.push(Step { offset: line << 6, gap: 400, op: self.op, dependent: false });
            self.at += 1;
        }
    }
}

const PAGES: u64 = 200;

/// Two hundred pages, each of which moves while it is accessed.
fn swept(op: Op) -> [PoolOutcome; 2] {
    let level = |kib, shared| PoolCache { size: Bytes::kib(kib), ways: 8, shared };
    let caches = vec![level(8, false), level(32, false), level(128, true)];
    let machine = PoolMachine { caches, ..machine(1) };
    // An epoch is fifty lines.
    let migration = Migration {
        epoch_cycles: 20_000,
        threshold: 20,
        shootdown_us: 0.0,
        swap_us: 0.0,
        ..Migration::default()
    };
    let sources = || -> Vec<Box<dyn Source>> { vec![Box::new(Sweep { at: 0, op })] };
    let instructions = 800 * 64 * PAGES;
    let filtering = Filtering { warm_up: 0, instructions, pages: 210, seed: 1 };
    both(&machine, &sources, filtering, &migration)
}

#[test]
fn lines_of_a_page_that_moved_are_fetched_again() {
    let [replayed, full] = swept(Op::Read);
    let fetches = |of: &PoolOutcome| of.nodes[0].local_fetches + of.nodes[0].pool_fetches;
    assert!(full.nodes[0].moved_in > PAGES * 9 / 10, "{full:?}");
    // Of each page more than 20 had been fetched when it moved.
    assert!(fetches(&full) > (64 + 20) * PAGES, "{}", fetches(&full));
    close(fetches(&replayed) as f64, fetches(&full) as f64, 1.0);
}

#[test]
fn what_a_page_that_moves_has_dirty_in_caches_goes_with_it() {
    let [replayed, full] = swept(Op::Write);
    let written = |of: &PoolOutcome| of.nodes[0].local_write_backs + of.nodes[0].pool_write_backs;
    let fetched = full.nodes[0].local_fetches + full.nodes[0].pool_fetches;
    let held = (8 + 32 + 128) << 10 >> 6;
    assert!(full.nodes[0].moved_in > PAGES * 9 / 10, "{full:?}");
    assert!(written(&full) < fetched - held - 20 * PAGES, "{} of {fetched}", written(&full));
    let apart = written(&replayed).abs_diff(written(&full));
    assert!(apart < fetched / 100, "{} {}", written(&replayed), written(&full));
}

#[test]
fn a_page_that_moves_tells_what_the_shared_cache_had_of_it() {
    let level = |kib, shared| PoolCache { size: Bytes::kib(kib), ways: 8, shared };
    let caches = vec![level(8, false), level(32, false), level(128, true)];
    let sources = || -> Vec<Box<dyn Source>> { vec![Box::new(Sweep { at: 0, op: Op::Write })] };
    // Of two pages half of the lines each.
    let filtering = Filtering { warm_up: 64 * 400, instructions: 64 * 400, pages: 10, seed: 1 };
    let kept = filter(sources(), &caches, None, filtering).unwrap();
    let mut shared = Shared::new(&kept);
    let mut all = NodeCaches::new(sources(), &caches, None, filtering).unwrap();
    all.warm_up(&mut |_| {}, &mut Nothing);
    for (page, lines) in [(0, u64::MAX >> 32), (1, u64::MAX >> 32), (1, 0), (5, 0)] {
        // What is dirty is still in the core's own.
        let left = Left { lines, dirty: 0 };
        assert_eq!(shared.moved(PageId(page)), left, "{page}");
        assert_eq!(all.moved(PageId(page)), left, "{page}");
    }
}
