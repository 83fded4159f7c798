//! Pages that no access may reach now: those that wait for a NUMA hint, and those without any rights, which the
//! kernel stores alike.

use crate::child::{Area, Child, HUGE, PAGE, rest};
use crate::recorded::alone;
use pagetide_scan::{NodeRange, Range, Row, Walker};
use pagetide_types::NodeId;

const UNITS: usize = 4;

/// What a walk finds of an area, on nodes of which the second begins far beyond all memory.
fn walked(child: &Child, area: &Area) -> Vec<Row> {
    let nodes =
        [(0, 0), (1 << 30, 1)].map(|(start_pfn, node)| NodeRange { start_pfn, node: NodeId(node) });
    let mut walker = Walker::load(&nodes).unwrap();
    let watch = walker.watch(child.pid()).unwrap();
    let start = area.start as u64;
    let range = Range { start, end: start + area.len as u64 };
    let (mut rows, mut bits) = (Vec::new(), Vec::new());
    walker.walk(&watch, &[range], &mut rows, &mut bits).unwrap();
    rows
}

/// Where the pages of huge and of base pages lie, and where a folio goes on, with all rights and without.
fn with_rights(rights: libc::c_int, advice: libc::c_int) -> Vec<Row> {
    let area = Area::private(UNITS * HUGE);
    let prepare = || {
        // SAFETY: memory of our own, which nobody accesses once it has no rights.
        unsafe {
            libc::madvise(area.start.cast(), area.len, advice);
            area.write(0, area.len);
            if advice == libc::MADV_HUGEPAGE {
                // A mapping by base pages; the huge page stays whole.
                for unit in 0..UNITS {
                    let page = area.start.add(unit * HUGE + 77 * PAGE).cast();
                    libc::mprotect(page, PAGE, libc::PROT_READ);
                    libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE);
                }
            }
            libc::mprotect(area.start.cast(), area.len, rights);
        }
    };
    let child = Child::fork(prepare, rest);
    walked(&child, &area)
}

#[test]
fn a_page_that_cannot_be_accessed_now_is_where_it_was() {
    let name = "a_page_that_cannot_be_accessed_now_is_where_it_was";
    let Some(_alone) = alone(name) else { return };
    for advice in [libc::MADV_HUGEPAGE, libc::MADV_NOHUGEPAGE] {
        let (open, shut) = (libc::PROT_READ | libc::PROT_WRITE, libc::PROT_NONE);
        for rights in [open, shut] {
            let rows = with_rights(rights, advice);
            assert_eq!(rows.len(), UNITS);
            for row in rows {
                assert_eq!(
                    (row.present, row.spread[0], row.node),
                    (512, 512, NodeId(0)),
                    "{row:?}"
                );
                if advice == libc::MADV_HUGEPAGE && !row.huge {
                    assert_eq!(row.joined, 0b1111_1110, "one folio: {row:?}");
                }
            }
        }
    }
}
