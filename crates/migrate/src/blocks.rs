//! Blocks of 2 MiB out of page cache. Where a node has no free block, moving a huge page there may split it. So pages of our
//! own go first: the kernel reclaims page cache and compacts for them as for any other, and what huge ones leave behind when
//! they are freed is whole.

use crate::move_pages::{MPOL_MF_MOVE, UNSET, call, spot};
use crate::own::{huge_bytes, me, prefer_node};
use crate::{Kernel, Spot};
use memmap2::{Advice, MmapMut};
use pagetide_types::{NodeId, PageSize, VirtAddr};
use std::io;

const HUGE: usize = 2 << 20;

/// Up to `count` blocks of a node; they are free when this returns. Our pages come from node `from`, and from then on so does
/// other new memory of this thread.
///
/// # Errors
/// When the kernel gives us no memory, or moves none.
pub(crate) fn make_blocks(
    kernel: &impl Kernel,
    node: NodeId,
    from: NodeId,
    count: u64,
) -> io::Result<u64> {
    prefer_node(from)?;
    let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(HUGE));
    let len = len.ok_or(io::ErrorKind::OutOfMemory)?;
    // For a huge page alone the kernel does not wake kswapd (mm/migrate.c, alloc_migration_target).
    let base = Scouts::new(len, PageSize::Base)?;
    base.go(node)?;
    let huge = Scouts::new(len, PageSize::Huge)?;
    let splits = kernel.splits();
    let there = huge.go(node)?;
    Ok(there.saturating_sub(kernel.splits().saturating_sub(splits)))
}

/// Memory of our own in pages of one size.
struct Scouts {
    map: MmapMut,
    skip: usize,
    len: usize,
    page: PageSize,
}

impl Scouts {
    fn new(len: usize, page: PageSize) -> io::Result<Self> {
        let map = MmapMut::map_anon(len + HUGE)?;
        let start = map.as_ptr() as usize;
        let skip = start.next_multiple_of(HUGE) - start;
        let huge = page == PageSize::Huge;
        let advice = if huge { Advice::HugePage } else { Advice::NoHugePage };
        map.advise_range(advice, skip, len)?;
        let mut scouts = Self { map, skip, len, page };
        scouts.map[skip..skip + len].chunks_mut(4096).for_each(|page| page[0] = 1);
        if huge && huge_bytes(scouts.start(), len).0 < len as u64 {
            return Err(io::Error::other("the kernel gave no huge pages"));
        }
        Ok(scouts)
    }

    fn start(&self) -> u64 {
        self.map[self.skip..].as_ptr() as u64
    }

    /// Moves them to a node; how many are there then.
    fn go(&self, node: NodeId) -> io::Result<u64> {
        let step = usize::try_from(self.page.bytes().0).unwrap_or(HUGE);
        let pages: Vec<VirtAddr> =
            (self.start()..self.start() + self.len as u64).step_by(step).map(VirtAddr).collect();
        let mut status = vec![UNSET; pages.len()];
        let to = vec![libc::c_int::from(node.0); pages.len()];
        call(me(), &pages, Some(&to), MPOL_MF_MOVE, &mut status)?;
        let on_node = |status: &&libc::c_int| spot(**status) == Some(Spot::On(node));
        Ok(status.iter().filter(on_node).count() as u64)
    }
}
