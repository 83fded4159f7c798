//! What a process maps costs the recorder nothing: only what is resident does.

use crate::child::{Area, Child, HUGE, PAGE, rest};
use crate::recorded::{Recorded, alone, recorder};
use pagetide_host::Host;
use pagetide_scan::Options;
use pagetide_types::{Bytes, Pid};
use std::ptr;
use std::time::Duration;

/// 64 TiB.
const MAPPED: usize = 64 << 40;
/// Places in it that are resident, a page each, apart from each other.
const TOUCHED: usize = 40;

/// Maps a sparse file from its second page on, and touches some of it.
fn map_and_touch() {
    // SAFETY: plain system calls on memory of our own.
    unsafe {
        let file = libc::memfd_create(c"sparse".as_ptr(), 0);
        let length = i64::try_from(MAPPED + PAGE).unwrap();
        assert_eq!(libc::ftruncate(file, length), 0);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let start = libc::mmap(ptr::null_mut(), MAPPED, access, flags, file, 4096);
        assert_ne!(start, libc::MAP_FAILED);
        for place in 0..TOUCHED {
            let at = place * (MAPPED / TOUCHED) / PAGE * PAGE;
            start.cast::<u8>().add(at).write_volatile(1);
        }
    }
}

fn ours() -> Bytes {
    Host::live().resident(Pid(std::process::id().cast_signed())).unwrap()
}

#[test]
fn an_odd_offset_costs_what_is_resident_and_not_what_is_mapped() {
    let name = "an_odd_offset_costs_what_is_resident_and_not_what_is_mapped";
    let Some(_alone) = alone(name) else { return };
    let child = Child::fork(map_and_touch, rest);
    let options = Options { epoch: Duration::from_secs(1), ..Options::default() };
    let mut recorder = recorder(&[&child], options);
    let before = ours();
    let record = recorder.epoch(&|| false).unwrap().0.unwrap();
    let grown = ours().saturating_sub(before);
    assert!(grown < Bytes::mib(64), "{grown} for {TOUCHED} pages");
    let sparse = record.new_areas.iter().find(|area| area.name.contains("sparse")).unwrap();
    let object = sparse.object;
    let units = record.new_units.iter().filter(|unit| unit.object == object).count();
    assert_eq!(units, TOUCHED, "a unit each");
    assert!(sparse.end - sparse.first > (MAPPED / HUGE) as u64);
}

#[test]
fn memory_in_very_many_areas_is_seen_as_if_it_were_one() {
    let Some(_alone) = alone("memory_in_very_many_areas_is_seen_as_if_it_were_one") else { return };
    const UNITS: usize = 4;
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(
        || {
            area.write(0, area.len);
            // Each second page may not be touched any more, or is not there.
            for at in (PAGE..area.len).step_by(2 * PAGE) {
                // SAFETY: inside the mapping, which nobody else uses.
                unsafe {
                    let page = area.start.add(at).cast();
                    if at < area.len / 2 {
                        libc::mprotect(page, PAGE, libc::PROT_READ);
                    } else {
                        libc::munmap(page, PAGE);
                    }
                }
            }
        },
        || {
            for at in (0..area.len).step_by(2 * PAGE) {
                area.read(at, PAGE);
            }
        },
    );
    let last = Recorded::all_accessed(&child, area.unit(), UNITS);
    let pages: Vec<u16> = last.iter().map(|unit| unit.pages).collect();
    assert_eq!(pages, [512, 512, 256, 256]);
}
