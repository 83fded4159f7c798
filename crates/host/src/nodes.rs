//! NUMA nodes and memory tiers (Documentation/ABI/stable/sysfs-devices-node and
//! ABI/testing/sysfs-kernel-mm-memory-tiers).

use crate::{Error, Host, files::decimal};
use pagetide_types::{Bytes, NodeId};

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Which.
    pub id: NodeId,
    /// Its CPUs; none for memory on a device (CXL, persistent memory).
    pub cpus: Vec<u32>,
    /// Its memory.
    pub total: Bytes,
    /// Of it, free.
    pub free: Bytes,
    /// Distance to each online node in their order, as the firmware says; 10 is itself.
    pub distances: Vec<u32>,
}

/// Nodes whose memory the kernel takes for equally fast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryTier {
    /// The kernel's number: lower is faster, and numbers leave gaps.
    pub number: u32,
    /// Its nodes, ascending.
    pub nodes: Vec<NodeId>,
}

impl Host {
    /// Numbers of the online nodes, ascending; node 0 alone on a kernel without NUMA.
    ///
    /// # Errors
    /// When the list has an unknown format.
    pub fn online_nodes(&self) -> Result<Vec<NodeId>, Error> {
        const PATH: &str = "sys/devices/system/node/online";
        match self.text(PATH) {
            None => Ok(vec![NodeId(0)]),
            Some(text) => self.node_list(PATH, &text),
        }
    }

    /// The online nodes, ascending.
    ///
    /// # Errors
    /// When a list has an unknown format.
    pub fn nodes(&self) -> Result<Vec<Node>, Error> {
        let ids = self.online_nodes()?;
        ids.into_iter().map(|id| self.node(id)).collect()
    }

    /// The memory tiers, fastest first; empty where the kernel has none (before 6.1).
    ///
    /// # Errors
    /// When a list of nodes has an unknown format.
    pub fn memory_tiers(&self) -> Result<Vec<MemoryTier>, Error> {
        const DIR: &str = "sys/devices/virtual/memory_tiering";
        let mut tiers = Vec::new();
        for name in self.entries(DIR).unwrap_or_default() {
            let number = name.as_encoded_bytes().strip_prefix(b"memory_tier").and_then(decimal);
            let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else {
                continue;
            };
            let path = format!("{DIR}/memory_tier{number}/nodelist");
            if let Some(text) = self.text(&path) {
                tiers.push(MemoryTier { number, nodes: self.node_list(&path, &text)? });
            }
        }
        tiers.sort_by_key(|tier| tier.number);
        Ok(tiers)
    }

    fn node(&self, id: NodeId) -> Result<Node, Error> {
        let dir = format!("sys/devices/system/node/node{id}");
        let meminfo = self.node_meminfo(id);
        let cpulist = format!("{dir}/cpulist");
        let cpus = self.text(&cpulist).unwrap_or_default();
        let distances = self.text(format!("{dir}/distance")).unwrap_or_default();
        Ok(Node {
            id,
            cpus: self.list(&cpulist, &cpus)?,
            total: meminfo.get("MemTotal"),
            free: meminfo.get("MemFree"),
            distances: distances.split_whitespace().filter_map(|d| d.parse().ok()).collect(),
        })
    }

    fn node_list(&self, path: &str, text: &str) -> Result<Vec<NodeId>, Error> {
        // The kernel has at most 1,024 nodes.
        let small = |number| u16::try_from(number).ok().map(NodeId);
        Ok(self.list(path, text)?.into_iter().filter_map(small).collect())
    }

    fn list(&self, path: &str, text: &str) -> Result<Vec<u32>, Error> {
        parse_list(text).ok_or_else(|| Error::Parse {
            path: self.path(path),
            line: 1,
            what: format!("expected a list such as 0-3,8, found {text:?}"),
        })
    }
}

/// The kernel's lists of CPUs and nodes: `0-3,8`, or nothing.
pub(crate) fn parse_list(text: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 1 << 16;
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if first > last || last > MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    #[test]
    fn a_machine_with_cxl_memory() {
        let fake = Fake::new();
        let dir = "sys/devices/system/node";
        fake.file(format!("{dir}/online"), "0-1,3\n");
        fake.file(format!("{dir}/node0/cpulist"), "0-1,4\n");
        fake.file(
            format!("{dir}/node0/meminfo"),
            "Node 0 MemTotal: 2048 kB\nNode 0 MemFree: 4 kB\n",
        );
        fake.file(format!("{dir}/node0/distance"), "10 21 40\n");
        fake.file(format!("{dir}/node3/cpulist"), "\n");
        fake.file(format!("{dir}/node3/meminfo"), "Node 3 MemTotal:   1024 kB\n");
        let tiers = "sys/devices/virtual/memory_tiering";
        fake.file(format!("{tiers}/memory_tier961/nodelist"), "3\n");
        fake.file(format!("{tiers}/memory_tier4/nodelist"), "0-1\n");
        fake.dir(format!("{tiers}/power")).dir(format!("{tiers}/memory_tier7"));
        let host = fake.host();
        let nodes = host.nodes().unwrap();
        assert_eq!(nodes.iter().map(|n| n.id.0).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!((nodes[0].cpus.as_slice(), nodes[0].total), (&[0, 1, 4][..], Bytes::mib(2)));
        assert_eq!(
            (nodes[0].free, nodes[0].distances.as_slice()),
            (Bytes::kib(4), &[10, 21, 40][..])
        );
        assert!(nodes[2].cpus.is_empty() && nodes[2].total == Bytes::mib(1));
        let tiers = host.memory_tiers().unwrap();
        assert_eq!(tiers.iter().map(|t| t.number).collect::<Vec<_>>(), [4, 961]);
        assert_eq!(tiers[0].nodes, [NodeId(0), NodeId(1)]);
    }

    #[test]
    fn a_kernel_without_numa() {
        let host = Fake::new();
        let host = host.host();
        assert_eq!(host.online_nodes().unwrap(), [NodeId(0)]);
        assert_eq!(host.memory_tiers().unwrap(), []);
    }

    #[test]
    fn names_the_file_with_a_broken_list() {
        let fake = Fake::new();
        fake.file("sys/devices/system/node/online", "0-x\n");
        let message = fake.host().nodes().unwrap_err().to_string();
        assert!(message.contains("node/online:1: expected a list such as"), "{message}");
    }

    #[test]
    fn lists() {
        assert_eq!(parse_list(""), Some(vec![]));
        assert_eq!(parse_list("0-2,7\n"), Some(vec![0, 1, 2, 7]));
        for text in ["3-1", "x", "1-", "-1", "0-4294967295", "1;2"] {
            assert_eq!(parse_list(text), None, "{text}");
        }
    }

    #[test]
    fn this_machine_has_memory() {
        let total: Bytes = Host::live().nodes().unwrap().iter().map(|node| node.total).sum();
        assert!(total > Bytes::mib(64), "{total}");
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9,x -]{0,20}") {
            let _ = parse_list(&text);
        }
    }
}
