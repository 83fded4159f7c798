//! What a recording of a known program holds, and what it cost.

use crate::run::{PAGETIDE, command, finish, heat, info, pagetide, scratch, turn};
use pagetide_testing::undisturbed;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Mean rate of every anonymous unit, by process and address.
fn means(recording: &Path) -> HashMap<(String, String), f64> {
    let csv = pagetide(&format!("trace export {}", recording.display())).succeeds().out;
    let header: Vec<&str> = csv.lines().next().unwrap_or_default().split(',').collect();
    let column = |name: &str| header.iter().position(|n| *n == name).unwrap_or(usize::MAX);
    let [kind, pid, address, rate] = ["kind", "pid", "address", "rate"].map(column);
    let mut sums: HashMap<_, (f64, f64)> = HashMap::new();
    for row in csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        if row[kind] == "anonymous" {
            let sum = sums.entry((row[pid].to_owned(), row[address].to_owned())).or_default();
            sum.0 += row[rate].parse::<f64>().unwrap_or(f64::NAN);
            sum.1 += 1.0;
        }
    }
    sums.into_iter().map(|(unit, (sum, count))| (unit, sum / count)).collect()
}

/// How many of the units that are hottest in truth are among as many that look hottest.
fn hot_in_front<U: Eq + std::hash::Hash>(
    seen: &HashMap<U, f64>,
    truth: &HashMap<U, f64>,
    hot: usize,
) -> usize {
    let hottest = |rate: &dyn Fn(&U) -> f64| -> HashSet<&U> {
        let mut units: Vec<&U> = truth.keys().collect();
        units.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        units.truncate(hot);
        units.into_iter().collect()
    };
    let found = hottest(&|unit| seen.get(unit).copied().unwrap_or(0.0));
    hottest(&|unit| truth[unit]).intersection(&found).count()
}

#[test]
fn a_known_hot_set_is_found_within_the_budget() {
    let name = "a_known_hot_set_is_found_within_the_budget";
    let Some(_turn) = turn(name) else { return };
    undisturbed(name, 3, || {
        let scratch = scratch();
        let (seen, truth) = (heat(&scratch, "seen"), heat(&scratch, "truth"));
        // Where waking up is dear, 1 % of an epoch of a second pays for a few looks only.
        let mut recording = command(["record", "-q", "--epoch", "1s", "--budget", "10%", "-o"]);
        let program = "workload hot-cold --size 256M --hot 64M --rate 20000 --seconds 12";
        recording.arg(&seen).args(["--", PAGETIDE]).args(program.split(' '));
        recording.args(["--truth-epoch", "1", "--truth"]).arg(&truth);
        finish(recording).succeeds();

        let info = info(&seen);
        let number = |key: &str| info[key].as_f64().unwrap_or(f64::NAN);
        assert_eq!(info["finished"], true, "{info}");
        let most = number("resident_max_bytes") / 1048576.0;
        assert!((256.0..300.0).contains(&most), "{info}");
        assert_eq!((info["unit"].as_str(), number("budget")), (Some("2M"), 0.1));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&seen), 0o700);
        for file in seen.read_dir().unwrap() {
            assert_eq!(mode(&file.unwrap().path()), 0o600);
        }
        let (seen, truth) = (means(&seen), means(&truth));
        assert_eq!(truth.len(), 128);

        // What a program does that seldom gets a CPU, and in bursts, is not seen well.
        let found = hot_in_front(&seen, &truth, 32);
        if found < 29 {
            return Err(format!("{found} of 32 hot units are among the 32 hottest"));
        }
        if number("epochs") < 7.0 || number("recorder_share") > 0.12 {
            return Err(format!("too few epochs, or too dear: {info}"));
        }
        Ok(())
    });
}

#[test]
fn single_pages_are_recorded_and_the_hot_ones_come_first() {
    let name = "single_pages_are_recorded_and_the_hot_ones_come_first";
    let Some(_turn) = turn(name) else { return };
    undisturbed(name, 3, || {
        let scratch = scratch();
        let (seen, truth) = (heat(&scratch, "seen"), heat(&scratch, "truth"));
        let mut recording = command(["record", "-q", "--unit", "4K", "--epoch", "1s"]);
        recording.args(["--budget", "10%", "-o"]);
        let program = "workload hot-cold --page-size 4K --size 64M --hot 8M --rate 400000";
        recording.arg(&seen).args(["--", PAGETIDE]).args(program.split(' '));
        recording.args(["--seconds", "7", "--truth-epoch", "1"]);
        recording.args(["--truth-unit", "4K", "--truth"]).arg(&truth);
        finish(recording).succeeds();

        let info = info(&seen);
        assert_eq!(info["unit"], "4K");
        let most = info["resident_max_bytes"].as_f64().unwrap_or(f64::NAN) / 1048576.0;
        assert!((64.0..100.0).contains(&most), "{info}");
        let (seen, truth) = (means(&seen), means(&truth));
        assert_eq!(truth.len(), 64 * 256);
        let unknown = truth.keys().filter(|unit| !seen.contains_key(*unit)).count();
        assert_eq!(unknown, 0, "every page has the address that it has in the truth");

        let found = hot_in_front(&seen, &truth, 2048);
        if found < 1740 {
            return Err(format!("{found} of 2048 hot pages are among the 2048 hottest"));
        }
        Ok(())
    });
}

#[test]
fn children_are_followed() {
    let Some(_turn) = turn("children_are_followed") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let one = "workload uniform --size 32M --rate 1000 --seconds 4 >/dev/null";
    let script = format!("\"$0\" {one} & \"$0\" {one} & wait");
    let mut recording = command(["record", "-q", "--epoch", "1s", "-o"]);
    recording.arg(&path).args(["--", "sh", "-c", &script, PAGETIDE]);
    finish(recording).succeeds();
    let info = info(&path);
    assert_eq!(info["processes"], 3);
    assert!(info["resident_max_bytes"].as_u64() >= Some(64 << 20), "{info}");
}

#[test]
fn a_process_that_executes_another_program_counts_once() {
    let name = "a_process_that_executes_another_program_counts_once";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let script = "sleep 1; exec \"$0\" workload uniform --size 32M --rate 1000 --seconds 5";
    let mut recording = command(["record", "-q", "--epoch", "500ms", "-o"]);
    recording.arg(&path).args(["--", "sh", "-c", script, PAGETIDE]);
    finish(recording).succeeds();
    let info = info(&path);
    assert!(info["processes"].as_u64() <= Some(2), "the shell, and sleep or the workload: {info}");
    let most = info["resident_max_bytes"].as_u64().unwrap_or(0);
    assert!((32 << 20..60 << 20).contains(&most), "{info}");
}

#[test]
fn of_two_recorders_of_one_process_both_say_so() {
    let name = "of_two_recorders_of_one_process_both_say_so";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let mut target = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = target.id().to_string();
    let (first, second) = (heat(&scratch, "first"), heat(&scratch, "second"));
    let mut one = command(["record", "-q", "--epoch", "1s", "-p", &pid, "-o"]);
    let mut one = one.arg(&first).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // The header is written before the target is met, the first epoch after.
    while !first.join("heat-00000.parquet").exists() {
        assert!(one.try_wait().unwrap().is_none(), "the first one ended");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let other = || {
        let mut other = command(["record", "-q", "--epoch", "1s", "--for", "3s", "-p", &pid, "-o"]);
        other.arg(&second);
        finish(other).succeeds().err
    };
    let said = other();
    assert!(said.contains("another pagetide watches 1 of these processes"), "{said}");
    // After a kill -9 nobody watches it.
    one.kill().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut one.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(said.matches("another pagetide watches 1 of these processes").count(), 1, "{said}");
    one.wait().unwrap();
    std::fs::remove_dir_all(&second).unwrap();
    let said = other();
    target.kill().unwrap();
    target.wait().unwrap();
    assert!(!said.contains("another pagetide"), "{said}");
}

#[test]
fn cpu_time_of_processes_too_short_to_be_watched_is_said_and_names_the_epoch() {
    let name = "cpu_time_of_processes_too_short_to_be_watched_is_said_and_names_the_epoch";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    // Each child counts for a part of an epoch of two seconds; or one process for all of the time.
    let count = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let recorded = |file: &str, script: &str| {
        let path = heat(&scratch, file);
        let mut recording = command(["record", "-q", "--epoch", "2s", "-o"]);
        recording.arg(&path).args(["--", "sh", "-c", script, count]);
        finish(recording).succeeds().err
    };
    let short = "end=$(($(date +%s)+7)); while [ $(date +%s) -lt $end ]; do sh -c \"$0\"; done";
    let err = recorded("short", short);
    assert!(err.contains("began and ended within an epoch") && err.contains("--epoch"), "{err}");
    let long = "end=$(($(date +%s)+7)); while [ $(date +%s) -lt $end ]; do eval \"$0\"; done";
    let err = recorded("long", long);
    assert!(!err.contains("within an epoch"), "{err}");
}
