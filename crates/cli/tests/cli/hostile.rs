//! What others named reaches the terminal, the page and copied lines as words only: SECURITY.md.

use crate::run::{Outcome, command, finish, heat, pagetide, scratch};
use pagetide_trace::{Area, Epoch, EpochRecord, Header, RecordingWriter, SCHEMA_VERSION, Source};
use pagetide_types::{
    AreaKind, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId, UnitKey,
    UnitSize, acts,
};
use std::fs;
use std::path::Path;

const EVIL: &str = "/dev/shm/\x1b[2J\x1b]0;owned\x07\u{202e}; touch $(id)\r\n'`reboot`'\u{9b}8m";

/// Forty units, the last half of them cold, named and run by somebody who means harm.
#[expect(clippy::unwrap_used, reason = "a test's own recording")]
fn hostile(path: &Path) {
    let header = Header {
        schema_version: SCHEMA_VERSION,
        tool: EVIL.to_owned(),
        started_unix_s: 1_800_000_000,
        target: EVIL.to_owned(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![0.001],
        budget: 0.01,
        source: Source::default(),
        began_with_target: false,
        cache_per_core: None,
        machine: [(EVIL.to_owned(), EVIL.to_owned())].into(),
    };
    let mut writer = RecordingWriter::create(path, &header, None).unwrap();
    for number in 0..12u32 {
        let mut heat = EpochHeat::new(EpochId(number));
        for unit in 0..40 {
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate: if unit < 20 { 1e6 } else { 1.0 },
                flags: HeatFlags::SAMPLED | HeatFlags::ACCESSED,
                pages: 512,
                watched: 512,
                touched: 100,
                node: NodeId(0),
            });
        }
        let key = |index| UnitKey { object: ObjectId(0), index };
        let area = |first, end| Area {
            object: ObjectId(0),
            first,
            end,
            kind: AreaKind::Shared,
            name: EVIL.to_owned(),
            pid: Pid(17),
            command: EVIL.to_owned(),
            since: EpochId(0),
            mapped: None,
        };
        let first = number == 0;
        writer
            .append(EpochRecord {
                epoch: Epoch {
                    epoch: EpochId(number),
                    start_s: f64::from(number) * 5.0,
                    length_s: 5.0,
                    processes: 1,
                    target_cpu_s: 5.0,
                    watched_share: 1.0,
                    ..Epoch::default()
                },
                new_units: if first { (0..40).map(key).collect() } else { Vec::new() },
                new_areas: if first { vec![area(0, 20), area(20, 40)] } else { Vec::new() },
                heat,
            })
            .unwrap();
    }
    writer.finish().unwrap();
}

#[track_caller]
fn is_only_words(outcome: &Outcome) {
    for text in [&outcome.out, &outcome.err] {
        let bad = text.chars().find(|c| *c != '\n' && acts(*c));
        assert_eq!(bad, None, "{text:?}");
    }
    for line in outcome.out.lines().filter(|line| line.trim_start().starts_with("numactl")) {
        assert!(!line.contains("$(id)") && !line.contains("reboot"), "{line}");
    }
}

#[test]
fn names_in_a_recording_act_on_no_sink() {
    let scratch = scratch();
    let path = heat(&scratch, "x");
    hostile(&path);
    let shown = path.display();
    for line in [
        format!("plan {shown}"),
        format!("plan --json {shown}"),
        format!("plan --target-slowdown 100% {shown}"),
        format!("trace info {shown}"),
        format!("trace info --json {shown}"),
        format!("trace export {shown}"),
        format!("trace export --format jsonl {shown}"),
        format!("trace diff {shown} {shown}"),
    ] {
        let outcome = pagetide(&line).succeeds();
        assert!(!outcome.out.is_empty(), "{line}");
        is_only_words(&outcome);
    }
    let page = scratch.path().join("x.html");
    pagetide(&format!("report -o {} {shown}", page.display())).succeeds();
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(page.chars().find(|c| *c != '\n' && acts(*c)), None);
}

#[test]
fn names_of_files_and_arguments_act_on_no_sink() {
    let scratch = scratch();
    let path = scratch.path().join("\x1b[2J\u{202e}.heat");
    for words in [vec!["plan"], vec!["trace", "info"], vec!["report"], vec!["plan", "--no-such"]] {
        let mut plan = command(&words);
        plan.arg(&path);
        let outcome = finish(plan);
        assert_ne!(outcome.code, Some(0));
        is_only_words(&outcome);
    }
    let mut unknown = command([path.as_os_str()]);
    unknown.env("PAGETIDE_LOG", "debug");
    let outcome = finish(unknown);
    assert_eq!(outcome.code, Some(2));
    is_only_words(&outcome);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let scratch = scratch();
    let path = heat(&scratch, "x");
    hostile(&path);
    for words in
        [vec!["plan"], vec!["plan", "--json"], vec!["trace", "info"], vec!["trace", "export"]]
    {
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let mut command = command(&words);
        let error = write.try_clone().unwrap();
        command.arg(&path).stdout(Stdio::from(write)).stderr(Stdio::from(error));
        assert_eq!(command.status().unwrap().code(), Some(0), "{words:?}");
    }
}
