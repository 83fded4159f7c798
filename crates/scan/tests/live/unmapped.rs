//! Shared memory that no process of the target maps any more: cold pages of a buffer pool, whose last user has ended.

use crate::child::{Area, Child, HUGE, PAGE, rest};
use crate::recorded::{Recorded, Seen, alone};
use pagetide_types::{Bytes, HeatFlags};
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

/// As many as no other test's memory has, which children of this process inherit.
const UNITS: usize = 5;
/// Pages that processes of the target map.
const MAPPED: usize = 100;

fn memfd(name: &CStr) -> File {
    // SAFETY: a fresh descriptor that nobody else owns.
    unsafe { File::from_raw_fd(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC)) }
}

fn of_file(file: &File) -> Area {
    file.set_len((UNITS * HUGE) as u64).unwrap();
    Area::map(UNITS * HUGE, libc::MAP_SHARED, file.as_raw_fd()).unwrap()
}

/// Shared memory of every kind, as it is called. The System V segment is the first of a namespace of its own where we
/// may make one, as on a machine that was just booted: its number is 0, and so is its inode's.
fn kinds() -> Vec<(&'static str, Area)> {
    // SAFETY: plain system calls; the segment goes with its last user.
    let system_v = unsafe {
        libc::unshare(libc::CLONE_NEWIPC);
        let id = libc::shmget(libc::IPC_PRIVATE, UNITS * HUGE, 0o600);
        let start = libc::shmat(id, std::ptr::null(), 0).cast();
        libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut());
        Area { start, len: UNITS * HUGE }
    };
    let in_shm = tempfile::Builder::new().prefix("pagetide-").tempfile_in("/dev/shm").unwrap();
    vec![
        ("shared memory", Area::shared(UNITS * HUGE)),
        ("/memfd:pool", of_file(&memfd(c"pool"))),
        ("/SYSV00000000", system_v),
        ("/dev/shm/pagetide-", of_file(in_shm.as_file())),
    ]
}

/// The last epoch of what nobody maps of the memory with such a name, and as it is called.
fn unmapped(recorded: &Recorded, name: &str) -> Option<(String, Vec<Seen>)> {
    let areas = || recorded.epochs.iter().flat_map(|epoch| &epoch.new_areas);
    let area = areas().find(|area| {
        let its = area.shown_name().starts_with(name);
        area.mapped == Some(false) && its && area.end == UNITS as u64
    })?;
    let units = recorded.units_of(area.object);
    let last = units.values().filter_map(|seen| seen.last().copied()).collect();
    Some((area.shown_name().into_owned(), last))
}

fn pages(units: &[Seen]) -> usize {
    units.iter().map(|seen| usize::from(seen.pages)).sum()
}

#[test]
fn shared_memory_that_nobody_maps_any_more_counts_once_and_as_cold() {
    let name = "shared_memory_that_nobody_maps_any_more_counts_once_and_as_cold";
    let Some(_alone) = alone(name) else { return };
    for (kind, area) in kinds() {
        drop(Child::fork(|| area.write(0, area.len), rest));
        // Two processes have all of it in their maps, and touched a part.
        let one = Child::fork(|| area.write(0, MAPPED * PAGE), rest);
        let other = Child::fork(|| area.write(0, MAPPED / 2 * PAGE), rest);
        // Where others keep the machine busy it may take some epochs more.
        let recorded = Recorded::until(&[&one, &other], false, |recorded| {
            recorded.epochs.len() >= 2 && unmapped(recorded, kind).is_some()
        });
        let (called, units) = unmapped(&recorded, kind).unwrap_or_else(|| panic!("{kind}: none"));
        assert!(called.ends_with(", not mapped"), "{called}");
        assert_eq!(pages(&units), UNITS * 512 - MAPPED, "{kind}");
        let cold = HeatFlags::SAMPLED | HeatFlags::UNSEEN;
        assert!(units.iter().all(|seen| (seen.flags, seen.rate) == (cold, 0.0)), "{units:?}");
        let resident = recorded.epochs.last().unwrap().heat.resident();
        assert!(resident >= Bytes((UNITS * HUGE) as u64), "part of the footprint: {resident}");
    }
}

#[test]
fn what_several_processes_map_parts_of_is_mapped() {
    let Some(_alone) = alone("what_several_processes_map_parts_of_is_mapped") else { return };
    const CHILDREN: usize = 4;
    let area = of_file(&memfd(c"parts"));
    let each = |first: usize| {
        let pages = move || {
            (first * PAGE..area.len).step_by(CHILDREN * PAGE).for_each(|at| area.write(at, PAGE));
        };
        Child::fork(pages, rest)
    };
    let children: Vec<Child> = (0..CHILDREN).map(each).collect();
    let children: Vec<&Child> = children.iter().collect();
    let recorded = Recorded::until(&children, false, |recorded| recorded.epochs.len() == 2);
    assert!(unmapped(&recorded, "/memfd:parts").is_none());
    let mapped = recorded.objects(UNITS, |area| area.name == "/memfd:parts");
    let [object] = mapped[..] else { panic!("one object of {UNITS} units: {mapped:?}") };
    for (unit, seen) in recorded.units_of(object) {
        assert_eq!(seen.last().unwrap().pages, 512, "{unit}");
    }
}
