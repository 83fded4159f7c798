//! One cache.

use super::{super::*, Naive, lines, sorted};
use crate::generators::Rng;
use pagetide_types::Bytes;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Misses among so many accesses.
fn misses(cache: &mut Cache, accesses: impl IntoIterator<Item = u64>) -> u64 {
    let misses = |line| u64::from(cache.access(line, false) != Looked::Hit);
    accesses.into_iter().map(misses).sum()
}

proptest! {
    #[test]
    fn does_what_queues_do(
        ways in 1_u32..40,
        sets in 1_u64..9,
        reach in 1_u64..12,
        accesses in prop::collection::vec((any::<u64>(), any::<bool>(), 0..20_u8), 1..600),
    ) {
        let all = sets * u64::from(ways);
        let (mut cache, mut naive) = (lines(all, ways), Naive::new(all, ways));
        // Up to 1.5 times what it holds, some of it far away.
        let reach = (all * reach / 8).max(1);
        for (number, write, what) in accesses {
            let far = if number >> 63 == 1 { cache.limit() - reach } else { 0 };
            let line = number % reach + far;
            if what == 0 {
                let was_dirty = naive.dirty().contains(&line);
                naive.forget(line);
                prop_assert_eq!(cache.invalidate(line), was_dirty);
            }
            prop_assert_eq!(cache.access(line, write), naive.access(line, write));
        }
        prop_assert_eq!(sorted(cache.dirty()), naive.dirty());
    }
}

#[test]
fn a_cyclic_walk_over_what_it_holds_misses_in_the_first_round_only() {
    for (held, ways) in [(64, 1), (64, 8), (64, 64), (60, 12), (77, 7), (1, 1)] {
        let mut cache = lines(held, ways);
        assert_eq!(misses(&mut cache, 0..held), held, "{held} lines, {ways} ways");
        assert_eq!(misses(&mut cache, (0..10).flat_map(|_| 0..held)), 0, "{held} lines");
    }
}

#[test]
fn a_cyclic_walk_over_one_line_more_than_a_set_holds_misses_always() {
    for (sets, ways) in [(1, 8), (16, 12), (48, 16), (5, 20), (3, 40)] {
        let mut cache = lines(sets * u64::from(ways), ways);
        let walk: Vec<u64> = (0..=u64::from(ways)).map(|i| 3 % sets + i * sets).collect();
        let rounds = walk.iter().copied().cycle().take(walk.len() * 10);
        assert_eq!(misses(&mut cache, rounds), walk.len() as u64 * 10, "{sets} sets, {ways} ways");
        // All other sets are as they were: empty.
        assert_eq!(misses(&mut cache, (0..sets).filter(|set| *set != 3 % sets)), sets - 1);
    }
}

#[test]
fn one_line_more_than_it_holds_misses_in_one_set_only() {
    let (sets, ways) = (16, 8);
    let mut cache = lines(sets * u64::from(ways), ways);
    let round = 0..=sets * u64::from(ways);
    misses(&mut cache, round.clone());
    assert_eq!(misses(&mut cache, round), u64::from(ways) + 1);
}

#[test]
fn random_accesses_to_lines_that_fit_miss_once_for_each() {
    let mut rng = Rng::new(3, 0);
    let accesses: Vec<u64> = (0..20_000).map(|_| rng.below(4096)).collect();
    let distinct = accesses.iter().collect::<BTreeSet<_>>().len() as u64;
    assert_eq!(misses(&mut lines(4096, 16), accesses.iter().copied()), distinct);
    assert_eq!(misses(&mut lines(4104, 12), accesses.iter().copied()), distinct);
}

#[test]
fn random_accesses_hit_by_the_share_of_lines_that_it_holds() {
    for (held, ways) in [(1024, 16), (768, 12), (640, 20), (1000, 1)] {
        let (mut cache, mut rng) = (lines(held, ways), Rng::new(5, 0));
        // Each set has as many of the lines as any other.
        let lines = held * 4;
        misses(&mut cache, 0..lines);
        let missed = misses(&mut cache, (0..200_000).map(|_| rng.below(lines)));
        let share = 1.0 - missed as f64 / 2e5;
        assert!((share - 0.25).abs() < 0.005, "{held} lines, {ways} ways: {share}");
    }
}

#[test]
fn a_line_is_dirty_from_its_write_to_its_eviction() {
    let mut cache = lines(2, 2);
    assert_eq!(cache.access(1, true), Looked::Miss(None));
    assert_eq!(cache.access(2, false), Looked::Miss(None));
    assert_eq!(cache.access(1, false), Looked::Hit);
    let evicted = |line, dirty| Looked::Miss(Some(Evicted { line, dirty }));
    assert_eq!(cache.access(3, false), evicted(2, false));
    assert_eq!(sorted(cache.dirty()), [1]);
    assert_eq!(cache.access(4, false), evicted(1, true));
    assert_eq!(cache.access(1, false), evicted(3, false));
    assert_eq!(cache.dirty().count(), 0, "it came back clean");
    assert_eq!(cache.access(4, true), Looked::Hit);
    assert_eq!(sorted(cache.dirty()), [4]);
}

#[test]
fn every_dirty_line_is_written_back_once_or_still_there() {
    let (mut cache, mut rng) = (lines(96, 12), Rng::new(9, 0));
    let (mut dirty, mut written, mut dirtied) = (BTreeSet::new(), 0, 0);
    for _ in 0..20_000 {
        let (line, write) = (rng.below(300), rng.below(3) == 0);
        if let Looked::Miss(Some(Evicted { line, dirty: true })) = cache.access(line, write) {
            assert!(dirty.remove(&line), "line {line} was written back without a write");
            written += 1;
        }
        dirtied += usize::from(write && dirty.insert(line));
    }
    assert_eq!(sorted(cache.dirty()), dirty.iter().copied().collect::<Vec<_>>());
    assert_eq!(dirtied, written + dirty.len());
}

#[test]
fn lines_are_told_apart_up_to_the_limit() {
    for sets in [1_u64, 3, 64, 49_152] {
        let mut cache = lines(sets * 2, 2);
        let last = cache.limit() - 1;
        assert_eq!(cache.limit() / sets, (1 << 31) - 1);
        assert_eq!(cache.access(last, true), Looked::Miss(None));
        assert_eq!(cache.dirty().collect::<Vec<_>>(), [last]);
        assert_ne!(cache.access(last - sets, false), Looked::Hit);
        assert_eq!(cache.access(last, false), Looked::Hit);
        let beyond = std::panic::catch_unwind(move || cache.access(last + 1, false));
        assert!(beyond.is_err(), "{sets} sets");
    }
}

#[test]
fn refuses_what_makes_no_sense() {
    let refused = |bytes, ways| Cache::new(Bytes(bytes), ways).unwrap_err().to_string();
    let multiple = "give a multiple of 512, so that each set has 8 `ways`";
    assert_eq!(refused(32 << 10, 0), "ways 0: a set holds something; give 1 or more");
    assert_eq!(refused(0, 8), format!("size 0: {multiple}"));
    assert_eq!(refused(1088, 8), format!("size 1088: {multiple}"));
    assert_eq!(refused(1000, 8), "size 1000: give a multiple of 64, the bytes of a line");
    assert_eq!(refused(1 << 40, 8), "size 1099511627776: give at most 274877906944");
}
