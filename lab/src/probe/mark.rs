//! Marks: stores that the meter sees and takes for the borders of its intervals.

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
use std::{io, num::NonZeroUsize, ptr::NonNull};

/// `MARK_PAGE` of `lab/meter/meter.c`.
const PAGE: NonZeroUsize = NonZeroUsize::new(0x6d61_726b_0000).unwrap();

/// The page that the meter watches, mapped.
#[derive(Debug)]
pub(crate) struct Marks(NonNull<u8>);

impl Marks {
    /// Maps the page. Without a meter, marks do nothing.
    ///
    /// # Errors
    /// Something else is mapped there.
    pub(crate) fn open() -> io::Result<Self> {
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED_NOREPLACE;
        let length = NonZeroUsize::MIN.saturating_add(4095);
        // SAFETY: a fresh mapping that replaces none.
        let page = unsafe { mmap_anonymous(Some(PAGE), length, protection, flags) }?;
        Ok(Self(page.cast()))
    }

    /// From here on the meter counts under mark `number`, with empty caches.
    pub(crate) fn set(&self, number: u16) {
        let offset = usize::from(number) % 4096;
        // SAFETY: the offset is inside the page, which stays mapped.
        unsafe { self.0.add(offset).write_volatile(1) };
    }
}
