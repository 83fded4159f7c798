//! Misses that are kept and replayed, beside caches that are simulated in time.

use super::*;
use crate::pool::scenario::ProgramSpec;
use crate::pool::{Filtering, NodeCaches, filter};

/// Instructions per cycle of both: caches first, caches in time.
fn both(program: &ProgramSpec, migration: &Migration) -> [f64; 2] {
    let machine = machine(8);
    let threads = || program.threads(2, 1).unwrap();
    let pages = threads().pages;
    let filtering = Filtering { warm_up: 2_000_000, instructions: 2_000_000, pages, seed: 1 };
    let kept = filter(threads().sources, &machine.caches, None, filtering).unwrap();
    let programs = vec![Program { misses: &kept, pages }; 8];
    let caches = |_| NodeCaches::new(threads().sources, &machine.caches, None, filtering).unwrap();
    let engine = Engine::new(&machine, &programs, (Placement::Pool, 1), Some(migration)).unwrap();
    let replayed = engine.run(&mut |_| true).unwrap();
    let nothing = vec![Misses::default(); 2];
    let programs = vec![Program { misses: &nothing, pages }; 8];
    let engine = Engine::new(&machine, &programs, (Placement::Pool, 1), Some(migration)).unwrap();
    let full = engine.behind((0..8).map(caches).collect()).run(&mut |_| true).unwrap();
    [replayed.ipc, full.ipc]
}

#[test]
fn caches_first_is_caches_in_time_to_two_percent() {
    let programs = [
        ProgramSpec::Simplemoc { regions: 15_000 },
        ProgramSpec::Minife { edge: 60 },
        ProgramSpec::Is { keys: 22, largest: 18 },
    ];
    for program in programs {
        let none = Migration { most: 0, ..Migration::default() };
        let often = Migration { epoch_cycles: 100_000, ..Migration::default() };
        let rarely = Migration { threshold: 30, most: 500, ..Migration::default() };
        for migration in [none, often, rarely] {
            let [replayed, full] = both(&program, &migration);
            let off = 100.0 * (replayed / full - 1.0);
            eprintln!("{program:?} {migration:?}: {replayed:.4} {full:.4} {off:+.2} %");
            close(replayed, full, 2.0);
        }
    }
}
