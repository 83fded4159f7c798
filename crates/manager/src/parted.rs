//! Units that lie on both tiers: of some moves a part was refused, or single pages of a region moved before they were
//! found to be alike.

use crate::place::Layout;
use pagetide_policy::Chosen;
use pagetide_types::EpochHeat;

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
    let bytes = |row: usize| heat.bytes(row).as_f64();
    let fast = |row: usize| bytes(row) * layout.fast_part[row];
    let wanted: f64 = chosen.promote.iter().map(|row| bytes(*row) - fast(*row)).sum();
    let made: f64 = chosen.demote.iter().map(|row| fast(*row)).sum();
    let mut lacking = wanted - made - free.max(0.0);
    let mut goes_up = vec![false; heat.len()];
    chosen.promote.iter().for_each(|row| goes_up[*row] = true);
    let mut left: Vec<usize> = behind.iter().copied().filter(|row| !goes_up[*row]).collect();
    let heat_of = |row: usize| f64::from(heat.rate[row]) / bytes(row).max(1.0);
    left.sort_by(|a, b| heat_of(*a).total_cmp(&heat_of(*b)));
    let takes = |row: &usize| {
        let more = lacking > 0.0;
        lacking -= fast(*row);
        more
    };
    left.into_iter().take_while(takes).collect()
}
