//! The TLB.

use super::{super::*, Naive};
use crate::filter::Translation::{First, Second, Walk};
use proptest::prelude::*;

const fn array(entries: u32, ways: u32) -> Entries {
    Entries { entries, ways }
}

const NONE: Entries = array(0, 0);

/// Where the pages of a walk are found.
fn found(tlb: &mut Tlb, pages: impl IntoIterator<Item = u64>, huge: bool) -> Vec<Translation> {
    pages.into_iter().map(|page| tlb.lookup(page, huge)).collect()
}

/// An array of the model; its lines are a page's number, its size in between. Sets are the page's.
struct NaiveArray(Vec<Naive>);

impl NaiveArray {
    fn new(size: Entries) -> Option<Self> {
        let sets = size.entries.checked_div(size.ways)?;
        let set = Naive::new(size.ways.into(), size.ways);
        Some(Self(vec![set; sets as usize]))
    }

    fn set(&mut self, number: u64) -> &mut Naive {
        let set = number % self.0.len() as u64;
        &mut self.0[usize::try_from(set).unwrap()]
    }

    fn hits(&mut self, number: u64, huge: bool) -> bool {
        self.set(number).access(number * 2 + u64::from(huge), false) == Looked::Hit
    }

    fn forget(&mut self, number: u64, huge: bool) {
        self.set(number).forget(number * 2 + u64::from(huge));
    }
}

/// The model of the whole: base pages, huge pages, both.
struct NaiveTlb([Option<NaiveArray>; 3]);

impl NaiveTlb {
    fn lookup(&mut self, page: u64, huge: bool) -> Translation {
        let number = if huge { page / 512 } else { page };
        let [base, large, second] = &mut self.0;
        let first = if huge { large } else { base };
        if first.as_mut().is_some_and(|first| first.hits(number, huge)) {
            First
        } else if second.as_mut().is_some_and(|second| second.hits(number, huge)) {
            Second
        } else {
            Walk
        }
    }

    fn flush_page(&mut self, page: u64, huge: bool) {
        let number = if huge { page / 512 } else { page };
        let [base, large, second] = &mut self.0;
        let first = if huge { large } else { base };
        [first, second].into_iter().flatten().for_each(|array| array.forget(number, huge));
    }
}

#[derive(Clone, Debug)]
enum Deed {
    Lookup(u64, bool),
    Flush,
    FlushPage(u64, bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    // Of both sizes about as many as the arrays below hold.
    let page =
        || (any::<bool>(), 0_u64..60).prop_map(|(huge, n)| (n << (9 * u32::from(huge)), huge));
    prop_oneof![
        60 => page().prop_map(|(page, huge)| Deed::Lookup(page, huge)),
        1 => Just(Deed::Flush),
        5 => page().prop_map(|(page, huge)| Deed::FlushPage(page, huge)),
    ]
}

fn size() -> impl Strategy<Value = Entries> {
    (0_u32..8, 1_u32..9).prop_map(|(sets, ways)| array(sets * ways, ways))
}

proptest! {
    #[test]
    fn does_what_queues_do(
        (base, huge, second) in (size(), size(), size()),
        deeds in prop::collection::vec(deed(), 1..600),
    ) {
        let mut tlb = Tlb::new(base, huge, second).unwrap();
        let sizes = [base, huge, second];
        let model = || NaiveTlb(sizes.map(|size| NaiveArray::new(size).filter(|a| !a.0.is_empty())));
        let mut naive = model();
        for deed in deeds {
            match deed {
                Deed::Lookup(page, huge) => {
                    prop_assert_eq!(tlb.lookup(page, huge), naive.lookup(page, huge));
                }
                Deed::Flush => {
                    tlb.flush();
                    naive = model();
                }
                Deed::FlushPage(page, huge) => {
                    tlb.flush_page(page, huge);
                    naive.flush_page(page, huge);
                }
            }
        }
    }
}

#[test]
fn pages_within_reach_are_found_always_after_one_walk_each() {
    for (first, second) in [(array(64, 4), NONE), (NONE, array(96, 12)), (array(64, 64), NONE)] {
        let reach = u64::from(first.entries.max(second.entries));
        let mut tlb = Tlb::new(first, NONE, second).unwrap();
        assert!(found(&mut tlb, 0..reach, false).iter().all(|found| *found == Walk));
        let found = found(&mut tlb, (0..5).flat_map(|_| 0..reach), false);
        assert!(found.iter().all(|found| *found == if first == NONE { Second } else { First }));
    }
}

#[test]
fn a_cyclic_walk_beyond_the_reach_of_a_level_never_finds_a_page_there() {
    let mut tlb = Tlb::new(array(16, 4), NONE, array(64, 8)).unwrap();
    // One page more in each set of the first level; the second holds them all.
    let walk = || (0..5).flat_map(|_| 0..20);
    assert!(found(&mut tlb, walk(), false)[20..].iter().all(|found| *found == Second));
    tlb.flush();
    let walk = || (0..5).flat_map(|_| 0..72);
    assert!(found(&mut tlb, walk(), false).iter().all(|found| *found == Walk));
}

#[test]
fn a_huge_page_is_512_base_pages() {
    let mut tlb = Tlb::new(array(4, 4), array(4, 4), NONE).unwrap();
    let all = found(&mut tlb, 0..512 * 4, true);
    let walks = (0..512 * 4).map(|page| if page % 512 == 0 { Walk } else { First });
    assert_eq!(all, walks.collect::<Vec<_>>());
    assert!(found(&mut tlb, (0..4096).map(|i| i * 37 % 2048), true).iter().all(|f| *f == First));
    assert_eq!(tlb.lookup(0, false), Walk, "as a base page it is another translation");
    assert_eq!(tlb.lookup(0, true), First);
}

#[test]
fn the_first_levels_do_not_share_and_the_second_does() {
    let mut tlb = Tlb::new(array(2, 2), array(2, 2), array(4, 4)).unwrap();
    found(&mut tlb, [0, 512], true);
    found(&mut tlb, 0..4, false);
    assert_eq!(found(&mut tlb, [0, 512], true), [First, First], "base pages leave them alone");
    found(&mut tlb, [1024, 1536], true);
    assert_eq!(tlb.lookup(0, true), Walk, "base pages took its place in the second level");
    assert_eq!(tlb.lookup(1, false), Walk, "and huge ones that of base pages");
    assert_eq!(tlb.lookup(3, false), First);
}

#[test]
fn a_flush_leaves_nothing_and_a_page_s_only_the_others() {
    let mut tlb = Tlb::new(array(4, 2), array(4, 2), array(8, 8)).unwrap();
    found(&mut tlb, 0..2, false);
    found(&mut tlb, [0, 512], true);
    tlb.flush_page(0, false);
    assert_eq!(found(&mut tlb, [0, 1, 0], false), [Walk, First, First]);
    assert_eq!(found(&mut tlb, [0, 512], true), [First; 2]);
    tlb.flush_page(700, true);
    assert_eq!(found(&mut tlb, [0, 512], true), [First, Walk]);
    tlb.flush();
    assert_eq!(found(&mut tlb, 0..2, false), [Walk; 2]);
    assert_eq!(found(&mut tlb, [0, 512], true), [Walk; 2]);
    assert_eq!(found(&mut tlb, 0..2, false), [First; 2]);
}

#[test]
fn without_entries_a_level_is_missing() {
    let mut tlb = Tlb::new(NONE, NONE, NONE).unwrap();
    assert_eq!(found(&mut tlb, [7, 7], false), [Walk; 2]);
    tlb.flush();
    tlb.flush_page(7, true);
    assert_eq!(tlb.limit(), u64::MAX);
    let mut tlb = Tlb::new(array(4, 4), NONE, NONE).unwrap();
    assert_eq!(found(&mut tlb, [7, 7], true), [Walk; 2]);
    assert_eq!(found(&mut tlb, [7, 7], false), [Walk, First]);
}

#[test]
fn pages_are_told_apart_up_to_the_limit() {
    let mut tlb = Tlb::new(array(8, 8), array(8, 8), array(32, 8)).unwrap();
    let last = tlb.limit() - 1;
    assert_eq!(tlb.limit(), (1 << 30) - 1, "4 TiB by its arrays of one set");
    assert_eq!(found(&mut tlb, [last, last - 1, last], false), [Walk, Walk, First]);
    assert_eq!(found(&mut tlb, [last, last], true), [Walk, First]);
}

#[test]
fn refuses_what_makes_no_sense() {
    let refused = |base| Tlb::new(base, NONE, NONE).unwrap_err().to_string();
    assert_eq!(refused(array(64, 0)), "ways 0: a set holds something; give 1 or more");
    let multiple = "give a multiple of 6, so that each set has 6 `ways`";
    assert_eq!(refused(array(64, 6)), format!("entries 64: {multiple}"));
}
