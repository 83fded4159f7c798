//! Two private levels and a shared one.

use super::{super::*, Naive, lines, sorted};
use crate::{filter::Level::*, generators::Rng};
use proptest::prelude::*;

/// A core with room for so many lines in each level, all of one set unless said.
fn core(first: u64, second: u64) -> Private {
    let ways = |lines| u32::try_from(lines).unwrap();
    Private::new(lines(first, ways(first)), lines(second, ways(second)))
}

/// The module's own words, in queues: fetch all the way down, then take what was given up, from
/// the last level up.
fn naive(levels: &mut [Naive; 3], line: u64, write: bool) -> (Level, Vec<u64>) {
    let mut given_up = vec![];
    let mut level = Memory;
    for (at, of) in [First, Second, Last].into_iter().enumerate() {
        match levels[at].access(line, write && at == 0) {
            Looked::Hit => {
                level = of;
                break;
            }
            Looked::Miss(evicted) => given_up.push(evicted),
        }
    }
    let mut written = vec![];
    for (at, evicted) in given_up.into_iter().enumerate().rev() {
        let (mut at, mut evicted) = (at, evicted);
        while let Some(Evicted { line, dirty: true }) = evicted {
            at += 1;
            if at == 3 {
                written.push(line);
                break;
            }
            let Looked::Miss(next) = levels[at].access(line, true) else { break };
            evicted = next;
        }
    }
    (level, written)
}

proptest! {
    #[test]
    fn does_what_queues_do(
        (first, second, third) in (1_u64..4, 1_u64..6, 1_u64..9),
        accesses in prop::collection::vec((0_u64..60, any::<bool>()), 1..800),
    ) {
        let sizes = [(first * 4, 4), (second * 5, 5), (third * 3, 3)];
        let cache = |at: usize| lines(sizes[at].0, sizes[at].1);
        let (mut core, mut last) = (Private::new(cache(0), cache(1)), cache(2));
        let mut levels = sizes.map(|(lines, ways)| Naive::new(lines, ways));
        for (line, write) in accesses {
            let served = core.access(&mut last, line, write);
            let (level, written) = naive(&mut levels, line, write);
            prop_assert_eq!((served.level, served.written.lines()), (level, written.as_slice()));
        }
        let private = sorted(levels[0].dirty().into_iter().chain(levels[1].dirty()));
        prop_assert_eq!(sorted(core.dirty()), private);
        prop_assert_eq!(sorted(last.dirty()), levels[2].dirty());
    }
}

#[test]
fn a_cyclic_walk_is_served_by_the_first_level_that_holds_it() {
    for (walk, level) in
        [(4, First), (5, Second), (16, Second), (17, Last), (64, Last), (65, Memory)]
    {
        let (mut core, mut last) = (core(4, 16), lines(64, 64));
        let mut round = || {
            let served = |line| core.access(&mut last, line, false);
            (0..walk).map(served).collect::<Vec<_>>()
        };
        let nothing = Written::default();
        assert!(round().iter().all(|served| served.level == Memory));
        for served in (0..5).flat_map(|_| round()) {
            assert_eq!(served, Served { level, written: nothing }, "{walk} lines");
        }
    }
}

#[test]
fn a_dirty_line_goes_down_level_by_level() {
    let (mut core, mut last) = (core(1, 2), lines(3, 3));
    core.access(&mut last, 9, true);
    // After which of the others it is still dirty in the core, and in the last level.
    let mut fates = vec![];
    for line in 1..=6 {
        let written = core.access(&mut last, line, false).written;
        fates.push((core.dirty().count(), last.dirty().count(), written.lines().to_vec()));
    }
    let (core, last, memory) = ((1, 0, vec![]), (0, 1, vec![]), (0, 0, vec![9]));
    assert_eq!(fates, [core.clone(), core, last.clone(), last.clone(), last, memory]);
}

#[test]
fn no_level_contains_another() {
    let (mut core, mut last) = (core(2, 4), lines(4, 4));
    let mut other = self::core(2, 4);
    core.access(&mut last, 0, false);
    (1..=4).for_each(|line| _ = other.access(&mut last, line, false));
    assert_eq!(core.access(&mut last, 0, false).level, First, "the last level gave it up");
    assert_eq!(self::core(2, 4).access(&mut last, 0, false).level, Memory);
}

#[test]
fn lines_that_are_written_once_come_back_once() {
    const LINES: u64 = 2000;
    let mut cores = [core(8, 32), core(8, 32)];
    let mut last = lines(120, 12);
    let mut rng = Rng::new(11, 0);
    let mut back = vec![];
    // Every other line is written, each by one of the cores; between them anything is read.
    for line in 0..LINES {
        let core = &mut cores[usize::from(line % 3 == 0)];
        back.extend(core.access(&mut last, line, line % 2 == 0).written.lines());
        back.extend(core.access(&mut last, rng.below(line + 1), false).written.lines());
        let held = cores.iter().flat_map(Private::dirty).chain(last.dirty());
        let all = sorted(held.chain(back.iter().copied()));
        assert_eq!(all, (0..=line).step_by(2).collect::<Vec<_>>());
    }
    // Reading something else drives out the rest.
    for core in &mut cores {
        (LINES..LINES + 1000).for_each(|line| {
            back.extend(core.access(&mut last, line, false).written.lines());
        });
    }
    assert_eq!(sorted(back.into_iter()), (0..LINES).step_by(2).collect::<Vec<_>>());
}
