//! What goes up beside what was chosen, by what stays of the node and by the limits.

use super::*;
use crate::Tiers;
use pagetide_scan::{Place, Range};
use pagetide_types::{EpochId, HeatFlags, HeatRow, Pid, UnitId};

const FAST: NodeId = NodeId(0);
const SLOW: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);
const UNIT: u64 = 2 << 20;

/// Units of 2 MiB, by row the nodes of their pages; ranked as they come.
fn goes_up(
    rows: &[&[(NodeId, u16)]],
    chosen: &Chosen,
    leaving: u64,
    (free, room, left): (u64, u64, u64),
) -> (Vec<usize>, bool) {
    let mut heat = EpochHeat::new(EpochId(0));
    let mut places = Vec::new();
    for (number, nodes) in (0_u32..).zip(rows) {
        let (unit, flags, node) = (UnitId(number), HeatFlags::SAMPLED, nodes[0].0);
        let row = HeatRow { unit, rate: 1.0, flags, pages: 512, watched: 512, touched: 1, node };
        heat.push(row);
        let start = u64::from(number) * UNIT;
        let range = Range { start, end: start + UNIT };
        places.push(Place::new(unit, Pid(7), range, false, nodes.iter().copied()));
    }
    let mut tiers = Tiers::default();
    (tiers.fast, tiers.slow) = (vec![FAST], vec![SLOW, OTHER]);
    let layout = Layout::new(places, &heat, &tiers);
    let order: Vec<usize> = (0..rows.len()).collect();
    let mib = |mib| Bytes::mib(mib).as_f64();
    let limits = Limits { free: Bytes::mib(free), room: mib(room), left: mib(left) };
    let leaving = Leaving { number: 1, node: SLOW, bytes: Bytes::mib(leaving) };
    // The fourth refused before.
    let goes = leaving.goes_up(&order, |row| row != 3, (&heat, &layout), chosen, limits);
    (goes.rows, goes.later)
}

const ON_FAST: &[(NodeId, u16)] = &[(FAST, 512)];
const ON_SLOW: &[(NodeId, u16)] = &[(SLOW, 512)];
const ON_OTHER: &[(NodeId, u16)] = &[(OTHER, 512)];
const MUCH: u64 = 1000;

/// Six units on the node that shrinks, two elsewhere before them.
const ROWS: [&[(NodeId, u16)]; 8] =
    [ON_FAST, ON_OTHER, ON_SLOW, ON_SLOW, ON_SLOW, ON_SLOW, ON_SLOW, ON_SLOW];

#[test]
fn the_hottest_go_up_until_what_is_left_fits_into_what_stays() {
    let none = Chosen::default();
    let up = |leaving, free| goes_up(&ROWS, &none, leaving, (free, MUCH, MUCH));
    assert_eq!(up(40, 0), (vec![2, 4, 5, 6, 7], false), "all, but who refused");
    assert_eq!(up(8, 4), (vec![2, 4], false));
    assert_eq!(up(9, 4), (vec![2, 4, 5], false), "less than a unit is one");
    assert_eq!(up(8, 8), (vec![], false), "what stays has room for all of it");
    assert_eq!(up(0, 0), (vec![], false));
}

#[test]
fn what_was_chosen_counts() {
    let up = |chosen: &Chosen| goes_up(&ROWS, chosen, 8, (4, MUCH, MUCH)).0;
    let chosen = |promote: &[usize], demote: &[usize]| Chosen {
        promote: promote.to_vec(),
        demote: demote.to_vec(),
        ..Chosen::default()
    };
    assert_eq!(up(&chosen(&[5], &[])), [2], "it goes up anyway");
    assert_eq!(up(&chosen(&[5, 6], &[])), [0; 0]);
    assert_eq!(up(&chosen(&[1], &[])), [2, 4], "that is of another node");
    assert_eq!(up(&chosen(&[5], &[0])), [2, 4], "what goes down in exchange takes its place");
}

#[test]
fn fast_memory_that_is_full_ends_it_and_what_may_not_move_now_comes_later() {
    let none = Chosen::default();
    let up = |room, left| goes_up(&ROWS, &none, 40, (0, room, left));
    assert_eq!(up(5, MUCH), (vec![2, 4], false), "there is no more room");
    assert_eq!(up(0, 0), (vec![], false));
    assert_eq!(up(MUCH, 5), (vec![2, 4], true));
    assert_eq!(up(MUCH, 10), (vec![2, 4, 5, 6, 7], false));
    // Two go up for one that goes down: room for one is left of two.
    let chosen = Chosen { promote: vec![5, 6], demote: vec![0], ..Chosen::default() };
    assert_eq!(goes_up(&ROWS, &chosen, 40, (0, 4, MUCH)), (vec![2], false));
}

#[test]
fn of_a_unit_on_both_tiers_the_slow_part_counts() {
    let half: &[(NodeId, u16)] = &[(FAST, 256), (SLOW, 256)];
    let rows = [half, half, half];
    let up = |leaving, room| goes_up(&rows, &Chosen::default(), leaving, (0, room, MUCH)).0;
    assert_eq!((up(2, MUCH), up(3, 2)), (vec![0, 1], vec![0, 1]));
}
