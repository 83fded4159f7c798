//! `sweep`: every combination once, into a table; what a kill, an interrupt or a full disk leaves.

use crate::disk::Small;
use crate::run::{Running, command, finish, pagetide, scratch, within};
use crate::sim::small;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Whole lines of a sweep's journal.
fn lines(table: &Path) -> Vec<String> {
    let text = fs::read_to_string(format!("{}.points.jsonl", table.display())).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
}

/// A sweep of twelve points that takes some seconds.
fn twelve(scenario: &Path, table: &Path) -> Command {
    let mut sweep = command(["sweep", "--set", "seconds=0.1", "--vary", "seed=1,2,3,4"]);
    sweep.args(["--vary", "tenant.fast_share=0.25,0.5", "--vary", "tenant.compute_ns=0,5.5,20"]);
    sweep.args(["--system", "lru", "--threads", "2", "-o"]).arg(table).arg(scenario);
    sweep
}

#[test]
fn every_combination_is_a_row() {
    let scratch = scratch();
    let (scenario, table) = (small(&scratch), scratch.path().join("x.csv"));
    let line = format!(
        "sweep {} --vary tenant.fast_share=0.25,0.5 --vary machine=nimble-xeon,cxl --system \
         all-fast,no-migration --out {}",
        scenario.display(),
        table.display()
    );
    let outcome = pagetide(&line).succeeds();
    assert!(outcome.err.contains("8 points, 0 of them were there"), "{}", outcome.err);
    let text = fs::read_to_string(&table).unwrap();
    let (names, rows) = text.split_once('\n').unwrap();
    assert!(names.starts_with("tenant.fast_share,machine,system.name,system,tenant,"), "{names}");
    let page = include_str!("../../../../docs/sim.md");
    for name in names.split(',').skip(3).filter(|name| !name.starts_with("tier_")) {
        assert!(page.contains(&format!("`{name}`")), "{name} is not documented");
    }
    let first = |row: &str| row.split(',').take(3).map(str::to_owned).collect::<Vec<_>>();
    let points: BTreeSet<_> = rows.lines().map(first).collect();
    assert_eq!((points.len(), rows.lines().count()), (8, 8), "{text}");
    // Nothing is computed again, also of a part of it or in another order.
    let part = line.replace("machine=nimble-xeon,cxl", "machine=cxl");
    let again = pagetide(&part).succeeds();
    assert!(again.err.contains("4 points, 4 of them were there"), "{}", again.err);
    assert_eq!(fs::read_to_string(&table).unwrap().lines().count(), 5);
    // Of another scenario everything is.
    let other = fs::read_to_string(&scenario).unwrap().replace("ratio = 1e5", "ratio = 10.0");
    fs::write(&scenario, other).unwrap();
    let other = pagetide(&line).succeeds();
    assert!(other.err.contains("8 points, 0 of them were there"), "{}", other.err);
}

#[test]
fn a_killed_sweep_goes_on_and_no_point_is_computed_twice() {
    let scratch = scratch();
    let scenario = small(&scratch);
    let (table, whole) = (scratch.path().join("x.csv"), scratch.path().join("whole.csv"));
    finish(twelve(&scenario, &whole)).succeeds();
    for signal in [libc::SIGKILL, libc::SIGINT] {
        let before = lines(&table).len();
        let mut sweep = Running::start(twelve(&scenario, &table));
        assert!(within(60, || lines(&table).len() > before + 1), "no point is finished");
        sweep.signal(signal);
        let code = sweep.wait().code();
        assert!(code.is_none() || code == Some(130), "{code:?}");
        assert!(!table.exists(), "half a table");
    }
    let before = lines(&table);
    // As a kill within a write leaves it.
    let journal = format!("{}.points.jsonl", table.display());
    let mut torn = fs::read(&journal).unwrap();
    torn.extend(b"{\"key\":\"half of");
    fs::write(&journal, torn).unwrap();
    let outcome = finish(twelve(&scenario, &table)).succeeds();
    let said = format!("24 points, {} of them were there", before.len());
    assert!(outcome.err.contains(&said) && outcome.err.contains("is not whole"), "{outcome:?}");
    let text = fs::read_to_string(&table).unwrap();
    assert_eq!(text, fs::read_to_string(&whole).unwrap());
    let after = lines(&table);
    let different: BTreeSet<_> = after.iter().collect();
    assert_eq!((different.len(), after.len()), (25, 25), "24 points and the torn line, each once");
    assert_eq!(after[..before.len()], before[..]);
}

#[test]
fn a_parquet_table_holds_the_same() {
    let scratch = scratch();
    let (scenario, table) = (small(&scratch), scratch.path().join("x.parquet"));
    let line = format!("sweep {} --vary seed=1,2 -o {}", scenario.display(), table.display());
    pagetide(&line).succeeds();
    let bytes = fs::read(&table).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(!scratch.path().join("x.parquet.tmp").exists());
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let name = "a_full_disk_is_told_and_nothing_is_lost";
    let scratch = scratch();
    let scenario = small(&scratch);
    symlink("/dev/full", scratch.path().join("full.csv.points.jsonl")).unwrap();
    let full = scratch.path().join("full.csv");
    let outcome = finish(twelve(&scenario, &full));
    outcome.fails(1, &["full.csv.points.jsonl", "the disk is full", "the same command goes on"]);
    let Some(disk) = Small::mount(name, "64k") else { return };
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![1; 48 << 10]).unwrap();
    let table = disk.0.path().join("x.csv");
    finish(twelve(&scenario, &table)).fails(1, &["x.csv", "the disk is full"]);
    let kept = lines(&table).len();
    assert!(kept >= 1 && !table.exists(), "{kept}");
    fs::remove_file(&ballast).unwrap();
    let outcome = finish(twelve(&scenario, &table)).succeeds();
    let said = format!("24 points, {kept} of them were there");
    assert!(outcome.err.contains(&said), "{outcome:?}");
    assert_eq!(fs::read_to_string(&table).unwrap().lines().count(), 25);
}

#[test]
fn what_cannot_be_swept_is_told() {
    let scratch = scratch();
    let scenario = small(&scratch);
    let table = scratch.path().join("x.csv");
    let sweep = |options: &str| {
        pagetide(&format!("sweep {} --out {} {options}", scenario.display(), table.display()))
    };
    sweep("--vary tenant.fst_share=0.1,0.2").fails(1, &["did you mean 'fast_share'?"]);
    sweep("--vary fast_share=0.1,0.2")
        .fails(1, &["unknown field", "did you mean 'tenant.fast_share'?"]);
    sweep("--vary tenant.fast_share=0.1,2").fails(1, &["fast_share must be from 0 to 1"]);
    sweep("--vary system.name=lru,lur").fails(1, &["there is no system 'lur'"]);
    sweep("--vary tenant=1").fails(2, &["vary keys of tenant"]);
    let nowhere = format!("sweep {} --out /no/such/x.csv --vary seed=1", scenario.display());
    pagetide(&nowhere).fails(1, &["--out /no/such/x.csv", "there is no folder /no/such; make it"]);
    sweep("--vary seed").fails(2, &["system.interval=1,5,10"]);
    let many: Vec<String> = (0..400).map(|number| number.to_string()).collect();
    let many = many.join(",");
    sweep(&format!("--vary seed={many} --vary tenant.start={many}"))
        .fails(1, &["160000 points; at most 100000"]);
    assert!(!table.exists() && lines(&table).is_empty());
    let line = format!("sweep {} --out", scenario.display());
    pagetide(&format!("{line} x.txt")).fails(2, &["x.txt", ".parquet"]);
    pagetide(&format!("{line} {}/no/x.csv", scratch.path().display())).fails(1, &["no/x.csv"]);
}
