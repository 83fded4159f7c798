//! What a topology's file may say: keys that exist, values that make sense.

use super::{BUILT_IN, Topology};
use pagetide_machine::model::Model;
use pagetide_types::Bytes;

/// A host bridge that QEMU emulates has so many decoders of addresses, and each device needs one.
const MOST_CXL: usize = 4;

impl Model for Topology {
    const KIND: &'static str = "topology";
    const BUILT_IN: &'static [(&'static str, &'static str)] = BUILT_IN;
    const KEYS: &'static [(&'static str, &'static [&'static str])] = &[
        (
            "",
            &[
                "name",
                "title",
                "guests",
                "hop_ns",
                "distances",
                "modules",
                "setup",
                "kernel",
                "node",
                "nvdimm",
                "cxl",
            ],
        ),
        ("node", &["name", "cpus", "memory", "near", "latency_ns", "bandwidth_gb_s"]),
        ("nvdimm", &["node", "size", "shared"]),
        ("cxl", &["size"]),
    ];

    fn problem(&self) -> Option<String> {
        let block = Bytes::mib(128).0;
        let nodes = self.nodes.len();
        if self.nodes.first().is_none_or(|node| node.cpus == 0 || node.memory.is_none()) {
            return Some("the first [[node]] needs cpus and memory: the kernel boots there".into());
        }
        if nodes > 16 || self.cpus() > 64 {
            return Some("more than 16 nodes or 64 CPUs".into());
        }
        if !(1..=8).contains(&self.guests) {
            return Some(format!("guests must be 1 to 8, not {}", self.guests));
        }
        if let Some(what) = self.wrong_distances() {
            return Some(format!("distances: {what}"));
        }
        for node in &self.nodes {
            let wrong = |what: String| Some(format!("node '{}': {what}", node.name));
            if !(1..=60_000).contains(&node.latency_ns) {
                return wrong(format!("latency_ns must be 1 to 60000, not {}", node.latency_ns));
            }
            if !(1..=4_000).contains(&node.bandwidth_gb_s) {
                let is = node.bandwidth_gb_s;
                return wrong(format!("bandwidth_gb_s must be 1 to 4000, not {is}"));
            }
            match (node.near, node.cpus) {
                (Some(_), 1..) => return wrong("it has CPUs of its own; drop 'near'".into()),
                (Some(near), 0)
                    if self.nodes.get(near as usize).is_none_or(|node| node.cpus == 0) =>
                {
                    return wrong(format!("'near' is node {near}, which has no CPUs"));
                }
                _ => {}
            }
            if node.memory.is_some_and(|size| size.0 == 0 || size.0 % block != 0) {
                return wrong("memory must be a multiple of 128 MiB, the kernel's block".into());
            }
        }
        for nvdimm in &self.nvdimms {
            if nvdimm.node as usize >= nodes {
                return Some(format!("an [[nvdimm]] is on node {}, of {nodes}", nvdimm.node));
            }
            if nvdimm.size.0 == 0 || nvdimm.size.0 % block != 0 {
                let size = nvdimm.size;
                return Some(format!("an [[nvdimm]] has {size}, no multiple of 128 MiB"));
            }
        }
        if self.cxls.len() > MOST_CXL {
            let are = self.cxls.len();
            return Some(format!("{are} [[cxl]]: an emulated host bridge decodes {MOST_CXL}"));
        }
        for cxl in &self.cxls {
            if cxl.size.0 == 0 || cxl.size.0 % Bytes::mib(256).0 != 0 {
                return Some(format!("a [[cxl]] has {}, no multiple of 256 MiB", cxl.size));
            }
        }
        None
    }
}

impl Topology {
    fn wrong_distances(&self) -> Option<String> {
        let (all, nodes) = (&self.distances, self.nodes.len());
        if all.is_empty() {
            return None;
        }
        if all.len() != nodes || all.iter().any(|row| row.len() != nodes) {
            return Some(format!("there are {nodes} nodes, so {nodes} rows of {nodes} numbers"));
        }
        for (from, row) in all.iter().enumerate() {
            for (to, distance) in row.iter().enumerate() {
                if from == to && *distance != 10 {
                    return Some(format!("from node {from} to itself it is 10, not {distance}"));
                }
                if from != to && !(11..=254).contains(distance) {
                    return Some(format!("from node {from} to {to}: 11 to 254, not {distance}"));
                }
                if all[to][from] != *distance {
                    return Some(format!("from node {from} to {to} it is not the same as back"));
                }
            }
        }
        None
    }
}
