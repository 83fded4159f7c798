//! Plans of a part of a recording.

use crate::build::cxl;
use crate::recorded::record_begun;
use pagetide_replay::{Plan, PlanOptions, Sharer, all_policies, plan_recording};
use pagetide_types::Bytes;

/// 100 units for two minutes; in the first 20 of them are hot, in the second 60.
#[expect(clippy::unwrap_used, reason = "a test's own recording")]
fn two_phases(directory: &tempfile::TempDir, from_s: Option<f64>, to_s: Option<f64>) -> Plan {
    let path = directory.path().join("x.heat");
    let hot = |epoch: u32| if epoch < 12 { 20 } else { 60 };
    let rate = |epoch: u32, unit: u32| if unit < hot(epoch) { 1e4 } else { 1.0 };
    let recording = if path.exists() {
        pagetide_trace::Recording::open(&path).unwrap()
    } else {
        record_begun(&path, true, 0..24, |_| 100, rate)
    };
    let part = recording.within(from_s, to_s).unwrap();
    plan_recording(&part, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
}

#[expect(clippy::unwrap_used, reason = "a test's own plan")]
fn need(plan: &Plan) -> u64 {
    plan.recommendation.as_ref().unwrap().fast_bytes.0 / Bytes::mib(2).0
}

#[test]
fn only_the_part_asked_for_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    let first = two_phases(&directory, None, Some(60.0));
    let second = two_phases(&directory, Some(65.0), Some(120.0));
    assert!((18..=21).contains(&need(&first)), "{}", need(&first));
    assert!((54..=61).contains(&need(&second)), "{}", need(&second));
    let facts = &second.recording;
    assert_eq!((facts.epochs, facts.evaluated_epochs, facts.seconds), (24, 11, 55.0));
    let window = facts.window.unwrap();
    assert_eq!((window.first_epoch, window.from_s, window.to_s), (13, 65.0, 120.0));
    assert_eq!(second.epochs.first().map(|epoch| epoch.epoch), Some(13));
    assert!(second.warm_up.note.contains("as asked: policies learn"), "{:?}", second.warm_up);
    assert_eq!(Sharer::of(&second).window, Some(window));
}

#[test]
fn the_answer_says_which_part_it_is_of_and_of_a_whole_recording_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let part = two_phases(&directory, Some(20.0), Some(60.0));
    let says = "only the part from 20 s to 60 s of the recording was planned for";
    let stands_on = |plan: &Plan| plan.recommendation.as_ref().unwrap().assumptions.join("; ");
    assert!(stands_on(&part).contains(says), "{}", stands_on(&part));
    let whole = two_phases(&directory, None, None);
    assert_eq!(whole.recording.window, None);
    assert!(!stands_on(&whole).contains("only the part"));
}

#[test]
fn a_part_too_short_is_said_to_be_the_part() {
    let directory = tempfile::tempdir().unwrap();
    let short = two_phases(&directory, Some(20.0), Some(30.0));
    let why = short.why_not.unwrap();
    assert!(why.contains("the part from 20 s to 30 s of the recording is too short"), "{why}");
    assert!(why.contains("ask for more of it, or record for longer"), "{why}");
}
