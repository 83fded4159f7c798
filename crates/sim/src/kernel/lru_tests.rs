//! What Linux says of its lists, from both sides.

use super::*;
use crate::engine::Pages;
use pagetide_machine::Machine;

/// So many huge pages, or base pages, on the fast node.
fn lru(count: usize, huge: bool, rules: Rules) -> (Lru, World) {
    let size = if huge { HUGE_PAGES } else { 1 };
    let mut pages = Pages::all_in(0, (count * size) as u64 * 4096);
    if huge {
        (0..count).for_each(|page| pages.put_huge(page * size, 0));
    }
    let world = World::new(&Machine::load("cxl").unwrap(), pages);
    let mut lru = Lru::new(2, count * size, rules, 1.0);
    (0..count).for_each(|page| lru.add_new(page * size, &world));
    (lru, world)
}

fn touch(world: &mut World, pages: Range<usize>) {
    world.pages.set_all(pages, bit::ACCESSED);
}

/// First pages of what was found to reclaim.
fn found(shrunk: &Shrunk) -> Vec<usize> {
    shrunk.candidates.iter().map(|pages| pages.start).collect()
}

const SINCE_5_9: Rules = Rules::InactiveFirst;
const UP_TO_5_8: Rules = Rules::ActiveFirst;

#[test]
fn new_pages_are_inactive_since_linux_5_9_and_active_before() {
    assert_eq!(lru(1, false, SINCE_5_9).0.of(0), Some((0, Kind::Inactive)));
    assert_eq!(lru(1, false, UP_TO_5_8).0.of(0), Some((0, Kind::Active)));
}

#[test]
fn the_second_access_that_is_seen_makes_active_and_none_makes_a_candidate() {
    let (mut lru, mut world) = lru(3, false, SINCE_5_9);
    touch(&mut world, 0..2);
    let first = lru.shrink_inactive(0, 32, &mut world);
    assert_eq!((first.entries, found(&first)), (3, vec![2]));
    assert_eq!((lru.of(0), lru.of(1), lru.of(2)), (INACTIVE, INACTIVE, None));
    touch(&mut world, 0..1);
    let second = lru.shrink_inactive(0, 32, &mut world);
    assert_eq!((lru.of(0), found(&second)), (Some((0, Kind::Active)), vec![1]));
    assert_eq!((lru.pages(0, Kind::Active), lru.pages(0, Kind::Inactive)), (1, 0));
    // What was a candidate has lost its reference: on the slow node it needs two accesses again.
    world.pages.transfer(1..2, 1);
    lru.add(1, Kind::Inactive, &world);
    touch(&mut world, 1..2);
    lru.shrink_inactive(1, 32, &mut world);
    assert_eq!(lru.of(1), Some((1, Kind::Inactive)));
}

const INACTIVE: Option<(usize, Kind)> = Some((0, Kind::Inactive));

#[test]
fn up_to_linux_5_8_one_access_was_enough() {
    let (mut lru, mut world) = lru(2, false, UP_TO_5_8);
    assert_eq!(lru.shrink_active(0, 32, &mut world), 2);
    touch(&mut world, 1..2);
    assert_eq!(found(&lru.shrink_inactive(0, 32, &mut world)), [0]);
    assert_eq!(lru.of(1), Some((0, Kind::Active)));
}

#[test]
fn marking_twice_makes_active_and_once_does_not() {
    let (mut lru, mut world) = lru(1, false, SINCE_5_9);
    lru.mark_accessed(0);
    assert_eq!(lru.of(0), INACTIVE);
    lru.mark_accessed(0);
    assert_eq!(lru.of(0), Some((0, Kind::Active)));
    // The second one took the reference with it: deactivated, it needs two again.
    lru.shrink_active(0, 1, &mut world);
    touch(&mut world, 0..1);
    lru.shrink_inactive(0, 1, &mut world);
    assert_eq!(lru.of(0), INACTIVE);
    // Marked and accessed count alike.
    lru.mark_accessed(0);
    assert_eq!(lru.of(0), Some((0, Kind::Active)));
}

#[test]
fn a_hint_fault_is_remembered_until_the_page_is_deactivated() {
    let (mut lru, mut world) = lru(1, false, SINCE_5_9);
    assert!(!lru.set_hinted(0) && lru.set_hinted(0));
    lru.activate(0);
    world.pages.transfer(0..1, 1);
    lru.add(0, Kind::Active, &world);
    assert!(lru.set_hinted(0), "it moved");
    lru.shrink_active(1, 1, &mut world);
    assert!(!lru.set_hinted(0));
}

#[test]
fn the_tail_of_the_active_list_goes_accessed_or_not_and_its_bits_are_cleared() {
    let (mut lru, mut world) = lru(40, false, UP_TO_5_8);
    touch(&mut world, 0..40);
    assert_eq!(lru.shrink_active(0, 32, &mut world), 32);
    assert!((0..40).all(|page| (lru.of(page) == INACTIVE) == (page < 32)));
    assert!((0..32).all(|page| world.pages.entry(page) & bit::ACCESSED == 0));
    // The oldest of those that came is looked at first.
    assert_eq!(found(&lru.shrink_inactive(0, 2, &mut world)), [0, 1]);
}

#[test]
fn a_batch_is_32_base_pages_or_one_huge_one() {
    let (mut lru, mut world) = lru(40, true, SINCE_5_9);
    let shrunk = lru.shrink_inactive(0, 32, &mut world);
    assert_eq!((shrunk.entries, found(&shrunk)), (1, vec![0]));
    assert_eq!(shrunk.candidates[0].len(), 512);
    assert_eq!(lru.pages(0, Kind::Inactive), 39 * 512);
    world.pages.transfer(0..512, 1);
    lru.add(0, Kind::Inactive, &world);
    assert_eq!((lru.of(0), lru.pages(1, Kind::Inactive)), (Some((1, Kind::Inactive)), 512));
    // What was split meanwhile comes back as what it is.
    lru.isolate(512);
    world.pages.split(512);
    (512..1024).for_each(|page| lru.add(page, Kind::Active, &world));
    assert_eq!(lru.pages(0, Kind::Active), 512);
    assert_eq!(lru.shrink_active(0, 32, &mut world), 32);
}

#[test]
fn the_inactive_list_of_a_large_node_may_be_smaller_than_its_active_one() {
    // Below 1 GiB half; at 1 GiB 1 : 3, at 10 GiB 1 : 10, at 40 GiB 1 : 20.
    for (count, ratio) in [(256, 1), (512, 3), (5120, 10), (20_480, 20)] {
        let (mut lru, mut world) = lru(count, true, UP_TO_5_8);
        let mut inactive = 0;
        while lru.inactive_is_low(0) {
            inactive += lru.shrink_active(0, 512, &mut world);
        }
        let right = count.div_ceil(ratio + 1) as u64;
        assert_eq!(inactive, right, "{count} huge pages");
    }
    // One that stands for a node forty times as large has that one's ratio.
    let (mut small, mut world) = lru(512, true, UP_TO_5_8);
    small.scale = 40.0;
    small.shrink_active(0, 512 * 24, &mut world);
    assert!(small.inactive_is_low(0), "24 x 20 < 488");
    small.shrink_active(0, 512, &mut world);
    assert!(!small.inactive_is_low(0), "25 x 20 > 487");
}

#[test]
fn a_stream_never_gets_onto_the_active_list_and_a_reused_set_stays_there() {
    // 100 pages are accessed between any two batches; 900 are read once each, one after the other.
    let (mut lru, mut world) = lru(1000, false, SINCE_5_9);
    (100..1000).for_each(|page| {
        lru.isolate(page);
    });
    let mut reclaimed = Vec::new();
    for page in 100..1000 {
        lru.add_new(page, &world);
        touch(&mut world, page..page + 1);
        touch(&mut world, 0..100);
        if lru.inactive_is_low(0) {
            lru.shrink_active(0, 32, &mut world);
        }
        // Reclaim keeps 200 pages.
        if lru.pages(0, Kind::Active) + lru.pages(0, Kind::Inactive) > 200 {
            reclaimed.extend(lru.shrink_inactive(0, 32, &mut world).candidates);
        }
        assert!((100..=page).all(|page| lru.of(page) != Some((0, Kind::Active))), "{page}");
    }
    assert!(reclaimed.len() > 600 && reclaimed.iter().all(|page| page.start >= 100));
    assert!((0..100).all(|page| lru.of(page).is_some()));
}
