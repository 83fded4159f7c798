//! Which NUMA node a physical page belongs to.
//!
//! Memory blocks (`/sys/devices/system/node/nodeN/memoryM`) say it best: `/proc/zoneinfo` gives
//! one span per zone, and the spans of interleaved nodes overlap. A block that two nodes share
//! is split by those spans; where they overlap too, the answer is "unknown", not a guess.

use crate::{
    Error, Host,
    error::Malformed,
    files::{decimal, lines},
};
use pagetide_types::NodeId;
use std::collections::BTreeMap;

/// A physical page: its address divided by 4096.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pfn(pub u64);

/// Consecutive physical pages of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRange {
    /// First page.
    pub start: Pfn,
    /// One past the last page.
    pub end: Pfn,
    /// Their node.
    pub node: NodeId,
}

/// Physical pages to nodes: ascending ranges without overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeMap {
    ranges: Vec<NodeRange>,
}

impl NodeMap {
    /// The ranges, ascending; holes belong to no memory, or to no node for certain.
    #[must_use]
    pub fn ranges(&self) -> &[NodeRange] {
        &self.ranges
    }

    /// The node of a page, if it is known.
    #[must_use]
    pub fn node_of(&self, page: Pfn) -> Option<NodeId> {
        let after = self.ranges.partition_point(|range| range.end <= page);
        self.ranges.get(after).filter(|range| range.start <= page).map(|range| range.node)
    }

    /// From claims that may overlap: what exactly one node claims, belongs to it.
    fn from_claims(claims: &[NodeRange]) -> Self {
        let mut edges: BTreeMap<Pfn, Vec<(NodeId, bool)>> = BTreeMap::new();
        for claim in claims.iter().filter(|claim| claim.start < claim.end) {
            edges.entry(claim.start).or_default().push((claim.node, true));
            edges.entry(claim.end).or_default().push((claim.node, false));
        }
        let mut ranges: Vec<NodeRange> = Vec::new();
        let mut claiming: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut since = Pfn(0);
        for (at, changes) in edges {
            if let (1, Some((&node, _))) = (claiming.len(), claiming.first_key_value()) {
                match ranges.last_mut() {
                    Some(last) if last.end == since && last.node == node => last.end = at,
                    _ => ranges.push(NodeRange { start: since, end: at, node }),
                }
            }
            for (node, begins) in changes {
                let count = claiming.entry(node).or_default();
                *count = if begins { *count + 1 } else { *count - 1 };
            }
            claiming.retain(|_, count| *count > 0);
            since = at;
        }
        Self { ranges }
    }
}

impl Host {
    /// The host's physical memory by node.
    ///
    /// # Errors
    /// When neither memory blocks nor `/proc/zoneinfo` can be read.
    pub fn node_map(&self) -> Result<NodeMap, Error> {
        let blocks = self.blocks()?;
        let spans = |host: &Self| -> Result<Vec<NodeRange>, Error> {
            let bytes = host.read("proc/zoneinfo")?;
            zone_spans(&bytes).map_err(|bad| bad.at(host.path("proc/zoneinfo")))
        };
        let Some(mut claims) = blocks else {
            return Ok(NodeMap::from_claims(&spans(self)?));
        };
        claims.sort_by_key(|claim| (claim.start, claim.node));
        let shared: Vec<NodeRange> =
            claims.windows(2).filter(|w| w[0].start == w[1].start).map(|w| w[0]).collect();
        if !shared.is_empty() {
            let spans = spans(self)?;
            claims.retain(|claim| !shared.iter().any(|block| block.start == claim.start));
            for block in &shared {
                claims.extend(spans.iter().map(|span| NodeRange {
                    start: span.start.max(block.start),
                    end: span.end.min(block.end),
                    node: span.node,
                }));
            }
        }
        Ok(NodeMap::from_claims(&claims))
    }

    /// Memory blocks of all nodes; none where the kernel was built without memory hotplug.
    fn blocks(&self) -> Result<Option<Vec<NodeRange>>, Error> {
        let Some(size) = self.text("sys/devices/system/memory/block_size_bytes") else {
            return Ok(None);
        };
        let Some(pages) = u64::from_str_radix(&size, 16).ok().map(|s| s / 4096).filter(|&s| s > 0)
        else {
            return Err(Error::Parse {
                path: self.path("sys/devices/system/memory/block_size_bytes"),
                line: 1,
                what: format!("expected a size in hexadecimal, found {size:?}"),
            });
        };
        let mut claims = Vec::new();
        for node in self.online_nodes()? {
            for name in self.entries(format!("sys/devices/system/node/node{node}"))? {
                let digits = name.as_encoded_bytes().strip_prefix(b"memory").and_then(decimal);
                // A number past what a machine can have would overflow: not a block.
                let Some(start) = digits.and_then(|block| block.checked_mul(pages)) else {
                    continue;
                };
                let end = Pfn(start.saturating_add(pages));
                claims.push(NodeRange { start: Pfn(start), end, node });
            }
        }
        Ok((!claims.is_empty()).then_some(claims))
    }
}

/// Spans of all populated zones: `Node 0, zone  DMA32`, `spanned 1044480`, `start_pfn: 4096`.
fn zone_spans(bytes: &[u8]) -> Result<Vec<NodeRange>, Malformed> {
    let mut spans = Vec::new();
    let mut node = None;
    let mut pages = 0;
    for (number, line) in lines(bytes) {
        let bad = |what| Malformed::new(number, what, line);
        let mut words = line.split(|&b| b == b' ').filter(|word| !word.is_empty());
        match words.next() {
            Some(b"Node") => {
                let id = words.next().and_then(|w| decimal(w.strip_suffix(b",")?));
                let id = id.and_then(|id| u16::try_from(id).ok());
                node = Some(NodeId(id.ok_or_else(|| bad("a node's number"))?));
                pages = 0;
            }
            Some(b"spanned") => {
                pages = words.next().and_then(decimal).ok_or_else(|| bad("a number of pages"))?;
            }
            Some(b"start_pfn:") => {
                let start = words.next().and_then(decimal).ok_or_else(|| bad("a page's number"))?;
                let node = node.ok_or_else(|| bad("a node first"))?;
                let end = Pfn(start.saturating_add(pages));
                spans.push(NodeRange { start: Pfn(start), end, node });
            }
            _ => {}
        }
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    fn range(start: u64, end: u64, node: u16) -> NodeRange {
        NodeRange { start: Pfn(start), end: Pfn(end), node: NodeId(node) }
    }

    /// Blocks of 128 MiB: 0x8000 pages.
    fn two_nodes(blocks: &[(u16, u64)]) -> Fake {
        let fake = Fake::new();
        fake.file("sys/devices/system/node/online", "0-1\n");
        fake.file("sys/devices/system/memory/block_size_bytes", "8000000\n");
        for node in 0..2 {
            fake.dir(format!("sys/devices/system/node/node{node}/hugepages"));
            fake.file(format!("sys/devices/system/node/node{node}/meminfo"), "");
            fake.file(format!("sys/devices/system/node/node{node}/memory_side_cache"), "");
        }
        for (node, block) in blocks {
            fake.dir(format!("sys/devices/system/node/node{node}/memory{block}"));
        }
        fake
    }

    #[test]
    fn blocks_of_two_nodes() {
        // Interleaved, with a hole at block 3.
        let fake = two_nodes(&[(0, 0), (0, 1), (1, 2), (0, 4), (1, 5), (1, 6)]);
        let map = fake.host().node_map().unwrap();
        assert_eq!(
            map.ranges(),
            [
                range(0, 0x10000, 0),
                range(0x10000, 0x18000, 1),
                range(0x20000, 0x28000, 0),
                range(0x28000, 0x38000, 1)
            ]
        );
        for (pfn, node) in [
            (0, Some(0)),
            (0xffff, Some(0)),
            (0x10000, Some(1)),
            (0x18000, None),
            (0x1ffff, None),
            (0x20000, Some(0)),
            (0x37fff, Some(1)),
            (0x38000, None),
            (u64::MAX, None),
        ] {
            assert_eq!(map.node_of(Pfn(pfn)), node.map(NodeId), "{pfn:#x}");
        }
    }

    const ZONES: &str = "\
Node 0, zone      DMA
  per-node stats
      nr_inactive_anon 76314
  pages free     2840
        spanned  4095
  start_pfn:           1
Node 0, zone   Normal
        spanned  45056
  start_pfn:           4096
Node 0, zone  Movable
        spanned  0
Node 1, zone   Normal
        spanned  49152
  start_pfn:           40960
";

    #[test]
    fn a_shared_block_is_split_by_the_zones() {
        // Block 1 is 0x8000..0x10000; node 0 ends at 0xc000, node 1 begins at 0xa000.
        let fake = two_nodes(&[(0, 0), (0, 1), (1, 1), (1, 2)]);
        fake.file("proc/zoneinfo", ZONES);
        let map = fake.host().node_map().unwrap();
        assert_eq!(map.ranges(), [range(0, 0xa000, 0), range(0xc000, 0x18000, 1)]);
        assert_eq!(map.node_of(Pfn(0xb000)), None, "both spans hold it");
    }

    #[test]
    fn zones_alone_where_there_are_no_blocks() {
        let fake = Fake::new();
        fake.file("proc/zoneinfo", ZONES);
        let map = fake.host().node_map().unwrap();
        assert_eq!(map.ranges(), [range(1, 0xa000, 0), range(0xc000, 0x16000, 1)]);
        let empty = Fake::new();
        assert!(matches!(empty.host().node_map(), Err(Error::Read { .. })));
        empty.file("proc/zoneinfo", "Node x, zone DMA\n");
        let message = empty.host().node_map().unwrap_err().to_string();
        assert!(message.contains("proc/zoneinfo:1: expected a node's number"), "{message}");
    }

    #[test]
    fn odd_sizes() {
        for (size, fine) in [("8000000", true), ("0", false), ("x", false), ("", false)] {
            let fake = two_nodes(&[(0, 0), (0, u64::MAX / 2)]);
            fake.file("sys/devices/system/memory/block_size_bytes", size);
            assert_eq!(fake.host().node_map().is_ok(), fine, "{size}");
        }
    }

    #[test]
    fn every_online_node_with_memory_has_pages_here() {
        let host = Host::live();
        let map = host.node_map().unwrap();
        for node in host.nodes().unwrap().iter().filter(|node| node.total.0 > 0) {
            assert!(map.ranges().iter().any(|range| range.node == node.id), "{node:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "((Node|spanned|start_pfn:|x)?[ ,0-9a-z]{0,24}\n){0,12}") {
            if let Ok(spans) = zone_spans(text.as_bytes()) {
                let _ = NodeMap::from_claims(&spans);
            }
        }
        #[test]
        fn exactly_what_one_node_claims(
            claims in proptest::collection::vec((0u64..60, 0u64..30, 0u16..3), 0..8)
        ) {
            let claims: Vec<_> =
                claims.into_iter().map(|(at, len, node)| range(at, at + len, node)).collect();
            let map = NodeMap::from_claims(&claims);
            for pfn in 0..100 {
                let mut nodes: Vec<_> = claims
                    .iter()
                    .filter(|c| (c.start.0..c.end.0).contains(&pfn))
                    .map(|c| c.node)
                    .collect();
                nodes.sort_unstable();
                nodes.dedup();
                let expected = if nodes.len() == 1 { Some(nodes[0]) } else { None };
                prop_assert_eq!(map.node_of(Pfn(pfn)), expected);
            }
        }
    }
}
