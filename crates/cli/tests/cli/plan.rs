//! From a recording, or a command, to an answer.

use crate::run::{
    PAGETIDE, Running, alone, command, finish, heat, info, pagetide, scratch, turn, until_recorded,
};
use crate::truths::{hot_cold, uniform};

#[test]
fn the_truth_of_a_workload_gives_its_hot_set() {
    let _alone = alone();
    let scratch = scratch();
    let truth = heat(&scratch, "truth");
    let program = "workload hot-cold --size 256M --hot 64M --rate 20000 --seconds 5";
    let line = format!("{program} --truth-epoch 0.5 --truth {}", truth.display());
    pagetide(&line).succeeds();
    let plan = pagetide(&format!("plan --json {}", truth.display())).succeeds().json();
    let answer = &plan["recommendation"];
    let bytes = answer["fast_bytes"].as_f64().unwrap_or(f64::NAN);
    assert!((bytes / f64::from(64 << 20) - 1.0).abs() <= 0.1, "{answer}");
    assert!(answer["policy"].is_string(), "{answer}");
}

#[test]
fn a_recording_too_short_says_so_in_words() {
    let _alone = alone();
    let scratch = scratch();
    let truth = heat(&scratch, "truth");
    pagetide(&format!("workload uniform --size 16M --seconds 1 --truth {}", truth.display()))
        .succeeds();
    let plan = pagetide(&format!("plan --json {}", truth.display())).succeeds().json();
    assert!(plan["recommendation"].is_null(), "{}", plan["recommendation"]);
    let why = plan["why_not"].as_str().unwrap_or_default();
    assert!(why.contains("too short") && why.contains("record for longer"), "{why}");
    assert!(why.ends_with("a plan takes 30 s or more"), "{why}");
}

#[test]
fn without_a_recommendation_nothing_is_advised() {
    let _alone = alone();
    let scratch = scratch();
    let truth = heat(&scratch, "truth");
    // Heat as even as can be, and epochs to see it in, but too few.
    let program = "workload uniform --size 16M --rate 100000 --seconds 2 --truth-epoch 0.5";
    pagetide(&format!("{program} --truth {}", truth.display())).succeeds();
    let plan = pagetide(&format!("plan --json {}", truth.display())).succeeds().json();
    assert_eq!(plan["recording"]["evaluated_epochs"], 2, "{}", plan["recording"]);
    assert!(plan["recommendation"].is_null(), "{}", plan["recommendation"]);
    assert_eq!(plan["advice"], serde_json::json!([]));
}

#[test]
fn a_part_of_a_recording_is_planned_and_every_output_says_which() {
    let scratch = scratch();
    let (a, b, page) = (hot_cold(&scratch), uniform(&scratch), scratch.path().join("x.html"));
    let (a, b, page) = (a.display(), b.display(), page.display());
    let part = "--from 1s --to 4s";
    let plan = pagetide(&format!("plan --json {a} {part}")).succeeds().json();
    let window = &plan["recording"]["window"];
    assert_eq!((&window["first_epoch"], &window["of_epochs"]), (&2.into(), &10.into()), "{window}");
    let whole = pagetide(&format!("plan --json {a}")).succeeds().json();
    assert!(whole["recording"]["window"].is_null(), "{}", whole["recording"]);
    let split = pagetide(&format!("plan --json --fast 16M {a} {part}")).succeeds().json();
    assert_eq!(&split["parts"][0]["window"], window);
    for line in [
        format!("plan {a} {part}"),
        format!("plan {a} {part} --fast 16M"),
        format!("plan {a} {b} {part} --fast 16M"),
    ] {
        let out = pagetide(&line).succeeds().out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.to_lowercase().contains("the part from 1"), "{line}: {out}");
    }
    pagetide(&format!("report {a} {part} -o {page}")).succeeds();
    let text = std::fs::read_to_string(scratch.path().join("x.html")).unwrap();
    assert!(text.contains("Only the part from 1"), "the page says it");
}

#[test]
fn fast_memory_may_be_a_share_of_what_is_in_use() {
    let scratch = scratch();
    let (a, b) = (hot_cold(&scratch), uniform(&scratch));
    let (a, b) = (a.display(), b.display());
    let in_use = |recording: &dyn std::fmt::Display| {
        let plan = pagetide(&format!("plan --json {recording}")).succeeds().json();
        plan["recording"]["footprint_bytes"].as_u64().unwrap()
    };
    let split = pagetide(&format!("plan --json --fast 25% {a}")).succeeds().json();
    assert_eq!(split["fast_bytes"], in_use(&a) / 4);
    let split = pagetide(&format!("plan --json --fast 25% {a} {b}")).succeeds().json();
    assert_eq!(split["fast_bytes"], (in_use(&a) + in_use(&b)) / 4);
    let out = pagetide(&format!("plan --fast 25% {a}")).succeeds().out;
    assert!(out.contains("is 25 % of the"), "{out}");
}

#[test]
fn a_part_that_is_none_is_refused_with_the_remedy() {
    let scratch = scratch();
    let a = hot_cold(&scratch);
    let a = a.display();
    for (part, says) in [
        ("--from 4s --to 1s", "--from 4s --to 1s holds nothing"),
        ("--from 200s", "nothing was recorded from 200 s on"),
        ("--to 2min", "end earlier, or leave the end out"),
        ("--from 1s --to 1100ms", "no epoch of it lies from"),
    ] {
        pagetide(&format!("plan {a} {part}")).fails(1, &[says]);
        pagetide(&format!("report {a} {part} -o x.html")).fails(1, &[says]);
    }
    pagetide(&format!("plan {a} --from soon")).fails(2, &["--from", "'soon' is not a time"]);
    pagetide("plan --from 5s -- true").fails(1, &["--from and --to are for recordings"]);
}

#[test]
fn a_command_is_planned_for_and_leaves_nothing_behind() {
    let Some(_turn) = turn("a_command_is_planned_for_and_leaves_nothing_behind") else { return };
    let scratch = scratch();
    let mut planning = command(["plan", "--json", "-q", "--epoch", "1s", "--"]);
    let program = "workload hot-cold --size 64M --hot 16M --rate 20000 --seconds 6";
    planning.arg(PAGETIDE).args(program.split(' '));
    planning.env("TMPDIR", scratch.path());
    let plan = finish(planning).succeeds().json();
    assert!(plan["recommendation"].is_object() != plan["why_not"].is_string(), "{plan}");
    assert_eq!(scratch.path().read_dir().unwrap().count(), 0);
}

#[test]
fn an_interrupted_recording_is_planned_for() {
    let Some(_turn) = turn("an_interrupted_recording_is_planned_for") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "kept");
    let mut planning = command(["plan", "--json", "-q", "--epoch", "500ms", "-o"]);
    planning.arg(&path).args(["--", PAGETIDE]);
    planning.args("workload uniform --size 16M --rate 1000 --seconds 1000".split(' '));
    let mut planner = Running::start(planning);
    until_recorded(&path);
    planner.signal(libc::SIGINT);
    let outcome = planner.outcome();
    outcome.fails(130, &[]);
    let plan = outcome.json();
    assert_eq!(plan["recording"]["name"], path.to_string_lossy().as_ref());
    assert_eq!(info(&path)["finished"], true);
}
