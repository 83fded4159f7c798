//! Which device goes first: pure.
//!
//! After PMShifter (APSys 2022), section 4.2.2: one end of the range of addresses is cut, the left one, and there
//! the part with the fewest used pages, because moving used pages is what costs. What holds pages
//! that do not move is passed over.

use pagetide_types::{Bytes, PhysAddr};

/// A device that could be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its first byte.
    pub start: PhysAddr,
    /// What it has as memory.
    pub size: Bytes,
    /// Of it, in use.
    pub used: Bytes,
    /// Whether it holds pages that do not move.
    pub unmovable: bool,
}

/// How many of the leftmost devices are compared.
pub const LEFTMOST: usize = 4;

/// The device to give back first, of those that are no larger than `at_most`: among the [`LEFTMOST`]
/// the one with the fewest bytes in use, and of equal ones the leftmost. The answer is an index.
#[must_use]
pub fn to_give_back(candidates: &[Candidate], at_most: Bytes) -> Option<usize> {
    let mut left: Vec<usize> = (0..candidates.len())
        .filter(|at| !candidates[*at].unmovable && candidates[*at].size <= at_most)
        .collect();
    left.sort_by_key(|at| candidates[*at].start);
    left.truncate(LEFTMOST);
    left.into_iter().min_by_key(|at| (candidates[*at].used, candidates[*at].start))
}

/// The device to take first: the rightmost, so that the left end stays storage. The answer is an index.
#[must_use]
pub fn to_take(candidates: &[Candidate]) -> Option<usize> {
    (0..candidates.len()).max_by_key(|at| candidates[*at].start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn device(start: u64, used: u64, unmovable: bool) -> Candidate {
        let size = Bytes::mib(384);
        Candidate { start: PhysAddr(start << 30), size, used: Bytes::mib(used), unmovable }
    }

    const ALL: Bytes = Bytes::gib(100);

    #[test]
    fn among_the_leftmost_the_least_used_goes() {
        let devices = [device(1, 50, false), device(2, 10, false), device(3, 10, false)];
        assert_eq!(to_give_back(&devices, ALL), Some(1));
        // The fifth from the left is empty, and stays.
        let far: Vec<_> = (1..=5).map(|at| device(at, 50 - at * 10, false)).collect();
        assert_eq!(to_give_back(&far, ALL), Some(3));
    }

    #[test]
    fn what_does_not_move_is_passed_over() {
        let devices = [device(1, 0, true), device(2, 300, false)];
        assert_eq!(to_give_back(&devices, ALL), Some(1));
        assert_eq!(to_give_back(&devices[..1], ALL), None);
        assert_eq!(to_give_back(&[], ALL), None);
    }

    #[test]
    fn no_more_goes_than_is_wanted_back() {
        assert_eq!(to_give_back(&[device(1, 0, false)], Bytes::mib(383)), None);
        assert_eq!(to_give_back(&[device(1, 0, false)], Bytes::mib(384)), Some(0));
    }

    #[test]
    fn the_right_end_is_taken_first() {
        assert_eq!(
            to_take(&[device(1, 0, false), device(3, 0, false), device(2, 0, false)]),
            Some(1)
        );
        assert_eq!(to_take(&[]), None);
    }

    proptest! {
        #[test]
        fn the_order_in_which_devices_are_named_does_not_matter(
            used in prop::collection::vec((0_u64..400, any::<bool>()), 1..9),
        ) {
            let devices: Vec<_> =
                (0..).zip(&used).map(|(at, (used, fixed))| device(at, *used, *fixed)).collect();
            let mut backwards = devices.clone();
            backwards.reverse();
            let forwards = to_give_back(&devices, ALL).map(|at| devices[at]);
            prop_assert_eq!(forwards, to_give_back(&backwards, ALL).map(|at| backwards[at]));
            if let Some(chosen) = forwards {
                prop_assert!(!chosen.unmovable);
            }
        }
    }
}
