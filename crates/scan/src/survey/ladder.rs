//! When to look after a clearing: the gaps between clearing accessed bits and looking at them, ns.
//! Around the cache gap (see `cache_gap`) by factors of 2, for that is where traffic is measured;
//! elsewhere by factors of 4.

/// The shortest gap of base pages: a clearing takes up to half as long, and for some tens of
/// microseconds after it the target is slower than it was.
pub(crate) const SHORTEST_NS: u64 = 50_000;
/// The shortest gap of huge pages, one of which is cleared in a moment.
pub(crate) const SHORTEST_HUGE_NS: u64 = 3_125;
/// The longest gap: rates below some per second are told apart by what is accessed in an epoch.
pub(crate) const LONGEST_NS: u64 = SHORTEST_NS << 12;

/// Gaps after which base pages are looked at, ascending. `cache_gap_ns`: time in which the target
/// fills the CPU cache, by its clock; None while that is unknown.
pub(crate) fn gaps(cache_gap_ns: Option<u64>) -> Vec<u64> {
    let mut gaps = Vec::new();
    match cache_gap_ns {
        None => gaps.extend((0..=12).map(|k| SHORTEST_NS << k)),
        Some(gap) => {
            let half = (gap / 2).clamp(SHORTEST_NS, LONGEST_NS / 4);
            gaps.extend([half, 2 * half, 4 * half]);
            while let Some(next) =
                gaps.last().map(|last| last * 4).filter(|next| *next < LONGEST_NS)
            {
                gaps.push(next);
            }
            gaps.extend((gaps.last() != Some(&LONGEST_NS)).then_some(LONGEST_NS));
        }
    }
    gaps
}

/// Gaps after which huge pages are looked at: also at once, for one bit tells a rate only if it is
/// sometimes seen unset.
pub(crate) fn gaps_of_huge() -> Vec<u64> {
    (0..=8).map(|k| SHORTEST_HUGE_NS << (2 * k)).collect()
}

/// Few of some gaps: to know roughly how hot something is costs half as much.
pub(crate) fn coarse(gaps: &[u64]) -> Vec<u64> {
    let step = gaps.len().div_ceil(COARSE);
    let mut few: Vec<u64> = gaps.iter().step_by(step.max(1)).copied().collect();
    let longest = gaps.last().filter(|longest| few.last() != Some(longest));
    few.extend(longest);
    few
}

/// About so many.
const COARSE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_is_measured_between_half_and_twice_the_cache_gap() {
        assert_eq!(gaps(None).len(), 13);
        let at = gaps(Some(600_000));
        assert_eq!(at[..4], [300_000, 600_000, 1_200_000, 4_800_000]);
        assert_eq!(at.last(), Some(&LONGEST_NS));
        // A program so fast that half of its gap is too short to be looked at.
        assert_eq!(gaps(Some(20_000))[..3], [50_000, 100_000, 200_000]);
        for gap in [None, Some(1), Some(1_000_000), Some(u64::MAX)] {
            assert!(gaps(gap).is_sorted_by(|a, b| a < b), "{gap:?}");
        }
        assert!(gaps_of_huge().is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn few_gaps_reach_as_far_as_all() {
        for all in [gaps(None), gaps(Some(600_000)), gaps_of_huge(), vec![7], vec![]] {
            let few = coarse(&all);
            assert!(few.len() <= 5 && few.is_sorted_by(|a, b| a < b), "{few:?}");
            assert_eq!((few.first(), few.last()), (all.first(), all.last()));
        }
    }
}
