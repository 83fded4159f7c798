//! What observing costs, learned while observing, and how much of a target can be watched for
//! the share of one core that the user allows.

use crate::piece::Piece;
use crate::walker::Range;

/// Watched pages of a piece of base pages: all of it, or less until the budget is kept.
const WINDOWS: [u16; 4] = [512, 256, 128, 64];
/// Looks after one clearing, about: at base pages, at huge pages.
const BASE_LOOKS: f64 = 5.0;
const HUGE_LOOKS: f64 = 8.0;
const PAGE: u64 = 4096;

/// Nanoseconds of CPU time; moving averages of what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Clearing one base page.
    pub(crate) clear_page: f64,
    /// Clearing one huge page.
    pub(crate) clear_huge: f64,
    /// Looking at one piece of base pages.
    pub(crate) look_table: f64,
    /// Looking at one huge page.
    pub(crate) look_huge: f64,
    /// Going to sleep and waking up, system calls: whatever one action costs besides.
    pub(crate) action: f64,
}

impl Default for Costs {
    /// Measured on one core of a virtual machine of 2026; the first epoch corrects them.
    fn default() -> Self {
        Self {
            clear_page: 60.0,
            clear_huge: 15_000.0,
            look_table: 1300.0,
            look_huge: 100.0,
            action: 8000.0,
        }
    }
}

/// Moves an average towards a new measurement.
pub(crate) fn learn(average: &mut f64, measured: f64) {
    if measured.is_finite() && measured > 0.0 {
        *average += 0.2 * (measured - *average);
    }
}

/// Which pieces to watch in this epoch, and which pages of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Base pages watched per piece of base pages.
    pub(crate) window: u16,
    /// One of so many pieces is watched per epoch, in turns.
    pub(crate) every: usize,
}

impl Plan {
    /// The most that fits into `allowance` ns of CPU time.
    pub(crate) fn fit(pieces: &[Piece], costs: &Costs, allowance: f64) -> Self {
        let watched = pieces.iter().filter(|piece| !piece.uncleared);
        let (mut huge, mut base) = (0.0, 0.0);
        for piece in watched {
            if piece.huge {
                huge += 1.0;
            } else {
                base += 1.0;
            }
        }
        let huge_cost = huge * (costs.clear_huge + HUGE_LOOKS * costs.look_huge);
        let base_cost = |window: u16| {
            let share = f64::from(window) / 512.0;
            let look = costs.look_table * (0.3 + 0.7 * share);
            // Pieces are cleared 512 pages at a time, each time one action.
            base * (f64::from(window) * costs.clear_page
                + costs.action * share * BASE_LOOKS
                + BASE_LOOKS * look)
        };
        for window in WINDOWS {
            if huge_cost + base_cost(window) <= allowance {
                return Self { window, every: 1 };
            }
        }
        let window = WINDOWS[WINDOWS.len() - 1];
        let every = ((huge_cost + base_cost(window)) / allowance.max(1.0)).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        Self { window, every: (every as usize).clamp(2, pieces.len().max(2)) }
    }

    /// Whether the piece at position `index` is watched in `epoch`.
    pub(crate) fn watches(&self, index: usize, epoch: u32) -> bool {
        (index + epoch as usize).is_multiple_of(self.every)
    }

    /// The part of the piece that is watched in `epoch`: it wanders from epoch to epoch.
    pub(crate) fn window_of(&self, piece: &Piece, index: usize, epoch: u32) -> Range {
        let pages = (piece.range.end - piece.range.start) / PAGE;
        let window = u64::from(self.window);
        if piece.huge || pages <= window {
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
        assert_eq!(plan(256, false), Plan { window: 512, every: 1 });
        assert!(plan(512 * 4, false).window < 512);
        assert!(plan(512 * 100, false).every > 1, "100 GiB of base pages");
        assert_eq!(plan(512 * 2, true).every, 1, "2 GiB of huge pages");
        assert!(plan(512 * 1024, true).every > 1, "1 TiB of huge pages");
    }

    #[test]
    fn every_page_has_its_turn() {
        let all = pieces(7, false);
        for plan in [Plan { window: 64, every: 1 }, Plan { window: 128, every: 3 }] {
            for (index, piece) in all.iter().enumerate() {
                let mut seen = std::collections::HashSet::new();
                for epoch in 0..100 {
                    if plan.watches(index, epoch) {
                        seen.insert(plan.window_of(piece, index, epoch).start);
                    }
                }
                assert_eq!(seen.len(), 512 / usize::from(plan.window), "{plan:?} {index}");
            }
        }
    }
}
