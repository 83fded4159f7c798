//! Dirty bits.

use crate::child::{Area, Child, HUGE};
use crate::recorded::{Recorded, Seen, alone};
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
    let last = |recorded: &Recorded| -> Vec<Seen> {
        let units = recorded.private(area.unit(), UNITS);
        units.iter().filter_map(|unit| unit.last().copied()).collect()
    };
    let accessed = |seen: &Seen| seen.has(HeatFlags::ACCESSED);
    let recorded = Recorded::until(&[&child], false, |recorded| {
        let last = last(recorded);
        // In the first epoch some of it may not be mapped yet.
        recorded.epochs.len() > 1 && last.len() == UNITS && last.iter().all(accessed)
    });
    let last = last(&recorded);
    assert!(last.len() == UNITS && last.iter().all(accessed), "{last:?}");
    for (index, unit) in last.iter().enumerate() {
        let written = index < UNITS / 2;
        assert_eq!(unit.has(HeatFlags::DIRTY), written, "{index} {unit:?}");
    }
}
