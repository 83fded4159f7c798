//! One batch on a simulated kernel.

use super::*;
use crate::simulated::{SimPage, SimulatedKernel};

const PID: Pid = Pid(7);
const FAST: NodeId = NodeId(0);
const SLOW: NodeId = NodeId(1);

fn base(at: u64) -> Page {
    Page { addr: VirtAddr(at << 12), huge: false }
}

fn huge(at: u64) -> Page {
    Page { addr: VirtAddr(at << 21), huge: true }
}

fn fates(kernel: &SimulatedKernel, pages: &[Page]) -> Vec<Fate> {
    let mut done = Batch { kernel, pid: PID, to: FAST, shared: false }.run(pages).done;
    done.sort_by_key(|done| done.page.addr);
    done.into_iter().map(|done| done.fate).collect()
}

#[test]
fn pages_move_and_what_is_there_or_nowhere_is_told_apart() {
    let kernel = SimulatedKernel::two_tiers(100, 100);
    kernel.put(PID, base(1), SimPage::on(SLOW));
    kernel.put(PID, base(2), SimPage::on(FAST));
    let found = fates(&kernel, &[base(1), base(2), base(3)]);
    assert_eq!(found, [Fate::Moved, Fate::Already, Fate::Absent]);
    assert_eq!(kernel.node_of(PID, base(1)), Some(FAST));
}

#[test]
fn a_page_that_fails_does_not_hide_what_became_of_the_others() {
    let kernel = SimulatedKernel::two_tiers(100, 100);
    for at in 0..20 {
        kernel.put(PID, base(at), SimPage::on(SLOW));
    }
    kernel.put(PID, base(2), SimPage { pinned: true, ..SimPage::on(SLOW) });
    kernel.put(PID, base(5), SimPage { shared: true, ..SimPage::on(SLOW) });
    kernel.put(PID, base(9), SimPage { busy: true, ..SimPage::on(SLOW) });
    let pages: Vec<Page> = (0..20).map(base).collect();
    let found = fates(&kernel, &pages);
    for (at, fate) in found.iter().enumerate() {
        let expected = match at {
            2 => Fate::Refused(Refusal::Stuck),
            5 => Fate::Refused(Refusal::Shared),
            9 => Fate::Refused(Refusal::Busy),
            _ => Fate::Moved,
        };
        assert_eq!(*fate, expected, "page {at}");
    }
}

#[test]
fn moved_and_then_moved_back_is_not_moved() {
    let kernel = SimulatedKernel::two_tiers(100, 100);
    kernel.put(PID, base(1), SimPage { returns: true, ..SimPage::on(SLOW) });
    kernel.put(PID, base(2), SimPage::on(SLOW));
    assert_eq!(fates(&kernel, &[base(1), base(2)]), [Fate::MovedBack, Fate::Moved]);
}

#[test]
fn a_page_unmapped_while_it_moves_is_gone_and_no_error() {
    let kernel = SimulatedKernel::two_tiers(100, 100);
    kernel.put(PID, base(1), SimPage { vanishes: true, ..SimPage::on(SLOW) });
    assert_eq!(fates(&kernel, &[base(1)]), [Fate::Refused(Refusal::Gone)]);
}

#[test]
fn a_node_without_memory_a_lost_process_and_a_refusal_of_all() {
    let kernel = SimulatedKernel::two_tiers(1, 100);
    for at in 0..3 {
        kernel.put(PID, base(at), SimPage::on(SLOW));
    }
    let no_memory = Fate::Refused(Refusal::NoMemory);
    assert_eq!(fates(&kernel, &[base(0), base(1), base(2)]), [Fate::Moved, no_memory, no_memory]);
    for (errno, refusal) in [
        (Errno::ESRCH, Refusal::ProcessGone),
        (Errno::EPERM, Refusal::NotPermitted),
        (Errno::EACCES, Refusal::NodeForbidden),
        (Errno::EIO, Refusal::Other(Errno::EIO as i32)),
    ] {
        kernel.fail_calls(Some(errno));
        assert_eq!(fates(&kernel, &[base(1)]), [Fate::Refused(refusal)]);
        kernel.fail_calls(None);
    }
    assert_eq!(fates(&kernel, &[]), []);
}

#[test]
fn huge_pages_stay_whole_and_split_ones_are_finished_by_pieces() {
    let kernel = SimulatedKernel::two_tiers(4096, 4096);
    kernel.put(PID, huge(1), SimPage::on(SLOW));
    let report = Batch { kernel: &kernel, pid: PID, to: FAST, shared: false }.run(&[huge(1)]);
    assert_eq!((report.done.len(), report.tally.found_split), (1, 0));
    assert!(report.done[0].page.huge);
    // In pieces already, one of them shared, one not resident.
    for at in 0..512 {
        kernel.put(PID, base(2 * 512 + at), SimPage::on(SLOW));
    }
    kernel.put(PID, base(2 * 512 + 7), SimPage { shared: true, ..SimPage::on(SLOW) });
    kernel.remove(PID, base(2 * 512 + 9));
    let report = Batch { kernel: &kernel, pid: PID, to: FAST, shared: false }.run(&[huge(2)]);
    assert_eq!(report.tally.found_split, 1);
    let count = |fate| report.done.iter().filter(|done| done.fate == fate).count();
    assert_eq!(report.done.len(), 512);
    assert_eq!(count(Fate::Moved), 510);
    assert_eq!(count(Fate::Refused(Refusal::Shared)), 1);
    assert_eq!(count(Fate::Absent), 1);
}

#[test]
fn what_the_kernel_splits_for_want_of_a_huge_page_arrives_all_the_same() {
    let kernel = SimulatedKernel::two_tiers(4096, 4096);
    kernel.fragment(FAST);
    kernel.put(PID, huge(1), SimPage::on(SLOW));
    let before = kernel.splits();
    let found = fates(&kernel, &[huge(1)]);
    assert_eq!(kernel.splits() - before, 1);
    assert!(found.iter().all(|fate| *fate == Fate::Moved), "{found:?}");
}
