//! `sim` and `sweep` of pools: the examples, values set by path, what is wrong, an interruption.

use crate::json::{are_documented, section};
use crate::run::{pagetide, scratch};
use std::fs;
use std::path::{Path, PathBuf};

/// A scenario that takes a moment.
const SMALL: &str = r#"
pool = "pcm-2019"
nodes = 2
instructions = 200_000
warm_up = 100_000
[migration]
epoch_cycles = 20_000
[[program]]
kind = "minife"
edge = 40
"#;

#[expect(clippy::unwrap_used, reason = "a test's own file")]
fn small(scratch: &tempfile::TempDir) -> PathBuf {
    let path = scratch.path().join("pool.toml");
    fs::write(&path, SMALL).unwrap();
    path
}

#[test]
fn migration_stands_beside_none() {
    let scratch = scratch();
    let path = small(&scratch);
    let text = pagetide(&format!("sim {}", path.display())).succeeds().out;
    for part in ["Nodes", "none", "hot", "gain", "busy %"] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let json = pagetide(&format!("sim {} --json", path.display())).succeeds().json();
    let moved = json["outcome"]["nodes"][0]["moved_in"].as_u64();
    assert!(moved > Some(0), "{json}");
    are_documented(&json, None, section("sim of a pool"));
    assert_eq!(json["without_migration"]["nodes"][0]["moved_in"].as_u64(), Some(0));
}

#[test]
fn every_example_of_a_pool_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut ran = 0;
    for file in fs::read_dir(folder).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("pool-") {
            let line = format!(
                "sim {} --json --set instructions=100000 --set warm_up=0 --set nodes=2",
                file.path().display()
            );
            let json = pagetide(&line).succeeds().json();
            assert!(json["outcome"]["ipc"].as_f64() > Some(0.0), "{line}: {json}");
            ran += 1;
        }
    }
    assert!(ran >= 1);
}

#[test]
fn a_sweep_writes_a_row_for_each_point_and_goes_on_where_it_was() {
    let scratch = scratch();
    let (path, table) = (small(&scratch), scratch.path().join("pool.csv"));
    let line = format!(
        "sweep {} --vary migration.threshold=10,30 --vary pool.pool.read_ns=100,300 --out {}",
        path.display(),
        table.display()
    );
    let said = pagetide(&line).succeeds().err;
    assert!(said.contains("4 points, 0 of them were there"), "{said}");
    let rows = fs::read_to_string(&table).unwrap();
    assert_eq!(rows.lines().count(), 5);
    assert!(rows.starts_with("migration.threshold,pool.pool.read_ns,ipc,"), "{rows}");
    let said = pagetide(&line.replace("10,30", "10,30,50")).succeeds().err;
    assert!(said.contains("6 points, 4 of them were there"), "{said}");
    // As many threads as you like: the same figures.
    let other = scratch.path().join("other.csv");
    let line = line.replace("pool.csv", "other.csv") + " --threads 1";
    pagetide(&line).succeeds();
    assert_eq!(rows, fs::read_to_string(other).unwrap());
}

#[test]
fn what_makes_no_sense_names_file_key_and_limit() {
    let scratch = scratch();
    let path = small(&scratch);
    for (set, parts) in [
        ("migration.epoch_cycles=0", ["epoch_cycles = 0", "give 1 or more cycles"]),
        ("migration.most=70000", ["most = 70000", "a node has 65536 pages of its own"]),
        ("pool.local.capacity=0K", ["local.capacity", "a node needs local memory"]),
        ("nodes=2000", ["nodes = 2000", "give from 1 to 1024"]),
        ("pool.pool.capacity=8M", ["nodes = 2", "the pool holds 2048 pages"]),
        ("migration.treshold=3", ["migration.treshold=3", "did you mean 'threshold'?"]),
        ("program.0.edge=1", ["edge = 1", "give from 2 to 1000"]),
        ("placement=nearby", ["placement = nearby", "local-first"]),
    ] {
        let line = format!("sim {} --set {set}", path.display());
        pagetide(&line).fails(1, &["pool.toml", parts[0], parts[1]]);
    }
    pagetide(&format!("sim {} --system lru", path.display())).fails(1, &["--system"]);
}
