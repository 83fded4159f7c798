//! Which machine this is, which boot of it, and how much memory a node could give to programs.

use crate::Host;
use pagetide_types::{Bytes, NodeId};

impl Host {
    /// What names this machine over reboots: `/etc/machine-id` (machine-id(5)), else the firmware's
    /// UUID; none where there is neither.
    #[must_use]
    pub fn machine_id(&self) -> Option<String> {
        ["etc/machine-id", "sys/class/dmi/id/product_uuid"]
            .iter()
            .find_map(|path| self.text(path))
            // A firmware that knows no UUID says zeros.
            .filter(|id| id.chars().any(|c| c.is_ascii_alphanumeric() && c != '0'))
    }

    /// What names this boot.
    #[must_use]
    pub fn boot_id(&self) -> Option<String> {
        self.text("proc/sys/kernel/random/boot_id")
    }

    /// Memory of a node that programs could be given without swapping: what is free above the low
    /// watermarks, and what of the page cache and of reclaimable slabs need not stay. As the kernel
    /// estimates `MemAvailable` of the whole machine (mm/show_mem.c, `si_mem_available`).
    #[must_use]
    pub fn available(&self, node: NodeId) -> Bytes {
        let text = self.text(format!("sys/devices/system/node/node{node}/meminfo"));
        let text = text.unwrap_or_default();
        let kib = |name: &str| -> u64 {
            let value = text.lines().find_map(|line| {
                let (_, rest) = line.split_once(name)?;
                rest.split_whitespace().next()?.parse::<u64>().ok()
            });
            value.unwrap_or(0).saturating_mul(1024)
        };
        let low = self.room(node).floor.0;
        let less = |amount: u64| amount.saturating_sub((amount / 2).min(low));
        let cache = kib("Active(file):").saturating_add(kib("Inactive(file):"));
        let free = kib("MemFree:").saturating_sub(low);
        Bytes(free.saturating_add(less(cache)).saturating_add(less(kib("SReclaimable:"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_machine_is_named_by_its_system_or_its_firmware() {
        let fake = Fake::new();
        assert_eq!(fake.host().machine_id(), None);
        let dmi = "sys/class/dmi/id/product_uuid";
        fake.file(dmi, "00000000-0000-0000-0000-000000000000\n");
        assert_eq!(fake.host().machine_id(), None);
        fake.file(dmi, "4c4c4544-0042\n");
        assert_eq!(fake.host().machine_id().as_deref(), Some("4c4c4544-0042"));
        fake.file("etc/machine-id", "08a1b2\n");
        assert_eq!(fake.host().machine_id().as_deref(), Some("08a1b2"));
        assert!(Host::live().boot_id().is_some_and(|id| id.len() == 36));
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
