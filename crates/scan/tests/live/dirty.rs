//! Dirty bits.

use crate::child::{Area, Child, HUGE};
use crate::recorded::{Recorded, alone};
use pagetide_types::HeatFlags;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

const UNITS: usize = 8;

#[test]
fn what_is_written_is_dirty_and_what_is_read_is_not() {
    let Some(_alone) = alone("what_is_written_is_dirty_and_what_is_read_is_not") else { return };
    // A private mapping of a file in memory: reading maps the file's pages, which nobody has
    // written through it, writing makes copies.
    // SAFETY: plain system call; the descriptor is fresh.
    let mut file = unsafe { File::from_raw_fd(libc::memfd_create(c"live".as_ptr(), 0)) };
    file.write_all(&vec![7u8; (UNITS + 1) * HUGE]).unwrap();
    let area = Area::map(UNITS * HUGE, libc::MAP_PRIVATE, file.as_raw_fd()).unwrap();
    let half = area.len / 2;
    let child = Child::fork(
        || {},
        || {
            area.write(0, half);
            area.read(half, half);
        },
    );
    let last = Recorded::all_accessed(&child, area.unit(), UNITS);
    for (index, unit) in last.iter().enumerate() {
        let written = index < UNITS / 2;
        assert_eq!(unit.has(HeatFlags::DIRTY), written, "{index} {unit:?}");
    }
}

#[test]
fn what_a_fork_made_read_only_stays_dirty() {
    let Some(_alone) = alone("what_a_fork_made_read_only_stays_dirty") else { return };
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(
        || {
            area.write(0, area.len);
            // Copy on write: what was written is not writable any more, and its dirty bit moves
            // where the CPU may take such a page for one of a shadow stack.
            // SAFETY: the copy only waits for its end, which comes with its parent's.
            unsafe {
                if libc::fork() == 0 {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    loop {
                        libc::pause();
                    }
                }
            }
        },
        crate::child::rest,
    );
    let mut walker = pagetide_scan::Walker::load(&[]).unwrap();
    let watch = walker.watch(child.pid()).unwrap();
    let start = area.start as u64;
    let range = pagetide_scan::Range { start, end: start + area.len as u64 };
    let (mut rows, mut bits) = (Vec::new(), Vec::new());
    walker.walk(&watch, &[range], &mut rows, &mut bits).unwrap();
    assert_eq!(rows.len(), UNITS);
    for row in &rows {
        assert_eq!((row.present, row.dirty), (512, 512), "{row:?}");
    }
    // Where no memory is known nothing is read as a page table.
    walker.set_memory(Vec::new());
    rows.clear();
    walker.walk(&watch, &[range], &mut rows, &mut bits).unwrap();
    assert_eq!(rows, []);
    walker.refresh_memory().unwrap();
    walker.walk(&watch, &[range], &mut rows, &mut bits).unwrap();
    assert_eq!(rows.len(), UNITS);
}
