//! What of a thread's accesses reaches memory.

use super::{super::*, lines};
use crate::{
    Kind,
    patterns::{Op, Pattern, PointerChase, Setup, Source, Step, Strided, Uniform},
};
use pagetide_types::Bytes;
use std::time::Duration;

fn core() -> Private {
    Private::new(lines(2, 2), lines(4, 4))
}

fn read(line: u64, gap: u32, dependent: bool) -> Step {
    Step { offset: line * 64 + 8, gap, op: Op::Read, dependent }
}

/// What passes of these steps, with a last level of eight lines.
fn passed(steps: &[Step], base: u64) -> Vec<Traffic> {
    let (mut filter, mut last, mut traffic) = (Filter::new(core(), base), lines(8, 8), vec![]);
    steps.iter().for_each(|step| filter.pass(step, &mut last, &mut traffic));
    traffic
}

#[test]
fn a_miss_says_what_was_since_the_one_before() {
    let steps = [read(0, 7, false), read(0, 10, false), read(0, 20, false), read(3, 5, false)];
    let miss = |line, instructions, accesses| {
        let (kind, dependent) = (Kind::Read, false);
        Traffic { line, instructions, accesses, kind, dependent }
    };
    assert_eq!(passed(&steps, 0), [miss(0, 7, 1), miss(3, 35, 3)]);
    assert_eq!(passed(&steps, 100), [miss(100, 7, 1), miss(103, 35, 3)]);
}

#[test]
fn a_miss_depends_on_the_one_before_also_through_hits() {
    let dependent = |steps: &[Step]| passed(steps, 0).last().unwrap().dependent;
    assert!(dependent(&[read(0, 0, false), read(1, 0, true)]));
    assert!(dependent(&[read(0, 0, false), read(0, 0, true), read(1, 0, true)]));
    assert!(!dependent(&[read(0, 0, false), read(0, 0, false), read(1, 0, true)]));
    assert!(!dependent(&[read(0, 0, false), read(0, 0, true), read(1, 0, false)]));
    assert!(!dependent(&[read(0, 0, true)]), "there is none before");
}

#[test]
fn a_write_fetches_its_line_and_gives_it_back_later() {
    for op in [Op::Write, Op::Update] {
        let mut steps: Vec<Step> = (1..=20).map(|line| read(line, 1, false)).collect();
        steps.insert(0, Step { op, ..read(0, 1, false) });
        let traffic = passed(&steps, 0);
        assert_eq!((traffic[0].line, traffic[0].kind), (0, Kind::Write));
        let back: Vec<&Traffic> = traffic.iter().filter(|t| t.kind == Kind::WriteBack).collect();
        assert_eq!(back.len(), 1);
        // It comes with a miss, right after it.
        assert_eq!((back[0].line, back[0].accesses, back[0].instructions), (0, 0, 0));
        assert_eq!(traffic.len(), 22);
    }
}

#[test]
fn no_access_and_no_instruction_is_lost() {
    let setup = Setup::new(Bytes::kib(4), 1, 7).unwrap();
    let mut steps = vec![];
    Uniform.walks(&setup).unwrap()[0].take(5000, Duration::ZERO, &mut steps);
    for (step, number) in steps.iter_mut().zip(0..) {
        step.gap = number % 5;
        step.op = [Op::Read, Op::Write, Op::Update][number as usize % 3];
    }
    steps.push(read(1 << 20, 2, false));
    let traffic = passed(&steps, 0);
    assert_eq!(traffic.iter().map(|t| t.accesses).sum::<u64>(), 5001);
    assert_eq!(traffic.iter().map(|t| t.instructions).sum::<u64>(), 10_002);
    let of_kind = |kind| traffic.iter().filter(|t| t.kind == kind).count();
    assert!(of_kind(Kind::WriteBack) > 0 && of_kind(Kind::Write) > of_kind(Kind::Read));
    assert!(of_kind(Kind::WriteBack) <= 5000 * 2 / 3);
    // With an eighth of the lines in the last level, and some more in the private ones.
    let misses = of_kind(Kind::Read) + of_kind(Kind::Write);
    assert!((4000..=4400).contains(&misses), "{misses}");
}

#[test]
fn a_source_is_filtered_however_it_is_taken() {
    let setup = Setup::new(Bytes::kib(4), 1, 7).unwrap();
    let walk = PointerChase { slot: Bytes(64) }.walks(&setup).unwrap().remove(0);
    let taken = |n: u32| {
        let mut filtered = Filtered::new(walk.clone(), Filter::new(core(), 0));
        let (mut last, mut traffic) = (lines(16, 16), vec![]);
        (0..1200 / n).for_each(|_| filtered.take(n, Duration::ZERO, &mut last, &mut traffic));
        traffic
    };
    let all = taken(1200);
    assert_eq!(all, taken(100));
    assert!(all[1..].iter().all(|traffic| traffic.dependent), "each waits for the one before");
}

#[test]
fn a_walk_over_memory_misses_once_for_each_line() {
    let setup = Setup::new(Bytes::kib(64), 1, 7).unwrap();
    let walk = Strided { stride: Bytes(8) }.walks(&setup).unwrap().remove(0);
    let mut filtered = Filtered::new(walk, Filter::new(core(), 0));
    let (mut last, mut traffic) = (lines(16, 16), vec![]);
    filtered.take(8192, Duration::ZERO, &mut last, &mut traffic);
    // One in eight words begins a line; where the walk begins does not matter.
    assert!((1024..=1025).contains(&traffic.len()), "{}", traffic.len());
    assert!(traffic[1..].iter().all(|traffic| traffic.accesses == 8 || traffic.line == 0));
    assert_eq!(filtered.filter().caches().dirty().count(), 0);
}
