//! The clock that chooses victims: the first frame that was not used since the hand passed it, and
//! after so many probes whatever the hand points at (section 3.1: 200).

use super::local::{Frame, LocalTable};

/// Probes that the paper allows.
pub(super) const PROBES: u32 = 200;

/// A frame to give up. Each frame that was used and is passed over is not used from then on.
pub(super) fn victim(table: &mut LocalTable, probes: u32) -> Frame {
    for _ in 0..probes {
        let (frame, used) = table.probe();
        if !used {
            return frame;
        }
    }
    table.probe().0
}

#[cfg(test)]
mod tests {
    use super::super::counts::PageId;
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn touched(frames: u32, used: &[u32]) -> LocalTable {
        let mut table = LocalTable::new(frames);
        used.iter().for_each(|frame| table.touch(Frame(*frame)));
        table
    }

    #[test]
    fn what_was_used_gets_a_second_chance() {
        let mut table = touched(4, &[0, 1]);
        let all: Vec<u32> = (0..5).map(|_| victim(&mut table, PROBES).0).collect();
        assert_eq!(all, [2, 3, 0, 1, 2]);
    }

    #[test]
    fn after_so_many_probes_the_next_one_goes() {
        let mut table = touched(1000, &(0..1000).collect::<Vec<_>>());
        assert_eq!(victim(&mut table, PROBES).0, 200);
        assert_eq!(victim(&mut table, PROBES).0, 401);
    }

    proptest! {
        #[test]
        fn no_frame_is_given_twice_in_an_epoch(used in prop::collection::vec(any::<bool>(), 1..600), at in 0u32..600) {
            let frames = u32::try_from(used.len()).unwrap();
            let used: Vec<u32> = (0..frames).filter(|frame| used[*frame as usize]).collect();
            let mut table = touched(frames, &used);
            (0..at).for_each(|_| _ = table.probe());
            used.iter().for_each(|frame| table.touch(Frame(*frame)));
            let given: HashSet<u32> = (0..frames)
                .map(|page| {
                    let frame = victim(&mut table, PROBES);
                    table.put(frame, PageId(page));
                    frame.0
                })
                .collect();
            prop_assert_eq!(given.len(), table.frames());
        }
    }
}
