//! What one line of a memory map means.

use pagetide_types::{AreaKind, VirtAddr};
use std::fmt;

/// A file system's device number; with an inode number it names a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dev {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl fmt::Display for Dev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// What an area allows; a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Perms(pub u8);

impl Perms {
    /// May be read.
    pub const READ: Self = Self(1);
    /// May be written.
    pub const WRITE: Self = Self(2);
    /// May be executed.
    pub const EXECUTE: Self = Self(4);
    /// Writes are seen by all who map it; else they are private copies.
    pub const SHARED: Self = Self(8);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Perms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |bit, on, off| if self.has(bit) { on } else { off };
        let letters: String = [
            letter(Self::READ, 'r', '-'),
            letter(Self::WRITE, 'w', '-'),
            letter(Self::EXECUTE, 'x', '-'),
            letter(Self::SHARED, 's', 'p'),
        ]
        .into_iter()
        .collect();
        f.pad(&letters)
    }
}

/// Why an area holds no memory that could be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// The kernel's own: vdso, vvar, vsyscall, uprobes.
    Special,
    /// A device's memory, or buffers of the kernel: `/dev/...`, `anon_inode:...`, sockets, PCI.
    Device,
    /// Pages from the hugetlb pool, as far as the name or device shows it (`ht` in smaps is
    /// certain): they can be seen, but their accessed bits cannot be cleared from outside.
    Hugetlb,
}

/// One line of a memory map. Its name lies in the [`crate::Maps`] that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// First address.
    pub start: VirtAddr,
    /// One past its last address.
    pub end: VirtAddr,
    /// What it allows.
    pub perms: Perms,
    /// Where `start` lies in the file, bytes.
    pub offset: u64,
    /// Device of the file system.
    pub dev: Dev,
    /// Inode; 0 where no file stands behind it.
    pub inode: u64,
    /// What it is.
    pub kind: AreaKind,
    /// Why it is to be passed over, if so.
    pub skip: Option<Skip>,
    /// The file behind it has been deleted (or never had a name).
    pub deleted: bool,
    /// Where its name lies in the text: start and length.
    pub(crate) name: (usize, usize),
}

impl Area {
    /// Size in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end.0 - self.start.0
    }
    /// Whether it is empty; the kernel lists no such area.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
    /// The file or shared memory behind it: the same for all processes that map it. The first System V segment since
    /// boot has inode 0, but a device.
    #[must_use]
    pub fn backing(&self) -> Option<(Dev, u64)> {
        let nothing = self.inode == 0 && self.dev == Dev::default();
        (!nothing).then_some((self.dev, self.inode))
    }
}

/// Kind and reason to skip, from the name without the mark of deletion.
/// Names are the kernel's: fs/proc/task_mmu.c `get_vma_name`, mm/shmem.c, mm/hugetlb.c.
pub(crate) fn classify(
    name: &[u8],
    perms: Perms,
    deleted: bool,
    inode: u64,
) -> (AreaKind, Option<Skip>) {
    let is = |prefix: &[u8]| name.starts_with(prefix);
    let shared = perms.has(Perms::SHARED);
    match name {
        b"" if inode == 0 && !shared => (AreaKind::Anonymous, None),
        b"" if inode == 0 => (AreaKind::Shared, None),
        b"" => (AreaKind::File, None),
        b"[heap]" => (AreaKind::Heap, None),
        b"[stack]" => (AreaKind::Stack, None),
        // Shared anonymous memory is a nameless file; private mappings of the device are plain.
        b"/dev/zero" if deleted || shared => (AreaKind::Shared, None),
        b"/dev/zero" => (AreaKind::Anonymous, None),
        b"/anon_hugepage" => {
            let kind = if shared { AreaKind::Shared } else { AreaKind::Anonymous };
            (kind, Some(Skip::Hugetlb))
        }
        _ if name[0] == b'[' => match () {
            () if is(b"[anon:") => (AreaKind::Anonymous, None),
            () if is(b"[anon_shmem:") => (AreaKind::Shared, None),
            () if is(b"[stack:") => (AreaKind::Stack, None),
            () => (AreaKind::Anonymous, Some(Skip::Special)),
        },
        _ if is(b"/SYSV") && deleted || is(b"/memfd:") || is(b"/dev/shm/") => {
            (AreaKind::Shared, None)
        }
        _ if is(b"/dev/hugepages/") => (AreaKind::Shared, Some(Skip::Hugetlb)),
        _ if is(b"/dev/") || is(b"/sys/") || is(b"/proc/") || is(b"/dmabuf:") || is(b"/[aio]") => {
            (AreaKind::File, Some(Skip::Device))
        }
        // anon_inode:[perf_event], socket:[17]: no path, so no slash.
        _ if name[0] != b'/' => (AreaKind::File, Some(Skip::Device)),
        _ => (AreaKind::File, None),
    }
}
