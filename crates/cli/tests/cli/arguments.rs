//! Wrong arguments and wrong recordings: each is named, with the remedy, and nothing is recorded.
//! None of these needs a privilege.

use crate::run::{Outcome, PAGETIDE, command, finish, heat, pagetide, scratch};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Plans a recording and reads the complaint.
#[track_caller]
fn plan(path: &Path) -> Outcome {
    pagetide(&format!("plan {}", path.display()))
}

#[test]
fn a_target_is_needed() {
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let outcome = pagetide(&format!("record -o {}", path.display()));
    outcome.fails(2, &["nothing to record", "after --", "--pid", "--cgroup", "pagetide record"]);
    // Nothing is no path to the root of all cgroups.
    pagetide("record -o x.heat --cgroup=").fails(2, &["a value is required for '--cgroup <PATH>'"]);
    pagetide("plan").fails(2, &["nothing to plan for", "pagetide plan app.heat", "after --"]);
    pagetide("run").fails(2, &["nothing to manage", "after --", "--pid", "--cgroup"]);
    pagetide("report").fails(2, &["nothing to report on", "pagetide report app.heat"]);
    assert!(!path.exists());
}

#[test]
fn a_command_without_its_dashes_is_told_where_they_go() {
    let outcome = pagetide("record -o x.heat ruby app.rb");
    outcome.fails(2, &["'ruby'", "a command that is to be started goes after --"]);
    pagetide("plan ruby app.rb").fails(1, &["no recording ruby", "pagetide plan -- ruby app.rb"]);
    // Of an option that is none nobody is told to write it after them.
    let outcome = pagetide("plan x.heat --slowness 2%");
    outcome.fails(2, &["unexpected argument '--slowness'"]);
    assert!(!outcome.err.contains("'-- --slowness'"), "{}", outcome.err);
    let outcome = pagetide("record -o x.heat --pids 7");
    outcome.fails(2, &["'--pids'", "'--pid'"]);
    assert!(!outcome.err.contains("'-- --pids'"), "{}", outcome.err);
}

#[test]
fn two_targets_are_one_too_many() {
    let outcome = pagetide("record -o x.heat --pid 1 --cgroup /x");
    outcome.fails(2, &["--pid", "--cgroup", "cannot be used with"]);
    pagetide("record -o x.heat --pid 1 -- true").fails(2, &["--pid", "cannot be used with"]);
    for more in ["-- true", "--pid 1", "--epoch 1s", "-o y.heat"] {
        let outcome = pagetide(&format!("plan x.heat {more}"));
        outcome.fails(2, &["RECORDING", "cannot be used with", "or for what is recorded now"]);
    }
}

#[test]
fn values_that_make_no_sense_are_named_with_an_example() {
    pagetide("record -o x --epoch soon -- true").fails(2, &["--epoch", "'soon'", "200ms"]);
    pagetide("record -o x --epoch 0s -- true").fails(2, &["--epoch", "'0s'"]);
    pagetide("record -o x --budget 200% -- true").fails(2, &["--budget", "200%", "100%"]);
    pagetide("record -o x --budget much -- true").fails(2, &["--budget", "'much'", "5%"]);
    pagetide("record -o x --for ever -- true").fails(2, &["--for", "'ever'"]);
    pagetide("record -o x --pid me").fails(2, &["--pid", "'me'"]);
    pagetide("plan x --memory-share 40-20%").fails(2, &["--memory-share", "lower end first"]);
    pagetide("plan x --fast plenty").fails(2, &["--fast", "plenty", "25%"]);
    pagetide("plan x --target-slowdown 0").fails(2, &["'0'", "more than 0%", "at most 100%"]);
}

#[test]
fn values_of_run_and_bench_that_make_no_sense_are_named_with_an_example() {
    pagetide("run --move-rate 0").fails(2, &["--move-rate", "'0' moves nothing", "100M"]);
    pagetide("run --move-rate fast").fails(2, &["--move-rate", "'fast'", "64G"]);
    pagetide("run --move-time 0s").fails(2, &["--move-time", "'0s'", "5s"]);
    for wrong in ["soon", "5x", "0x", "0foo"] {
        let said = ["--payback", &format!("'{wrong}' is not a time"), "200ms"];
        pagetide(&format!("run --payback {wrong}")).fails(2, &said);
    }
    pagetide("run --fast 0x10").fails(2, &["--fast", "'0x10'", "25%"]);
    pagetide("run --slow-nodes one").fails(2, &["--slow-nodes", "'one'", "pagetide doctor"]);
    pagetide("bench migrate --size 0").fails(2, &["--size", "'0' is nothing", "64M"]);
    pagetide("bench migrate --threads 0").fails(2, &["--threads", "'0'", "from 1 on"]);
    pagetide("bench migrate --rounds 0").fails(2, &["--rounds", "'0'", "from 1 on"]);
    pagetide("bench migrate --page-size 3K").fails(2, &["--page-size", "3K", "4K"]);
    pagetide("plan x y --fast 1G --weights 1,none").fails(2, &["--weights", "'none'", "above 0"]);
}

#[test]
fn values_with_two_readings_are_asked_about() {
    pagetide("plan x --target-slowdown 0.02").fails(2, &["'0.02'", "0.02% or 2%", "the %"]);
    pagetide("record -o x --budget 0.5 -- true").fails(2, &["--budget", "0.5% or 50%"]);
    for option in ["plan x --fast", "run --fast", "run --reserve", "run --move-rate"] {
        let said = ["'10' has no unit", "10G", "10B for bytes"];
        pagetide(&format!("{option} 10")).fails(2, &said);
    }
    pagetide("bench migrate --size 64").fails(2, &["--size", "'64' has no unit", "64M"]);
}

#[test]
fn values_below_zero_are_values_and_no_options() {
    for (line, said) in [
        ("plan x --target-slowdown -3%", "'-3%' is out of range"),
        ("plan x --memory-share -3%", "'-3%' is out of range"),
        ("record -o x --for -5s -- true", "'-5s' is out of range"),
        ("record -o x -p -1", "'-1' is not the number of a process"),
        ("plan x --fast -1G", "'-1G' is not an amount of memory"),
        ("plan x y --fast 1G --weights -1,2", "'-1' is no weight; give a number above 0"),
        ("run --fast -1G", "'-1G' is not an amount of memory"),
        ("run --reserve -5%", "'-5%' is not between 0% and 100%"),
        ("run --move-rate -1M", "'-1M' is not an amount of memory"),
        ("run --move-time -1s", "'-1s' is out of range"),
        ("run --payback -1s", "'-1s' is out of range"),
        ("run --epoch -1s", "'-1s' is out of range"),
        ("run --for -1s", "'-1s' is out of range"),
        ("run --budget -1%", "'-1%' is out of range"),
        ("run --move-threads -1", "-1 is not in 1..=64"),
        ("run --fast-nodes -1", "'-1' is not the number of a node"),
        ("bench migrate --size -1G", "'-1G' is not an amount of memory"),
        ("bench migrate --batch -1", "'-1' is not a whole number from 1 on"),
        ("bench migrate --rounds -1", "'-1' is not a whole number from 1 on"),
    ] {
        let outcome = pagetide(line);
        outcome.fails(2, &[said]);
        assert!(!outcome.err.contains("tip:"), "{line}: {}", outcome.err);
    }
}

#[test]
fn options_go_by_the_names_that_other_tools_have_for_them() {
    pagetide("plan x --slowdown 0").fails(2, &["--target-slowdown", "more than 0%"]);
    pagetide("record -o x --duration soon -- true").fails(2, &["--for", "'soon' is not a time"]);
}

#[test]
fn options_of_recording_are_refused_where_a_recording_is_given() {
    for option in [
        "--for 10s",
        "--unit 4K",
        "--epoch 1s",
        "--budget 2%",
        "--clear-shared",
        "--quiet",
        "--output y.heat",
    ] {
        let name = option.split(' ').next().unwrap_or_default();
        pagetide(&format!("plan x.heat {option}"))
            .fails(2, &["RECORDING", name, "cannot be used with"]);
    }
}

#[test]
fn the_machines_can_be_listed() {
    let listed = pagetide("plan --machine list").succeeds().out;
    assert!(listed.lines().any(|line| line.starts_with("cxl ")), "{listed}");
    assert_eq!(pagetide("report --machine list").succeeds().out, listed);
    assert_eq!(pagetide("run --machine list").succeeds().out, listed);
}

#[test]
fn help_tells_the_exit_codes() {
    let help = pagetide("--help").succeeds().out;
    for said in ["Exit codes:", "privilege is missing (doctor: 4)", "no recommendation", "130"] {
        assert!(help.contains(said), "no '{said}' in {help}");
    }
    assert!(pagetide("plan --help").succeeds().out.contains("the exit code is 0"));
}

#[test]
fn help_says_what_a_time_without_a_unit_is() {
    for command in ["record", "plan", "run"] {
        let help = pagetide(&format!("{command} --help")).succeeds().out;
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = words.matches("a number alone is seconds").count();
        assert_eq!(said, 2, "--epoch and --for of {command}: {help}");
    }
}

#[test]
fn the_page_of_a_report_is_named_by_o() {
    let outcome = pagetide("report x.heat --report y.html");
    outcome.fails(2, &["unexpected argument '--report'", "-o <FILE.html>"]);
    assert!(!outcome.err.contains("as a value"), "{}", outcome.err);
}

#[test]
fn the_nearest_known_name_is_offered() {
    pagetide("recrod").fails(2, &["recrod", "'record'"]);
    pagetide("verify x.heat").fails(2, &["'verify'", "an option of run: pagetide run --verify"]);
    pagetide("plan --machin cxl").fails(2, &["--machin", "--machine"]);
    pagetide("plan --machine cxxl x.heat").fails(1, &["'cxxl'", "did you mean 'cxl'", ".toml"]);
    pagetide("plan --policy lfuu x.heat").fails(1, &["'lfuu'", "did you mean 'lfu'", "rate"]);
}

#[test]
fn what_is_wrong_with_a_plan_is_said_before_anything_is_recorded() {
    let scratch = scratch();
    let trace = scratch.path().join("started");
    for wrong in ["--machine cxxl", "--policy lfuu", "--fast 1G"] {
        let line = format!("plan {wrong} -- touch {}", trace.display());
        assert_eq!(pagetide(&line).code, Some(1), "{wrong}");
        assert!(!trace.exists(), "{wrong}");
    }
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    let scratch = scratch();
    plan(&heat(&scratch, "nowhere")).fails(1, &["nowhere.heat", "is not a recording"]);
    let file = scratch.path().join("file");
    fs::write(&file, "text").unwrap();
    plan(&file).fails(1, &["it is a file", "pagetide record -o"]);
    plan(scratch.path()).fails(1, &["is not a recording", "pagetide record -o"]);
    for what in ["trace info", "trace export", "trace info --json"] {
        pagetide(&format!("{what} {}", file.display())).fails(1, &["it is a file"]);
    }
}

#[test]
fn several_recordings_need_the_size_of_fast_memory() {
    pagetide("plan a.heat b.heat").fails(1, &["several recordings", "--fast SIZE"]);
}

#[test]
fn a_workload_names_the_argument_that_is_wrong() {
    pagetide("workload hot-cold --seconds 0").fails(1, &["--seconds 0", "above 0"]);
    pagetide("workload warm-cold").fails(2, &["warm-cold", "hot-cold"]);
    let said = ["'1M'", "--rate", "a plain number is expected: 1000000 or 1e6"];
    pagetide("workload hot-cold --rate 1M").fails(2, &said);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["policies"][..], &["policies", "--json"], &["doctor", "--no-self-test"]] {
        let mut child = command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(matches!(output.status.code(), Some(0 | 4)), "{arguments:?}: {output:?}");
    }
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "\"$0\" policies | head -n 1", PAGETIDE]);
    let outcome = finish_shell(shell);
    assert_eq!((outcome.err.as_str(), outcome.out.lines().count()), ("", 1), "{outcome:?}");
}

fn finish_shell(mut shell: std::process::Command) -> Outcome {
    shell.stdin(Stdio::null());
    finish(shell)
}

#[test]
fn policies_are_listed_with_stable_keys() {
    let listed = pagetide("policies --json").succeeds().json();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|p| &p["name"]).collect();
    for name in ["first-touch", "lru", "lfu", "rate", "random", "two-lists", "amp", "clairvoyant"] {
        assert!(names.iter().any(|n| **n == name), "{name} in {names:?}");
    }
    let lists = listed.as_array().unwrap().iter().find(|p| p["name"] == "two-lists").unwrap();
    let active = lists["options"].as_array().unwrap().iter().find(|o| o["name"] == "active");
    assert_eq!(active.unwrap()["default"], 50.0);
}

#[test]
fn governors_are_listed_with_their_options() {
    let listed = pagetide("governors --json").succeeds().json();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["none", "adaptive", "gain"]);
    let words = pagetide("governors").succeeds().out;
    assert!(words.contains("adaptive:theta") && words.contains("gain:horizon"), "{words}");
    // What is ours was published by nobody.
    let gain = listed[2].to_string();
    assert!(gain.contains("Adaptive is published") && !gain.contains("(as published)"), "{gain}");
}

#[test]
fn a_third_tier_and_numbers_beyond_all_memory_are_refused() {
    let scratch = scratch();
    let path = scratch.path().join("machine.toml");
    let machine = |more: &str, latency: &str| {
        let tier = |name: &str, latency: &str| {
            format!(
                "[[tier]]\nname = \"{name}\"\nread_latency_ns = {latency}\nwrite_latency_ns = \
                 {latency}\nread_bandwidth_gb_s = 100\nwrite_bandwidth_gb_s = 100\n"
            )
        };
        let (fast, slow) = (tier("a", "100"), tier("b", latency));
        let text = format!(
            "name = \"m\"\ntitle = \"m\"\nsource = \"s\"\n{fast}{slow}{more}[migration]\npage_4k_us = \
             1\npage_2m_us = 100\nsource = \"s\"\n"
        );
        std::fs::write(&path, text).unwrap();
        pagetide(&format!("plan no-such.heat --machine {}", path.display()))
    };
    machine("", "200").fails(1, &["no-such.heat"]);
    machine("", "1e30").fails(1, &["toml, line 12: ", "read_latency_ns", "at most 1000000"]);
    machine("[kernel]\ncopy = 1\n", "200").fails(1, &["toml, line 17: ", "'kernel.copy'"]);
    let third = "[[tier]]\nname = \"c\"\nread_latency_ns = 300\nwrite_latency_ns = \
                 300\nread_bandwidth_gb_s = 9\nwrite_bandwidth_gb_s = 9\n";
    machine(third, "200").fails(1, &["has 3 tiers", "leave out all [[tier]] entries but the two"]);
}

#[test]
fn a_time_in_days_is_one_and_the_units_are_named() {
    pagetide("record --for 1y -o x.heat -- true")
        .fails(2, &["'1y' is not a time", "min or m, h, d"]);
    pagetide("record --for 200d -o x.heat -- true").fails(2, &["'200d' is out of range"]);
    pagetide("record --for 1d -o /no/such/x.heat -- true").fails(1, &["/no/such"]);
}
