//! Memory to be moved: of one page size, on one node, with contents that are checked afterwards.

use crate::own::{huge_bytes, me, on_node};
use crate::{Kernel, Order, Spot};
use memmap2::{Advice, MmapMut};
use nix::errno::Errno;
use pagetide_types::{Bytes, NodeId, UnitSize, VirtAddr};
use std::io;

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No memory could be had there.
    #[error("node {node} has {free} free and {wanted} are needed; choose a smaller --size")]
    NoMemory {
        /// Which node.
        node: NodeId,
        /// Free on it.
        free: Bytes,
        /// Needed there.
        wanted: Bytes,
    },
    /// The pages are not of the size that was asked for.
    #[error(
        "the kernel gave no huge pages (/sys/kernel/mm/transparent_hugepage/enabled must be \
         always or madvise, and 2 MiB blocks free); measure with --page-size 4K"
    )]
    NoHugePages,
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the kernel answered.
        source: io::Error,
    },
    /// What was read is not what was written.
    #[error("page {page} of the moved memory holds {found:#x}, {wrote:#x} was written to it")]
    Corrupt {
        /// Its number.
        page: usize,
        /// What it should hold.
        wrote: u64,
        /// What it holds.
        found: u64,
    },
}

impl BenchError {
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

/// An aligned piece of our own memory, populated on one node.
pub struct BenchMemory {
    map: MmapMut,
    skip: usize,
    len: usize,
    page: UnitSize,
}

const HUGE: usize = 2 << 20;
const PAGE: usize = 4096;

impl BenchMemory {
    /// `size` (rounded up to 2 MiB) on `node`, in pages of this size.
    ///
    /// # Errors
    /// When the node has too little free memory, or no huge pages are to be had.
    pub fn new(
        kernel: &dyn Kernel,
        node: NodeId,
        size: Bytes,
        page: UnitSize,
    ) -> Result<Self, BenchError> {
        let len = usize::try_from(size.0.max(1).next_multiple_of(HUGE as u64))
            .map_err(|_| BenchError::system("mapping memory")(io::ErrorKind::OutOfMemory.into()))?;
        let room = kernel.room(node);
        let wanted = Bytes(len as u64) + room.floor;
        if room.free < wanted {
            return Err(BenchError::NoMemory { node, free: room.free, wanted });
        }
        let map = MmapMut::map_anon(len + HUGE).map_err(BenchError::system("mapping memory"))?;
        let start = map.as_ptr() as usize;
        let skip = start.next_multiple_of(HUGE) - start;
        let advice = if page == UnitSize::Huge { Advice::HugePage } else { Advice::NoHugePage };
        map.advise_range(advice, skip, len).map_err(BenchError::system("asking for page sizes"))?;
        let mut memory = Self { map, skip, len, page };
        on_node(node, || memory.fill()).map_err(BenchError::system("choosing a node"))?;
        let huge = |memory: &Self| huge_bytes(memory.bytes().as_ptr() as u64, len);
        if page == UnitSize::Huge && huge(&memory) < memory.size() {
            return Err(BenchError::NoHugePages);
        }
        Ok(memory)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map[self.skip..self.skip + self.len]
    }

    /// Its bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map[self.skip..self.skip + self.len]
    }

    /// Its length.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes(self.len as u64)
    }

    /// Its page size, as asked for.
    #[must_use]
    pub fn page(&self) -> UnitSize {
        self.page
    }

    /// Writes its number into every base page.
    pub fn fill(&mut self) {
        for (number, page) in self.bytes_mut().chunks_mut(PAGE).enumerate() {
            page[..8].copy_from_slice(&mark(number).to_le_bytes());
            let last = page.len() - 8;
            page[last..].copy_from_slice(&mark(number).to_le_bytes());
        }
    }

    /// Whether every page still holds what [`Self::fill`] wrote.
    ///
    /// # Errors
    /// The first page that does not.
    pub fn verify(&self) -> Result<(), BenchError> {
        for (number, page) in self.bytes().chunks(PAGE).enumerate() {
            for at in [0, page.len() - 8] {
                let mut found = [0; 8];
                found.copy_from_slice(&page[at..at + 8]);
                let (wrote, found) = (mark(number), u64::from_le_bytes(found));
                if found != wrote {
                    return Err(BenchError::Corrupt { page: number, wrote, found });
                }
            }
        }
        Ok(())
    }

    /// The order that moves all of it.
    #[must_use]
    pub fn order(&self, tag: u32, from: NodeId, to: NodeId) -> Order {
        let start = self.bytes().as_ptr() as u64;
        Order {
            tag,
            pid: me(),
            start: VirtAddr(start),
            end: VirtAddr(start + self.len as u64),
            huge: self.page == UnitSize::Huge,
            from,
            to,
            shared: false,
        }
    }

    /// The first address of every page.
    pub(crate) fn pages(&self) -> Vec<VirtAddr> {
        let start = self.bytes().as_ptr() as u64;
        let step = usize::try_from(self.page.bytes().0).unwrap_or(PAGE);
        (0..self.len).step_by(step).map(|at| VirtAddr(start + at as u64)).collect()
    }

    /// Base pages that lie on a node.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn pages_on(&self, kernel: &dyn Kernel, node: NodeId) -> Result<usize, BenchError> {
        let start = self.bytes().as_ptr() as u64;
        let all: Vec<VirtAddr> =
            (start..start + self.len as u64).step_by(PAGE).map(VirtAddr).collect();
        let spots = kernel
            .locate(me(), &all)
            .map_err(|errno: Errno| BenchError::system("looking where pages are")(errno.into()))?;
        Ok(spots.iter().filter(|spot| **spot == Spot::On(node)).count())
    }
}

/// What is written into a base page.
fn mark(number: usize) -> u64 {
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LiveKernel;
    use pagetide_host::Host;

    #[test]
    fn memory_is_where_it_was_asked_for_and_its_contents_are_known() {
        let kernel = LiveKernel::new(Host::live());
        let node = Host::live().online_nodes().unwrap()[0];
        let mut memory = match BenchMemory::new(&kernel, node, Bytes::mib(3), UnitSize::Base) {
            Ok(memory) => memory,
            Err(error) => {
                eprintln!(
                    "SKIPPED memory_is_where_it_was_asked_for_and_its_contents_are_known: {error}"
                );
                return;
            }
        };
        assert_eq!(memory.size(), Bytes::mib(4));
        if let Ok(here) = memory.pages_on(&kernel, node) {
            assert_eq!(here, 1024);
        }
        memory.verify().unwrap();
        memory.bytes_mut()[5 * PAGE] ^= 1;
        let error = memory.verify().unwrap_err().to_string();
        assert!(error.contains("page 5 "), "{error}");
    }
}
