//! The meter against known truth.

use crate::lab::{LAB, beside_others, can_boot, lab, ran};
use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path};

/// What prints how long a computation took, the best of many of its kind.
const TIMES: [&str; 6] =
    ["probe", "times", "--nodes=0", "--loads=2000", "--size=4M", "--rounds=50"];

/// Sums of the meter's rows: user reads, user writes, kernel reads, kernel writes, by mark and
/// node.
#[expect(clippy::unwrap_used, reason = "a test's own rows")]
fn sums(path: &Path) -> BTreeMap<(u32, i32), [u64; 4]> {
    let mut all = BTreeMap::new();
    for row in rows(path) {
        let sum: &mut [u64; 4] =
            all.entry((row[1].parse().unwrap(), row[2].parse().unwrap())).or_default();
        for (sum, value) in sum.iter_mut().zip(&row[3..]) {
            *sum += value.parse::<u64>().unwrap();
        }
    }
    all
}

#[expect(clippy::unwrap_used, reason = "a test's own rows")]
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Runs `probe touch` with each of `touches`, under marks from 1 on, and compares.
fn counted_exactly(topology: &str, setup: &str, touches: &[(i32, &str)], unit_size: &str) {
    counted_exactly_by(&[], topology, setup, touches, unit_size);
}

/// The same with more `options` of the lab.
#[expect(clippy::unwrap_used, reason = "a test's own rows")]
fn counted_exactly_by(
    options: &[&str],
    topology: &str,
    setup: &str,
    touches: &[(i32, &str)],
    unit_size: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let [meter, units] = ["meter", "units"].map(|name| folder.path().join(name));
    let mut script = format!("{setup}\n");
    for (mark, (node, options)) in (1..).zip(touches) {
        script += &format!("pagetide-lab probe touch --mark {mark} --node {node} {options}\n");
    }
    let run = ran(lab()
        .args(["-t", topology, "--meter"])
        .arg(&meter)
        .arg("--units")
        .arg(&units)
        .args(["--unit-size", unit_size])
        .args(options)
        .args(["--with", LAB, "--", "sh", "-ec", &script]));
    assert_eq!(run.code, 0, "{run:?}");
    let (sums, unit_rows) = (sums(&meter), rows(&units));
    let touched = run.out.lines().filter(|line| line.starts_with("touched "));
    let mut compared = 0;
    for ((mark, (node, options)), line) in (1..).zip(touches).zip(touched) {
        let number = |key: &str| {
            let value = line.split_once(key).unwrap().1.split_whitespace().next().unwrap();
            u64::from_str_radix(
                value.trim_start_matches("0x"),
                if value.starts_with("0x") { 16 } else { 10 },
            )
            .unwrap()
        };
        let (lines, start, size) = (number("lines="), number("address="), number("size="));
        let write = usize::from(options.contains("--write"));

        // At the program's addresses: exact, and all of it in the node.
        let mut counted = [0; 2];
        let mut addresses = BTreeSet::new();
        for row in unit_rows.iter().filter(|row| row[1] == mark.to_string()) {
            let address = u64::from_str_radix(&row[2][2..], 16).unwrap();
            if (start..start + size).contains(&address) {
                assert_eq!(row[3], node.to_string(), "{row:?}");
                addresses.insert(address);
                counted[0] += row[4].parse::<u64>().unwrap();
                counted[1] += row[5].parse::<u64>().unwrap();
            }
        }
        let expected = [[lines, 0], [0, lines]][write];
        assert_eq!(counted, expected, "{topology}: {line}");
        let unit = if unit_size == "4K" { 4096 } else { 2 << 20 };
        assert_eq!(addresses.len() as u64, size / unit, "{topology}: a row for each unit");

        // By node, user addresses: the same, and what else ran (some lines of stack and code).
        for (at, sum) in sums.range((mark, -1)..=(mark, 16)) {
            let of_probe = if at.1 == *node { expected } else { [0, 0] };
            for (it, of_probe) in sum[..2].iter().zip(of_probe) {
                let more = it - of_probe;
                assert!(more < 1000 + lines / 1000, "{topology}: {line}: {at:?} {sum:?}");
            }
        }
        compared += 1;
    }
    assert_eq!(compared, touches.len());
}

#[test]
fn known_accesses_are_counted_exactly_on_each_of_two_tiers() {
    if !can_boot("known_accesses_are_counted_exactly_on_each_of_two_tiers") {
        return;
    }
    let touches = [
        (0, "--size 64M"),
        (1, "--size 128M"),
        (1, "--size 64M --write --rounds 3"),
        (0, "--size 32M --base-pages"),
        (1, "--size 32M --base-pages --write"),
    ];
    counted_exactly("two-tiers", "", &touches, "2M");
    counted_exactly("two-tiers", "", &touches[..2], "4K");
}

#[test]
fn by_instructions_accesses_are_counted_exactly_and_the_hosts_load_changes_no_time() {
    if !can_boot("by_instructions_accesses_are_counted_exactly_and_the_hosts_load_changes_no_time")
    {
        return;
    }
    let by_instructions = ["--instruction-ns", "4"];
    let touches = [(0, "--size 64M"), (1, "--size 64M --write --rounds 3")];
    counted_exactly_by(&by_instructions, "two-tiers", "", &touches, "2M");

    // The same computation in two guests, beside the second of which this process computes, too.
    let computing = || {
        let run = ran(lab().args(by_instructions).args(["--with", LAB, "--", LAB]).args(TIMES));
        let line = run.out.lines().next().and_then(|line| line.strip_prefix("compute "));
        line.and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_else(|| panic!("{run:?}"))
    };
    let (alone, beside) = (computing(), beside_others(computing));
    assert!((alone / beside - 1.0).abs() < 0.01, "{alone} {beside}");
}

#[test]
fn every_block_of_memory_is_known_to_the_meter() {
    if !can_boot("every_block_of_memory_is_known_to_the_meter") {
        return;
    }
    // Nearly all of each node, so that the borders of its block are met.
    let three = [(0, "--size 600M"), (1, "--size 800M"), (2, "--size 800M")];
    counted_exactly("three-tiers", "", &three, "2M");
    let pairs = [(0, "--size 300M"), (1, "--size 500M"), (2, "--size 800M"), (3, "--size 800M")];
    counted_exactly("two-pairs", "", &pairs, "2M");
    let online = "echo online >/sys/devices/system/memory/auto_online_blocks
        daxctl reconfigure-device --mode=system-ram --force dax0.0 >/dev/null";
    counted_exactly("nvdimm", online, &[(0, "--size 600M"), (1, "--size 800M")], "2M");
}

#[test]
fn what_fits_the_caches_is_no_miss() {
    if !can_boot("what_fits_the_caches_is_no_miss") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let meter = folder.path().join("meter");
    let script = "pagetide-lab probe touch --mark 1 --node 1 --size 2M --rounds 50
        pagetide-lab probe touch --mark 2 --node 1 --size 16M --rounds 5";
    let run =
        ran(lab().arg("--meter").arg(&meter).args(["--cache", "8M", "--", "sh", "-ec", script]));
    assert_eq!(run.code, 0, "{run:?}");
    let sums = sums(&meter);
    let reads = |mark: u32| sums[&(mark, 1)][0];
    // Once into the caches, but for what others pushed out; against every round anew.
    assert!((32768..40000).contains(&reads(1)), "{sums:?}");
    assert!(reads(2) >= 5 * 262_144, "{sums:?}");
}
