//! Adaptive's Figure 6: what ages the slow node's lists, and what the ages decide.

use super::super::slow_node::{PAGES, SlowNode};
use super::*;
use crate::engine::bit;

/// Pages that have come, one after the other.
fn slow_node(pages: usize) -> SlowNode<RefaultDistance> {
    SlowNode::with(RefaultDistance::new(PAGES), pages)
}

#[test]
fn the_three_events_of_figure_6_age_the_lists_and_nothing_else_does() {
    let mut node = slow_node(10);
    let age = |node: &SlowNode<RefaultDistance>| node.rule.distances.age();
    assert_eq!(age(&node), 10, "what comes, new");
    node.arrive(10, true);
    assert_eq!(age(&node), 11, "what comes, demoted");
    assert!(!node.fault(0, 0));
    assert_eq!(age(&node), 12, "what becomes hinted");
    assert!(node.fault(0, 0), "1 after 11");
    assert_eq!(age(&node), 13, "what is promoted");
    assert!(!node.fault(9, 0), "4 after it came");
    (11..16).for_each(|page| node.arrive(page, false));
    assert!(!node.fault(9, 0), "6 after that");
    assert_eq!(age(&node), 14 + 5, "the second fault moved nothing");
}

#[test]
fn the_second_fault_promotes_what_comes_back_sooner_and_keeps_the_rest() {
    let mut node = slow_node(20);
    // Page 15 came 5 movements ago, page 19 just now.
    assert!(!node.fault(15, 0) && !node.fault(19, 0));
    assert!(node.fault(15, 0), "2 movements for 5");
    assert!(node.is_active(15), "it goes up as an active page");
    assert!(!node.fault(19, 0), "2 for 2");
    assert!(!node.is_active(19));
    assert!(node.fault(19, 0), "0 for 2");
}

#[test]
fn of_a_huge_page_that_was_split_each_page_comes_by_itself() {
    let mut node = slow_node(PAGES);
    node.rule.arrived(0..PAGES, true, &mut node.world);
    assert_eq!(node.rule.distances.age(), 2 * PAGES as u64, "as many movements as pages");
    let last = PAGES - 2;
    assert!(!node.fault(last, 0), "2 after it came again");
    node.arrive(0, true);
    node.arrive(1, true);
    assert!(!node.fault(last, 0), "3 after that");
    assert!(node.fault(last, 0), "0 for 3");
}

#[test]
fn what_was_demoted_faults_at_its_next_access() {
    let mut node = slow_node(2);
    node.arrive(0, true);
    let hinted = |page| node.world.pages.entry(page) & bit::HINT != 0;
    assert!(hinted(0) && !hinted(1));
}
