//! `reproduce`: what it lists, prints, writes and keeps, and what it says of unknown figures.

use crate::run::{command, finish, pagetide, scratch};
use std::fs;

#[test]
fn papers_and_figures_are_listed() {
    let text = pagetide("reproduce --list").succeeds().out;
    let bare = pagetide("reproduce").succeeds();
    assert_eq!(bare.out, text);
    assert!(bare.err.contains("pagetide reproduce PAPER FIGURE"), "{}", bare.err);
    let json = pagetide("reproduce --list --json").succeeds().json();
    let papers = json.as_array().cloned().unwrap_or_default();
    assert!(papers.len() >= 2, "{json}");
    for paper in &papers {
        let name = paper["paper"].as_str().unwrap_or("?");
        assert!(text.contains(&format!("{name}: ")), "no {name} in {text}");
        assert_eq!(
            pagetide(&format!("reproduce {name} --list --json")).succeeds().json()[0],
            *paper
        );
    }
}

#[test]
fn what_is_unknown_is_named_with_the_nearest_known() {
    pagetide("reproduce nimbel").fails(1, &["'nimbel'", "did you mean 'nimble'?", "amp"]);
    pagetide("reproduce amp zzz").fails(1, &["paper amp has no figure 'zzz'; known are"]);
    pagetide("reproduce adaptive 15").fails(1, &["'15'", "a part of figure 18"]);
    for option in ["--small", "--slow", "--csv x", "--scale 8"] {
        pagetide(&format!("reproduce {option}")).fails(2, &["of which paper?"]);
    }
    pagetide("reproduce nimble --scale 0").fails(2, &["is not a whole number from 1 on"]);
    pagetide("reproduce nimble 8 --slow").fails(2, &["cannot be used with"]);
}

/// Where the tables of recordings are found.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn a_small_figure_is_printed_and_written_in_every_form() {
    let scratch = scratch();
    let make = |options: &[&str]| {
        let mut command = command(["reproduce", "amp", "table-6", "--small", "--quiet"]);
        command.arg("--results").arg(scratch.path()).args(options).current_dir(REPOSITORY);
        finish(command).succeeds()
    };
    let csv = scratch.path().join("csv");
    let text = make(&["--csv", &csv.to_string_lossy()]).out;
    assert!(text.starts_with("Table 6: ") && text.contains(" LRU→LFU, "), "{text}");
    let rows = fs::read_to_string(csv.join("amp-table-6.csv")).unwrap_or_default();
    assert_eq!(rows.lines().count(), 1 + 6, "{rows}");
    assert!(csv.join("amp-table-6-series.csv").is_file());
    let json = make(&["--json"]).json();
    assert_eq!((&json["paper"], &json["small"]), (&"amp".into(), &true.into()), "{json}");
    let row = &json["figures"][0]["rows"][0];
    assert_eq!((&row["published"], &row["ours"]), (&27.0.into(), &21.0.into()), "{row}");
    let page = make(&["--markdown", "--pictures", "../x"]).out;
    assert!(
        page.contains("](../x/amp-table-6.svg)") && page.contains("| 27 | 21 | 0.78 |"),
        "{page}"
    );
}

#[test]
fn where_nothing_can_be_kept_it_fails_at_once() {
    let scratch = scratch();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    let line = format!("reproduce amp --small --results {}", file.display());
    pagetide(&line).fails(1, &["--results: ", "file: a file stands there", "name a folder"]);
    pagetide("reproduce amp --small --results /proc/x")
        .fails(1, &["--results: /proc/x: this folder cannot be made"]);
    let results = scratch.path().join("results").display().to_string();
    let line = format!("reproduce amp --small --results {results} --csv {}", file.display());
    pagetide(&line).fails(1, &["--csv: ", "file: a file stands there", "name a folder"]);
    assert!(!std::path::Path::new(&results).exists(), "something was computed before");
    let mut command = command(["reproduce", "amp", "--small"]);
    command.current_dir("/").env("XDG_CACHE_HOME", &file);
    let said =
        ["results have no place; give one with --results DIR: ", "file/pagetide/reproduce: "];
    finish(command).fails(1, &said);
}

#[test]
fn what_was_recorded_is_asked_for_in_words() {
    pagetide("reproduce amp --recorded within x")
        .fails(1, &["'within x'", "within NAME RECORDING"]);
    pagetide("reproduce amp --recorded page /nowhere").fails(1, &["/nowhere: No such file"]);
    pagetide("reproduce nimble --recorded page x").fails(1, &["--recorded is for amp"]);
}
