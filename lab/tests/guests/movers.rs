//! Pages that really move between two tiers: `pagetide run`, `pagetide bench migrate`, and pages
//! that do not want to be moved.

use crate::lab::{Ran, can_boot, lab, pagetide, ran};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs shell commands in a guest of two tiers, with `$P` the program `pagetide`, and `more`.
fn guest(pagetide: &Path, more: &[PathBuf], commands: &str) -> Ran {
    guest_of(&[], pagetide, more, commands)
}

/// The same with options of the lab.
fn guest_of(options: &[&str], pagetide: &Path, more: &[PathBuf], commands: &str) -> Ran {
    let mut run = lab();
    run.args(options);
    for program in more.iter().map(PathBuf::as_path).chain([pagetide]) {
        run.arg("--with").arg(program);
    }
    let program = format!("P={}", pagetide.display());
    // The kernel's own tiering is not to meddle.
    let quiet = "echo 0 > /proc/sys/kernel/numa_balancing\n";
    ran(run.args(["--env", &program, "--", "sh", "-ec", &format!("{quiet}{commands}")]))
}

/// `name: key=value key=value` lines by name.
fn lines(out: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let parse = |line: &str| {
        let (name, rest) = line.split_once(": ")?;
        let pairs = rest.split(' ').filter_map(|word| {
            let (key, value) = word.split_once('=')?;
            Some((key.to_owned(), value.parse().ok()?))
        });
        Some((name.to_owned(), pairs.collect()))
    };
    out.lines().filter(|line| line.ends_with(" verified")).filter_map(parse).collect()
}

#[test]
fn pages_that_refuse_are_counted_and_keep_their_contents() {
    let test = "pages_that_refuse_are_counted_and_keep_their_contents";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let awkward = pagetide.with_file_name("examples").join("awkward");
    if !awkward.exists() {
        eprintln!("SKIPPED {test}: {} was not built", awkward.display());
        return;
    }
    // Locked pages are to stay where they are: the node cannot be compacted.
    let lock = "echo 0 > /proc/sys/vm/compact_unevictable_allowed";
    let commands = format!("{lock}\n{} 0 1", awkward.display());
    let run = guest(&pagetide, &[awkward], &commands);
    assert_eq!(run.code, 0, "{run:?}");
    let found = lines(&run.out);
    let count = |case: &str, key: &str| {
        let case = found.get(case).unwrap_or_else(|| panic!("no {case} in {run:?}"));
        case.get(key).copied().unwrap_or(0)
    };
    assert_eq!((count("pinned", "stuck"), count("pinned", "base")), (8, 504));
    assert_eq!(count("unpinned", "base"), 8, "asked again after its time");
    assert_eq!((count("shared", "shared"), count("shared", "base")), (512, 0));
    assert_eq!(count("managed", "base"), 512, "by who manages all that map them");
    assert!(count("unmapped", "base") > 0);
    assert_eq!((count("full", "huge"), count("full", "no-room")), (4, 12));
    assert_eq!((count("exchanged", "huge"), count("exchanged", "no-room")), (28, 0));
    assert!(count("fragmented", "no-huge-page") > 0 && count("fragmented", "splits") == 0);
    assert_eq!(count("in pieces", "huge"), count("fragmented", "no-huge-page"));
}

#[test]
fn a_killed_manager_leaves_the_program_as_it_was() {
    let test = "a_killed_manager_leaves_the_program_as_it_was";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    // The same accesses read the same words: whatever is lost changes the sum.
    let commands = r#"
        load() { $P workload hot-cold --size 256M --hot 64M --node 1 --accesses 12000000 --seconds 600; }
        # The self-test runs once per boot, and takes long here.
        $P record -q --for 1s -o /tmp/first.heat -- sleep 1
        load >alone
        load >managed &
        target=$!
        until grep -q ready managed; do sleep 0.2; done
        moved() { sed -n 's/^pgmigrate_success //p' /proc/vmstat; }
        kills=0
        while kill -0 $target 2>/dev/null; do
            # Up with the first, down with the second, and killed as soon as something moves.
            for fast in 64M 4M; do
                before=$(moved)
                $P run -q --epoch 500ms --budget 50% --payback 0 --fast $fast -p $target >/dev/null 2>run.err &
                manager=$!
                while [ "$(moved)" = "$before" ] && kill -0 $manager 2>/dev/null && kill -0 $target 2>/dev/null; do
                    sleep 0.05
                done
                [ "$(moved)" != "$before" ] && kill -9 $manager 2>/dev/null && kills=$((kills + 1))
                kill -9 $manager 2>/dev/null || true
                wait $manager 2>/dev/null || true
            done
        done
        echo "kills $kills"
        grep -o 'checksum=[^ ]*' alone managed"#;
    let run = guest(&pagetide, &[], commands);
    assert_eq!(run.code, 0, "{run:?}");
    let sums: Vec<&str> =
        run.out.lines().filter_map(|line| line.split_once("checksum=")).map(|sum| sum.1).collect();
    assert!(sums.len() == 2 && sums[0] == sums[1], "{run:?}");
    let number = |name: &str| -> u64 {
        let line = run.out.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
    };
    assert!(number("kills ") > 0, "{run:?}");
}

/// Per epoch of an exported truth, the share of the accesses that went to node 0.
fn fast_shares(csv: &str) -> Vec<f64> {
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let at = |name| columns.iter().position(|column| *column == name).unwrap_or(usize::MAX);
    let (epoch, rate, node) = (at("epoch"), at("rate"), at("node"));
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let rate: f64 = cell(rate).parse().unwrap_or(0.0);
        let sum = sums.entry(cell(epoch).parse().unwrap_or(0)).or_default();
        sum.0 += rate;
        sum.1 += if cell(node) == "0" { rate } else { 0.0 };
    }
    sums.values().map(|(all, fast)| fast / all.max(1e-9)).collect()
}

#[test]
fn the_hot_set_goes_to_fast_memory_and_the_cold_one_stays() {
    let test = "the_hot_set_goes_to_fast_memory_and_the_cold_one_stays";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let commands = "
        $P record -q --for 1s -o /tmp/first.heat -- sleep 1
        $P workload hot-cold --size 256M --hot 32M --ratio 400 --rate 200000 --node 1 --seconds 600 \
            --truth /tmp/truth.heat --truth-epoch 3 >load &
        target=$!
        until grep -q ready load; do sleep 0.2; done
        $P run --json --epoch 3s --budget 50% --for 40s -p $target
        kill $target
        wait $target
        echo TRUTH
        $P trace export /tmp/truth.heat";
    let run = guest(&pagetide, &[], commands);
    assert_eq!(run.code, 0, "{run:?}");
    let (json, truth) = run.out.split_once("TRUTH\n").unwrap_or_default();
    let said: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let moved = said["moves"]["promoted"]["huge_pages"].as_u64().unwrap_or(0);
    assert!((15..=40).contains(&moved), "{moved} of 16 hot huge pages and 112 cold ones: {run:?}");
    assert_eq!(said["moves"]["splits"], 0, "{run:?}");
    let last = fast_shares(truth).last().copied().unwrap_or(0.0);
    assert!(last > 0.95, "{last} of the accesses went to fast memory at the end: {run:?}");
}

/// Node 0 is small, and a disk in memory fills it with page cache.
const WITH_DISK: &str = r#"
name = "disk"
title = "A disk whose page cache fills fast memory"
modules = ["brd"]
setup = "rmmod brd; insmod /lab/modules/$(tail -1 /lab/modules.list) rd_nr=1 rd_size=1048576"
node = [
    { name = "DRAM", cpus = 2, memory = "512M", latency_ns = 100, bandwidth_gb_s = 100 },
    { name = "CXL", memory = "2G", latency_ns = 350, bandwidth_gb_s = 15 },
]
"#;

#[test]
fn page_cache_that_nothing_uses_makes_room_for_hot_memory() {
    let test = "page_cache_that_nothing_uses_makes_room_for_hot_memory";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("disk.toml");
    std::fs::write(&topology, WITH_DISK).unwrap();
    // What is cached of a disk goes when nobody has it open.
    let commands = "
        exec 8</dev/ram0
        $P record -q --for 1s -o /tmp/first.heat -- sleep 1
        for page in 4K 2M; do
            for keep in --keep-page-cache ''; do
                cat /dev/ram0 >/dev/null
                $P workload hot-cold --size 256M --hot 64M --ratio 400 --page-size $page --node 1 --seconds 600 >load &
                target=$!
                until grep -q ready load; do sleep 0.2; done
                $P run -q --json --epoch 2s --budget 50% --for 24s $keep -p $target
                kill $target
                wait $target
                echo ---
            done
        done";
    let options = ["--topology", topology.to_str().unwrap_or_default()];
    let run = guest_of(&options, &pagetide, &[], commands);
    assert_eq!(run.code, 0, "{run:?}");
    let said: Vec<serde_json::Value> =
        run.out.split("---\n").filter_map(|json| serde_json::from_str(json).ok()).collect();
    let of = |at: usize| {
        let promoted = &said[at]["moves"]["promoted"];
        let count = |size: &str| promoted[size].as_u64().unwrap_or(0);
        ((count("base_pages") + 512 * count("huge_pages")) / 256, &said[at]["moves"]["splits"])
    };
    assert_eq!(said.len(), 4, "{run:?}");
    for (kept, taken) in [(0, 1), (2, 3)] {
        assert!(of(kept).0 < 16, "{run:?}");
        assert!(of(taken).0 >= 62 && of(taken).1 == 0, "{run:?}");
    }
}

#[test]
fn the_bench_has_a_row_for_each_case_and_says_what_cannot_be_measured() {
    let test = "the_bench_has_a_row_for_each_case_and_says_what_cannot_be_measured";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let run = guest(&pagetide, &[], "$P bench migrate --size 16M --rounds 1 --json");
    assert_eq!(run.code, 0, "{run:?}");
    let table: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_default();
    let lines = table["lines"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |page: &str, batch: u64| {
        let same = |line: &&serde_json::Value| {
            let case = &line["case"];
            case["page"] == page && case["batch"] == batch && case["threads"] == 1
        };
        let row = lines.iter().find(same).map(|line| &line["row"]);
        let row = row.unwrap_or_else(|| panic!("no {batch} x {page} in {run:?}"));
        row["bytes"].as_f64().unwrap_or(0.0) / row["seconds"].as_f64().unwrap_or(f64::NAN)
    };
    assert!(of("2M", 8) > 0.0);
    // One page at a time pays for a whole call each.
    assert!(of("4K", 512) > 2.0 * of("4K", 1), "{run:?}");
    let two = lines.iter().filter(|line| line["case"]["threads"] == 2);
    assert!(two.clone().count() > 0);
    for line in two {
        assert_eq!(line["not_measurable"], "emulated CPUs", "{line}");
    }
}
