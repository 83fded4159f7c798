//! Whole reports from hand-made plans, as they look at several widths. `cargo insta review` shows
//! what a change does to them.

mod html;
mod made;
mod said;

use made::{
    by_process, diff_of_nothing, diff_of_strangers, diff_of_two, exact_info, info, overview,
    plan_of, policies, policy_with_options, split_of_two,
};
use pagetide_replay::{Plan, PlanOptions};
use pagetide_report::Style;
use pagetide_trace::{Diff, Window};
use pagetide_types::Bytes;
use unicode_width::UnicodeWidthStr;

fn plain(width: usize) -> Style {
    Style::new(width, false)
}

#[test]
fn a_plan_in_80_columns() {
    let plan = plan_of(&made::zipf(), &PlanOptions::default());
    insta::assert_snapshot!(pagetide_report::plan(&plan, plain(80)));
}

#[test]
fn a_plan_in_a_narrow_terminal() {
    let plan = plan_of(&made::zipf(), &PlanOptions::default());
    insta::assert_snapshot!(pagetide_report::plan(&plan, plain(44)));
}

#[test]
fn a_plan_that_cannot_tell() {
    let plan = plan_of(&made::saturated(), &PlanOptions::default());
    insta::assert_snapshot!(pagetide_report::plan(&plan, plain(80)));
}

#[test]
fn an_upper_bound() {
    let plan = plan_of(&made::partly_saturated(), &PlanOptions::default());
    insta::assert_snapshot!(pagetide_report::plan(&plan, plain(80)));
}

#[test]
fn a_program_that_did_nothing() {
    let plan = plan_of(&made::idle(), &PlanOptions::default());
    insta::assert_snapshot!(pagetide_report::plan(&plan, plain(80)));
}

#[test]
fn a_recording_and_two_of_them() {
    insta::assert_snapshot!(pagetide_report::trace_info(&info(), &overview(), plain(80)));
    let names = ["redis.heat", "redis-2.heat"];
    let diff = |diff: &Diff, verbose| pagetide_report::trace_diff(diff, names, verbose, plain(80));
    insta::assert_snapshot!(diff(&diff_of_two(), true));
    insta::assert_snapshot!(diff(&diff_of_nothing(), true));
    insta::assert_snapshot!(diff(&diff_of_strangers(), true));
}

#[test]
fn what_changed_is_told_by_area_and_judging_estimators_only_on_request() {
    let names = ["before.heat", "after.heat"];
    let text = pagetide_report::trace_diff(&diff_of_two(), names, false, plain(80));
    insta::assert_snapshot!(text);
    for verbose in ["rank correlation", "units of 2M", "Matched", "Hot sets", "setarch"] {
        assert!(!text.contains(verbose), "'{verbose}' in {text}");
    }
    let strangers = pagetide_report::trace_diff(&diff_of_strangers(), names, false, plain(80));
    assert!(strangers.contains("redis-server: [heap]"), "areas match all the same: {strangers}");
}

#[test]
fn whose_memory_it_is() {
    let of = |width| {
        pagetide_report::trace_processes(&by_process(), "pg.heat", "pid 4711", plain(width))
    };
    insta::assert_snapshot!(of(80));
    assert!(of(40).contains("4711"), "{}", of(40));
}

#[test]
fn exact_counts_have_no_budget_no_looks_and_no_stalls() {
    let text = pagetide_report::trace_info(&exact_info(), &overview(), plain(80));
    assert!(text.contains("every access was counted"), "{text}");
    for wrong in ["allowed", "stall", "recorder", "watched", "huge pages"] {
        assert!(!text.contains(wrong), "'{wrong}' in {text}");
    }
    let mut plan = plan_of(&made::zipf(), &PlanOptions::default());
    plan.recording.leads_per_s = Some(1e5);
    let text = pagetide_report::plan(&plan, plain(80));
    assert!(text.contains("every access was counted"), "{text}");
    for wrong in ["recorder", "not seen accessed", "in huge pages"] {
        assert!(!text.contains(wrong), "'{wrong}' in {text}");
    }
}

#[test]
fn every_output_says_which_part_was_planned() {
    let mut made = html::subject(&made::zipf());
    let window = Window { first_epoch: 4, epochs: 8, of_epochs: 24, from_s: 20.01, to_s: 60.04 };
    made.plan.recording.window = Some(window);
    made.plan.said = made.plan.said_at(Bytes::mib(100));
    let part = "from 20 s to 60 s";
    let plan = pagetide_report::plan(&made.plan, plain(80));
    let said = format!("only the part {part} of the recording was planned for");
    assert!(unwrapped(&plan).contains(&said), "{plan}");
    let at = pagetide_report::plan_at(&made.plan, Bytes::mib(100), plain(80));
    assert!(unwrapped(&at).contains(&said), "{at}");
    let mut split = split_of_two();
    split.parts[0].said = made.plan.said.clone();
    let split = pagetide_report::split(&split, plain(100));
    assert!(unwrapped(&split).contains(&format!("redis.heat: {said}")), "{split}");
    let page = html::page(&[made]);
    assert!(page.contains(&format!("Only the part {part} of the recording was planned for")));
}

#[test]
fn units_that_are_partly_filled_are_said_to_be() {
    let mut plan = plan_of(&made::zipf(), &PlanOptions::default());
    let text = pagetide_report::plan(&plan, plain(80));
    assert!(text.contains("1.37 GiB in 700 units of 2M, 0 %"), "{text}");
    plan.recording.units = 800;
    let text = pagetide_report::plan(&plan, plain(80));
    assert!(text.contains("1.37 GiB in 800 units of 2M (some partly filled), 0 %"), "{text}");
}

#[test]
fn the_slowdown_with_a_given_fast_memory() {
    let plan = plan_of(&made::zipf(), &PlanOptions::default());
    insta::assert_snapshot!(pagetide_report::plan_at(&plan, Bytes::mib(301), plain(80)));
    // Half a unit more changes nothing, and more than all of it is all of it.
    let all = pagetide_report::plan_at(&plan, Bytes::gib(4), plain(40));
    assert!(all.contains("All of the 1.37 GiB in use fits."), "{all}");
    for line in all.lines() {
        assert!(line.width() <= 40, "{line}");
    }
    let lfu = |fast| {
        let text = pagetide_report::plan_at(&plan, fast, plain(80));
        text.lines().find(|line| line.starts_with("  lfu")).map(str::to_owned).unwrap_or_default()
    };
    assert_eq!(lfu(Bytes::mib(1400)), lfu(Bytes::gib(4)));
    assert_ne!(lfu(Bytes::mib(100)), lfu(Bytes::mib(1400)));
    let flat = plan_of(&made::partly_saturated(), &PlanOptions::default());
    let text = pagetide_report::plan_at(&flat, Bytes::gib(4), plain(80));
    assert!(!text.contains("the curve is flat"), "no target is asked for: {text}");
    let unsure = plan_of(&made::saturated(), &PlanOptions::default());
    let text = pagetide_report::plan_at(&unsure, Bytes::mib(100), plain(80));
    assert!(text.contains("These figures may be far off"), "{text}");
    let idle = plan_of(&made::idle(), &PlanOptions::default());
    let text = pagetide_report::plan_at(&idle, Bytes::mib(100), plain(80));
    assert!(text.ends_with("Nothing can be said: no access was seen.\n"), "{text}");
}

#[test]
fn policies_and_a_split() {
    insta::assert_snapshot!(pagetide_report::policies(&policies(), plain(80)));
    insta::assert_snapshot!(pagetide_report::split(&split_of_two(), plain(80)));
    insta::assert_snapshot!(pagetide_report::policies(&policy_with_options(), plain(80)));
}

#[test]
fn no_line_is_wider_than_asked_and_colour_changes_no_text() {
    for units in [made::zipf(), made::saturated(), made::idle(), Vec::new()] {
        let plan = plan_of(&units, &PlanOptions::default());
        for width in [40, 50, 63, 64, 71, 72, 80, 100] {
            let text = pagetide_report::plan(&plan, plain(width));
            for line in text.lines() {
                // Commands to copy stay in one piece.
                let copied = line.starts_with("      ") && line.contains("numactl")
                    || line.contains("/sys/kernel");
                assert!(copied || line.width() <= width, "{width}: {line}");
            }
            let colour = pagetide_report::plan(&plan, Style::new(width, true));
            assert_eq!(without_colour(&colour), text);
            assert!(colour.contains("\x1b["));
        }
    }
    for width in [40, 64, 80] {
        let style = Style::new(width, false);
        let text = [
            pagetide_report::trace_info(&info(), &overview(), style),
            pagetide_report::trace_diff(&diff_of_two(), ["a", "b"], false, style),
            pagetide_report::trace_diff(&diff_of_strangers(), ["a", "b"], true, style),
            pagetide_report::trace_processes(&by_process(), "a", "pid 1", style),
            pagetide_report::policies(&policies(), style),
            pagetide_report::policies(&policy_with_options(), style),
            pagetide_report::split(&split_of_two(), style),
        ]
        .concat();
        for line in text.lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn without_an_evaluated_epoch_the_reason_is_all_that_is_said() {
    let mut plan = plan_of(&made::zipf(), &PlanOptions::default());
    plan.recording.evaluated_epochs = 0;
    plan.recommendation = None;
    plan.why_not = Some("the recording is too short to tell".into());
    let text = pagetide_report::plan(&plan, plain(80));
    assert!(text.ends_with("No recommendation: the recording is too short to tell.\n"), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn that_the_first_epoch_is_not_judged_has_a_reason() {
    let mut plan = plan_of(&made::zipf(), &PlanOptions::default());
    let (first, last) =
        ("the first is not judged, for nothing was decided before it", "nor the last");
    assert!(!unwrapped(&pagetide_report::plan(&plan, plain(80))).contains(first));
    plan.warm_up.epochs = 0;
    (plan.recording.epochs, plan.recording.evaluated_epochs) = (12, 11);
    let text = unwrapped(&pagetide_report::plan(&plan, plain(80)));
    assert!(text.contains(first) && !text.contains(last), "{text}");
    (plan.warm_up.ended, plan.recording.evaluated_epochs) = (true, 10);
    let text = unwrapped(&pagetide_report::plan(&plan, plain(80)));
    assert!(text.contains(&format!("{first}, {last}, in which the program ended")), "{text}");
}

#[test]
fn epochs_that_grow_are_told_with_their_lengths() {
    let mut plan = plan_of(&made::zipf(), &PlanOptions::default());
    let said = |plan: &Plan| unwrapped(&pagetide_report::plan(plan, plain(100)));
    assert!(said(&plan).contains("9 of 12 epochs of 5 s;"), "{}", said(&plan));
    (plan.recording.shortest_epoch_s, plan.recording.longest_epoch_s) = (1.0, 5.003);
    plan.heatmap.lengths_s = vec![1.0, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 3.0];
    let text = said(&plan);
    assert!(text.contains("9 of 12 epochs of 1 s to 5 s;"), "{text}");
    assert!(text.contains("0 s 46 s"), "{text}");
}

#[test]
fn sizes_beside_heat_are_said_to_be_means() {
    let plan = plan_of(&made::zipf(), &PlanOptions::default());
    assert!(pagetide_report::plan(&plan, plain(100)).contains("sizes are means over time"));
    let info = pagetide_report::trace_info(&info(), &overview(), plain(100));
    assert!(info.contains("memory, mean") && info.contains("sizes are means over time"), "{info}");
    assert!(html::page(&[html::subject(&made::zipf())]).contains("memory, mean"));
}

#[test]
fn the_word_is_slowdown() {
    let plan = plan_of(&made::zipf(), &PlanOptions::default());
    let page = html::page(&[html::subject(&made::zipf())]);
    let texts = [
        pagetide_report::plan(&plan, plain(80)),
        pagetide_report::split(&split_of_two(), plain(80)),
        page,
    ];
    for text in texts {
        let lower = text.to_lowercase();
        assert!(lower.contains("slowdown") && !lower.contains("slow-down"), "{text}");
    }
}

/// A text as one line.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_colour(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split("\x1b[");
    out += parts.next().unwrap_or_default();
    for part in parts {
        out += part.split_once('m').map_or("", |(_, rest)| rest);
    }
    out
}

#[test]
fn what_nobody_knows_is_hatched_and_not_drawn_as_cold() {
    let mut plan = plan_of(&made::zipf(), &PlanOptions::default());
    let before = pagetide_report::plan(&plan, plain(80));
    assert!(!before.contains('╱') && !before.contains("unknown, for its"));
    plan.heatmap.rows[0].unknown.fill(true);
    let shown = pagetide_report::plan(&plan, plain(80));
    assert!(shown.contains("╱╱╱") && shown.contains("╱ unknown"), "{shown}");
}
