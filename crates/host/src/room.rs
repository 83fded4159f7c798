//! How much a node could still take: free memory, the free 2 MiB blocks in it, and the mark below
//! which the kernel begins to reclaim (`/proc/buddyinfo`, `/proc/zoneinfo`).

use crate::Host;
use pagetide_types::{Bytes, NodeId};

/// Log2 of the base pages in a 2 MiB page.
const HUGE_ORDER: usize = 9;

/// The free memory of a node at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// All of it, whatever the size of the pieces.
    pub free: Bytes,
    /// Free aligned blocks of 2 MiB: so many huge pages fit without splitting or compacting.
    pub huge_blocks: u64,
    /// With less free than this the kernel reclaims (the sum of the zones' high watermarks).
    pub floor: Bytes,
}

impl Host {
    /// What a node could take now; nothing where the kernel does not say.
    #[must_use]
    pub fn room(&self, node: NodeId) -> Room {
        let buddies = self.text("proc/buddyinfo").unwrap_or_default();
        let zones = self.text("proc/zoneinfo").unwrap_or_default();
        let (free, huge_blocks) = free_blocks(&buddies, node);
        Room { free, huge_blocks, floor: high_watermarks(&zones, node) }
    }

    /// Free aligned blocks of 2 MiB of a node.
    #[must_use]
    pub fn huge_blocks(&self, node: NodeId) -> u64 {
        free_blocks(&self.text("proc/buddyinfo").unwrap_or_default(), node).1
    }

    /// How long a read of a node's memory takes from the CPUs nearest to it, as the firmware says
    /// (HMAT), ns; none where it says nothing.
    #[must_use]
    pub fn read_latency_ns(&self, node: NodeId) -> Option<u32> {
        let path = format!("sys/devices/system/node/node{node}/access0/initiators/read_latency");
        self.text(path)?.parse().ok().filter(|ns| *ns > 0)
    }

    /// A counter of `/proc/vmstat`; none where the kernel has no such counter.
    #[must_use]
    pub fn vm_counter(&self, name: &str) -> Option<u64> {
        let text = self.text("proc/vmstat")?;
        counter(&text, name)
    }
}

fn counter(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.trim().parse().ok()
}

/// `Node 0, zone   Normal     12      3 ...`: free blocks of 4 KiB, 8 KiB and so on.
fn free_blocks(text: &str, node: NodeId) -> (Bytes, u64) {
    let (mut pages, mut huge) = (0u64, 0u64);
    for line in text.lines().filter(|line| of_node(line) == Some(node)) {
        let counts = line.split_whitespace().skip(4).map(|word| word.parse::<u64>().unwrap_or(0));
        for (order, count) in counts.enumerate().take(32) {
            pages = pages.saturating_add(count.saturating_mul(1 << order));
            if order >= HUGE_ORDER {
                huge = huge.saturating_add(count.saturating_mul(1 << (order - HUGE_ORDER)));
            }
        }
    }
    (Bytes(pages.saturating_mul(4096)), huge)
}

/// The lines `high  1234` (pages) of a node's zones; those of CPUs' lists end in a colon.
fn high_watermarks(text: &str, node: NodeId) -> Bytes {
    let (mut here, mut pages) = (false, 0u64);
    for line in text.lines() {
        if line.starts_with("Node") {
            here = of_node(line) == Some(node);
        } else if here && let Some(value) = line.trim_start().strip_prefix("high ") {
            pages = pages.saturating_add(value.trim().parse().unwrap_or(0));
        }
    }
    Bytes(pages.saturating_mul(4096))
}

/// The node of a line that begins `Node 0, zone`.
fn of_node(line: &str) -> Option<NodeId> {
    let word = line.split_whitespace().nth(1)?;
    word.strip_suffix(',')?.parse().ok().map(NodeId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    const BUDDIES: &str = "\
Node 0, zone      DMA      1      0      0      0      0      0      0      0      1      1      3
Node 0, zone   Normal      2      3      0      0      0      0      0      0      0      0     17
Node 1, zone   Normal      5      0      0      0      0      0      0      0      0      2      0
";
    const ZONES: &str = "\
Node 0, zone      DMA
  per-node stats
      nr_inactive_anon 1
  pages free     3840
        boost    0
        min      21
        low      26
        high     31
        promo    36
  pagesets
    cpu: 0
              count:    0
              high:     63
Node 0, zone   Normal
        high     1000
Node 1, zone   Normal
        high     7
";

    #[test]
    fn free_memory_and_whole_huge_blocks_are_counted_by_node() {
        let fake = Fake::new();
        fake.file("proc/buddyinfo", BUDDIES).file("proc/zoneinfo", ZONES);
        let host = fake.host();
        let room = host.room(NodeId(0));
        let pages = 1 + 256 + 512 + 3 * 1024 + 2 + 6 + 17 * 1024;
        assert_eq!(room.free, Bytes(pages * 4096));
        assert_eq!(room.huge_blocks, 1 + 6 + 34);
        assert_eq!(room.floor, Bytes((31 + 1000) * 4096));
        assert_eq!(host.huge_blocks(NodeId(1)), 2);
        assert_eq!(host.room(NodeId(2)), Room::default());
        fake.file("sys/devices/system/node/node1/access0/initiators/read_latency", "350\n");
        assert_eq!(
            (host.read_latency_ns(NodeId(0)), host.read_latency_ns(NodeId(1))),
            (None, Some(350))
        );
    }

    #[test]
    fn a_counter_is_found_by_its_whole_name() {
        let fake = Fake::new();
        fake.file("proc/vmstat", "thp_migration_split_x 4\nthp_migration_split 3\n");
        assert_eq!(fake.host().vm_counter("thp_migration_split"), Some(3));
        assert_eq!(fake.host().vm_counter("thp_migration"), None);
    }

    #[test]
    fn this_machine_has_free_memory() {
        let host = Host::live();
        let nodes = host.online_nodes().unwrap();
        let free: Bytes = nodes.iter().map(|node| host.room(*node).free).sum();
        assert!(free > Bytes::mib(1), "{free}");
    }

    proptest! {
        #[test]
        fn never_panics(text in "((Node [0-9]{0,6},|high) [ ,0-9a-z]{0,60}\n){0,6}") {
            let _ = (free_blocks(&text, NodeId(0)), high_watermarks(&text, NodeId(0)));
        }
    }
}
