//! What is said of a plan is said alike by the terminal, with a size given and without, by the page and
//! by JSON: how sure it is, what must hold for it, what to mind, what it stands on.

use crate::html::{page, subject};
use crate::made::{self, Unit};
use crate::{plain, unwrapped};
use pagetide_replay::{Plan, PlanOptions};
use pagetide_report::Subject;
use pagetide_types::Bytes;

/// Recordings of which something different is to be said each.
fn subjects() -> Vec<(&'static str, Subject)> {
    let of = |units: &[Unit], change: fn(&mut Changes)| {
        let mut changes = Changes::default();
        change(&mut changes);
        let mut made = subject(units);
        made.plan = made::changed_plan(units, &PlanOptions::default(), &changes);
        made
    };
    vec![
        ("an upper bound", of(&made::zipf(), |_| {})),
        ("cannot tell", of(&made::saturated(), |_| {})),
        ("a condition", of(&made::alike(), |_| {})),
        ("nothing was accessed", of(&made::idle(), |_| {})),
        ("no room", of(&made::zipf(), |changes| changes.fast_capacity = Some(Bytes::mib(64)))),
        ("much is unknown", of(&made::zipf(), |changes| changes.uncleared_share = 0.12)),
        ("little is unknown", of(&made::zipf(), |changes| changes.uncleared_share = 0.012)),
        ("all is unknown", of(&made::zipf(), |changes| changes.uncleared_share = 0.97)),
        ("shared memory", of(&made::zipf(), |changes| changes.shared_memory = true)),
        (
            "nobody maps some",
            of(&made::zipf(), |changes| {
                (changes.shared_memory, changes.unmapped) = (true, Some(Bytes::mib(29)));
            }),
        ),
        (
            "all is mapped",
            of(&made::zipf(), |changes| {
                (changes.shared_memory, changes.unmapped) = (true, Some(Bytes(0)));
            }),
        ),
        ("it grows", of(&made::zipf(), |changes| changes.still_growing = true)),
    ]
}

use made::Changes;

/// The text of a page, without markup.
fn words(page: &str) -> String {
    let body = page.split_once("<body>").map_or(page, |(_, body)| body);
    let body = body.split_once("<script").map_or(body, |(body, _)| body);
    let mut text = String::new();
    let mut inside = false;
    for letter in body.chars() {
        match letter {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(letter),
            _ => {}
        }
    }
    let text = text.replace("&#39;", "'").replace("&amp;", "&").replace("&#x27;", "'");
    unwrapped(&text).to_lowercase()
}

fn terminal(plan: &Plan) -> String {
    unwrapped(&pagetide_report::plan(plan, plain(100))).to_lowercase()
}

#[test]
fn every_output_says_the_same() {
    for (what, made) in subjects() {
        let plan = &made.plan;
        let fast = plan.recommendation.as_ref().map_or(Bytes::mib(300), |answer| answer.fast_bytes);
        let terminal = terminal(plan);
        let at = unwrapped(&pagetide_report::plan_at(plan, fast, plain(100))).to_lowercase();
        let page = words(&page(std::slice::from_ref(&made)));
        let json = serde_json::to_value(plan).unwrap();
        let compared = plan.nothing_to_compare().is_none();
        let clauses = plan.said.caveats.iter().chain(&plan.said.stands_on);
        for clause in clauses.chain(&plan.said.conditions) {
            let said = unwrapped(clause).to_lowercase();
            for (output, text) in [("terminal", &terminal), ("page", &page), ("--fast", &at)] {
                if compared {
                    assert!(text.contains(&said), "{what}, {output}: no '{said}' in {text}");
                }
            }
            assert!(json["said"].to_string().contains(clause), "{what}: {json}");
        }
        let sure = plan.said.how_sure.to_lowercase();
        assert!(page.contains(&sure), "{what}: no '{sure}' in {page}");
        if plan.recommendation.is_some() {
            assert!(terminal.contains(&format!("how sure: {sure}.")), "{what}: {terminal}");
            let why = plan.said.why_sure.to_lowercase();
            assert!(terminal.contains(&why) && page.contains(&why), "{what}: no '{why}'");
        }
    }
}

#[test]
fn the_subjects_differ_in_what_is_to_be_said_of_them() {
    let said = |name: &str| {
        let found = subjects().into_iter().find(|(what, _)| *what == name);
        found.map(|(_, made)| made.plan.said).unwrap()
    };
    assert_eq!(said("an upper bound").how_sure, "Upper bound");
    assert_eq!(said("cannot tell").how_sure, "Cannot tell");
    assert!(
        !said("cannot tell").stands_on.is_empty(),
        "figures without an answer stand on something"
    );
    assert_eq!(said("a condition").how_sure, "Conditional estimate");
    assert_eq!(said("a condition").conditions.len(), 1);
    for (name, first) in [
        ("no room", "has only 64.0 MiB of DDR5: with that the slowdown is"),
        ("much is unknown", "the heat of 12 % of the memory is unknown"),
        ("it grows", "a longer run will need more"),
    ] {
        let said = said(name);
        assert!(said.caveats[0].contains(first), "{name}: {said:?}");
    }
    assert!(said("little is unknown").caveats.is_empty());
    let cold = "what nobody maps now (cold pages of a buffer pool) comes on top";
    let stands_on = |name| said(name).stands_on.join("; ");
    assert!(stands_on("shared memory").contains(cold) && !stands_on("it grows").contains(cold));
    let unmapped = pagetide_replay::unmapped_memory(Bytes::mib(29));
    assert!(stands_on("nobody maps some").contains(&unmapped));
    for counted in ["nobody maps some", "all is mapped"] {
        assert!(!stands_on(counted).contains(cold), "{counted}");
    }
    assert!(!stands_on("all is mapped").contains("mapped by no process"));
}

#[test]
fn what_holds_under_a_condition_says_so_whatever_was_asked_for() {
    let plan = made::plan_of(&made::alike(), &PlanOptions::default());
    let ifs = ", if units too hot to measure (";
    assert!(plan.recommendation.as_ref().unwrap().sentence.contains(ifs));
    let at = unwrapped(&pagetide_report::plan_at(&plan, Bytes::mib(100), plain(80)));
    assert_eq!(at.matches(ifs).count(), 2, "the slowdown there, and the answer: {at}");
}

#[test]
fn a_size_that_the_machine_has_not_is_told_before_anything_else_and_not_to_be_run() {
    let changes = Changes { fast_capacity: Some(Bytes::mib(64)), ..Changes::default() };
    let plan = made::changed_plan(&made::zipf(), &PlanOptions::default(), &changes);
    let text = unwrapped(&pagetide_report::plan(&plan, plain(80)));
    let (first, rest) = text.split_once("Recording").unwrap();
    assert!(first.contains("Mind: machine cxl has only 64.0 MiB of DDR5"), "{first}");
    assert!(!rest.contains("pagetide run --fast"), "{rest}");
    // Asked for what it has, nothing is missing.
    let at = unwrapped(&pagetide_report::plan_at(&plan, Bytes::mib(64), plain(80)));
    assert!(!at.contains("has only"), "{at}");
}

#[test]
fn clear_shared_is_no_remedy_where_it_was_given() {
    for (clear_shared, remedy) in [(false, "--clear-shared"), (true, "--budget")] {
        for uncleared_share in [0.12, 0.97] {
            let changes = Changes { uncleared_share, clear_shared, ..Changes::default() };
            let plan = made::changed_plan(&made::zipf(), &PlanOptions::default(), &changes);
            let text = terminal(&plan);
            assert!(text.contains(remedy), "{text}");
            assert_eq!(text.contains("--clear-shared"), !clear_shared, "{text}");
        }
    }
}
