//! `sim`: scenarios, systems side by side, values set by path, what is wrong.

use crate::json::{are_documented, section};
use crate::run::{pagetide, scratch};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A scenario that takes a moment.
pub(crate) const SMALL: &str = r#"
machine = "nimble-xeon"
seconds = 0.02
warm_up = 0.005
[system]
name = "no-migration"
interval = 0.002
[[tenant]]
name = "table"
memory = "16M"
fast_share = 0.25
pattern = { kind = "hot-cold", ratio = 1e5 }
"#;

/// It as a file.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own file")]
pub(crate) fn small(scratch: &TempDir) -> PathBuf {
    let path = scratch.path().join("small.toml");
    fs::write(&path, SMALL).unwrap();
    path
}

#[test]
fn systems_stand_side_by_side() {
    let scratch = scratch();
    let path = small(&scratch);
    let line = format!("sim --system all-fast,no-migration,lru {}", path.display());
    let outcome = pagetide(&line).succeeds();
    for part in ["Tenant table", "all-fast", "no-migration", "lru", "ratio", "tier 1 %"] {
        assert!(outcome.out.contains(part), "no {part} in\n{}", outcome.out);
    }
    assert!(outcome.err.contains("M a second"), "{}", outcome.err);
    assert_eq!(pagetide(&format!("{line} --quiet")).succeeds().err, "");
    let json = pagetide(&format!("{line} --json")).succeeds().json();
    let of = |number: usize| {
        let outcome = &json["outcomes"][number];
        let tenant = &outcome["tenants"][0];
        (outcome["system"].clone(), tenant["fast_share"].as_f64().unwrap_or(-1.0))
    };
    assert_eq!(of(0), ("all-fast".into(), 1.0));
    assert!(of(2).1 > of(1).1, "moving pages did not help: {json}");
    are_documented(&json, None, section("sim"));
}

#[test]
fn values_are_set_by_path() {
    let scratch = scratch();
    let path = small(&scratch);
    let share = |settings: &str| {
        let line = format!("sim --json -q {} {settings}", path.display());
        let json = pagetide(&line).succeeds().json();
        json["outcomes"][0]["tenants"][0]["ns_per_access"].as_f64().unwrap_or(0.0)
    };
    let chase = "--set tenant.table.pattern={kind=\"pointer-chase\"}";
    let near = |settings: &str, right: f64| {
        let found = share(&format!("{chase} {settings}"));
        assert!((found / right - 1.0).abs() < 0.03, "{settings}: {found}, not {right}");
    };
    near("--set system.name=all-fast", 84.9);
    near("--set system.name=all-slow", 199.2);
    near("--set system.name=all-slow --set machine.tier.remote.read_latency_ns=400", 400.0);
    near("--set system.name=all-slow --set machine.tier.1.read_latency_ns=300", 300.0);
    near("--set tenant.fast_share=0.5", (84.9 + 199.2) / 2.0);
    near("--set tenant.0.fast_share=0.75", 0.75 * 84.9 + 0.25 * 199.2);
}

#[test]
fn what_leads_nowhere_is_told_with_the_nearest_known() {
    let scratch = scratch();
    let path = small(&scratch);
    for (options, said) in [
        ("--set system.intervall=5", "system.intervall=5: unknown field `intervall`"),
        ("--set seconds=1 --set secnds=5 --set seed=1", "secnds=5: unknown field"),
        ("--set systm.interval=5", "did you mean 'system'?"),
        ("--set tenant.tabel.fast=1M", "did you mean 'table'?"),
        ("--set tenant.3.fast=1M", "there is only 0 (table)"),
        ("--set tenant.pattern.rato=3", "did you mean 'ratio'?"),
        ("--set machine.tier.1.read_latncy_ns=5", "did you mean 'read_latency_ns'?"),
        ("--set machine=nimble-xenon", "did you mean 'nimble-xeon'?"),
        ("--set system.name=nimble-hgue", "did you mean 'nimble-huge'?"),
        ("--system lru,nimble-hgue", "did you mean 'nimble-huge'?"),
        ("--set seconds.x=1", "'x' leads nowhere"),
        ("--set tenant.fast=16", "expected a string"),
        ("--set seconds=soon", "give a number, without quotes or unit"),
        ("--set system.promote_rate_limit=5", "says nothing to system"),
        (
            "--set system.name=tpp-mod --set system.governor=gain",
            "system 'tpp-mod' does not count: give one of none, adaptive, or a system that has a tracker",
        ),
        ("--set warm_up=7", "leaves nothing of seconds"),
    ] {
        let outcome = pagetide(&format!("sim {options} {}", path.display()));
        outcome.fails(1, &["small.toml", said]);
        assert_eq!((outcome.out.as_str(), outcome.err.lines().count()), ("", 1), "{outcome:?}");
    }
    pagetide(&format!("sim --set seconds {}", path.display())).fails(2, &["system.interval=5"]);
    pagetide("sim").fails(2, &["SCENARIO"]);
    pagetide("sim /no/such.toml").fails(1, &["/no/such.toml", "there is no such file"]);
    let folder = scratch.path().display().to_string();
    pagetide(&format!("sim {folder}"))
        .fails(1, &[&folder, "that is a folder; name the scenario's"]);
    pagetide(&format!("sim {} --timeline {folder}", path.display()))
        .fails(1, &["--timeline: ", &folder, "that is a folder; name a file in it"]);
    pagetide("sim /dev/zero").fails(1, &["/dev/zero", "that is no scenario"]);
    fs::write(&path, "seconds = = 1").unwrap();
    pagetide(&format!("sim {}", path.display())).fails(1, &["small.toml", "line 1"]);
}

#[test]
fn what_this_machine_has_no_memory_for_is_refused_at_once() {
    let scratch = scratch();
    let path = small(&scratch);
    let outcome = pagetide(&format!("sim --set tenant.memory=15T {}", path.display()));
    outcome.fails(1, &["240 GiB of memory for each of 1 at a time", "give a larger scale"]);
}

#[test]
fn what_cannot_be_done_is_known_before_anything_is_simulated() {
    pagetide("sim no-such.toml").fails(1, &["no-such.toml", "no such file", "docs/sim.md"]);
    let scratch = scratch();
    let path = small(&scratch);
    // A folder stands where the file is to be.
    let taken = scratch.path().join("taken.csv.tmp");
    fs::create_dir(&taken).unwrap();
    let timeline = scratch.path().join("taken.csv");
    let line = format!("sim {} --timeline {}", path.display(), timeline.display());
    let failed = pagetide(&line);
    failed.fails(1, &["--timeline: ", "taken.csv: "]);
    assert!(failed.out.is_empty(), "{}", failed.out);
    let pool = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/pool-pcm.toml");
    pagetide(&format!("sim {pool} --set scale=3"))
        .fails(1, &["'scale' is a key of scenarios of tiers"]);
    let line = format!("sim {} --set placement=\"pool\"", path.display());
    pagetide(&line).fails(1, &["'placement' is a key of scenarios of a pool"]);
    // One that stands in the file is blamed itself, not the others.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("pool = \"pcm\"\n{text}")).unwrap();
    pagetide(&format!("sim {}", path.display())).fails(
        1,
        &["small.toml", "`tenant` is a key of scenarios of tiers", "`pool` of those of a pool"],
    );
}

#[test]
fn every_decision_is_a_line_of_the_timeline() {
    let scratch = scratch();
    let path = small(&scratch);
    let csv = scratch.path().join("timeline.csv");
    let line = format!("sim --system all-fast,lru,amp {} --timeline", path.display());
    pagetide(&format!("{line} {}", csv.display())).succeeds();
    let text = fs::read_to_string(&csv).unwrap();
    let (names, rows) = text.split_once('\n').unwrap();
    let page = include_str!("../../../../docs/sim.md");
    for name in names.split(',') {
        assert!(page.contains(&format!("`{name}`")), "{name} is not documented");
    }
    let of = |system: &str| rows.lines().filter(|row| row.starts_with(system)).count();
    assert_eq!(of("all-fast,"), 0);
    assert!(of("lru,table,") >= 8 && of("amp,table,") >= 8, "{text}");
    assert!(rows.lines().all(|row| row.split(',').count() == names.split(',').count()));
    let full = pagetide(&format!("{line} /dev/full"));
    full.fails(1, &["/dev/full", "the disk is full; free some space and run it again"]);
    assert!(!full.err.contains("goes on"), "nothing of it is kept: {}", full.err);
}

#[test]
fn a_timeline_takes_the_place_of_a_timeline_alone() {
    let scratch = scratch();
    let path = small(&scratch);
    let sim = |timeline: &str| {
        let timeline = scratch.path().join(timeline);
        pagetide(&format!(
            "sim -q --system lru {} --timeline {}",
            path.display(),
            timeline.display()
        ))
    };
    let text = fs::read_to_string(&path).unwrap();
    std::os::unix::fs::symlink(&path, scratch.path().join("link.csv")).unwrap();
    for name in ["small.toml", "link.csv"] {
        sim(name).fails(1, &["--timeline", name, "the scenario itself"]);
    }
    fs::write(scratch.path().join("notes.csv"), "system,tenant,counted_s\n").unwrap();
    sim("notes.csv").fails(1, &["notes.csv", "is no timeline"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    // As `mktemp` leaves it.
    fs::write(scratch.path().join("new.csv"), "").unwrap();
    for _ in 0..2 {
        sim("new.csv").succeeds();
        assert!(fs::read_to_string(scratch.path().join("new.csv")).unwrap().contains("\nlru,"));
    }
    fs::rename(&path, scratch.path().join("small.csv")).unwrap();
    let scenario = scratch.path().join("small.csv").display().to_string();
    pagetide(&format!("sweep {scenario} -q --vary seed=1 --out {scenario}"))
        .fails(1, &["--out", "small.csv", "the scenario itself"]);
    assert_eq!(fs::read_to_string(scenario).unwrap(), text);
}

#[test]
fn systems_are_listed() {
    let text = pagetide("sim --list-systems").succeeds().out;
    let json = pagetide("sim --list-systems --json").succeeds().json();
    let systems = json.as_array().cloned().unwrap_or_default();
    assert!(systems.len() > 10, "{json}");
    assert!(systems.iter().all(|one| text.contains(one["name"].as_str().unwrap_or("?"))), "{text}");
}

/// The commands that the examples name, made short.
#[test]
fn every_example_runs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scratch = scratch();
    let mut ran = 0;
    for file in fs::read_dir(folder.join("scenarios")).unwrap().flatten() {
        let text = fs::read_to_string(file.path()).unwrap();
        let name = file.file_name().into_string().unwrap();
        // Those have keys of their own.
        if name.starts_with("pool-") {
            continue;
        }
        let commands: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("#   pagetide sim ")).collect();
        assert!(!commands.is_empty(), "{name} names no command");
        let warm_up = text.lines().find_map(|line| line.strip_prefix("warm_up = ")).unwrap();
        let seconds = warm_up.parse::<f64>().unwrap() * 1.1;
        for command in commands {
            assert!(command.starts_with(&format!("scenarios/{name}")), "{name}: {command}");
            let command = command
                .replace("scenarios/", &format!("{}/scenarios/", folder.display()))
                .replace("--timeline ", &format!("--timeline {}/", scratch.path().display()));
            let line = format!("sim {command} --json --set seconds={seconds}");
            let json = pagetide(&line).succeeds().json();
            let outcomes = json["outcomes"].as_array().cloned().unwrap_or_default();
            let accesses = |one: &serde_json::Value| one["tenants"][0]["accesses"].as_u64();
            assert!(outcomes.iter().map(accesses).all(|count| count > Some(0)), "{line}: {json}");
            ran += 1;
        }
    }
    assert!(ran >= 6, "{ran}");
}
