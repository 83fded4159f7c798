//! The machine's memory: how much, on which nodes and tiers, in pages of which size.

use super::{Finding, Status};
use crate::{CgroupVersion, Features};
use pagetide_types::Bytes;

/// Share of the memory by which the nodes' sizes may fall short without a word.
const UNSAID: f64 = 0.02;

pub(super) fn findings(features: &Features) -> Vec<Finding> {
    vec![
        amount(features),
        cpus(features),
        nodes(features),
        tiers(features),
        huge_pages(features),
        cgroups(features),
        pressure(features),
    ]
}

fn amount(features: &Features) -> Finding {
    let value = format!("{}, {} available", features.total, features.available);
    let meaning = "Recording needs little memory beside the program's own.";
    Finding::new("memory", value, Status::Ok, meaning)
}

fn cpus(features: &Features) -> Finding {
    let value = format!("{} x {}", features.cpu.count, features.cpu.model);
    let meaning = "The recorder's budget is a share of one of them.";
    Finding::new("cpus", value, Status::Ok, meaning)
}

fn nodes(features: &Features) -> Finding {
    let with_memory = features.nodes.iter().filter(|node| node.total.0 > 0);
    let described: Vec<String> = with_memory
        .map(|node| {
            let cpus = if node.cpus.is_empty() { " without CPUs" } else { "" };
            format!("node {}: {}{cpus}", node.id, node.total)
        })
        .collect();
    let mut meaning = match described.len() {
        0 | 1 => {
            "Recording and planning work. This machine has no slower memory to move pages to; \
             plan uses a model of one that has."
        }
        _ => "Recordings say on which node each page lay.",
    }
    .to_owned();
    let on_nodes: Bytes = features.nodes.iter().map(|node| node.total).sum();
    let elsewhere = features.total.saturating_sub(on_nodes);
    if !described.is_empty() && elsewhere.as_f64() > UNSAID * features.total.as_f64() {
        meaning += &format!(
            " That is {elsewhere} less than the machine's memory: the kernel hands the rest out \
             when it is needed, as in many virtual machines. It does not matter here."
        );
    }
    let value = if described.is_empty() { "unknown".into() } else { described.join(", ") };
    Finding::new("numa-nodes", value, Status::Ok, meaning)
}

fn tiers(features: &Features) -> Finding {
    let populated: Vec<String> = features
        .tiers
        .iter()
        .filter(|tier| !tier.nodes.is_empty())
        .map(|tier| {
            let nodes: Vec<String> = tier.nodes.iter().map(ToString::to_string).collect();
            let word = if nodes.len() == 1 { "node" } else { "nodes" };
            format!("tier {}: {word} {}", tier.number, nodes.join(" "))
        })
        .collect();
    let slow_node = features.nodes.iter().any(|n| n.cpus.is_empty() && n.total.0 > 0);
    let (status, meaning) = match populated.len() {
        0 | 1 if slow_node => (
            Status::Note,
            "A node without CPUs is in the same tier as the others, because the firmware gives \
             no latencies (HMAT): the kernel's own tiering does nothing here.",
        ),
        0 | 1 => (Status::Ok, "All memory is equally fast to the kernel."),
        _ => (Status::Ok, "The kernel knows faster and slower memory."),
    };
    let value = if populated.is_empty() { "none".into() } else { populated.join(", ") };
    Finding::new("memory-tiers", value, status, meaning)
}

fn huge_pages(features: &Features) -> Finding {
    const NAME: &str = "huge-pages";
    let Some(huge) = &features.huge_pages else {
        let meaning = "Everything is mapped by 4 KiB pages, which cost more to scan.";
        return Finding::new(NAME, "none", Status::Note, meaning);
    };
    let value = format!("{}, defrag {}", huge.enabled, huge.defrag);
    let (status, meaning) = match huge.enabled.as_str() {
        "always" => (Status::Ok, "Large areas are mapped by 2 MiB pages, which are cheap to scan."),
        "madvise" => (
            Status::Note,
            "Only programs that ask for them get 2 MiB pages; 4 KiB pages cost more to scan, so \
             large programs are sampled.",
        ),
        _ => (
            Status::Note,
            "Everything is mapped by 4 KiB pages, which cost more to scan, so large programs are \
             sampled.",
        ),
    };
    Finding::new(NAME, value, status, meaning)
}

fn cgroups(features: &Features) -> Finding {
    let has = |version| features.cgroups.iter().any(|h| h.version == version);
    let (value, status, meaning) = match (has(CgroupVersion::V1), has(CgroupVersion::V2)) {
        (false, false) => {
            ("none", Status::Note, "record --cgroup is not possible; record by process instead.")
        }
        (true, false) => ("version 1", Status::Ok, "record --cgroup works."),
        (false, true) => ("version 2", Status::Ok, "record --cgroup works."),
        (true, true) => {
            ("version 1 and 2", Status::Ok, "record --cgroup works; it takes a path of either.")
        }
    };
    Finding::new("cgroups", value, status, meaning)
}

fn pressure(features: &Features) -> Finding {
    if features.pressure {
        let meaning = "The kernel says how long programs wait for memory to become free.";
        return Finding::new("pressure", "measured", Status::Ok, meaning);
    }
    let meaning = "The kernel does not measure memory pressure; boot with psi=1 to have it. \
                   Recording does not need it.";
    Finding::new("pressure", "not measured", Status::Note, meaning)
}
