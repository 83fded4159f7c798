//! What TPP and TPP-mod promote, and at which fault.

use super::super::hint_promotion::PromotionRule;
use super::super::hint_scenarios::{STREAM, TRIAL, Trial};
use super::super::slow_node::{PAGES, SlowNode};
use super::super::tpp_mod::TppMod;
use super::*;

/// Which fault on a page of core 0 promotes it, while some others of that core fault as often.
fn promoting_fault(rule: impl PromotionRule, others: usize) -> Option<usize> {
    let mut node = SlowNode::with(rule, 1 + others);
    (1..100).find(|_| {
        (1..=others).for_each(|page| {
            node.fault(page, 0);
        });
        node.fault(0, 0)
    })
}

fn tpp(scale: f64) -> Tpp {
    Tpp { batches: ActivationBatches::new(scale), last: LastCpupid::new(PAGES) }
}

#[test]
fn tpp_wastes_faults_while_a_page_waits_to_become_active_and_tpp_mod_none() {
    assert_eq!(promoting_fault(tpp(1.0), 14), Some(3), "15 pages go together");
    assert_eq!(promoting_fault(tpp(1.0), 0), Some(31), "alone it fills the batch itself");
    assert_eq!(promoting_fault(tpp(1.0), 4), Some(7), "five, three times");
    assert_eq!(promoting_fault(tpp(256.0), 0), Some(3), "a core has many of them");
    assert_eq!(promoting_fault(TppMod::new(PAGES), 0), Some(2));
}

#[test]
fn what_is_used_once_stays_and_what_is_used_again_goes_up() {
    // A walk takes 6.4 s, a pass over the memory 24 s.
    for system in ["tpp", "tpp-mod", "refault-distance"] {
        let once = Trial { pattern: STREAM, seconds: 20.0, ..TRIAL }.under(system);
        // But for what was demoted just after it was used, and faulted again for that.
        assert!(once.promoted < 8 << 20, "{system}: {once:?}");
        let again = Trial { pattern: STREAM, seconds: 120.0, ..TRIAL }.under(system);
        assert!(again.promoted > 1 << 30, "{system}: {again:?}");
    }
}

#[test]
fn a_fiftieth_of_the_fast_node_is_kept_free_whether_anything_is_promoted_or_not() {
    let demoted = |system| {
        Trial { pattern: STREAM, seconds: 20.0, threads: 2, ..TRIAL }.under(system).demoted as f64
            / 4_294_967_296.0
    };
    assert!((0.017..0.021).contains(&demoted("tpp")), "{}", demoted("tpp"));
    assert!(demoted("linux-tiering") < 0.003, "{}", demoted("linux-tiering"));
}
