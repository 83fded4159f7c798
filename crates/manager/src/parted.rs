//! Units that lie on both tiers: of some moves a part was refused, or single pages of a region moved before they were
//! found to be alike.

use crate::place::Layout;
use pagetide_policy::Chosen;
use pagetide_types::{Bytes, EpochHeat};

/// Of the rows `behind`, mostly fast units that were ranked like slow ones, those whose fast part has to go down, the
/// coldest first: they were not chosen, and what was chosen lacks the room that they hold. `free`: bytes that the
/// tenant may still have.
pub(crate) fn that_make_room(
    behind: &[usize],
    chosen: &Chosen,
    heat: &EpochHeat,
    layout: &Layout,
    free: f64,
) -> Vec<usize> {
    let (taken, made) = takes_and_makes(chosen, heat, layout);
    let mut goes_up = vec![false; heat.len()];
    chosen.promote.iter().for_each(|row| goes_up[*row] = true);
    let left = behind.iter().copied().filter(|row| !goes_up[*row]).collect();
    coldest(left, taken - made - free.max(0.0), heat, layout)
}

/// Bytes of fast memory that what was chosen takes, and that it makes free.
fn takes_and_makes(chosen: &Chosen, heat: &EpochHeat, layout: &Layout) -> (f64, f64) {
    let bytes = |row: usize| heat.bytes(row).as_f64();
    let fast = |row: usize| bytes(row) * layout.fast_part(row);
    let taken = chosen.promote.iter().map(|row| bytes(*row) - fast(*row)).sum();
    let made = chosen.demote.iter().map(|row| fast(*row)).sum();
    (taken, made)
}

/// Of these rows the first whose fast parts may still move: `left` bytes, which they take from.
pub(crate) fn within(
    left: &mut f64,
    rows: Vec<usize>,
    heat: &EpochHeat,
    layout: &Layout,
) -> Vec<usize> {
    let takes = |row: &usize| {
        let bytes = heat.bytes(*row).as_f64() * layout.fast_part(*row);
        let fits = bytes <= *left;
        *left -= bytes;
        fits
    };
    rows.into_iter().take_while(takes).collect()
}

/// The coldest of these rows, until their fast parts make up what is lacking.
fn coldest(
    mut rows: Vec<usize>,
    mut lacking: f64,
    heat: &EpochHeat,
    layout: &Layout,
) -> Vec<usize> {
    let bytes = |row: usize| heat.bytes(row).as_f64();
    let heat_of = |row: usize| f64::from(heat.rate[row]) / bytes(row).max(1.0);
    rows.sort_by(|a, b| heat_of(*a).total_cmp(&heat_of(*b)));
    let takes = |row: &usize| {
        let more = lacking > 0.0;
        lacking -= bytes(*row) * layout.fast_part(*row);
        more
    };
    rows.into_iter().take_while(takes).collect()
}

/// Rows less than half of which is fast, whose fast part goes down for what will be born: the coldest first, until so
/// much is free. They count as slow, so nothing else sends them down.
pub(crate) fn for_births(
    may: impl Fn(usize) -> bool,
    (chosen, room): (&Chosen, Bytes),
    heat: &EpochHeat,
    layout: &Layout,
) -> Vec<usize> {
    let (taken, made) = takes_and_makes(chosen, heat, layout);
    let mut moves = vec![false; heat.len()];
    chosen.promote.iter().chain(&chosen.demote).for_each(|row| moves[*row] = true);
    let part = |row: &usize| (f64::MIN_POSITIVE..0.5).contains(&layout.fast_part(*row));
    let rows = (0..heat.len()).filter(|row| part(row) && !moves[*row] && may(*row)).collect();
    coldest(rows, room.as_f64() - (made - taken).max(0.0), heat, layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tiers;
    use pagetide_scan::{Place, Range};
    use pagetide_types::{EpochId, HeatFlags, HeatRow, NodeId, Pid, UnitId};

    #[test]
    fn the_coldest_parts_make_room_for_what_will_be_born_and_no_more_than_that() {
        let mut heat = EpochHeat::new(EpochId(0));
        let parts = [(5.0, 128), (3.0, 128), (4.0, 0), (1.0, 512), (2.0, 128), (1.0, 128)];
        let (fast, slow) = (NodeId(0), NodeId(1));
        let mut places = Vec::new();
        for (unit, (rate, pages)) in (0..).zip(parts) {
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate,
                flags: HeatFlags::SAMPLED,
                pages: 512,
                watched: 512,
                touched: 0,
                node: fast,
            });
            let range = Range { start: u64::from(unit) << 21, end: u64::from(unit + 1) << 21 };
            let nodes = [(fast, pages), (slow, 512 - pages)];
            places.push(Place::new(UnitId(unit), Pid(7), range, false, nodes));
        }
        let mut tiers = Tiers::default();
        (tiers.fast, tiers.slow) = (vec![fast], vec![slow]);
        let layout = Layout::new(places, &heat, &tiers);
        let found = |mib, chosen: &Chosen| {
            for_births(|row| row != 5, (chosen, Bytes::mib(mib)), &heat, &layout)
        };
        let none = Chosen::default();
        assert_eq!(found(1, &none), [4, 1], "half a MiB each; the coldest may not");
        assert_eq!(found(9, &none), [4, 1, 0]);
        let down = Chosen { demote: vec![3], ..Chosen::default() };
        assert_eq!(found(2, &down), [0; 0], "what goes down anyway is room, too");
        let exchanged = Chosen { promote: vec![2], demote: vec![3], ..Chosen::default() };
        assert_eq!(found(1, &exchanged), [4, 1], "unless something else takes it");
        let mut left = Bytes::mib(1).as_f64();
        assert_eq!(within(&mut left, vec![4, 1, 0], &heat, &layout), [4, 1], "a MiB may move");
        assert_eq!(within(&mut left, vec![0], &heat, &layout), [0; 0], "and no more");
    }
}
