//! First visits to a part of a region split no folio.

use crate::child::{Area, Child, HUGE, PAGE, rest};
use crate::recorded::{alone, recorder};
use pagetide_scan::Options;
use pagetide_testing::skip;
use pagetide_types::Pid;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const UNITS: usize = 8;
/// Documentation/admin-guide/mm/pagemap.rst.
const FRAME: u64 = (1 << 55) - 1;
const THP: u64 = 1 << 22;

fn word(file: &File, at: u64) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at * 8).unwrap();
    u64::from_ne_bytes(bytes)
}

/// Pages of the area that belong to a huge page, however it is mapped.
fn in_huge_pages(pid: Pid, area: &Area) -> usize {
    let map = File::open(format!("/proc/{pid}/pagemap")).unwrap();
    let flags = File::open("/proc/kpageflags").unwrap();
    let first = (area.start as usize / PAGE) as u64;
    let pages = first..first + (area.len / PAGE) as u64;
    pages.filter(|page| word(&flags, word(&map, *page) & FRAME) & THP != 0).count()
}

#[test]
fn huge_pages_that_are_mapped_as_base_pages_stay_whole() {
    let name = "huge_pages_that_are_mapped_as_base_pages_stay_whole";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(UNITS * HUGE);
    let prepare = || {
        // SAFETY: memory of our own. Changing the rights of one page splits the mapping, not the huge page.
        unsafe {
            libc::madvise(area.start.cast(), area.len, libc::MADV_HUGEPAGE);
            area.write(0, area.len);
            for unit in 0..UNITS {
                let page = area.start.add(unit * HUGE + 77 * PAGE).cast();
                libc::mprotect(page, PAGE, libc::PROT_READ);
                libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE);
            }
        }
    };
    let child = Child::fork(prepare, rest);
    let before = in_huge_pages(child.pid(), &area);
    if before == 0 {
        return skip(name, "the kernel has no huge pages for us");
    }
    let options = Options {
        epoch: Duration::from_secs(1),
        opening: Some(Duration::from_millis(200)),
        budget: 0.2,
        ..Options::default()
    };
    let mut recorder = recorder(&[&child], options);
    let records: Vec<_> = (0..2).map(|_| recorder.epoch(&|| false).unwrap().0.unwrap()).collect();
    assert!(records.iter().any(|record| record.heat.watched.contains(&512)));
    assert_eq!(in_huge_pages(child.pid(), &area), before);
}
