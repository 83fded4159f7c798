//! What NOMAD queues, and after which faults; how it moves pages is tested with its movers.

use super::super::hint_scenarios::{TRIAL, Trial};
use super::super::slow_node::{PAGES, SlowNode};
use super::*;
use crate::scenario::run;
use crate::sweep::Draft;

/// As on a machine of full size, but that nobody waits for others of his core.
fn look_back() -> LookBack {
    LookBack { batches: ActivationBatches::new(256.0), ..LookBack::new(PAGES, 1.0) }
}

/// A hint fault, after which the access is made.
fn fault(node: &mut SlowNode<LookBack>, page: usize) {
    assert!(!node.fault(page, 0), "it moves nothing and returns");
    node.world.pages.set(page, bit::ACCESSED);
}

fn queued(node: &SlowNode<LookBack>) -> Vec<usize> {
    node.rule.queue.iter().map(|page| page.pages.start).collect()
}

#[test]
fn one_fault_on_a_page_and_three_on_others_queue_it() {
    let mut node = SlowNode::with(look_back(), 100);
    fault(&mut node, 7);
    // It is referenced, becomes active, and is queued.
    for other in 50..53 {
        assert_eq!((queued(&node).len(), node.is_active(7)), (0, other > 51), "before {other}");
        fault(&mut node, other);
    }
    assert_eq!(queued(&node), [7]);
    fault(&mut node, 53);
    assert_eq!(queued(&node), [7, 50], "the next one, and not the same again");
}

#[test]
fn what_is_accessed_after_twenty_other_faults_is_forgotten() {
    let mut node = SlowNode::with(look_back(), 100);
    // Nobody goes on to access these.
    assert!((7..7 + 22).all(|page| !node.fault(page, 0)));
    node.world.pages.set_all(7..20, bit::ACCESSED);
    (50..60).for_each(|page| fault(&mut node, page));
    let queued = queued(&node);
    assert!(!queued.contains(&7) && queued.contains(&19), "{queued:?}");
}

#[test]
fn no_more_is_queued_than_fits_and_nothing_that_went_up_meanwhile() {
    let mut node = SlowNode::with(look_back(), PAGES);
    (0..PAGES).for_each(|page| fault(&mut node, page));
    assert_eq!(queued(&node).len(), PAGES - 3, "all but the last three");
    let mut node = SlowNode::with(look_back(), 100);
    fault(&mut node, 7);
    node.world.pages.transfer(7..8, 0);
    (20..30).for_each(|page| fault(&mut node, page));
    assert!(!queued(&node).contains(&7));
}

#[test]
fn scaled_down_it_looks_back_at_fewer_faults_and_queues_less() {
    let of = |scale| {
        let rule = LookBack::new(PAGES, scale);
        (rule.look_back, rule.queue_most)
    };
    assert_eq!((of(1.0), of(4.0)), ((20, 512), (5, 128)));
    assert_eq!(of(256.0), (3, 2), "what is accessed is queued at the third fault after its own");
    let mut node = SlowNode::with(LookBack::new(PAGES, 256.0), 100);
    (20..30).for_each(|page| fault(&mut node, page));
    assert_eq!(queued(&node), [20, 21], "and no more");
    // What is accessed after that is forgotten.
    let mut node = SlowNode::with(LookBack::new(PAGES, 256.0), 100);
    assert!((7..12).all(|page| !node.fault(page, 0)));
    node.world.pages.set(7, bit::ACCESSED);
    (50..60).for_each(|page| fault(&mut node, page));
    assert!(!queued(&node).contains(&7));
}

#[test]
fn a_tenth_of_the_fast_node_is_kept_free() {
    let still = Trial { pattern: "kind = \"pointer-chase\"", seconds: 30.0, ..TRIAL };
    let found = still.under("nomad");
    let free = (found.demoted - found.promoted) as f64 / 4_294_967_296.0;
    assert!((0.08..0.101).contains(&free), "{free}");
}

#[test]
fn where_the_slow_node_is_short_of_memory_shadows_go_and_what_goes_down_is_copied() {
    // Three quarters of 16 GiB are slow, and what is promoted leaves shadows.
    let busy = |slow: &str| {
        let text = "machine = \"adaptive-cxl\"\nscale = 256\nhuge_pages = false\nseconds = 60\n\
             spare_cores = 23\n[system]\nname = \"nomad\"\n\
             [[tenant]]\nmemory = \"16G\"\nfast = \"4G\"\nthreads = 4\ncompute_ns = 40\n\
             pattern = { kind = \"uniform\" }";
        let setting = format!("machine.tier.1.capacity={slow}").parse().unwrap();
        let scenario = Draft::new(text, "x.toml").unwrap().with(&[setting]).unwrap().scenario;
        let outcome = run(&scenario, None, "x.toml").unwrap();
        assert!(outcome.tenants[0].demoted > 16 << 30, "{outcome:?}");
        // What is copied is read from the fast tier and written to the slow one.
        outcome.busy
    };
    let [tight, wide, wider] = ["13G", "32G", "128G"].map(busy);
    assert_eq!(wide, wider, "twice all memory is enough");
    assert!((0..2).all(|tier| tight[tier] > 1.2 * wide[tier]), "{tight:?} {wide:?}");
}
