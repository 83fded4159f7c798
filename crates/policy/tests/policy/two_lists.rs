//! The two lists by small examples, computed by hand: the specification of Nimble's section 3.2.
//! Lists are written from the tail to the head.

use crate::orders::{DEAD, NOT_SAMPLED, Shown, orders};

/// Only the inactive lists are scanned, whole, and everything begins there.
const INACTIVE: &str = "two-lists:active=0,inactive=100,born-active=0";

#[test]
fn a_page_becomes_active_and_is_promoted_on_its_second_reference() {
    let idle_then_referenced = [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0; 2]];
    assert_eq!(orders(INACTIVE, 1, &idle_then_referenced), [[0, 1], [1, 0], [1, 0]]);
}

#[test]
fn an_epoch_without_an_access_clears_the_software_reference() {
    let with_a_break = [[0.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0; 2]];
    assert_eq!(orders(INACTIVE, 1, &with_a_break), [[0, 1], [0, 1], [0, 1], [1, 0]]);
    // An epoch in which nobody looked says nothing.
    let not_looked = [[0.0, 1.0], [0.0, NOT_SAMPLED], [0.0, 1.0], [0.0; 2]];
    assert_eq!(orders(INACTIVE, 1, &not_looked), [[0, 1], [0, 1], [1, 0]]);
}

#[test]
fn a_unit_that_was_active_becomes_so_again_by_one_access_if_activation_keeps_the_reference() {
    let all_is_hot = [[1.0; 4]; 4];
    let orders = |keep| {
        let lists = "two-lists:active=50,inactive=100,born-active=0";
        orders(&format!("{lists},keep-reference={keep}"), 2, &all_is_hot)
    };
    // The second access activates all; of each tier the first becomes inactive, 3 changes places
    // with 0. At the third access 2 and 0 are inactive in slow memory.
    let text = [[1, 0, 2, 3], [1, 3, 0, 2], [3, 1, 2, 0]];
    assert_eq!(orders(0), text, "referenced only");
    assert_eq!(orders(1), [text[0], text[1], [3, 0, 1, 2]], "active at once; 2 is scanned again");
}

#[test]
fn what_is_active_in_fast_memory_stays_whatever_is_active_in_slow_memory() {
    let slow_is_hot = [[0.0, 0.0, 9.0, 9.0]; 5];
    assert_eq!(orders("two-lists:active=0,inactive=100", 2, &slow_is_hot), [[0, 1, 2, 3]; 4]);
}

#[test]
fn a_scan_of_the_active_list_makes_inactive_what_is_accessed_too() {
    let all_is_hot = [[1.0; 2]; 3];
    // Unit 1 is inactive in slow memory as 0 is in fast memory: nothing moves.
    assert_eq!(orders("two-lists:active=100,inactive=0", 1, &all_is_hot), [[0, 1]; 2]);
}

#[test]
fn half_of_each_list_is_scanned_from_the_tail() {
    let mut shown = Shown::new("two-lists", 4);
    // Everything begins active: fast 0 1 2 3, slow 4 5 6 7. Of each the tail half becomes
    // inactive; 6 and 7, active in slow memory, change places with 0 and 1.
    assert_eq!(shown.show(&[0.0; 8], &[]), [2, 3, 6, 7, 1, 0, 4, 5]);
    assert_eq!(shown.told().unwrap().figures, [0.25; 4]);
    // Fast active 2 3 6 7, slow inactive 4 5 0 1. Scanned: 4 and 5, which go to the head; 2 and 3.
    let second = shown.show(&[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &[]);
    assert_eq!(second, [6, 7, 3, 2, 0, 1, 4, 5]);
    assert_eq!(shown.told().unwrap().figures, [0.25, 0.25, 0.0, 0.5]);
    // Slow inactive 0 1 4 5: 0 and 1, accessed an epoch ago, are referenced now. Fast inactive
    // 2 3: 2 goes to the head. Fast active 6 7: 6 becomes inactive.
    assert_eq!(shown.show(&[0.0; 8], &[]), [7, 6, 2, 3, 4, 5, 0, 1]);
}

#[test]
fn free_fast_memory_is_filled_with_what_is_active_first_and_then_inactive() {
    let dies = |three: f32| [[0.0, 0.0, 0.0, 1.0], [DEAD, 0.0, 0.0, three], [0.0; 4]];
    // Unit 3 is active: it takes the room of 0, and 1 stays.
    assert_eq!(orders(INACTIVE, 2, &dies(1.0))[1], [3, 1, 2]);
    // None is: the tail of the inactive list does.
    assert_eq!(orders(INACTIVE, 2, &dies(0.0))[1], [1, 2, 3]);
}

#[test]
fn between_two_scans_accesses_are_gathered_and_nothing_moves() {
    let epochs = [[0.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0; 2]];
    let spec = format!("{INACTIVE},interval=10");
    assert_eq!(orders(&spec, 1, &epochs), [[0, 1], [0, 1], [0, 1], [1, 0]]);
    let mut shown = Shown::new(&spec, 1);
    shown.show(&[0.0, 1.0], &[]);
    assert_eq!(shown.told(), None);
}

#[test]
fn a_unit_that_returns_begins_anew() {
    let epochs = [[0.0, 1.0], [0.0, DEAD], [0.0, 1.0], [0.0, 1.0], [0.0; 2]];
    assert_eq!(orders(INACTIVE, 1, &epochs)[2..], [[0, 1], [1, 0]]);
}
