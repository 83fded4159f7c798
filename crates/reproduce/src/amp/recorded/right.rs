//! Whether the right policy was in force, and how soon the choice follows the program.
//!
//! An *interval* is the time between two decisions. What is decided at its end is in force in the
//! next one. Its hits are those of LRU and of LFU, one of them where units really were, the other
//! in its shadow: so both are known for every interval, whatever was in force.
//!
//! The intervals in which it matters are those whose hits differ by [`MATTERS`] or more. In
//! these, right is
//! - *by interval*: the policy that had more hits in it. Nobody can know that beforehand, and one
//!   policy that is kept throughout is not right in all of them either: [`Stay::kept`] says how often;
//! - *by program*: the policy with more hits over all intervals of the program.
//!
//! Random has no hits to compare, so while it is in force neither is right.

/// What AMP follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Lru,
    Lfu,
    Random,
}

/// One interval as AMP told of it at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The program that ran at its end; none between programs.
    pub(crate) program: Option<usize>,
    /// Decided at its end.
    pub(crate) choice: Choice,
    /// Shares of the memory: accessed, and fast under the policy.
    pub(crate) lru: f64,
    pub(crate) lfu: f64,
}

/// Hits that differ by less do not matter, in shares of the memory: two points.
pub(crate) const MATTERS: f64 = 0.02;

/// All intervals of one program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stay {
    pub(crate) program: usize,
    pub(crate) intervals: usize,
    /// Means over the intervals.
    pub(crate) lru: f64,
    pub(crate) lfu: f64,
    /// The policy with the higher mean, and whether the means differ by [`MATTERS`].
    pub(crate) better: Choice,
    pub(crate) means_differ: bool,
    /// Intervals in which the hits differ enough to matter; all that follow are among these.
    pub(crate) matter: usize,
    /// Right by interval.
    pub(crate) right: usize,
    /// Right by interval, had [`Self::better`] been in force throughout.
    pub(crate) kept: usize,
    /// Right by program.
    pub(crate) right_by_program: usize,
    /// Of those that matter, the ones after the choice first was what is wanted, and of these
    /// right by interval: without the time that the choice needs to follow.
    pub(crate) matter_after: usize,
    pub(crate) right_after: usize,
    /// With Random in force.
    pub(crate) random: usize,
    /// Hits lost against what had more in each interval, summed up: while LRU or LFU was in force.
    pub(crate) lost: f64,
    /// What [`Self::better`] would have lost.
    pub(crate) lost_kept: f64,
    /// Until the choice first is what is wanted, counted in decisions of this program.
    pub(crate) first: Option<usize>,
    /// From which decision on it stays so.
    pub(crate) settled: Option<usize>,
    /// Decisions that are what is wanted.
    pub(crate) wanted: usize,
}

/// One entry for every program, in their order; `wanted` says what the choice ought to be.
pub(crate) fn stays(intervals: &[Interval], wanted: impl Fn(usize) -> Choice) -> Vec<Stay> {
    let programs = intervals.iter().filter_map(|interval| interval.program).max();
    let programs = programs.map_or(0, |last| last + 1);
    (0..programs).map(|program| stay(intervals, program, wanted(program))).collect()
}

fn stay(all: &[Interval], program: usize, wanted: Choice) -> Stay {
    // With what was in force in each: nothing was before the first decision.
    let own: Vec<(Choice, &Interval)> = all
        .iter()
        .enumerate()
        .filter(|(_, interval)| interval.program == Some(program))
        .map(|(at, now)| (at.checked_sub(1).map_or(Choice::Random, |last| all[last].choice), now))
        .collect();
    let mean = |hits: &dyn Fn(&Interval) -> f64| {
        own.iter().map(|(_, interval)| hits(interval)).sum::<f64>() / own.len().max(1) as f64
    };
    let (lru, lfu) = (mean(&|interval| interval.lru), mean(&|interval| interval.lfu));
    let better = if lru > lfu { Choice::Lru } else { Choice::Lfu };
    let is_wanted: Vec<bool> = own.iter().map(|(_, now)| now.choice == wanted).collect();
    let unsettled = is_wanted.iter().rposition(|is| !is).map_or(0, |last| last + 1);
    let mut stay = Stay {
        program,
        intervals: own.len(),
        lru,
        lfu,
        better,
        means_differ: (lru - lfu).abs() >= MATTERS,
        matter: 0,
        right: 0,
        kept: 0,
        right_by_program: 0,
        matter_after: 0,
        right_after: 0,
        random: 0,
        lost: 0.0,
        lost_kept: 0.0,
        first: is_wanted.iter().position(|is| *is).map(|at| at + 1),
        settled: (unsettled < own.len()).then_some(unsettled + 1),
        wanted: is_wanted.iter().filter(|is| **is).count(),
    };
    for (at, (in_force, interval)) in own.into_iter().enumerate() {
        let apart = (interval.lru - interval.lfu).abs();
        if apart < MATTERS {
            continue;
        }
        let more = if interval.lru > interval.lfu { Choice::Lru } else { Choice::Lfu };
        stay.matter += 1;
        stay.right += usize::from(in_force == more);
        stay.kept += usize::from(better == more);
        stay.right_by_program += usize::from(in_force == better);
        if stay.first.is_some_and(|first| at >= first) {
            stay.matter_after += 1;
            stay.right_after += usize::from(in_force == more);
        }
        stay.random += usize::from(in_force == Choice::Random);
        stay.lost += if in_force == more || in_force == Choice::Random { 0.0 } else { apart };
        stay.lost_kept += if better == more { 0.0 } else { apart };
    }
    stay
}

#[cfg(test)]
mod tests {
    use super::Choice::{Lfu, Lru, Random};
    use super::*;

    fn interval(program: usize, choice: Choice, lru: f64, lfu: f64) -> Interval {
        Interval { program: Some(program), choice, lru, lfu }
    }

    #[test]
    fn what_was_decided_before_is_in_force_and_only_intervals_that_matter_count() {
        let intervals = [
            interval(0, Random, 0.5, 0.2), // nothing was decided before: Random
            interval(0, Lru, 0.5, 0.2),    // Random in force
            interval(0, Lru, 0.5, 0.2),    // LRU, right
            interval(0, Lru, 0.1, 0.2),    // LRU, wrong by 10 points, right by program
            interval(0, Lfu, 0.30, 0.289), // does not matter
            interval(0, Lru, 0.4, 0.25),   // LFU, wrong by 15 points
            Interval { program: None, ..interval(0, Lru, 0.0, 0.0) },
            interval(1, Lru, 0.3, 0.5), // LRU, wrong by 20 points
            interval(1, Lfu, 0.3, 0.5), // LRU, wrong by 20 points
            interval(1, Lfu, 0.3, 0.5), // LFU, right
        ];
        let stays = stays(&intervals, |program| [Lru, Lfu][program]);
        let [first, second] = &stays[..] else { panic!("{stays:?}") };
        assert_eq!((first.intervals, first.matter, first.random), (6, 5, 2));
        assert_eq!((first.right, first.kept, first.right_by_program), (1, 4, 2));
        assert_eq!((first.matter_after, first.right_after), (3, 1));
        assert!((first.lost - 0.25).abs() < 1e-9 && (first.lost_kept - 0.1).abs() < 1e-9);
        assert!((first.lru - 2.3 / 6.0).abs() < 1e-9 && (first.lfu - 1.339 / 6.0).abs() < 1e-9);
        assert_eq!((first.better, first.means_differ), (Lru, true));
        assert_eq!((first.first, first.settled, first.wanted), (Some(2), Some(6), 4));
        assert_eq!((second.matter, second.right, second.kept), (3, 1, 3));
        assert_eq!((second.matter_after, second.right_after), (1, 1));
        assert_eq!((second.first, second.settled, second.wanted), (Some(2), Some(2), 2));
        assert!((second.lost - 0.4).abs() < 1e-9 && second.lost_kept == 0.0);
    }

    #[test]
    fn a_choice_that_never_comes_or_does_not_last_is_told_apart() {
        let hits = |choice| interval(0, choice, 0.2, 0.2);
        let follow = |choices: &[Choice]| {
            let intervals: Vec<Interval> = choices.iter().map(|choice| hits(*choice)).collect();
            let stay = &stays(&intervals, |_| Random)[0];
            assert_eq!((stay.matter, stay.means_differ), (0, false));
            (stay.first, stay.settled)
        };
        assert_eq!(follow(&[Lru, Lfu]), (None, None));
        assert_eq!(follow(&[Lru, Random, Lru]), (Some(2), None));
        assert_eq!(follow(&[Lru, Random, Lru, Random]), (Some(2), Some(4)));
        assert_eq!(follow(&[Random, Random]), (Some(1), Some(1)));
        assert_eq!(stays(&[], |_| Lru), []);
    }
}
