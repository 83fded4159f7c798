//! What holds for a program with parts as a whole; what holds for each walk stands beside it.

use super::{super::tests::*, *};
use crate::patterns::{Keys, Op, Source, Walk};
use pagetide_types::Bytes;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

mod refusals;

const SIZE: u64 = 16 << 20;

fn part(name: &str, from: f64, to: f64, walk: PartWalk) -> Part {
    Part::new(name, from, to, walk)
}

fn zipf() -> PartWalk {
    PartWalk::Zipf { exponent: 0.9, object: Bytes(256), keys: Keys::Scattered }
}

fn strided() -> PartWalk {
    PartWalk::Sweep { stride: Bytes(512), window: 0.1, passes: 3 }
}

fn chase() -> PartWalk {
    PartWalk::Chase { object: Bytes(192) }
}

/// Five parts, one of each kind, none overlapping.
fn regions() -> Regions {
    let mut parts = vec![
        part("grid", 0.0, 0.25, PartWalk::SEQUENTIAL),
        part("rows", 0.25, 0.5, strided()),
        part("table", 0.5, 0.6, PartWalk::Random),
        part("vertices", 0.6, 0.8, zipf()),
        part("list", 0.8, 1.0, chase()),
    ];
    for (part, (weight, writes, run)) in parts.iter_mut().zip([
        (3.0, 0.5, 1),
        (1.0, 0.1, 2),
        (0.5, 1.0, 5),
        (4.0, 0.0, 3),
        (1.5, 0.25, 3),
    ]) {
        (part.weight, part.writes, part.run) = (weight, writes, run);
    }
    Regions { parts, phases: vec![], init: Init::InOrder }
}

fn only(part: Part) -> Regions {
    Regions { parts: vec![part], phases: vec![], init: Init::InOrder }
}

/// The part that an access is of, where none overlap.
fn of<'a>(regions: &'a Regions, step: &Step) -> &'a Part {
    let holds = |part: &&Part| {
        let extent = part.extent(Bytes(SIZE));
        (extent.first..extent.first + extent.len).contains(&step.offset)
    };
    regions.parts.iter().find(holds).unwrap()
}

/// Accesses by part, and how many of them write.
fn counts(regions: &Regions, steps: &[Step]) -> BTreeMap<String, (f64, f64)> {
    let mut counts = BTreeMap::new();
    for step in steps {
        let (all, writes) = counts.entry(of(regions, step).name.clone()).or_insert((0.0, 0.0));
        *all += 1.0;
        *writes += f64::from(u8::from(step.op == Op::Write));
    }
    counts
}

#[test]
fn parts_have_their_shares_of_accesses_and_writes() {
    let regions = regions();
    for n in [20_000, 2_000_000] {
        let steps = steps(&regions, &setup(SIZE, 1), n);
        let counts = counts(&regions, &steps);
        for part in &regions.parts {
            let (all, writes) = counts[&part.name];
            let expected = part.weight / 10.0 * f64::from(n);
            // However long it runs, some turns and some writes too many or too few.
            assert!((all - expected).abs() < 100.0, "{n}: {}: {all}, {expected}", part.name);
            assert!((writes - all * part.writes).abs() < 20.0, "{}: {writes}", part.name);
        }
    }
}

#[test]
fn every_part_is_covered() {
    let regions = regions();
    let steps = steps(&regions, &setup(SIZE, 1), 8_000_000);
    let lines: BTreeSet<u64> = steps.iter().map(|step| step.offset / LINE).collect();
    for part in &regions.parts {
        let extent = part.extent(Bytes(SIZE));
        let range = extent.first / LINE..(extent.first + extent.len) / LINE;
        let seen = lines.range(range.clone()).count() as f64;
        let share = seen / (range.end - range.start) as f64;
        let expected = match part.name.as_str() {
            // Two lines of eight.
            "rows" => 0.25..0.2501,
            _ => 0.97..1.0001,
        };
        assert!(expected.contains(&share), "{}: {share}", part.name);
    }
}

#[test]
fn a_sweep_touches_every_line_once() {
    let regions = only(part("grid", 0.25, 0.75, PartWalk::SEQUENTIAL));
    let lines = u32::try_from(SIZE / 2 / LINE).unwrap();
    let all = offsets(&steps(&regions, &setup(SIZE, 1), 2 * lines));
    let expected: Vec<u64> = (0..lines).map(|i| SIZE / 4 + u64::from(i) * LINE).collect();
    assert_eq!(all, [expected.clone(), expected].concat());
}

#[test]
fn threads_share_a_sweep_without_overlap() {
    for sharing in [None, Some(Sharing::Slices), Some(Sharing::Interleaved)] {
        let mut grid = part("grid", 0.5, 1.0, PartWalk::SEQUENTIAL);
        grid.threads = sharing;
        let regions = only(grid);
        let mut all: Vec<u64> = vec![];
        for mut walk in regions.walks(&setup(SIZE, 3)).unwrap() {
            let mut steps = vec![];
            // Once around, until the line at which it began comes again.
            walk.take(100_000, Duration::ZERO, &mut steps);
            let lines = offsets(&steps);
            let round = lines[1..].iter().position(|line| *line == lines[0]).unwrap() + 1;
            assert!(lines.len() > round);
            all.extend(&lines[..round]);
        }
        all.sort_unstable();
        let expected: Vec<u64> = (SIZE / 2..SIZE).step_by(64).collect();
        assert_eq!(all, expected, "{sharing:?}");
    }
}

#[test]
fn threads_have_slices_of_other_parts_where_that_is_asked_for() {
    for walk in [PartWalk::Random, zipf(), chase()] {
        for threads in [None, Some(Sharing::Slices)] {
            let regions = only(Part { threads, ..part("part", 0.0, 1.0, walk.clone()) });
            let mut ranges = vec![];
            for mut walk in regions.walks(&setup(SIZE, 4)).unwrap() {
                let mut steps = vec![];
                walk.take(100_000, Duration::ZERO, &mut steps);
                let all = offsets(&steps);
                ranges.push((*all.iter().min().unwrap(), *all.iter().max().unwrap()));
            }
            let apart = ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
            assert_eq!(apart, threads.is_some(), "{walk:?}: {ranges:?}");
        }
    }
}

#[test]
fn phases_change_weights_at_their_times() {
    let phase = |seconds, weights: &[(&str, f64)], others| Phase {
        seconds,
        weights: weights.iter().map(|(name, factor)| ((*name).to_owned(), *factor)).collect(),
        others,
    };
    let mut regions = regions();
    regions.phases = vec![
        phase(10.0, &[("grid", 1.0), ("list", 2.0)], 0.0),
        phase(5.0, &[], 1.0),
        phase(1.0, &[("table", 1.0)], 0.0),
    ];
    let mut walk = regions.walks(&setup(SIZE, 1)).unwrap().remove(0);
    for round in 0..3 {
        for (second, parts) in [(0.0, 2), (9.999, 2), (10.0, 5), (14.9, 5), (15.0, 1), (15.99, 1)] {
            let mut steps = vec![];
            walk.batch(
                20_003,
                Duration::from_secs_f64(f64::from(round) * 16.0 + second),
                &mut steps,
            );
            let counts = counts(&regions, &steps);
            assert_eq!(counts.len(), parts, "second {second} of round {round}: {counts:?}");
            if parts == 2 {
                // Weights of 3 and, doubled, 1.5.
                assert!((counts["grid"].0 / 20_003.0 - 0.5).abs() < 0.01, "{counts:?}");
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_accesses_however_they_are_taken() {
    let mut regions = regions();
    let weights = BTreeMap::from([("grid".to_owned(), 0.0)]);
    for seconds in [0.5, 0.7] {
        regions.phases.push(Phase { seconds, weights: weights.clone(), others: seconds });
    }
    regions.phases[0].weights.clear();
    let taken = |seed, n| {
        let setup = Setup::new(Bytes(SIZE), 3, seed).unwrap();
        let run = |mut walk: RegionsWalk| {
            let mut steps = vec![];
            for quarter in 0..16 {
                let now = Duration::from_millis(quarter * 250);
                (0..1200 / n).for_each(|_| walk.take(n, now, &mut steps));
            }
            assert_eq!(steps.len(), 16 * 1200);
            steps
        };
        regions.walks(&setup).unwrap().into_iter().map(run).collect::<Vec<_>>()
    };
    let threads = taken(7, 1200);
    assert!(threads == taken(7, 100) && threads == taken(7, 1));
    assert!(threads != taken(8, 1200));
    assert!(threads[0] != threads[1] && threads[1] != threads[2]);
}

#[test]
fn pointers_lead_where_the_walk_goes_and_nothing_writes_over_them() {
    for threads in [None, Some(Sharing::Slices)] {
        let mut regions = regions();
        regions.parts[4].threads = threads;
        regions.parts.push(Part { writes: 1.0, ..part("all", 0.0, 1.0, PartWalk::Random) });
        let setup = setup(SIZE, 3);
        let mut memory = vec![0; index(SIZE / 8)];
        regions.fill(&setup).for_each(|fill| memory[index(fill.offset / 8)] = fill.value);
        for mut walk in regions.walks(&setup).unwrap() {
            let (mut steps, mut next) = (vec![], None);
            walk.take(300_000, Duration::ZERO, &mut steps);
            for step in &steps {
                match step.op {
                    Op::Write => memory[index(step.offset / 8)] = u64::MAX,
                    _ if step.dependent => {
                        assert!(next.is_none_or(|next| next == step.offset));
                        next = Some(memory[index(step.offset / 8)]);
                    }
                    _ => (),
                }
            }
            assert!(steps.iter().filter(|step| step.dependent).count() > 8_000);
        }
    }
}

#[test]
fn a_chase_visits_every_object_once_and_writes_what_it_visited() {
    let regions = only(Part { writes: 0.25, ..part("list", 0.0, 1.0, chase()) });
    let objects = SIZE / 192;
    let steps = steps(&regions, &setup(SIZE, 1), u32::try_from(objects * 4 / 3).unwrap());
    let (visits, writes): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.dependent);
    assert!(writes.iter().all(|step| step.op == Op::Write));
    let visited: BTreeSet<u64> = visits.iter().map(|step| step.offset).collect();
    assert_eq!(visited.len(), visits.len());
    assert!(visited.len().abs_diff(index(objects)) < 3);
    for pair in steps[1..].windows(2).filter(|pair| pair[1].op == Op::Write) {
        assert_eq!(pair[0].offset / 192, pair[1].offset / 192);
    }
}
