//! Which part comes next: by its share, exactly in the long run, for an addition and a look-up.

use super::{Part, Phase, writes::GOLDEN};
use crate::generators::threshold;

/// Accesses to a part before the next one is chosen, at least: what a choice costs is divided by
/// them, and to a program's pages and caches they are nothing.
const LEAST: u32 = 16;

/// How many accesses a part gets when it is chosen: whole runs.
pub(super) fn turn(run: u32) -> u32 {
    run.max(LEAST.next_multiple_of(run))
}

/// The shares of the parts in one phase.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// The end of each part's places, in order, and the part's number: those with a share.
    ends: Vec<(u64, usize)>,
}

impl Shares {
    /// By the parts' weights, times a phase's factors, of which one is above 0.
    pub(super) fn new(parts: &[Part], phase: Option<&Phase>) -> Self {
        // A part with long turns has fewer.
        let turns = |part: &Part| {
            let factor = phase.map_or(1.0, |phase| phase.factor(&part.name));
            part.weight * factor / f64::from(turn(part.run))
        };
        let all: f64 = parts.iter().map(turns).sum();
        let mut before = 0.0;
        let mut ends = vec![];
        for (number, turns) in parts.iter().map(turns).enumerate().filter(|(_, it)| *it > 0.0) {
            before += turns;
            ends.push((threshold(before / all), number));
        }
        Self { ends }
    }

    /// The part whose place this is.
    #[inline]
    pub(super) fn part(&self, place: u64) -> usize {
        let at = self.ends.partition_point(|(end, _)| *end <= place);
        // The last one's end may be rounded down.
        self.ends[at.min(self.ends.len() - 1)].1
    }
}

/// The place after this one: all places are visited as evenly as can be.
#[inline]
pub(super) fn next(place: u64) -> u64 {
    place.wrapping_add(GOLDEN)
}

#[cfg(test)]
mod tests {
    use super::{super::PartWalk, *};

    #[test]
    fn turns_are_whole_runs() {
        let turns = [1, 3, 5, 16, 17, 1000].map(turn);
        assert_eq!(turns, [16, 18, 20, 16, 17, 1000]);
    }

    #[test]
    fn each_part_is_chosen_by_its_share_of_turns() {
        let part =
            |weight, run| Part { weight, run, ..Part::new("part", 0.0, 1.0, PartWalk::Random) };
        let shares = Shares::new(&[part(3.0, 1), part(1.0, 1), part(8.0, 64)], None);
        let (mut place, mut seen) = (99, [0.0; 3]);
        for _ in 0..60_000 {
            place = next(place);
            seen[shares.part(place)] += 1.0;
        }
        // 3, 1, and 8 of which each turn is four times as long.
        for (n, share) in seen.iter().zip([0.5, 1.0 / 6.0, 1.0 / 3.0]) {
            assert!((n - share * 60_000.0_f64).abs() < 10.0, "{seen:?}");
        }
    }
}
