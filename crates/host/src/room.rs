//! How much a node could still take: free memory, the free 2 MiB blocks in it, and the mark below
//! which the kernel begins to reclaim (`/proc/buddyinfo`, `/proc/zoneinfo`).

use crate::Host;
use pagetide_types::{Bytes, NodeId};
use std::collections::BTreeMap;

/// Log2 of the base pages in a 2 MiB page.
const HUGE_ORDER: usize = 9;

/// The free memory of a node at one moment, as far as programs' memory may use it: what the kernel
/// keeps for itself in its lowest zones is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// All of it, whatever the size of the pieces.
    pub free: Bytes,
    /// Free aligned blocks of 2 MiB above the marks of their zones: so many huge pages fit without
    /// splitting or compacting. Lists of single CPUs may hold some more.
    pub huge_blocks: u64,
    /// With less free than this nothing ordinary is allocated any more before the kernel has begun to reclaim
    /// (the sum of the zones' low watermarks).
    pub floor: Bytes,
    /// So much free the kernel makes once it reclaims (the sum of their high watermarks).
    pub full: Bytes,
    /// Page cache that the kernel holds for least wanted: on the inactive list, clean, and mapped by nobody. It may be more: what is
    /// dirty or mapped is taken off it, on whatever list that is.
    pub idle_cache: Bytes,
}

impl Host {
    /// What a node could take now; nothing where the kernel does not say.
    #[must_use]
    pub fn room(&self, node: NodeId) -> Room {
        let text = self.text("proc/zoneinfo").unwrap_or_default();
        let zones = zones(&text, node);
        let blocks = huge_blocks(&self.text("proc/buddyinfo").unwrap_or_default(), node);
        let mut room = Room { idle_cache: idle_cache(&text, node), ..Room::default() };
        for (name, zone) in zones {
            let usable = zone.free.saturating_sub(zone.protected);
            if usable == 0 {
                continue;
            }
            room.free += Bytes(usable.saturating_mul(4096));
            room.floor += Bytes(zone.low.saturating_mul(4096));
            room.full += Bytes(zone.high.saturating_mul(4096));
            let there = blocks.get(&name).copied().unwrap_or(0);
            room.huge_blocks += there.min(usable.saturating_sub(zone.low) >> HUGE_ORDER);
        }
        room
    }

    /// How long a read of a node's memory takes from the CPUs nearest to it, as the firmware says
    /// (HMAT), ns; none where it says nothing.
    #[must_use]
    pub fn read_latency_ns(&self, node: NodeId) -> Option<u32> {
        let path = format!("sys/devices/system/node/node{node}/access0/initiators/read_latency");
        self.text(path)?.parse().ok().filter(|ns| *ns > 0)
    }

    /// Bytes a second that the nearest CPU reads from a node, as the firmware says; none where it says nothing
    /// (drivers/base/node.c, in MiB/s).
    #[must_use]
    pub fn read_bandwidth(&self, node: NodeId) -> Option<Bytes> {
        let path = format!("sys/devices/system/node/node{node}/access0/initiators/read_bandwidth");
        self.text(path)?.parse().ok().filter(|mib_s| *mib_s > 0).map(Bytes::mib)
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

/// `Node 0, zone   Normal     12      3 ...`: free blocks of 4 KiB, 8 KiB and so on. Those that hold
/// 2 MiB, in blocks of 2 MiB, by zone.
fn huge_blocks(text: &str, node: NodeId) -> BTreeMap<String, u64> {
    let mut blocks = BTreeMap::new();
    for line in text.lines().filter(|line| of_node(line) == Some(node)) {
        let Some(zone) = line.split_whitespace().nth(3) else { continue };
        let counts = line.split_whitespace().skip(4).map(|word| word.parse::<u64>().unwrap_or(0));
        let whole = counts.enumerate().take(32).skip(HUGE_ORDER);
        let sum = whole.map(|(order, count)| count.saturating_mul(1 << (order - HUGE_ORDER)));
        blocks.insert(zone.to_owned(), sum.fold(0, u64::saturating_add));
    }
    blocks
}

/// A zone's counts of base pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Zone {
    free: u64,
    /// Its watermarks.
    low: u64,
    high: u64,
    /// Kept from memory that could as well lie in a higher zone.
    protected: u64,
}

/// Which number of `protection` is for programs' memory, which may lie in any zone
/// (`ZONE_MOVABLE`); after it comes that of devices.
const MOVABLE: usize = 3;

/// The zones of a node: lines `pages free 12`, `low 1234`, `high 1234` (those of CPUs' lists end in a colon) and
/// `protection: (0, 1, 2, 3, 4)`.
fn zones(text: &str, node: NodeId) -> Vec<(String, Zone)> {
    let mut zones: Vec<(String, Zone)> = Vec::new();
    let mut here = false;
    let number = |text: &str| text.trim().parse::<u64>().unwrap_or(0);
    for line in text.lines() {
        if line.starts_with("Node") {
            here = of_node(line) == Some(node);
            if let (true, Some(name)) = (here, line.split_whitespace().nth(3)) {
                zones.push((name.to_owned(), Zone::default()));
            }
            continue;
        }
        let Some((_, zone)) = zones.last_mut().filter(|_| here) else { continue };
        let line = line.trim_start();
        if let Some(value) = line.strip_prefix("pages free ") {
            zone.free = number(value);
        } else if let Some(value) = line.strip_prefix("low ") {
            zone.low = number(value);
        } else if let Some(value) = line.strip_prefix("high ") {
            zone.high = number(value);
        } else if let Some(values) = line.strip_prefix("protection: (") {
            let values = values.trim_end_matches(')').split(',').take(MOVABLE + 1);
            zone.protected = values.last().map_or(0, number);
        }
    }
    zones
}

/// From the node's own counts of base pages, `nr_inactive_file 1`, which stand in the first of its zones that has memory.
fn idle_cache(text: &str, node: NodeId) -> Bytes {
    let mut here = false;
    let (mut inactive, mut used) = (0u64, 0u64);
    for line in text.lines() {
        if line.starts_with("Node") {
            here = of_node(line) == Some(node);
        }
        let Some((name, value)) = line.trim().split_once(' ').filter(|_| here) else { continue };
        let pages = || value.trim().parse::<u64>().unwrap_or(0);
        match name {
            "nr_inactive_file" => inactive = pages(),
            "nr_dirty" | "nr_writeback" | "nr_mapped" => used = used.saturating_add(pages()),
            _ => {}
        }
    }
    Bytes(inactive.saturating_sub(used).saturating_mul(4096))
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
      nr_inactive_file 700
      nr_dirty     30
      nr_writeback 20
      nr_mapped    50
  pages free     4300
        boost    0
        min      21
        low      26
        high     31
        promo    36
        protection: (0, 3000, 4000, 4000, 4000)
  pagesets
    cpu: 0
              count:    0
              high:     63
Node 0, zone   Normal
  pages free     20000
        low      1000
        high     2000
        protection: (0, 0, 0, 0, 0)
Node 0, zone  Movable
  pages free     0
        low      32
Node 1, zone      DMA
  pages free     0
        low      0
Node 1, zone   Normal
  per-node stats
      nr_inactive_file 500
      nr_dirty     9
  pages free     1030
        low      7
";

    #[test]
    fn free_memory_and_whole_huge_blocks_are_counted_by_node() {
        let fake = Fake::new();
        fake.file("proc/buddyinfo", BUDDIES).file("proc/zoneinfo", ZONES);
        let host = fake.host();
        let room = host.room(NodeId(0));
        // Of 4,300 pages of the lowest zone 300 are for programs: no huge page. In the other, 34
        // whole blocks are free, and the mark leaves room for 37.
        assert_eq!(room.free, Bytes((300 + 20000) * 4096));
        assert_eq!(room.huge_blocks, 34);
        assert_eq!((room.floor, room.full), (Bytes((26 + 1000) * 4096), Bytes((31 + 2000) * 4096)));
        assert_eq!(room.idle_cache, Bytes(600 * 4096));
        assert_eq!(
            host.room(NodeId(1)).idle_cache,
            Bytes(491 * 4096),
            "in its first zone with memory"
        );
        // Two blocks are free there; the mark leaves room for one.
        assert_eq!(host.room(NodeId(1)).huge_blocks, 1);
        assert_eq!(host.room(NodeId(2)), Room::default());
        fake.file("sys/devices/system/node/node1/access0/initiators/read_bandwidth", "17800\n");
        let bandwidths = [0, 1].map(|node| host.read_bandwidth(NodeId(node)));
        assert_eq!(bandwidths, [None, Some(Bytes::mib(17_800))]);
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
        fn never_panics(text in "((Node [0-9]{0,6},|low|high|pages free|protection: .) [ ,0-9a-z)]{0,60}\n){0,6}") {
            let _ = (huge_blocks(&text, NodeId(0)), zones(&text, NodeId(0)));
            let _ = idle_cache(&text, NodeId(0));
        }
    }
}
