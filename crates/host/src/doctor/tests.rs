//! Tests of findings: each feature that can be wrong, wrong once.

use super::*;
use crate::{KernelTypes, features::tests::server};
use std::collections::BTreeSet;

/// A finding, what changes it, and a text that it then shows.
type Change = (&'static str, fn(&mut Features), &'static str);

fn good() -> Features {
    server().host().features()
}

fn status_of(features: &Features, name: &str) -> (Status, String) {
    let found = features.findings().into_iter().find(|f| f.name == name).unwrap();
    (found.status, format!("{}: {}", found.value, found.meaning))
}

#[test]
fn a_good_server_has_nothing_to_mend() {
    let findings = good().findings();
    if cfg!(target_arch = "x86_64") {
        let odd: Vec<_> = findings.iter().filter(|f| f.status != Status::Ok).collect();
        assert!(odd.is_empty(), "{odd:#?}");
    }
    let names: BTreeSet<_> = findings.iter().map(|f| f.name).collect();
    assert_eq!(names.len(), findings.len(), "names are unique");
    for finding in &findings {
        assert!(!finding.value.is_empty(), "{finding:?}");
        assert!(finding.meaning.ends_with('.'), "{finding:?}");
        assert!(!finding.meaning.contains("  "), "{finding:?}");
    }
    assert_eq!(good().facts()["kernel"], "6.12.30-amd64");
}

#[test]
fn what_stops_recording_names_the_remedy() {
    let break_it: [Change; 6] = [
        ("rights", |f| (f.uid, f.capabilities) = (Some(7), Default::default()), "run with sudo"),
        ("rights", |f| f.capabilities.0 &= !(1 << 39 | 1 << 21), "privileged"),
        ("rights", |f| f.capabilities.0 &= !(1 << 23), "without CAP_SYS_NICE:"),
        ("kernel", |f| f.types = None, "CONFIG_DEBUG_INFO_BTF"),
        ("kernel", |f| f.types = Some(KernelTypes::default()), "Linux 6.1 or later"),
        ("lockdown", |f| f.lockdown = Some("confidentiality".into()), "lockdown=integrity"),
    ];
    for (name, change, text) in break_it {
        let mut features = good();
        change(&mut features);
        let (status, shown) = status_of(&features, name);
        assert_eq!(status, Status::Missing, "{name}");
        assert!(shown.contains(text), "{shown}");
        let missing = features.findings().iter().filter(|f| f.status == Status::Missing).count();
        assert_eq!(missing, 1, "{name} alone");
    }
}

#[test]
fn what_to_keep_in_mind() {
    let change_it: [Change; 17] = [
        ("pid-namespace", |f| f.first_pid_namespace = Some(false), "a container's"),
        ("pid-namespace", |f| f.first_pid_namespace = None, "unknown"),
        ("memory-encryption", |f| f.cpu.encryption = vec!["sev".into()], "sev: "),
        ("virtualisation", |f| f.cpu.hypervisor = true, "virtual machine"),
        ("stall-counters", |f| (f.stall_events, f.pmus) = (None, Vec::new()), "no counters"),
        ("stall-counters", |f| f.stall_events = None, "band."),
        ("memory-tiers", |f| f.tiers.truncate(1), "HMAT"),
        ("huge-pages", |f| f.huge_pages = None, "4 KiB"),
        ("huge-pages", |f| f.huge_pages.as_mut().unwrap().enabled = "madvise".into(), "ask for"),
        ("huge-pages", |f| f.huge_pages.as_mut().unwrap().enabled = "never".into(), "never"),
        ("cgroups", |f| f.cgroups.clear(), "by process"),
        ("pressure", |f| f.pressure = false, "psi=1"),
        ("damon", |f| f.damon.push("kdamond.0".into()), "kdamond.0: "),
        ("lru-gen", |f| f.lru_gen = Some(7), "on: "),
        ("numa-balancing", |f| f.numa_balancing = Some(2), "promotes"),
        ("demotion", |f| f.demotion = Some(true), "slower nodes"),
        ("page-merging", |f| f.merging = true, "unknown"),
    ];
    for (name, change, text) in change_it {
        let mut features = good();
        change(&mut features);
        let (status, shown) = status_of(&features, name);
        assert_eq!(status, Status::Note, "{name}");
        assert!(shown.contains(text), "{shown}");
    }
    let mut features = good();
    features.swaps = vec![("/dev/zram0".into(), pagetide_types::Bytes::gib(1))];
    let (status, shown) = status_of(&features, "swap");
    assert!(status == Status::Note && shown.starts_with("1.00 GiB on /dev/zram0: "), "{shown}");
}

#[test]
fn nodes_that_hold_less_than_the_machine_are_explained() {
    let mut features = good();
    let on_nodes = features.nodes.iter().map(|node| node.total.0).sum::<u64>();
    features.total.0 = on_nodes + on_nodes / 100;
    let (_, same) = status_of(&features, "numa-nodes");
    assert!(!same.contains("less than"), "the kernel's own part needs no word: {same}");
    features.total.0 = on_nodes + pagetide_types::Bytes::gib(64).0;
    let (status, shown) = status_of(&features, "numa-nodes");
    assert_eq!(status, Status::Ok);
    assert!(shown.contains("64.0 GiB less than the machine's memory"), "{shown}");
}

#[test]
fn a_machine_that_says_nothing_is_not_fine() {
    let findings = Features::default().findings();
    let missing: Vec<_> =
        findings.iter().filter(|f| f.status == Status::Missing).map(|f| f.name).collect();
    assert!(missing.contains(&"rights") && missing.contains(&"kernel"), "{missing:?}");
}

#[test]
fn every_finding_is_json_with_stable_keys() {
    let json = serde_json::to_value(&good().findings()[0]).unwrap();
    let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["meaning", "name", "status", "value"]);
    assert_eq!(serde_json::to_value(Status::Missing).unwrap(), "missing");
}
