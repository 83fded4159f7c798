//! One word of a device's memory: persistent memory, or a pool that other guests see too.

use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use std::{fs::OpenOptions, io, num::NonZeroUsize, path::Path, ptr::NonNull};

/// Device DAX maps whole huge pages.
const HUGE: usize = 2 << 20;

/// A mapped word. It stays mapped until the program ends.
#[derive(Debug)]
pub(crate) struct Device(NonNull<u64>);

impl Device {
    /// Maps the huge page with `offset` in it.
    ///
    /// # Errors
    /// No such device, no such offset, or one that is no multiple of 8.
    pub(crate) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        if !offset.is_multiple_of(size_of::<u64>()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "offset: no multiple of 8"));
        }
        let device = OpenOptions::new().read(true).write(true).open(path)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let length = NonZeroUsize::new(HUGE).ok_or(io::ErrorKind::InvalidInput)?;
        let from = libc::off_t::try_from(offset / HUGE * HUGE).map_err(io::Error::other)?;
        // SAFETY: a fresh mapping at a place that the kernel chooses.
        let page = unsafe { mmap(None, length, protection, MapFlags::MAP_SHARED, device, from) }?;
        // SAFETY: the rest is less than the huge page that was mapped.
        Ok(Self(unsafe { page.cast::<u8>().add(offset % HUGE) }.cast()))
    }

    /// Reads the word.
    pub(crate) fn read(&self) -> u64 {
        // SAFETY: mapped and aligned; others may write, which a volatile read allows for.
        unsafe { self.0.read_volatile() }
    }

    /// Writes the word.
    pub(crate) fn write(&self, number: u64) {
        // SAFETY: mapped and aligned.
        unsafe { self.0.write_volatile(number) };
    }
}
