//! From a recording, or a command, to an answer.

use crate::run::{
    PAGETIDE, Running, alone, command, finish, heat, info, pagetide, scratch, turn, until_recorded,
};

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
