//! Who maps the pages of some mappings: `/proc/PID/pagemap` says which frames they are in, `/proc/kpagecount`
//! how many mappings each frame has (Documentation/admin-guide/mm/pagemap.rst). Both need privileges.

use crate::kernel::{Mapping, Sharing};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;
const PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;

/// Of what is resident in them just now.
pub(crate) fn of(mappings: &[Mapping]) -> io::Result<Sharing> {
    let mut frames: BTreeMap<u64, u64> = BTreeMap::new();
    for mapping in mappings {
        let map = File::open(format!("/proc/{}/pagemap", mapping.pid))?;
        let pages = mapping.end.0.saturating_sub(mapping.start.0) / PAGE;
        for entry in numbers(&map, mapping.start.0 / PAGE, pages)? {
            if entry & PRESENT != 0 {
                *frames.entry(entry & FRAME).or_default() += 1;
            }
        }
    }
    let counts = File::open("/proc/kpagecount")?;
    let mut several = false;
    for (frame, ours) in frames {
        // Without privileges all frames are 0.
        if frame == 0 || numbers(&counts, frame, 1)?.first() != Some(&ours) {
            return Ok(Sharing::Outside);
        }
        several |= ours > 1;
    }
    Ok(if several { Sharing::Among } else { Sharing::Apart })
}

/// So many numbers of 64 bits from the n-th on.
fn numbers(file: &File, from: u64, count: u64) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0u8; usize::try_from(count * 8).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from * 8)?;
    let number = |chunk: &[u8]| chunk.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    Ok(bytes.chunks_exact(8).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{Pid, VirtAddr};
    use std::ptr;

    const LEN: usize = 8 << 12;

    /// Resident memory, shared if there is a file.
    fn mapped(file: Option<libc::c_int>) -> Mapping {
        let shared =
            if file.is_some() { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_ANONYMOUS };
        let fd = file.unwrap_or(-1);
        // SAFETY: new memory, which nobody else knows of and which stays until the end of the test.
        let start = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(ptr::null_mut(), LEN, protection, shared, fd, 0);
            assert!(start != libc::MAP_FAILED);
            start.cast::<u8>().write_bytes(1, LEN);
            start as u64
        };
        let pid = Pid(std::process::id().cast_signed());
        Mapping { pid, start: VirtAddr(start), end: VirtAddr(start + LEN as u64) }
    }

    #[test]
    fn memory_is_the_tenants_where_nobody_else_maps_it() {
        let alone = mapped(None);
        if of(&[alone]).ok() != Some(Sharing::Apart) {
            eprintln!(
                "SKIPPED memory_is_the_tenants_where_nobody_else_maps_it: frames are not shown"
            );
            return;
        }
        // SAFETY: a name, and a descriptor of our own.
        let file = unsafe {
            let file = libc::memfd_create(c"sharing".as_ptr(), 0);
            assert_eq!(libc::ftruncate(file, LEN.cast_signed() as libc::off_t), 0);
            file
        };
        let (first, second) = (mapped(Some(file)), mapped(Some(file)));
        assert_eq!(of(&[first, second]).unwrap(), Sharing::Among);
        assert_eq!(of(&[first]).unwrap(), Sharing::Outside);
        assert_eq!(of(&[first, second, alone]).unwrap(), Sharing::Among);
        assert!(of(&[Mapping { pid: Pid(1 << 23), ..alone }]).is_err());
    }
}
