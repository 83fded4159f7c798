//! How much of a target can be watched for the share of one core that the user allows.

use crate::batch::SIZES;
use crate::costs::{Costs, LOOKS, Line};
use crate::piece::Piece;
use crate::walker::Range;

/// Watched pages of a piece of base pages: all of it, or less until the budget is kept.
const WINDOWS: [u16; 4] = [512, 256, 128, 64];
/// Looks at a huge page after one clearing, about.
const HUGE_LOOKS: f64 = 8.0;
/// Of these, looks that are calls of their own; the others are shared with other batches.
const HUGE_CALLS: f64 = 4.0;
const PAGE: u64 = 4096;

impl Costs {
    /// Watching a piece once, `window` of its pages if it has base pages.
    fn of(&self, piece: &Piece, window: u16) -> f64 {
        let call = |line: Line| line.call + self.action;
        let together = self.together() as f64;
        if piece.huge {
            let calls = call(self.clear_huge) + HUGE_CALLS * call(self.look_huge) / together;
            return self.clear_huge.each + HUGE_LOOKS * self.look_huge.each + calls / SIZES[1];
        }
        let share = f64::from(window) / 512.0;
        // Pieces are cleared 512 pages at a time.
        let calls = call(self.clear_base) + LOOKS * call(self.look_base) / together;
        f64::from(window.min(piece.present)) * self.clear_base.each
            + LOOKS * self.look_base.each * (0.3 + 0.7 * share)
            + calls * share
    }
}

/// The rate above which the hottest pieces, watched whole, cost no more than `allowance`, and
/// what they cost.
fn hottest<'a>(
    pieces: impl Iterator<Item = &'a Piece>,
    costs: &Costs,
    allowance: f64,
) -> (f32, f64) {
    let mut rated: Vec<(f32, f64)> =
        pieces.map(|piece| (piece.rate.unwrap_or(0.0), costs.of(piece, WINDOWS[0]))).collect();
    let mean = rated.iter().map(|(rate, _)| f64::from(*rate)).sum::<f64>() / rated.len() as f64;
    rated.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let mut used = 0.0;
    for (i, (rate, cost)) in rated.iter().enumerate() {
        if used + cost > allowance || f64::from(*rate) <= HOT * mean {
            // What is as hot as this one is not above it, and costs nothing extra.
            let same = rated[..i].iter().rev().take_while(|(other, _)| other == rate);
            return (*rate, used - same.map(|(_, cost)| cost).sum::<f64>());
        }
        used += cost;
    }
    (f32::INFINITY, 0.0)
}

/// Pieces this much hotter than the mean may be watched whole while others are sampled: their
/// pages differ most (code, stacks, the heads of tables), and they make up most of the accesses.
const HOT: f64 = 4.0;
/// Share of the allowance that they may use.
const HOT_SHARE: f64 = 1.0 / 3.0;

/// Which pieces to watch in this epoch, and which pages of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Base pages watched per piece of base pages.
    pub(crate) window: u16,
    /// One of so many pieces is watched per epoch, in turns.
    pub(crate) every: usize,
    /// Pieces with more accesses per second than this are watched whole in every epoch.
    pub(crate) whole_above: f32,
}

impl Plan {
    /// The most that fits into `allowance` ns of CPU time.
    pub(crate) fn fit(pieces: &[Piece], costs: &Costs, allowance: f64) -> Self {
        let pieces = || pieces.iter().filter(|piece| !piece.uncleared);
        let cost = |window: u16| pieces().map(|piece| costs.of(piece, window)).sum::<f64>();
        let all = WINDOWS[0];
        if cost(all) <= allowance {
            return Self { window: all, every: 1, whole_above: f32::INFINITY };
        }
        let (whole_above, hot_cost) = hottest(pieces(), costs, allowance * HOT_SHARE);
        let hot = |piece: &Piece| piece.rate.is_some_and(|rate| rate > whole_above);
        let rest = allowance - hot_cost;
        let cost = |window: u16| {
            pieces().filter(|piece| !hot(piece)).map(|piece| costs.of(piece, window)).sum::<f64>()
        };
        for window in WINDOWS {
            if cost(window) <= rest {
                return Self { window, every: 1, whole_above };
            }
        }
        let window = WINDOWS[WINDOWS.len() - 1];
        let every = (cost(window) / rest.max(1.0)).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let every = (every as usize).clamp(2, pieces().count().max(2));
        Self { window, every, whole_above }
    }

    /// Whether the piece at position `index` is watched in `epoch`.
    pub(crate) fn watches(&self, piece: &Piece, index: usize, epoch: u32) -> bool {
        self.whole(piece) || (index + epoch as usize).is_multiple_of(self.every)
    }

    fn whole(&self, piece: &Piece) -> bool {
        piece.rate.is_some_and(|rate| rate > self.whole_above)
    }

    /// The part of the piece that is watched in `epoch`: it wanders from epoch to epoch.
    pub(crate) fn window_of(&self, piece: &Piece, index: usize, epoch: u32) -> Range {
        let pages = (piece.range.end - piece.range.start) / PAGE;
        let window = u64::from(self.window);
        if piece.huge || pages <= window || self.whole(piece) {
            return piece.range;
        }
        let windows = pages.div_ceil(window);
        // A step prime to 8, 4 and 2 visits every window, and neighbours differ.
        let turn = (u64::from(epoch) / self.every as u64 * 3 + index as u64 * 5) % windows;
        let start = piece.range.start + turn * window * PAGE;
        Range { start, end: (start + window * PAGE).min(piece.range.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(count: u32, huge: bool) -> Vec<Piece> {
        (0..count).map(|unit| Piece::whole(unit, huge)).collect()
    }

    #[test]
    fn small_targets_are_watched_whole_and_large_ones_sampled() {
        let costs = Costs::default();
        let half_a_percent_of_5s = 25e6;
        let plan = |count, huge| Plan::fit(&pieces(count, huge), &costs, half_a_percent_of_5s);
        let whole = plan(256, false);
        assert_eq!((whole.window, whole.every), (512, 1));
        assert!(plan(512 * 4, false).window < 512);
        assert!(plan(512 * 100, false).every > 1, "100 GiB of base pages");
        assert_eq!(plan(512 * 2, true).every, 1, "2 GiB of huge pages");
        assert!(plan(512 * 1024, true).every > 1, "1 TiB of huge pages");
    }

    #[test]
    fn the_hottest_are_watched_whole_in_every_epoch() {
        let (costs, allowance) = (Costs::default(), 25e6);
        let mut all = pieces(512 * 100, false);
        for (piece, rate) in
            std::iter::zip(&mut all, [9e5, 8e5, 7e5].into_iter().chain([1.0].repeat(512 * 100 - 3)))
        {
            piece.rate = Some(rate);
        }
        let plan = Plan::fit(&all, &costs, allowance);
        let whole = |piece: &Piece| {
            (0..9).all(|e| plan.watches(piece, 5, e) && plan.window_of(piece, 5, e) == piece.range)
        };
        assert!(all[..3].iter().all(whole), "{plan:?}");
        assert!(!all[3..].iter().any(whole), "{plan:?}");
        // Where all are alike nobody is preferred.
        all.iter_mut().for_each(|piece| piece.rate = Some(7.0));
        let plan = Plan::fit(&all, &costs, allowance);
        assert!(!all.iter().any(|piece| plan.whole(piece)));
    }

    #[test]
    fn every_page_has_its_turn() {
        let all = pieces(7, false);
        for (window, every) in [(64, 1), (128, 3)] {
            let plan = Plan { window, every, whole_above: f32::INFINITY };
            for (index, piece) in all.iter().enumerate() {
                let mut seen = std::collections::HashSet::new();
                for epoch in 0..100 {
                    if plan.watches(piece, index, epoch) {
                        seen.insert(plan.window_of(piece, index, epoch).start);
                    }
                }
                assert_eq!(seen.len(), 512 / usize::from(plan.window), "{plan:?} {index}");
            }
        }
    }
}
