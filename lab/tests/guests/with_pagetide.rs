//! `pagetide` in guests: what no ordinary machine has.

use crate::lab::{can_boot, lab, pagetide, ran};

#[test]
fn doctor_finds_two_nodes_two_tiers_and_five_levels() {
    let test = "doctor_finds_two_nodes_two_tiers_and_five_levels";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let run = ran(lab().arg("--").arg(&pagetide).arg("doctor"));
    assert_eq!(run.code, 0, "{run:?}");
    // The self-test ran on five levels, with both sizes of pages: but for 800 huge ones, all of it.
    for part in [
        "5 levels",
        "node 1: ",
        "without CPUs",
        "tier 4: node 0, tier 105: node 1",
        "10 of 10 tests passed",
    ] {
        assert!(run.out.contains(part), "{part} in {}", run.out);
    }
}
