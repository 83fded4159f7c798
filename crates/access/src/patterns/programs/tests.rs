//! What all programs hold.

use super::*;
use crate::patterns::{Source, Step};
use std::collections::BTreeSet;
use std::time::Duration;

fn small() -> Vec<(&'static str, Box<dyn Program>)> {
    vec![
        ("lulesh", Box::new(Lulesh { edge: 12 })),
        ("pennant", Box::new(Pennant { zones: 1024 })),
        ("simplemoc", Box::new(SimpleMoc { regions: 100 })),
        ("minife", Box::new(MiniFe { edge: 12 })),
        ("is", Box::new(IntegerSort { keys: 14, largest: 12 })),
    ]
}

fn steps(thread: &mut Thread, batches: &[u32]) -> Vec<Step> {
    let mut steps = Vec::new();
    for n in batches {
        thread.take(*n, Duration::ZERO, &mut steps);
    }
    steps
}

#[test]
fn a_thread_goes_the_same_way_in_any_batches_and_stays_in_its_memory() {
    for (name, program) in small() {
        let size = program.memory().0;
        for count in [1, 2, 3] {
            let threads = program.threads(count, 1).unwrap();
            assert_eq!(threads.len(), count as usize);
            for thread in threads {
                let once = steps(&mut thread.clone(), &[60_000]);
                let often = steps(&mut thread.clone(), &[1000; 60]);
                let shared = once.len().min(often.len());
                assert!(once.len() >= 60_000 && once[..shared] == often[..shared], "{name}");
                assert!(once.iter().all(|step| step.offset < size), "{name} beyond {size}");
                assert!(once.iter().any(|step| step.gap > 0), "{name}");
            }
        }
    }
}

#[test]
fn threads_share_the_work_of_loops() {
    for (name, program) in small().into_iter().filter(|(name, _)| *name != "simplemoc") {
        // The first loop's lines, of all threads together, are those of one thread alone.
        let pages = |count: u32| -> BTreeSet<u64> {
            let mut threads = program.threads(count, 1).unwrap();
            let each = 400 / count;
            let of = |thread: &mut Thread| steps(thread, &[each]);
            threads.iter_mut().flat_map(of).map(|step| step.offset >> 12).collect()
        };
        let (one, two) = (pages(1), pages(2));
        assert!(two.len() >= one.len() / 2, "{name}: {} {}", one.len(), two.len());
    }
}

#[test]
fn sizes_that_make_no_sense_are_named() {
    let said = |program: &dyn Program| program.threads(1, 1).unwrap_err().to_string();
    assert!(said(&MiniFe { edge: 1 }).contains("edge 1"));
    assert!(said(&Lulesh { edge: 11 }).contains("edge 11"));
    assert!(said(&Pennant { zones: 5 }).contains("zones 5"));
    assert!(said(&SimpleMoc { regions: 0 }).contains("regions 0"));
    assert!(said(&IntegerSort { keys: 3, largest: 12 }).contains("keys 3"));
    assert!(said(&IntegerSort { keys: 14, largest: 40 }).contains("largest 40"));
}

#[test]
fn a_sweep_comes_to_each_line_once() {
    let mut memory = loops::Memory::default();
    let array = memory.array(64 * 100);
    let of =
        loops::Loop::new(800, 10.0, vec![loops::Sweep::each(array, 8, crate::patterns::Op::Read)]);
    let (mut place, mut gap, mut found) = Default::default();
    loops::Place::begin(&mut place, &of, (0, 800));
    loops::Place::go(&mut place, &of, usize::MAX, &mut gap, &mut found);
    let lines: Vec<u64> = found.iter().map(|step: &Step| step.offset >> 6).collect();
    assert_eq!(lines, (0..=100).collect::<Vec<_>>());
    // The array begins 16 bytes into a line: the first has six items, each other one eight.
    assert_eq!((found[0].gap, found[1].gap, found[2].gap), (10, 60, 80));
}
