//! Memory bound to one node.

use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous};
use pagetide_types::Bytes;
use std::{io, num::NonZeroUsize, ptr::NonNull};

/// Bytes of a line of the caches.
pub(crate) const LINE: usize = 64;
const HUGE: usize = 2 << 20;

/// Memory of one node; it stays until the program ends.
#[derive(Debug)]
pub(crate) struct Area {
    start: NonNull<u8>,
    size: usize,
}

impl Area {
    /// Maps whole huge pages, at least `size` bytes, binds them to `node` and writes zeroes.
    ///
    /// # Errors
    /// Too little memory, or no such node.
    pub(crate) fn on_node(node: u32, size: Bytes, huge: bool) -> io::Result<Self> {
        let size = usize::try_from(size.0).map_err(io::Error::other)?.next_multiple_of(HUGE);
        let length = NonZeroUsize::new(size + HUGE).ok_or(io::ErrorKind::InvalidInput)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a fresh mapping at a place that the kernel chooses.
        let whole = unsafe { mmap_anonymous(None, length, protection, MapFlags::MAP_PRIVATE) }?
            .cast::<u8>();
        // SAFETY: one huge page more was mapped than is used from the alignment on.
        let start = unsafe { whole.add(whole.align_offset(HUGE)) };
        let area = Self { start, size };
        let mask: libc::c_ulong = 1 << node;
        // SAFETY: the range is ours, the mask holds 64 bits as said.
        let bound = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                start.as_ptr(),
                size,
                libc::MPOL_BIND,
                &raw const mask,
                64 as libc::c_ulong,
                0 as libc::c_ulong,
            )
        };
        if bound != 0 {
            return Err(io::Error::last_os_error());
        }
        let advice = if huge { MmapAdvise::MADV_HUGEPAGE } else { MmapAdvise::MADV_NOHUGEPAGE };
        // SAFETY: advice about our own fresh mapping.
        unsafe { madvise(start.cast(), size, advice) }?;
        for offset in (0..size).step_by(4096) {
            area.write(offset);
        }
        Ok(area)
    }

    /// Bytes in it.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Where it starts.
    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// Reads the word at `offset`.
    ///
    /// # Panics
    /// Beyond the end.
    #[inline]
    pub(crate) fn read(&self, offset: usize) -> usize {
        assert!(offset <= self.size - 8, "inside");
        // SAFETY: inside the mapping, which stays.
        unsafe { self.start.add(offset).cast::<usize>().read_volatile() }
    }

    /// Writes a zero word at `offset`.
    #[inline]
    pub(crate) fn write(&self, offset: usize) {
        self.put(offset, 0);
    }

    /// Writes the word `value` at `offset`.
    ///
    /// # Panics
    /// Beyond the end.
    #[inline]
    pub(crate) fn put(&self, offset: usize, value: usize) {
        assert!(offset <= self.size - 8, "inside");
        // SAFETY: inside the mapping, which stays.
        unsafe { self.start.add(offset).cast::<usize>().write_volatile(value) };
    }
}
