//! Policies whose order depends on the capacity (what is fast now): replayed at a choice of
//! capacities, with straight lines between them. The curve says which entries are exact.

use crate::curves::tally::{Hits, Reached};
use crate::{Curve, Traffic};

/// About `wanted` steps over a grid of `len` capacities, both ends included, ascending.
pub(crate) fn choose(len: usize, wanted: usize) -> Vec<u32> {
    let last = len.saturating_sub(1);
    let steps = wanted.clamp(1, last.max(1));
    let mut bins: Vec<u32> =
        (0..=steps).filter_map(|step| u32::try_from(step * last / steps).ok()).collect();
    bins.dedup();
    bins
}

/// What is reached at every capacity of a grid from what was reached at `bins`.
pub(crate) fn fill(bins: &[u32], reached: &[Reached]) -> Vec<Reached> {
    let mut filled: Vec<Reached> = reached.first().copied().into_iter().collect();
    for (ends, values) in bins.windows(2).zip(reached.windows(2)) {
        for bin in ends[0] + 1..=ends[1] {
            let part = f64::from(bin - ends[0]) / f64::from(ends[1] - ends[0]);
            filled.push(between(values[0], values[1], part));
        }
    }
    filled
}

/// Puts what was reached at one more entry into a curve, and `fast` in every stretch of its epochs: the lines from the
/// neighbours that were replayed lead there now.
pub(crate) fn insert(curve: &mut Curve, bin: u32, reached: Reached, fast: &[Traffic]) {
    put(curve, bin, reached);
    curve.by_epoch.insert(bin, fast);
    let at = curve.replayed_at.partition_point(|at| *at < bin);
    if curve.replayed_at.get(at) != Some(&bin) {
        curve.replayed_at.insert(at, bin);
    }
    let around = &curve.replayed_at[at.saturating_sub(1)..(at + 2).min(curve.replayed_at.len())];
    let ends: Vec<(u32, Reached)> = around.iter().map(|bin| (*bin, get(curve, *bin))).collect();
    for pair in ends.windows(2) {
        let [(from, a), (to, b)] = [pair[0], pair[1]];
        let line = fill(&[from, to], &[a, b]);
        (from..=to).zip(line).for_each(|(bin, reached)| put(curve, bin, reached));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a count")]
fn get(curve: &Curve, bin: u32) -> Reached {
    let i = bin as usize;
    let at = |of: &[f64]| of.get(i).copied().unwrap_or(0.0);
    Reached {
        hits: Hits {
            accesses: curve.fast_accesses[i],
            saturated: curve.fast_saturated[i],
            leads: at(&curve.fast_leads),
            writes: at(&curve.fast_writes),
            unseen: curve.fast_unseen_bound[i] as u64,
            accessed: curve.fast_accessed_units[i],
        },
        promoted: curve.promoted[i],
        demoted: curve.demoted[i],
        promoted_huge: curve.promoted_huge[i],
        demoted_huge: curve.demoted_huge[i],
    }
}

fn put(curve: &mut Curve, bin: u32, reached: Reached) {
    let i = bin as usize;
    let Reached { hits, promoted, demoted, promoted_huge, demoted_huge } = reached;
    curve.fast_accesses[i] = hits.accesses;
    curve.fast_saturated[i] = hits.saturated;
    // Empty where they were not counted.
    curve.fast_leads.get_mut(i).into_iter().for_each(|leads| *leads = hits.leads);
    curve.fast_writes.get_mut(i).into_iter().for_each(|writes| *writes = hits.writes);
    curve.fast_unseen_bound[i] = hits.unseen as f64;
    curve.fast_accessed_units[i] = hits.accessed;
    curve.promoted[i] = promoted;
    curve.demoted[i] = demoted;
    curve.promoted_huge[i] = promoted_huge;
    curve.demoted_huge[i] = demoted_huge;
}

/// `part` of the way from `a` to `b`; exact at both ends.
fn between(a: Reached, b: Reached, part: f64) -> Reached {
    let real = |a: f64, b: f64| if part < 1.0 { a + (b - a) * part } else { b };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two u64")]
    let whole =
        |a: u64, b: u64| if part < 1.0 { real(a as f64, b as f64).round() as u64 } else { b };
    Reached {
        hits: Hits {
            accesses: real(a.hits.accesses, b.hits.accesses),
            saturated: real(a.hits.saturated, b.hits.saturated),
            leads: real(a.hits.leads, b.hits.leads),
            writes: real(a.hits.writes, b.hits.writes),
            unseen: whole(a.hits.unseen, b.hits.unseen),
            accessed: whole(a.hits.accessed, b.hits.accessed),
        },
        promoted: whole(a.promoted, b.promoted),
        demoted: whole(a.demoted, b.demoted),
        promoted_huge: whole(a.promoted_huge, b.promoted_huge),
        demoted_huge: whole(a.demoted_huge, b.demoted_huge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_chosen_and_no_more_than_there_are() {
        assert_eq!(choose(101, 4), [0, 25, 50, 75, 100]);
        assert_eq!(choose(4, 16), [0, 1, 2, 3]);
        assert_eq!(choose(1, 16), [0]);
        assert_eq!(choose(8, 0), [0, 7]);
    }

    #[test]
    fn lines_are_straight_and_meet_what_was_replayed() {
        let at = |promoted| Reached { promoted, ..Reached::default() };
        let filled = fill(&[0, 4, 5], &[at(0), at(10), at(7)]);
        let promoted: Vec<u64> = filled.iter().map(|reached| reached.promoted).collect();
        assert_eq!(promoted, [0, 3, 5, 8, 10, 7]);
    }
}
