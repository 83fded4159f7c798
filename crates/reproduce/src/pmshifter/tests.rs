//! Small runs of each figure, and what they must show.

use super::runs::{COMPACTORS, Point, Who, recovered};
use super::states::{FRAGMENTED, State};
use super::{PAPER, figure_4};
use crate::Context;
use pagetide_sim::frames::Rules;

#[test]
fn each_figure_has_rows() {
    for figure in PAPER.figures {
        let outcome = (figure.run)(&Context::in_memory(1)).unwrap();
        assert!(!outcome.rows.is_empty(), "{}", figure.id);
        assert!(outcome.rows.iter().all(|row| row.ours.is_finite()), "{outcome:?}");
        assert!(outcome.series.iter().all(|series| !series.points.is_empty()), "{outcome:?}");
    }
}

#[test]
fn every_compactor_recovers_most_of_what_can_be() {
    let points = COMPACTORS.map(|(_, who)| Point { who, state: FRAGMENTED });
    let found = recovered(&Context::in_memory(1), &points).unwrap();
    // 96 blocks, three quarters free; a quarter of them holds an unmovable page, and so does 44 % of pairs of them.
    for of in found {
        assert!((30.0..=72.0).contains(&of.at(180)), "{of:?}");
    }
}

#[test]
fn where_no_block_has_room_for_a_list_linux_recovers_nothing_and_the_paper_something() {
    let state = State { free: 0.04, unmovable: 0.0, ..FRAGMENTED };
    let of = |who| Point { who, state };
    let without = Rules { all_or_nothing: false, ..Rules::PAPER };
    let points = [of(Who::Stock(Rules::PAPER)), of(Who::Stock(without)), of(Who::Dram)];
    // A round must be able to empty a block of 4 MiB.
    let context = Context { small: false, ..Context::in_memory(32) };
    let found = recovered(&context, &points).unwrap();
    assert_eq!((found[0].at(600), found[0].first()), (0.0, None));
    assert!(found[1].at(600) > 0.0 && found[2].at(600) > 0.0, "{found:?}");
}

#[test]
fn the_combined_migration_leaves_no_page_behind_and_is_faster() {
    let outcome = (figure_4::FIGURE.run)(&Context::in_memory(1)).unwrap();
    assert!(outcome.rows[0].ours > 1.0, "{outcome:?}");
    assert!(outcome.rows[4].ours < 0.0083, "{outcome:?}");
}
