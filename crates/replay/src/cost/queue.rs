//! Waiting for a memory that is busy, and the slowdown at which it is no busier than it can be.
//!
//! A program that waits asks for less: at a slowdown `s` it sends its requests in `1 + s` times the
//! time. So the slowdown that a queue causes is the one that solves
//!
//! ```text
//! s = waits x (latency of slow x queue(demand / (1 + s)) / latency of fast - 1) + moves
//! ```
//!
//! Where the fast memory has more latency, and more bandwidth (HBM), its own queue with everything
//! fast counts too: it is part of its latency. Elsewhere that is left out, to be on the safe side.
//!
//! The left side rises with `s` and the right side falls, so there is exactly one. The queue has no
//! end at full use, so no solution asks for more than the bandwidth. docs/cost.md derives it.

/// Use below which a queue is not worth solving for: it would add less than a millionth.
const IDLE: f64 = 0.01;
/// The slowdown is found to this part of the run time.
const PRECISION: f64 = 1e-12;
/// A memory that a program ran on was no busier than this, whatever was counted.
const BUSIEST: f64 = 0.95;

/// Latency under load over idle latency: next to nothing below half of the bandwidth, 4.6 at
/// 90 %, without end at all of it.
pub(crate) fn queue(used: f64) -> f64 {
    if used < 1.0 { 1.0 + used.powi(3) / (2.0 * (1.0 - used)) } else { f64::INFINITY }
}

/// What a program asks of two memories in some time, that with everything fast.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// Share of the time that it waits for what slow memory serves now, were it fast.
    pub(crate) slow_waits: f64,
    /// Share of the time that it waits for what fast memory serves.
    pub(crate) fast_waits: f64,
    /// Idle latency of the slow memory over that of the fast one.
    pub(crate) ratio: f64,
    /// Demand on the slow memory over its bandwidth.
    pub(crate) slow_used: f64,
    /// Demand on the fast memory over its bandwidth.
    pub(crate) fast_used: f64,
    /// The same with everything fast and nothing moved: how it was when it took that time.
    pub(crate) fast_used_before: f64,
    /// Time that it waits for moves, over the time.
    pub(crate) moves: f64,
}

impl Load {
    /// The slowdown without queues.
    pub(crate) fn idle(&self) -> f64 {
        self.moves + self.slow_waits * (self.ratio - 1.0).max(0.0)
    }

    /// The slowdown with them: the fixed point.
    pub(crate) fn slowdown(&self) -> f64 {
        let busier = self.fast_used > self.fast_used_before && self.fast_used_before < 1.0;
        if self.slow_used < IDLE && !(busier && self.fast_used > IDLE) {
            return self.idle();
        }
        let before = queue(self.fast_used_before);
        let ratio = if self.ratio < 1.0 {
            self.ratio / queue(self.fast_used_before.min(BUSIEST))
        } else {
            self.ratio
        };
        let asked = |time: f64| {
            // Nothing waits for a memory that serves streams alone, however busy it is.
            let slow = if self.slow_waits > 0.0 {
                self.slow_waits * (ratio * queue(self.slow_used / time) - 1.0).max(0.0)
            } else {
                0.0
            };
            let fast = if busier && self.fast_waits > 0.0 {
                self.fast_waits * (queue(self.fast_used / time) / before - 1.0).max(0.0)
            } else {
                0.0
            };
            1.0 + self.moves + slow + fast
        };
        // No slowdown is less than what the bandwidths allow.
        let mut low = (1.0 + self.idle()).max(self.slow_used);
        if busier {
            low = low.max(self.fast_used);
        }
        let mut high = low;
        while asked(high) > high {
            low = high;
            high *= 2.0;
        }
        while high - low > PRECISION * high {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if asked(middle) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        high - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything slow, reads only, a program that does nothing but wait.
    fn all_slow(slow_used: f64) -> Load {
        Load { slow_waits: 1.0, ratio: 2.5, slow_used, ..Load::default() }
    }

    #[test]
    fn all_slow_at_full_bandwidth_loses_161_percent() {
        let found = all_slow(1.0).slowdown();
        assert!((found - 1.6137).abs() < 1e-3, "{found}");
        // It solves its own equation; a queue at the full demand would have said 1190 %.
        assert!((found - (2.5 * queue(1.0 / (1.0 + found)) - 1.0)).abs() < 1e-9);
    }

    #[test]
    fn the_closed_form_where_there_is_one() {
        // With u = demand / (1 + s) the equation is demand / u = ratio x queue(u): choose u, and
        // the demand that leads to it follows.
        for used in [0.05, 0.2, 0.5, 0.8, 0.95, 0.999] {
            let demand = used * 2.5 * queue(used);
            let found = all_slow(demand).slowdown();
            assert!((found - (demand / used - 1.0)).abs() < 1e-8 * found, "{used}: {found}");
        }
    }

    #[test]
    fn streams_wait_for_bandwidth_alone() {
        let streams = |slow_used| Load { slow_used, ratio: 2.5, ..Load::default() }.slowdown();
        assert_eq!(streams(0.9), 0.0);
        assert_eq!(streams(3.0), 2.0);
    }

    #[test]
    fn more_latency_and_more_bandwidth_is_faster_where_the_other_is_busy() {
        // 130 ns and 400 GB/s first, 105 ns and 40 GB/s second; the program asks for `gb_s`.
        let all_second = |gb_s: f64| {
            let (slow_used, before) = (gb_s / 40.0, gb_s / 400.0);
            Load { ratio: 105.0 / 130.0, fast_used_before: before, ..all_slow(slow_used) }
                .slowdown()
        };
        assert_eq!(all_second(1.0), 0.0, "nothing queues: the second would do");
        assert_eq!(all_second(20.0), 0.0);
        assert!(all_second(36.0) > 0.25, "{}", all_second(36.0));
        assert!(all_second(120.0) > 2.0, "no memory gives more than its bandwidth");
    }

    #[test]
    fn the_queue_of_memory_with_more_latency_counts_as_well() {
        let with =
            |ratio, fast_used_before| Load { ratio, fast_used_before, ..all_slow(0.9) }.slowdown();
        assert!(with(0.9, 0.8) < with(0.9, 0.0), "{} {}", with(0.9, 0.8), with(0.9, 0.0));
        assert_eq!(with(2.5, 0.8), with(2.5, 0.0));
        assert!(with(0.9, 7.0) >= 0.0 && with(0.9, 7.0).is_finite());
    }

    #[test]
    fn moves_fill_both_memories() {
        let quiet =
            Load { fast_waits: 1.0, fast_used: 0.3, fast_used_before: 0.3, ..all_slow(0.0) };
        let quiet = Load { slow_waits: 0.0, ..quiet };
        assert_eq!(quiet.slowdown(), 0.0);
        let moving = Load { fast_used: 0.7, ..quiet };
        assert!(moving.slowdown() > 0.05, "{moving:?}");
        // Less demand than with everything fast is no gain.
        assert_eq!(Load { fast_used: 0.1, ..quiet }.slowdown(), 0.0);
    }

    fn load() -> impl Strategy<Value = Load> {
        (
            0.0..1.0f64,
            0.0..1.0f64,
            1.0..20.0f64,
            0.0..30.0f64,
            0.0..1.5f64,
            0.0..1.5f64,
            0.0..1.0f64,
        )
            .prop_map(
                |(waits, miss, ratio, slow_used, fast_used, fast_used_before, moves)| Load {
                    slow_waits: waits * miss,
                    fast_waits: waits * (1.0 - miss),
                    ratio,
                    slow_used,
                    fast_used,
                    fast_used_before,
                    moves,
                },
            )
    }

    proptest! {
        #[test]
        fn the_fixed_point_is_one_and_lies_within_its_bounds(load in load()) {
            let found = load.slowdown();
            prop_assert!(found.is_finite() && found >= load.idle() - 1e-9, "{found}");
            prop_assert!(1.0 + found >= load.slow_used * (1.0 - 1e-9));
            if load.slow_waits > 0.01 && load.slow_used > 0.02 && load.fast_used <= load.fast_used_before {
                // Right of it the program would ask for less than it is given, left of it for more.
                let rest = |s: f64| {
                    let queued = load.ratio * queue(load.slow_used / (1.0 + s)) - 1.0;
                    load.moves + load.slow_waits * queued - s
                };
                let step = 1e-6 * (1.0 + found);
                prop_assert!(rest(found + step) < 0.0, "{}", rest(found + step));
                let left = rest(found - step);
                prop_assert!(left > 0.0, "{left}");
            }
        }

        #[test]
        fn more_of_anything_is_never_faster(load in load(), more in 1.0..3.0f64, what in 0usize..5) {
            let mut other = load;
            match what {
                0 => other.slow_waits *= more,
                1 => other.ratio *= more,
                2 => other.slow_used *= more,
                3 => other.fast_used *= more,
                _ => other.moves *= more,
            }
            let (a, b) = (load.slowdown(), other.slowdown());
            prop_assert!(b >= a - 1e-9 * (1.0 + a), "{a} {b}");
        }
    }
}
