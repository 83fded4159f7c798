//! What a page says, and what it embeds.

use super::{deciding, named, page, subject};
use crate::made;
use pagetide_replay::{Gap, Split};
use pagetide_report::{Together, html};
use pagetide_trace::Diff;
use serde_json::Value;

/// The data that the scripts draw from.
#[expect(clippy::unwrap_used, reason = "a test's own page")]
fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The page without scripts, styles and licences: what people read.
fn text(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find("<script").into_iter().chain(rest.find("<style")).min() {
        out += &rest[..at];
        let end = if rest[at..].starts_with("<script") { "</script>" } else { "</style>" };
        rest = rest[at..].split_once(end).map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// Where a value is that JSON cannot hold, and so became null.
fn holes(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Null => into.push(path.to_owned()),
        Value::Array(list) => {
            list.iter().for_each(|value| holes(value, &format!("{path}[]"), into));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| holes(value, &format!("{path}.{key}"), into));
        }
        _ => {}
    }
}

#[test]
fn every_number_of_a_page_is_one() {
    // What may be missing: what was not measured, does not exist, or was not there.
    let may_be_missing = [
        ".recommendation",
        ".shown",
        ".decisions",
        ".replayed_capacities",
        ".hot_set",
        ".interval",
        ".why_not",
        ".window",
        ".stall_share",
        ".leads_per_s",
        ".kind",
        ".fast_bytes",
        ".fast_bytes_by_regions",
        ".at_recommended",
        ".rate_per_mib[]",
        ".end",
        ".tighter_bytes",
        ".looser_bytes",
    ];
    let kinds = [made::zipf(), made::saturated(), made::partly_saturated(), made::idle()];
    let single = vec![(10.0, false)];
    for units in kinds.into_iter().chain([single, Vec::new()]) {
        let page = page(&[subject(&units)]);
        let mut found = Vec::new();
        holes(&data(&page), "", &mut found);
        found.retain(|path| !may_be_missing.iter().any(|end| path.ends_with(end)));
        assert!(found.is_empty(), "{found:?}");
        let text = text(&page);
        for wrong in ["NaN", "Infinity", " inf ", "undefined", "-0 "] {
            assert!(!text.contains(wrong), "{wrong} in {text}");
        }
    }
}

#[test]
fn the_first_screen_answers_the_four_questions() {
    let made = subject(&made::zipf());
    let answer = made.plan.recommendation.clone().unwrap();
    let page = page(&[made]);
    let (_, rest) = page.split_once("<section id=\"answer\"").unwrap();
    let first = rest.split_once("</section>").unwrap().0;
    for said in [
        "How much fast memory",
        &answer.fast_bytes.to_string(),
        "Under which policy",
        &answer.policy,
        "What slowdown",
        "within 5 %",
        "How sure",
        "Upper bound",
        "of the run time waits for memory",
    ] {
        assert!(first.contains(said), "no '{said}' in {first}");
    }
}

#[test]
fn what_cannot_be_told_is_said_in_words() {
    let page = page(&[subject(&made::saturated())]);
    let text = text(&page);
    assert!(text.contains("No answer") && text.contains("too saturated to tell"), "{text}");
    assert!(text.contains("None of these is a recommendation"), "{text}");
    assert_eq!(data(&page)["subjects"][0]["shown"], "lfu", "the best policy stands out");
    let answered = super::page(&[subject(&made::zipf())]);
    assert!(!answered.contains("None of these is a recommendation"));
    let idle = super::page(&[subject(&made::idle())]);
    assert!(idle.contains("There is no curve to draw: no access was seen."));
    assert!(!idle.contains("What every policy needs"), "a table of dashes");
    let nothing = super::page(&[subject(&[])]);
    assert!(nothing.contains("no memory of the target was resident"));
}

#[test]
fn holes_an_early_end_and_a_single_unit_are_noted() {
    let mut made = subject(&[(10.0, false)]);
    made.unfinished = Some("recording ended early: the disk was full".into());
    let gap = |after_epoch, epochs, start_s| Gap { after_epoch, epochs, start_s, end_s: 90.0 };
    made.pictures.timeline.gaps = vec![gap(3, 4, 20.0), gap(9, 1, 70.0)];
    let page = page(&[made]);
    for said in [
        "5 epochs in 2 places are missing, the first after 20 s",
        "The recording was not ended cleanly: recording ended early: the disk was full",
        "a single unit of 2M",
    ] {
        assert!(page.contains(said), "no '{said}'");
    }
}

#[test]
fn plans_stand_side_by_side_under_names_that_tell_them_apart() {
    let two = [
        named(subject(&made::zipf()), "a/x.heat"),
        named(subject(&made::saturated()), "b/y.heat/"),
    ];
    let text = text(&page(&two));
    for said in ["Fast memory, compared", ">x.heat</th>", ">y.heat</th>", "Cannot tell"] {
        assert!(text.contains(said), "no '{said}' in {text}");
    }
    let mut machines = [subject(&made::zipf()), subject(&made::zipf())];
    machines[1].plan.machine.name = "optane".into();
    let text = super::words::text(&page(&machines));
    assert!(text.contains(">cxl</th>") && text.contains(">optane</th>"), "{text}");
    let mut mixed = [subject(&made::zipf()), subject(&made::zipf())];
    mixed[0].plan.recording.unit = pagetide_types::UnitSize::Base;
    let text = super::words::text(&page(&mixed));
    assert!(text.contains("units of different sizes") && text.contains("1: redis.heat"), "{text}");
}

#[test]
fn recordings_that_do_not_match_are_not_compared() {
    let two = [named(subject(&made::zipf()), "x.heat"), named(subject(&made::zipf()), "y.heat")];
    let with = |diff: &Diff| {
        let together = Together { diff: Some(diff), split: None };
        text(&html(&two, together, 1_790_000_000).unwrap())
    };
    let alike = with(&made::diff_of_two());
    assert!(alike.contains("rank correlation 0.981") && !alike.contains("setarch"), "{alike}");
    let apart = with(&made::diff_of_strangers());
    assert!(apart.contains("Only 5.8 % of the memory matched"), "{apart}");
    assert!(!apart.contains("rank correlation") && !apart.contains("Hot memory"), "{apart}");
}

#[test]
fn the_fast_memory_of_one_program_is_no_split() {
    let mut split = made::split_of_two();
    let with = |split: &Split| {
        let together = Together { diff: None, split: Some(split) };
        text(&html(&[subject(&made::zipf())], together, 1_790_000_000).unwrap())
    };
    assert!(with(&split).contains("with equal parts"));
    split.parts.truncate(1);
    let alone = with(&split);
    assert!(alone.contains("With 1.00 GiB of fast memory"), "{alone}");
    assert!(!alone.contains("with equal parts") && !alone.contains("by utility"), "{alone}");
}

#[test]
fn a_hostile_name_stays_text() {
    let mut made = subject(&made::zipf());
    let name = "</script><script>alert(1)</script><!--";
    made.plan.recording.target = name.into();
    made.header.target = name.into();
    made.plan.areas[0].name = name.into();
    made.pictures.heat.areas[0].name = name.into();
    let page = page(&[made]);
    assert!(!page.contains("<script>alert") && !page.contains("<!--"));
    assert_eq!(data(&page)["subjects"][0]["plan"]["recording"]["target"], name);
}

#[test]
fn nothing_is_fetched() {
    let page = page(&[subject(&made::zipf())]);
    for wrong in ["src=\"", "@import", "url(http", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    let links = page.matches("<link ").count();
    assert_eq!((links, page.matches("<link rel=\"icon\" href=\"data:,\">").count()), (1, 1));
    assert!(page.len() < 2 << 20, "{}", page.len());
}

#[test]
fn what_a_policy_chose_and_from_what_its_curve_is_drawn_is_told() {
    let page = page(&[deciding(subject(&made::zipf()))]);
    for said in [
        "What lru told of its decisions",
        "It followed lru first and changed 2 times.",
        "With 512 MiB of fast memory",
        "hits: share of hits.",
        "lru was replayed at 33 sizes, with straight lines between and with one unit in 8",
    ] {
        assert!(page.contains(said), "no '{said}'");
    }
}
