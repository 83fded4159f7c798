//! `sim` and `sweep` of pools: the examples, values set by path, what is wrong, an interruption.

#![expect(clippy::unwrap_used, reason = "a test's own files")]

use crate::curve::{file, rounds};
use crate::json::{are_documented, section};
use crate::run::{Running, command, finish, pagetide, scratch, within};
use pagetide_access::{Access, Header, Kind, Page, StreamWriter};
use pagetide_types::{Bytes, ObjectId};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

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

fn small(scratch: &TempDir) -> PathBuf {
    file(scratch, "pool.toml", SMALL.as_bytes())
}

/// Pages that a thread of [`recorded`] accesses, once each, and the instructions before each access.
const TOUCHED: u32 = 1000;
const GAP: u64 = 40;

/// A stream of so many threads, each with pages of its own.
fn recorded(scratch: &TempDir, threads: u32) -> PathBuf {
    let header = Header {
        tool: "test".to_owned(),
        target: "pages".to_owned(),
        cache: Bytes(0),
        ways: 1,
        dilation: 1.0,
        facts: [].into(),
    };
    let mut writer = StreamWriter::new(Vec::new(), &header).unwrap();
    let page = |number: u32| Page { object: ObjectId(0), number: u64::from(number) };
    writer.pages(&(0..threads * TOUCHED).map(page).collect::<Vec<_>>()).unwrap();
    for thread in 0..threads {
        let access = |i: u32| {
            let line = u8::try_from(i % 64).unwrap();
            Access { page: thread * TOUCHED + i, line, kind: Kind::Read, gap: GAP }
        };
        writer.accesses(thread, 0, &(0..TOUCHED).map(access).collect::<Vec<_>>()).unwrap();
    }
    file(scratch, &format!("{threads}.stream"), &writer.finish().unwrap())
}

/// A scenario of two nodes on which nothing moves, with this program.
fn with_program(scratch: &TempDir, program: &str) -> PathBuf {
    let text = format!("nodes = 2\ninstructions = 200_000\n[[program]]\n{program}\n");
    file(scratch, "program.toml", text.as_bytes())
}

fn node(path: &Path, options: &str) -> Value {
    let line = format!("sim {} --json {options}", path.display());
    pagetide(&line).succeeds().json()["outcome"]["nodes"][1].clone()
}

#[test]
fn migration_stands_beside_none() {
    let scratch = scratch();
    let path = small(&scratch);
    let text = pagetide(&format!("sim {}", path.display())).succeeds().out;
    for part in ["Nodes", "nothing ", "hottest ", "gain", "busy %"] {
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
        ("migration.epoch_cycles=0", ["migration.epoch_cycles = 0", "give 100 or more cycles"]),
        ("migration.epoch_cycles=1", ["migration.epoch_cycles = 1", "give 100 or more cycles"]),
        ("migration.probes=0", ["migration.probes = 0", "give 1 or more"]),
        ("migration.governor_second_us=20", ["governor_second_us = 20", "give a governor, too"]),
        ("pool.local.capacity=100K", ["most = 50", "or a larger pool.local.capacity"]),
        ("migration=nothing", ["migration=nothing: ", "expected a table, as { most = 50 }"]),
        ("program={kind=\"minife\"}", ["program={", "give a list, of tables"]),
        ("warm_up=9e99", ["warm_up=9e99: ", "a whole number from 0 on"]),
        ("placement=3", ["placement=3: ", "a text in quotes (a size as \"64G\")"]),
        ("placement=1:0", ["placement = 1:0", "a whole number from 1 to 4294967295"]),
        ("pool.tlb.first=64", ["tlb: missing field", "`"]),
        ("edge=60", ["edge=60: ", "did you mean 'program.edge'?"]),
        ("migration.most=70000", ["migration.most = 70000", "a node has 65536 pages of its own"]),
        ("pool.local.capacity=0K", ["local.capacity", "a node needs local memory"]),
        ("pool.local.capacity=0", ["local.capacity = 0: ", "give a text in quotes"]),
        ("migration.most=-1", ["migration.most=-1", "from 0 to 4294967295"]),
        ("nodes=2000", ["nodes = 2000", "give from 1 to 1024"]),
        ("pool.pool.capacity=8M", ["nodes = 2", "the pool holds 2048 pages"]),
        ("migration.most_debt=0.1", ["most_debt = 0.1", "only policy = \"payback\""]),
        ("migration.governor=gian", ["governor = gian", "did you mean 'gain'?"]),
        ("migration.treshold=3", ["migration.treshold=3", "did you mean 'threshold'?"]),
        ("program.0.edge=1", ["program.edge = 1", "give from 2 to 1000"]),
        ("placement=nearby", ["placement = nearby", "local-first"]),
    ] {
        let line = format!("sim {} --set {set}", path.display());
        let found = pagetide(&line);
        found.fails(1, &["pool.toml", parts[0], parts[1]]);
        assert_eq!(found.err.matches(parts[0]).count(), 1, "said once: {}", found.err);
        assert!(found.err.len() < 600, "too long: {}", found.err);
    }
    pagetide(&format!("sim {} --system lru", path.display())).fails(1, &["--system"]);
}

#[test]
fn banks_are_at_work_for_no_longer_than_the_last_core_runs() {
    // DMA goes on with the pages that were chosen before the last core's end.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/pool-pcm.toml");
    let line = format!(
        "sim {} --json --set nodes=1 --set instructions=200000 --set warm_up=100000 \
         --set migration.swap_stall=page --set migration.dma_in_banks=true",
        path.display()
    );
    let busy = pagetide(&line).succeeds().json()["outcome"]["busy_share"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&busy), "{busy}");
}

#[test]
fn of_several_programs_the_one_at_fault_is_named() {
    let scratch = scratch();
    let set = "program=[{kind=\"minife\",edge=60},{kind=\"lulesh\",edge=0}]";
    let line = format!("sim {} --set {set}", small(&scratch).display());
    pagetide(&line).fails(1, &["program.1.edge = 0"]);
}

#[test]
fn the_remedy_for_a_pool_that_is_too_small_works() {
    let scratch = scratch();
    let line = format!("sim {} --json --set pool.pool.capacity=8M", small(&scratch).display());
    let said = pagetide(&line);
    said.fails(1, &["at least pool.pool.capacity = "]);
    let (_, size) = said.err.split_once("pool.pool.capacity = ").unwrap();
    let size = size.split_whitespace().next().unwrap();
    pagetide(&line.replace("=8M", &format!("={size}"))).succeeds();
    let less: u64 = size.trim_end_matches('M').parse().unwrap();
    pagetide(&line.replace("=8M", &format!("={}M", less - 1))).fails(1, &["at least"]);
}

#[test]
fn each_row_of_a_sweep_is_what_it_is_called() {
    let scratch = scratch();
    let scenario = small(&scratch).display().to_string();
    let rows = |vary: [&str; 2]| {
        let table = scratch.path().join("order.csv");
        let [one, other] = vary;
        let line = format!("sweep {scenario} --vary {one} --vary {other} -o {}", table.display());
        pagetide(&line).succeeds();
        let text = fs::read_to_string(table).unwrap();
        let row = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = text.lines().skip(1).map(row).collect();
        // The columns of what varies stand in the order that was given.
        rows.iter_mut().for_each(|row| row[..2].sort());
        rows.sort();
        rows
    };
    let (inner, outer) = ("pool.core.outstanding=2,48", "pool=pcm-2019,cxl-2025");
    let found = rows([inner, outer]);
    assert_eq!(found, rows([outer, inner]));
    let outcomes: std::collections::BTreeSet<_> = found.iter().map(|row| &row[2..]).collect();
    assert_eq!(outcomes.len(), 4, "{found:?}");
}

#[test]
fn a_key_that_is_given_twice_is_refused() {
    let scratch = scratch();
    let line = format!("sweep {} -o {}/x.csv", small(&scratch).display(), scratch.path().display());
    for twice in [
        "--vary migration.most=1,2 --vary migration.most=3",
        "--vary migration.most=1 --set migration.most=3",
        "--vary migration.most=1,1",
    ] {
        pagetide(&format!("{line} {twice}")).fails(1, &["migration.most", "is given twice"]);
    }
}

#[test]
fn a_file_of_both_kinds_and_a_misspelt_program_are_told_as_such() {
    let scratch = scratch();
    let both = "pool = 'pcm-2019'\ninstructions = 1\n[[tenant]]\nmemory = '1G'\n";
    let path = file(&scratch, "both.toml", both.as_bytes());
    let said = ["`tenant` is a key of scenarios of tiers", "`pool` of those of a pool"];
    pagetide(&format!("sim {}", path.display())).fails(1, &said);
    let path = file(&scratch, "progam.toml", b"instructions = 1\n[[progam]]\nkind = 'minife'\n");
    pagetide(&format!("sim {}", path.display())).fails(1, &["did you mean 'program'?"]);
}

#[test]
fn keys_that_cost_payback_its_gain_are_told() {
    let scratch = scratch();
    let scenario = small(&scratch).display().to_string();
    let told = |options: &str| {
        let line = format!("sim {scenario} --set migration.policy=payback {options}");
        let all = pagetide(&line).succeeds();
        assert!(all.out.contains("payback "), "{}", all.out);
        all.err
    };
    assert!(told("").contains(
        "note: migration.policy = \"payback\" may gain much less with epoch_cycles = 20000;"
    ));
    assert!(!told("--set migration.epoch_cycles=10000").contains("note:"));
}

#[test]
fn a_recorded_stream_is_a_program_until_it_ends_or_again_and_again() {
    let scratch = scratch();
    let stream = recorded(&scratch, 2).display().to_string();
    let path = with_program(&scratch, &format!("kind = 'stream'\nstream = '{stream}'"));
    let told = |options: &str| {
        let node = node(&path, options);
        ["instructions", "pool_fetches"].map(|key| node[key].as_u64().unwrap())
    };
    let (lines, once) = (2 * u64::from(TOUCHED), 2 * u64::from(TOUCHED) * GAP);
    assert_eq!(told(""), [once, lines]);
    // It is in the caches when it comes again.
    let [instructions, fetched] = told("--set program.0.repeat=true");
    assert_eq!((instructions / 10_000, fetched), (40, lines));
    assert_eq!(told("--set program.0.repeat=true --set warm_up=80000")[1], 0);
    // What was recorded anew is computed anew.
    let table = scratch.path().join("x.csv");
    let line = format!("sweep {} --vary seed=1,2 -o {}", path.display(), table.display());
    pagetide(&line).succeeds();
    assert!(pagetide(&line).succeeds().err.contains("2 points, 2 of them were there"));
    fs::copy(recorded(&scratch, 1), &stream).unwrap();
    assert!(pagetide(&line).succeeds().err.contains("2 points, 0 of them were there"));
}

#[test]
fn a_trace_of_requests_is_a_program_with_instructions_between() {
    let scratch = scratch();
    let trace = rounds(&scratch).display().to_string();
    let path = with_program(&scratch, &format!("kind = 'stream'\nstream = '{trace}'"));
    for (options, instructions) in [("", 4000), ("--set program.0.instructions=9", 9000)] {
        let node = node(&path, options);
        assert_eq!(node["instructions"].as_u64(), Some(instructions), "{node}");
        assert_eq!(node["pool_fetches"].as_u64(), Some(100), "{node}");
    }
}

#[test]
fn every_pattern_is_a_program() {
    let scratch = scratch();
    let patterns = [
        "kind = 'uniform'",
        "kind = 'gups'",
        "kind = 'strided', stride = '64B'",
        "kind = 'zipf', exponent = 1.2",
        "kind = 'hot-cold', ratio = 1000.0",
        "kind = 'phases', every = 0.00001",
        "kind = 'pointer-chase'",
        "kind = 'amp', favour = ['lru'], each = 0.00001",
        "kind = 'regions', part = [{ name = 'all', from = 0, to = 1, weight = 1, walk = 'sequential' }]",
    ];
    for pattern in patterns {
        let program = format!("kind = 'pattern'\nmemory = '64M'\npattern = {{ {pattern} }}");
        let path = with_program(&scratch, &program);
        let fetched = node(&path, "")["pool_fetches"].as_u64().unwrap();
        assert!(fetched > 0, "{pattern}");
        if pattern.contains("strided") {
            // Each line once, on two cores, every four instructions.
            assert!(fetched.abs_diff(100_000) < 200, "{fetched}");
            let rarer = node(&path, "--set program.0.instructions=8");
            assert!(rarer["pool_fetches"].as_u64().unwrap().abs_diff(50_000) < 200, "{rarer}");
        }
    }
}

#[test]
fn a_point_of_a_sweep_that_makes_no_sense_is_found_before_any_is_computed() {
    let scratch = scratch();
    let (path, table) = (small(&scratch), scratch.path().join("nodes.csv"));
    let line = format!(
        "sweep {} --set pool.pool.capacity=60M --vary nodes=1,2,8 --out {}",
        path.display(),
        table.display()
    );
    pagetide(&line).fails(1, &["nodes = 8", "the pool holds 15360 pages"]);
    assert_eq!(points(&table), 0);
}

#[test]
fn a_program_that_does_not_fit_names_key_and_remedy() {
    let scratch = scratch();
    let two = recorded(&scratch, 2).display().to_string();
    let three = recorded(&scratch, 3).display().to_string();
    let cut = fs::read(&two).unwrap();
    let cut = file(&scratch, "cut.stream", &cut[..cut.len() - 30]).display().to_string();
    let stream = |path: &str| format!("kind = 'stream'\nstream = '{path}'");
    let pattern = |memory: &str, pattern: &str| {
        format!("kind = 'pattern'\nmemory = '{memory}'\npattern = {{ {pattern} }}")
    };
    for (program, options, parts) in [
        (stream("/no/such"), "", ["program.stream: /no/such:", "No such file"]),
        (stream("/tmp"), "", ["program.stream: /tmp:", "it is no file"]),
        (stream(&cut), "", ["program.stream: ", "it was cut"]),
        (stream(&three), "", ["pool.core.count = 2", "has 3 threads"]),
        (stream(&two), "--set warm_up=50000", ["warm_up = 50000", "or repeat = true"]),
        (stream(&two), "--set program.0.instructions=4", ["instructions = 4", "leave it out"]),
        (stream(&two), "--set program.0.reapet=true", ["reapet", "did you mean 'repeat'?"]),
        (pattern("64", "kind = 'gups'"), "", ["program.memory = 64", "has no unit"]),
        (pattern("20G", "kind = 'gups'"), "", ["nodes = 2", "the pool holds 4194304 pages"]),
        // The second one is found before the first one's accesses are filtered, which would take days.
        (
            format!(
                "{}\n[[program]]\n{}",
                pattern("1M", "kind = 'gups'"),
                pattern("20G", "kind = 'gups'")
            ),
            "--set warm_up=1000000000000",
            ["nodes = 2", "the pool holds 4194304 pages"],
        ),
        (pattern("1T", "kind = 'gups'"), "", ["program.kind = pattern", "larger than 256 GiB"]),
        (
            pattern("4K", "kind = 'zpif'"),
            "",
            ["program.pattern = zpif: unknown", "did you mean 'zipf'?"],
        ),
        (pattern("1M", "hot = 2.0"), "", ["pattern = of no kind", "missing field `kind`"]),
        (
            pattern("1M", "kind = 'hot-cold', hot = 2.0"),
            "",
            ["hot must be a share of the memory", "from 0 to 1, not 2.0"],
        ),
        (
            pattern("1M", "kind = 'gups'"),
            "--set program.0.instructions=0",
            ["program.instructions = 0", "give 1 or more"],
        ),
    ] {
        let path = with_program(&scratch, &program);
        let line = format!("sim {} {options}", path.display());
        pagetide(&line).fails(1, &["program.toml", parts[0], parts[1]]);
    }
}

/// Whole lines of a sweep's journal.
fn points(table: &Path) -> usize {
    let text = fs::read_to_string(format!("{}.points.jsonl", table.display())).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).count()
}

/// A sweep of twelve points, each of which takes a while.
fn twelve(scenario: &Path, table: &Path) -> Command {
    let mut sweep = command(["sweep", "--set", "nodes=8", "--set", "instructions=3000000"]);
    sweep.args(["--vary", "migration.threshold=3,10,30", "--vary", "migration.most=5,10,50,100"]);
    sweep.args(["--threads", "1", "-o"]).arg(table).arg(scenario);
    sweep
}

#[test]
fn a_killed_sweep_keeps_its_points_and_ends_in_the_same_table() {
    let scratch = scratch();
    let scenario = small(&scratch);
    let (table, whole) = (scratch.path().join("x.csv"), scratch.path().join("whole.csv"));
    finish(twelve(&scenario, &whole)).succeeds();
    let mut sweep = Running::start(twelve(&scenario, &table));
    assert!(within(120, || points(&table) > 1), "no point is finished");
    sweep.signal(libc::SIGKILL);
    assert_eq!(sweep.wait().code(), None, "it was not killed in the middle");
    assert!(!table.exists(), "half a table");
    let kept = points(&table);
    assert!((2..12).contains(&kept), "{kept}");
    let again = finish(twelve(&scenario, &table)).succeeds();
    assert!(again.err.contains(&format!("12 points, {kept} of them were there")), "{again:?}");
    assert_eq!(points(&table), 12, "no point twice");
    assert_eq!(fs::read_to_string(&table).unwrap(), fs::read_to_string(&whole).unwrap());
}
