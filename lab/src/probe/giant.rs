//! A page of 1 GiB from the hugetlb pool, read again and again.

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
use std::{
    io,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

const GIB: usize = 1 << 30;

/// Reads a page of 1 GiB, a word in each 4 KiB, for `time`; prints its address first.
///
/// # Errors
/// The pool holds no such page: boot with `hugepagesz=1G hugepages=1`.
pub(crate) fn read_giant_page(time: Duration) -> io::Result<()> {
    let length = NonZeroUsize::new(GIB).ok_or(io::ErrorKind::InvalidInput)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_HUGETLB | MapFlags::MAP_HUGE_1GB;
    // SAFETY: a fresh mapping at a place that the kernel chooses.
    let page = unsafe { mmap_anonymous(None, length, protection, flags) }?.cast::<u8>();
    // SAFETY: inside the mapping, which stays.
    unsafe { page.write_volatile(1) };
    println!("ready address={:#x} size={GIB}", page.as_ptr().addr());
    let started = Instant::now();
    while started.elapsed() < time {
        for offset in (0..GIB).step_by(4096) {
            // SAFETY: inside the mapping, which stays.
            unsafe { page.add(offset).read_volatile() };
        }
    }
    Ok(())
}
