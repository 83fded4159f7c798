//! `reproduce`: what it lists, prints, writes and keeps, and what it says of unknown figures.

use crate::run::pagetide;

#[test]
fn papers_and_figures_are_listed() {
    let text = pagetide("reproduce --list").succeeds().out;
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
    pagetide("reproduce").fails(2, &["PAPER"]);
    pagetide("reproduce nimble --scale 0").fails(2, &["is not a whole number from 1 on"]);
    pagetide("reproduce nimble 8 --slow").fails(2, &["cannot be used with"]);
}
