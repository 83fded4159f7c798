//! How memory is used: `/proc/meminfo` of the machine and `nodeN/meminfo` of a node (proc.rst and sysfs-devices-node of Linux).

use crate::Host;
use pagetide_types::{Bytes, NodeId};

/// The text of one such file.
pub(crate) struct Meminfo(String);

impl Meminfo {
    /// An amount, such as of `MemFree`; zero where it is not told.
    pub(crate) fn get(&self, name: &str) -> Bytes {
        // `MemTotal:       24676364 kB`, of a node `Node 0 MemTotal:       24676364 kB`
        let kib = self.0.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            let named = key.split_whitespace().next_back() == Some(name);
            named.then(|| value.split_whitespace().next()?.parse::<u64>().ok())?
        });
        Bytes(kib.unwrap_or(0).saturating_mul(1024))
    }
}

impl Host {
    pub(crate) fn meminfo(&self) -> Meminfo {
        Meminfo(self.text("proc/meminfo").unwrap_or_default())
    }

    pub(crate) fn node_meminfo(&self, node: NodeId) -> Meminfo {
        let path = format!("sys/devices/system/node/node{node}/meminfo");
        Meminfo(self.text(path).unwrap_or_default())
    }

    /// What programs of the whole machine could be given without swapping (`MemAvailable`); nothing where it is not told.
    #[must_use]
    pub fn machine_available(&self) -> Bytes {
        self.meminfo().get("MemAvailable")
    }

    /// Memory of a node that programs could be given without swapping: what is free above the low
    /// watermarks, and what of the page cache and of reclaimable slabs need not stay. As the kernel
    /// estimates `MemAvailable` of the whole machine (mm/show_mem.c, `si_mem_available`).
    #[must_use]
    pub fn available(&self, node: NodeId) -> Bytes {
        let meminfo = self.node_meminfo(node);
        let low = self.room(node).floor;
        let less = |amount: Bytes| amount.saturating_sub(Bytes(amount.0 / 2).min(low));
        let cache = Bytes(meminfo.get("Active(file)").0 + meminfo.get("Inactive(file)").0);
        let free = meminfo.get("MemFree").saturating_sub(low);
        free + less(cache) + less(meminfo.get("SReclaimable"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn an_amount_is_found_by_its_whole_name() {
        let text = "MemTotal:  8 kB\nMemFree:  x\nActive:  4 kB\nActive(file):  2 kB";
        let fake = Fake::new();
        fake.file("proc/meminfo", text);
        let meminfo = fake.host().meminfo();
        let amounts =
            ["MemTotal", "MemFree", "Active", "Active(file)", "Free"].map(|name| meminfo.get(name));
        assert_eq!(amounts.map(|amount| amount.0 >> 10), [8, 0, 4, 2, 0]);
    }

    #[test]
    fn cache_counts_as_available_but_for_what_must_stay() {
        let fake = Fake::new();
        let text = "Node 1 MemFree: 1000 kB\nNode 1 Active(file): 300 kB\n\
                    Node 1 Inactive(file): 500 kB\nNode 1 SReclaimable: 20 kB\n";
        fake.file("sys/devices/system/node/node1/meminfo", text);
        assert_eq!(fake.host().available(NodeId(1)), Bytes::kib(1820));
        // A low watermark of 100 KiB is kept once of each.
        fake.file("proc/zoneinfo", "Node 1, zone Movable\n  pages free 250\n  low 25\n");
        assert_eq!(fake.host().available(NodeId(1)), Bytes::kib(900 + 700 + 10));
        assert_eq!(fake.host().available(NodeId(2)), Bytes(0));
    }
}
