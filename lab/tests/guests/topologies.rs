//! What the guest's kernel makes of each topology.

use crate::lab::{can_boot, shell};

const TIERS: &str = "cd /sys/devices/virtual/memory_tiering
    for tier in $(ls -d memory_tier* | sort -t r -k 3 -n); do cat $tier/nodelist; done";

#[test]
fn two_tiers_are_seen_as_such() {
    if !can_boot("two_tiers_are_seen_as_such") {
        return;
    }
    assert_eq!(shell("two-tiers", TIERS), "0\n1\n");
    let more = shell(
        "two-tiers",
        "cat /sys/devices/system/node/has_cpu /sys/devices/system/node/has_memory
         cat /sys/devices/system/node/node1/distance
         cat /sys/devices/system/node/node1/access0/initiators/read_latency",
    );
    assert_eq!(more, "0\n0-1\n35 10\n350\n");
}

#[test]
fn three_tiers_are_seen_as_such() {
    if !can_boot("three_tiers_are_seen_as_such") {
        return;
    }
    assert_eq!(shell("three-tiers", TIERS), "0\n1\n2\n");
}

#[test]
fn two_pairs_are_two_tiers_of_two_nodes() {
    if !can_boot("two_pairs_are_two_tiers_of_two_nodes") {
        return;
    }
    assert_eq!(shell("two-pairs", TIERS), "0-1\n2-3\n");
    // Each socket's persistent memory is nearer to it than the other's.
    let distances = shell("two-pairs", "cat /sys/devices/system/node/node[01]/distance");
    assert_eq!(distances, "10 21 17 28\n21 10 28 17\n");
}

#[test]
fn an_nvdimm_becomes_memory_of_its_node() {
    if !can_boot("an_nvdimm_becomes_memory_of_its_node") {
        return;
    }
    let out = shell(
        "nvdimm",
        &format!(
            "echo offline >/sys/devices/system/memory/auto_online_blocks
             daxctl reconfigure-device --mode=system-ram dax0.0 >/dev/null
             cat /sys/devices/system/node/has_memory
             awk '/MemTotal/ {{ print ($4 > 900000) }}' /sys/devices/system/node/node1/meminfo
             {TIERS}"
        ),
    );
    assert_eq!(out, "0-1\n1\n0\n1\n");
}

#[test]
fn two_guests_see_one_pool() {
    if !can_boot("two_guests_see_one_pool") {
        return;
    }
    // Guest 0 writes at 512 MiB, guest 1 waits for it; both have the device's name.
    let out = shell(
        "pool",
        "at=$((512 << 20))
         if [ $PAGETIDE_GUEST = 0 ]; then
             pagetide-lab probe poke /dev/dax0.0 $at 4711
         else
             pagetide-lab probe await /dev/dax0.0 $at 4711; echo 'seen: 4711'
         fi",
    );
    assert_eq!(out, "1| seen: 4711\n");
}
