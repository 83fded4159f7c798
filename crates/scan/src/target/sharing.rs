//! Which pages the kernel will not clear: those that more than one mapping holds (and the zero
//! page), by bit 56 of `/proc/PID/pagemap` (Documentation/admin-guide/mm/pagemap.rst).

use crate::pages::{Mask, has};
use crate::walk::row::Range;
use pagetide_types::Pid;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;
const EXCLUSIVE: u64 = 1 << 56;
const PRESENT: u64 = 1 << 63;

/// Which pages of a piece cannot be cleared, as far as somebody looked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Sharing {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// None.
    Own,
    /// These.
    Some(Box<Mask>),
}

impl Sharing {
    /// Looks up the resident pages of `range`; a process that is gone has nothing to share.
    pub(crate) fn look_up(pid: Pid, range: Range) -> Self {
        match shared_pages(pid, range) {
            Ok(shared) if shared != Mask::default() => Self::Some(Box::new(shared)),
            _ => Self::Own,
        }
    }

    /// How many of the pages in `range`, which lies in one region of the page table.
    pub(crate) fn within(&self, range: Range) -> u16 {
        let Self::Some(shared) = self else { return 0 };
        let first = (range.start / PAGE % 512) as usize;
        let pages = ((range.end - range.start) / PAGE) as usize;
        let in_range = (first..(first + pages).min(512)).filter(|page| has(shared, *page));
        u16::try_from(in_range.count()).unwrap_or(u16::MAX)
    }
}

/// The resident pages of `range`, which lies in one region of the page table, that several
/// mappings hold.
pub(crate) fn shared_pages(pid: Pid, range: Range) -> io::Result<Mask> {
    let mut shared = Mask::default();
    each(pid, range, |address, is_exclusive| {
        let page = (address / PAGE % 512) as usize;
        shared[page / 64] |= u64::from(!is_exclusive) << (page % 64);
    })?;
    Ok(shared)
}

/// Calls `take` with the address of every resident page and whether only one mapping holds it.
fn each(pid: Pid, range: Range, mut take: impl FnMut(u64, bool)) -> io::Result<()> {
    let mut entries = [0u8; 512 * 8];
    let pages = ((range.end - range.start) / PAGE).min(512);
    let wanted = &mut entries[..pages as usize * 8];
    File::open(format!("/proc/{pid}/pagemap"))?.read_exact_at(wanted, range.start / PAGE * 8)?;
    for (address, entry) in (0..).map(|page| range.start + page * PAGE).zip(wanted.chunks_exact(8))
    {
        let mut bytes = [0u8; 8];
        bytes.copy_from_slice(entry);
        let entry = u64::from_le_bytes(bytes);
        if entry & PRESENT != 0 {
            take(address, entry & EXCLUSIVE != 0);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_knows_which_of_its_pages_are_shared() {
        let mut mask = Mask::default();
        (mask[0], mask[7]) = (0b1011, 1 << 63);
        let sharing = Sharing::Some(Box::new(mask));
        let window = |from: u64, to: u64| {
            let base = 7 << 21;
            sharing.within(Range { start: base + from * PAGE, end: base + to * PAGE })
        };
        assert_eq!((window(0, 512), window(0, 64), window(1, 3), window(448, 512)), (4, 3, 1, 1));
        assert_eq!(Sharing::Own.within(Range { start: 0, end: 1 << 21 }), 0);
    }
}
