//! The measured memory: one anonymous mapping of a chosen page size, populated before the load
//! begins. Nothing else of a workload lives in it, and nothing else is in the truth.

use crate::{
    error::{Result, WorkloadError, bad, system},
    stop::Stop,
};
use memmap2::{Advice, MmapMut, UncheckedAdvice};
use pagetide_access::patterns::{Fill, every_page};
use pagetide_host::Host;
use pagetide_migrate::{Kernel, LiveKernel, Spot, on_node};
use pagetide_types::{Bytes, NodeId, Pid, UnitSize, VirtAddr};
use std::{
    io,
    num::NonZeroUsize,
    ops::Range,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

const HUGE: u64 = 2 << 20;

/// An aligned anonymous mapping.
pub(crate) struct Region {
    map: MmapMut,
    /// From the mapping's start to the first 2 MiB boundary.
    skip: u64,
    len: u64,
    /// So much of it, from its start on, is populated at first.
    begins_with: u64,
    page: UnitSize,
    huge: Bytes,
}

/// `usize` from an offset; the two are the same on the machines that page tables of ours run on.
#[inline]
pub(crate) const fn index(offset: u64) -> usize {
    const { assert!(usize::BITS == 64) };
    #[expect(clippy::cast_possible_truncation, reason = "checked to be 64 bits")]
    let index = offset as usize;
    index
}

impl Region {
    /// Maps `size` (rounded up to whole pages) at a 2 MiB boundary and asks for `page`s.
    /// Nothing is populated yet.
    pub(crate) fn map(size: Bytes, page: UnitSize) -> Result<Self> {
        if size.0 == 0 {
            return bad("size", &0, "no memory to touch; give for example --size 1G");
        }
        let memory = |source| WorkloadError::Memory { bytes: size, source };
        let too_large = || memory(io::Error::from(io::ErrorKind::OutOfMemory));
        let len = size.0.checked_next_multiple_of(page.bytes().0).ok_or_else(too_large)?;
        let mapped = len.checked_add(HUGE).ok_or_else(too_large)?;
        let map = MmapMut::map_anon(index(mapped)).map_err(memory)?;
        let address = map.as_ptr() as u64;
        let skip = address.next_multiple_of(HUGE) - address;
        let advice = match page {
            UnitSize::Huge => Advice::HugePage,
            UnitSize::Base => Advice::NoHugePage,
        };
        // A kernel without transparent huge pages refuses both; what was obtained is looked at.
        let _ = map.advise_range(advice, index(skip), index(len));
        let region = Self { map, skip, len, begins_with: len, page, huge: Bytes(0) };
        region.name();
        Ok(region)
    }

    /// Says that only so much will be populated at first.
    pub(crate) fn begin_with(&mut self, first: Bytes) {
        self.begins_with = first.0.min(self.len);
    }

    /// Touches pages for the first time, in this order, and looks which were obtained; warns on
    /// standard error where they are not the ones asked for. On a node, or where the kernel puts them.
    pub(crate) fn populate(
        &mut self,
        node: Option<u16>,
        order: impl Iterator<Item = u64>,
        stop: &Stop,
    ) -> Result<()> {
        if let Some(node) = node.map(NodeId) {
            let free = Host::live().room(node).free;
            if free < Bytes(self.len) {
                // The kernel would kill processes to make room on just this node.
                return bad(
                    "node",
                    &node,
                    format!("it has {free} free; choose another, or a smaller --size"),
                );
            }
            on_node(node, || self.touch(order, stop)).map_err(system("put memory on a node"))?;
        } else {
            self.touch(order, stop);
        }
        self.look()
    }

    /// Writes to pages, numbers from 1 on, unless the end is asked for before.
    fn touch(&self, order: impl Iterator<Item = u64>, stop: &Stop) {
        let fills = order.zip(1..).map(|(offset, value)| Fill { offset, value });
        self.fill(fills, stop);
    }

    /// Writes words, unless the end is asked for before.
    pub(crate) fn fill(&self, fills: impl Iterator<Item = Fill>, stop: &Stop) {
        let words = self.words();
        for (i, Fill { offset, value }) in fills.enumerate() {
            if i % 4096 == 0 && stop.is_set() {
                break;
            }
            words[index(offset / 8)].store(value, Ordering::Relaxed);
        }
    }

    /// The node that holds most of every unit, by a sample of 8 of its pages.
    pub(crate) fn nodes(&self, unit: UnitSize) -> io::Result<Vec<NodeId>> {
        const SAMPLES: u64 = 8;
        let (start, _) = self.range();
        let step = (unit.bytes().0 / SAMPLES).max(4096);
        let samples = index(unit.bytes().0 / step);
        let pages: Vec<VirtAddr> =
            (0..self.len).step_by(index(step)).map(|offset| VirtAddr(start.0 + offset)).collect();
        let me = Pid(i32::try_from(std::process::id()).unwrap_or_default());
        let found = LiveKernel::new(Host::live()).locate(me, &pages)?;
        let most = |spots: &[Spot]| {
            let same = |spot: &Spot| spots.iter().filter(|other| *other == spot).count();
            match spots.iter().max_by_key(|spot| same(spot)) {
                Some(Spot::On(node)) => *node,
                _ => NodeId::default(),
            }
        };
        Ok(found.chunks(samples).map(most).collect())
    }

    /// Maps and touches every page once, in address order.
    pub(crate) fn populated(size: Bytes, page: UnitSize, stop: &Stop) -> Result<Self> {
        let mut region = Self::map(size, page)?;
        region.populate(None, every_page(Bytes(region.len)), stop)?;
        Ok(region)
    }

    /// Shows the mapping as `[anon:pagetide-workload]` where the kernel can.
    fn name(&self) {
        let address = NonNull::new(self.map.as_ptr().cast_mut()).map(NonNull::cast);
        if let (Some(address), Some(len)) = (address, NonZeroUsize::new(self.map.len())) {
            let _ = nix::sys::prctl::set_vma_anon_name(address, len, Some(c"pagetide-workload"));
        }
    }

    fn look(&mut self) -> Result<()> {
        let (start, end) = self.range();
        let me = Pid(i32::try_from(std::process::id()).unwrap_or_default());
        let areas = Host::live()
            .area_facts(me)
            .map_err(|e| system("look at the pages obtained")(io::Error::other(e)))?;
        // The kernel cuts an area where advice begins and ends, so none reaches beyond the memory
        // that was mapped; what lies beyond the end of a truncated region was given back.
        self.huge = areas
            .iter()
            .filter(|area| (start..end).contains(&area.start))
            .map(|area| area.anon_huge)
            .sum();
        let asked = Bytes(if self.page == UnitSize::Huge { self.begins_with } else { 0 });
        if self.huge != asked {
            eprintln!(
                "warning: {} of {} are in huge pages, {asked} were asked for; look at \
                 /sys/kernel/mm/transparent_hugepage/enabled (madvise) and at free memory, \
                 or choose the other --page-size",
                self.huge,
                Bytes(self.begins_with)
            );
        }
        Ok(())
    }

    /// Gives back all pages that lie wholly beyond `len`; the region ends there.
    pub(crate) fn truncate(&mut self, len: u64) -> Result<()> {
        let len = len.max(1).next_multiple_of(self.page.bytes().0);
        if len < self.len {
            let (from, to) = (index(self.skip + len), index(self.len - len));
            // SAFETY: `&mut self` proves that nobody holds a reference into the mapping, and
            // beyond the new length no access is possible any more.
            unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, to) }
                .map_err(system("give memory back"))?;
            self.len = len;
            self.begins_with = self.begins_with.min(len);
            self.look()?;
        }
        Ok(())
    }

    /// Gives back the pages of these bytes, whole pages: they read as zeroes, in new pages.
    pub(crate) fn give_back(&self, bytes: Range<u64>) -> Result<()> {
        let (from, len) = (index(self.skip + bytes.start), index(bytes.end - bytes.start));
        // SAFETY: whoever looks at this memory does so through atomics, for which zeroes are a
        // value like any other; the mapping stays.
        unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, len) }
            .map_err(system("give memory back"))
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }
    /// The page size asked for.
    pub(crate) fn page(&self) -> UnitSize {
        self.page
    }
    /// How much of it is in huge pages.
    pub(crate) fn huge_bytes(&self) -> Bytes {
        self.huge
    }
    /// Its first address, and the one past its last.
    pub(crate) fn range(&self) -> (VirtAddr, VirtAddr) {
        let start = self.map.as_ptr() as u64 + self.skip;
        (VirtAddr(start), VirtAddr(start + self.len))
    }

    /// All of it as words of 8 bytes.
    ///
    /// They are atomic so that threads may share them. Relaxed loads and stores are the plain
    /// instructions, and the compiler does not drop them as long as their values are used.
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.cells(0, self.len / 8)
    }

    /// `count` cells from byte `offset` on; panics outside the region or if misaligned.
    pub(crate) fn cells<T: Cell>(&self, offset: u64, count: u64) -> &[T] {
        let size = size_of::<T>() as u64;
        assert!(offset.is_multiple_of(size));
        assert!(count.checked_mul(size).and_then(|n| n.checked_add(offset)) <= Some(self.len));
        let start = self.map.as_ptr().wrapping_add(index(self.skip + offset)).cast::<T>();
        // SAFETY: inside the mapping and aligned (asserted above); mapped memory is initialised,
        // every bit pattern is a valid T, and for the lifetime of `&self` all access is atomic
        // or by `&mut self`.
        unsafe { std::slice::from_raw_parts(start, index(count)) }
    }
}

/// What a region can be seen as: atomics, for which every bit pattern is valid.
pub(crate) trait Cell: sealed::Sealed {}
impl Cell for AtomicU32 {}
impl Cell for AtomicU64 {}
mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for std::sync::atomic::AtomicU32 {}
    impl Sealed for std::sync::atomic::AtomicU64 {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_rounded_and_populated() {
        for page in [UnitSize::Base, UnitSize::Huge] {
            let region = Region::populated(Bytes(5_000_000), page, &Stop::default()).unwrap();
            assert_eq!(region.range().0.0 % HUGE, 0);
            assert_eq!(region.len(), 5_000_000u64.next_multiple_of(page.bytes().0));
            let first = region.words().iter().step_by(512).all(|w| w.load(Ordering::Relaxed) > 0);
            assert!(first, "a page was not touched");
            if page == UnitSize::Base {
                assert_eq!(region.huge_bytes(), Bytes(0));
            }
        }
    }

    #[test]
    fn what_is_given_back_is_new_memory_when_it_is_used_again() {
        let mut region = Region::map(Bytes(5 * 4096), UnitSize::Base).unwrap();
        region.begin_with(Bytes(4 * 4096));
        region.populate(None, every_page(Bytes(4 * 4096)), &Stop::default()).unwrap();
        region.give_back(4096..3 * 4096).unwrap();
        let first: Vec<u64> =
            region.words().iter().step_by(512).map(|w| w.load(Ordering::Relaxed)).collect();
        assert_eq!(first, [1, 0, 0, 4, 0]);
    }

    #[test]
    fn refuses_what_cannot_be() {
        let zero = Region::map(Bytes(0), UnitSize::Base).err().unwrap().to_string();
        assert!(zero.contains("--size 0") && zero.contains("--size 1G"), "{zero}");
        for size in [Bytes(u64::MAX), Bytes(1 << 60)] {
            let large = Region::map(size, UnitSize::Huge).err().unwrap().to_string();
            assert!(large.contains("smaller --size"), "{large}");
        }
    }

    #[test]
    fn memory_is_where_it_was_asked_for() {
        let on = |node| {
            let mut region = Region::map(Bytes::mib(6), UnitSize::Base)?;
            region.populate(Some(node), every_page(Bytes::mib(6)), &Stop::default())?;
            Ok::<_, WorkloadError>(region)
        };
        let host = Host::live();
        let online = host.online_nodes().unwrap();
        for node in &online {
            let region = match on(node.0) {
                Ok(region) => region,
                Err(error) => {
                    eprintln!("SKIPPED memory_is_where_it_was_asked_for: {error}");
                    return;
                }
            };
            match region.nodes(UnitSize::Huge) {
                Ok(nodes) => assert_eq!(nodes, [*node; 3]),
                Err(error) => eprintln!("SKIPPED memory_is_where_it_was_asked_for: {error}"),
            }
        }
        let refused = on(999).err().unwrap();
        assert!(refused.to_string().contains("--node 999"), "{refused}");
    }

    #[test]
    fn truncation_gives_back_memory() {
        let mut region =
            Region::populated(Bytes::mib(4), UnitSize::Base, &Stop::default()).unwrap();
        region.truncate(4097).unwrap();
        assert_eq!(region.len(), 8192);
        assert_eq!(region.words().len(), 1024);
        assert_eq!(region.words()[512].load(Ordering::Relaxed), 2);
    }

    #[test]
    fn what_is_left_after_truncation_is_still_huge() {
        let mut region =
            Region::populated(Bytes::mib(8), UnitSize::Huge, &Stop::default()).unwrap();
        if region.huge_bytes() != Bytes::mib(8) {
            eprintln!("SKIPPED what_is_left_after_truncation_is_still_huge: no huge pages");
            return;
        }
        region.truncate(3 << 20).unwrap();
        assert_eq!((region.len(), region.huge_bytes()), (4 << 20, Bytes::mib(4)));
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn cells_stay_inside() {
        let region = Region::map(Bytes(4096), UnitSize::Base).unwrap();
        region.cells::<AtomicU64>(8, 512);
    }
}
