//! `pagetide` in guests: what no ordinary machine has.

use crate::lab::{LAB, can_boot, lab, pagetide, ran};
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
};

#[test]
fn doctor_finds_two_nodes_two_tiers_and_five_levels() {
    let test = "doctor_finds_two_nodes_two_tiers_and_five_levels";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let run = ran(lab().arg("--").arg(&pagetide).arg("doctor"));
    assert_eq!(run.code, 0, "{run:?}");
    // The self-test ran on five levels, with both sizes of pages: but for 800 huge ones, all of it.
    for part in [
        "5 levels",
        "node 1: ",
        "without CPUs",
        "tier 4: node 0, tier 105: node 1",
        "10 of 10 tests passed",
    ] {
        assert!(run.out.contains(part), "{part} in {}", run.out);
    }
}

/// Two nodes; node 1 has a page of 1 GiB in the hugetlb pool.
const WITH_GIANT_PAGE: &str = r#"
name = "giant-page"
title = "A page of 1 GiB on node 1"
kernel = "hugepagesz=1G hugepages=1:1"
node = [
    { name = "DRAM", cpus = 2, memory = "1G", latency_ns = 100, bandwidth_gb_s = 100 },
    { name = "CXL", memory = "3G", latency_ns = 350, bandwidth_gb_s = 15 },
]
"#;

/// Rows of the recording of `program` at the addresses from `first` on: what it prints as
/// `FIRST0xADDRESS`, for `size` bytes.
#[expect(clippy::unwrap_used, reason = "a test's own rows")]
fn recorded(
    options: &[&str],
    pagetide: &Path,
    program: &str,
    first: &str,
    size: u64,
) -> Vec<HashMap<String, String>> {
    // The recording begins when the program has its memory: an emulated CPU takes its time.
    let script = format!(
        "{program} >/tmp/said & until grep -o '{first}0x[0-9a-f]*' /tmp/said; do sleep 0.1; done
         pagetide record -o /tmp/x.heat --for 11s -p $! >&2
         kill $!
         pagetide trace export /tmp/x.heat"
    );
    let run = ran(lab()
        .args(options)
        .args(["--with", LAB, "--with"])
        .arg(pagetide)
        .args(["--", "sh", "-ec", &script]));
    assert_eq!(run.code, 0, "{run:?}");
    let mut lines = run.out.lines();
    let start = lines.next().unwrap().strip_prefix(first).unwrap();
    let start = u64::from_str_radix(start.trim_start_matches("0x"), 16).unwrap();
    let keys: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| -> HashMap<String, String> {
        let values = line.split(',').map(str::to_owned);
        keys.iter().map(|key| (*key).to_owned()).zip(values).collect()
    };
    let inside = |row: &HashMap<String, String>| {
        (start..start + size).contains(&row["address"].parse().unwrap())
    };
    lines.map(row).filter(inside).collect()
}

/// All rows have these values, and there are as many units.
fn all_have(rows: &[HashMap<String, String>], units: usize, values: &[(&str, &str)]) {
    for row in rows {
        for (key, value) in values {
            assert_eq!(row[*key], *value, "{key} of {row:?}");
        }
    }
    let found: HashSet<&String> = rows.iter().map(|row| &row["address"]).collect();
    assert_eq!(found.len(), units);
}

#[test]
fn memory_is_recorded_on_the_node_where_it_lies() {
    let test = "memory_is_recorded_on_the_node_where_it_lies";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    for (node, other) in [("0", &[][..]), ("1", &["--page-size", "4K"][..])] {
        let program = format!(
            "numactl --membind={node} pagetide workload hot-cold --size 128M --hot 32M --seconds 900 {}",
            other.join(" ")
        );
        let rows = recorded(&[], &pagetide, &program, "range=", 128 << 20);
        all_have(&rows, 64, &[("node", node)]);
    }
}

#[test]
fn a_page_of_one_gib_is_recorded_as_what_it_is() {
    let test = "a_page_of_one_gib_is_recorded_as_what_it_is";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("giant-page.toml");
    fs::write(&topology, WITH_GIANT_PAGE).unwrap();
    let options = ["--topology", topology.to_str().unwrap()];
    let program = "pagetide-lab probe giant --seconds 600";
    let rows = recorded(&options, &pagetide, program, "address=", 1 << 30);
    // Seen as 512 units with all of their pages; never taken to be watched.
    all_have(&rows, 512, &[("node", "1"), ("huge", "1"), ("pages", "512"), ("sampled", "0")]);
}

/// `run` beside the kernel's own balancing: refused; put aside; killed while it was; started again.
const BESIDE_BALANCING: &str = r#"
balancing=/proc/sys/kernel/numa_balancing
put_aside() { until [ "$(cat $balancing)" = 0 ]; do sleep 0.2; done; }
echo 1 >$balancing
pagetide run --for 3s -- sleep 30 2>&1 | grep -o 'numa_balancing=1'
pagetide run --take-over -q --for 3s -- sleep 600 >/dev/null 2>&1 &
put_aside
wait $!
echo at the end $(cat $balancing)
echo 2 >$balancing
pagetide run --take-over -q -- sleep 600 >/dev/null 2>&1 &
run=$!
put_aside
kill -9 $run
wait $run || true
echo killed $(cat $balancing)
pagetide run --for 3s -- sleep 30 2>&1 | grep -o 'numa_balancing is 2 again'
echo at the next start $(cat $balancing)
"#;

#[test]
fn the_kernels_own_balancing_is_put_aside_and_comes_back() {
    let test = "the_kernels_own_balancing_is_put_aside_and_comes_back";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let run = ran(lab().arg("--with").arg(&pagetide).args(["--", "sh", "-ec", BESIDE_BALANCING]));
    assert_eq!(run.code, 0, "{run:?}");
    let said: Vec<&str> = run.out.lines().collect();
    let right = [
        "numa_balancing=1",
        "at the end 1",
        "killed 0",
        "numa_balancing is 2 again",
        "at the next start 2",
    ];
    assert_eq!(said, right, "{run:?}");
}
