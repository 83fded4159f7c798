//! The summary of `pagetide run`: what moved, what refused and why.

use crate::Style;
use crate::number::{duration, many, short_time};
use crate::table::{Align, Table};
use pagetide_manager::{Ended, EpochLine, Summary, TierChange, Turn, Verified};
use pagetide_migrate::Amount;
use pagetide_replay::percent;
use pagetide_types::Bytes;

/// What is seen of a target, for who watches it being recorded or run: its hot set, and how much of its memory
/// was watched and is unknown.
#[must_use]
pub fn seen(hot: Option<Bytes>, watched: f64, unknown: f64) -> Vec<String> {
    let mut parts: Vec<String> = hot.map(|hot| format!("hot set {hot}")).into_iter().collect();
    parts.push(format!("{:.0} % watched", watched * 100.0));
    parts.extend((unknown >= 0.01).then(|| format!("{:.0} % unknown", unknown * 100.0)));
    parts
}

/// One epoch for who watches, the most important part first.
#[must_use]
pub fn epoch_parts(line: &EpochLine) -> Vec<String> {
    let amounts = |up, down| format!("up {up}, down {down}");
    let moved = match &line.moves {
        Some(moves) => {
            format!("moved {}", amounts(moves.promoted.bytes(), moves.demoted.bytes()))
        }
        None if line.promote.0 + line.demote.0 > 0 => {
            format!("to move {}", amounts(line.promote, line.demote))
        }
        None if !line.migrate => "stands still".to_owned(),
        None => "nothing to move".to_owned(),
    };
    let mut parts = vec![format!("epoch {}", line.epoch), moved];
    parts.extend(line.tiers.clone());
    let leaves = |bytes| format!("{bytes} of slow memory about to leave");
    parts.extend(line.leaving.map(leaves));
    parts.push(format!("{} in fast memory", line.held));
    parts.extend(line.fast_share.map(|share| format!("{} of accesses there", percent(share))));
    parts.extend(seen(line.hot_set, line.watched_share, line.unknown_share));
    parts
}

fn served(line: &EpochLine) -> String {
    line.fast_share.map_or_else(String::new, |share| format!(", {} of accesses", percent(share)))
}

/// Renders the summary of a run.
#[must_use]
pub fn run_summary(summary: &Summary, style: Style) -> String {
    let title = if summary.dry_run { "Dry run of" } else { "Run of" };
    let mut out = style.bold(&format!("{title} {}\n", summary.target));
    for (label, text) in fields(summary) {
        out += &style.field(label, &text);
    }
    for note in &summary.notes {
        out += &style.paragraph("  ", &format!("Mind: {note}."));
    }
    if !summary.moves.refused.is_empty() {
        out += &style.heading("What stayed, and why");
        let columns = [("reason", Align::Left), ("pages", Align::Right), ("", Align::Left)];
        let mut table = Table::new(style, &columns);
        for (why, amount) in &summary.moves.refused {
            table.row(&[why.to_string(), pages(*amount), why.meaning()]);
        }
        out += &table.render();
    }
    out
}

fn fields(summary: &Summary) -> Vec<(&'static str, String)> {
    let list = |nodes: &[u16]| {
        let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let mut fields = vec![
        ("Time", time(summary)),
        (
            "Tiers",
            match (list(&summary.fast_nodes), list(&summary.slow_nodes), &summary.tiers_from) {
                (_, slow, from) if summary.dry_run && summary.fast_nodes.is_empty() => {
                    format!("node {slow} alone, of which a part is taken for fast ({from})")
                }
                (fast, slow, from) => format!("fast node {fast}, slow node {slow} ({from})"),
            },
        ),
    ];
    fields.extend(tier_changes(&summary.tier_changes));
    fields.push(("Budget", summary.budget.clone()));
    fields.push(("Policy", format!("{}; governor: {}", summary.policy, summary.governor)));
    let moves = &summary.moves;
    if summary.dry_run {
        let text = format!("up {}, down {}; nothing was moved", summary.promote, summary.demote);
        fields.push(("Decided", text));
    } else {
        fields.push(("Moved up", moved(moves.promoted)));
        fields.push(("Moved down", moved(moves.demoted)));
        if summary.promoted_then_demoted > Bytes(0) {
            let text = format!("{}, after they had been moved up", summary.promoted_then_demoted);
            fields.push(("Of these", text));
        }
        if !moves.moved_back.is_zero() {
            let text = format!(
                "{}, by somebody else: the kernel's own tiering, perhaps (see pagetide doctor)",
                moved(moves.moved_back)
            );
            fields.push(("Moved back", text));
        }
        fields.push((
            "Split",
            format!(
                "{} huge pages by the kernel in order to move them, {} found in pieces",
                moves.splits, moves.found_split
            ),
        ));
    }
    if summary.stood_still > 0 {
        fields.push(("Stood still", epochs(summary.stood_still)));
    }
    fields.extend(turns(&summary.turns));
    fields.push(("In fast", format!("first {}", now(&summary.first))));
    fields.push(("", format!("last {}", now(&summary.last))));
    fields.extend(summary.verified.as_ref().map(|verified| ("Verified", beside(verified))));
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let observing = percent(summary.observer_s / summary.seconds.max(1e-9));
    let all = percent(summary.cpu_s / summary.seconds.max(1e-9));
    fields.push((
        "Cost",
        if summary.dry_run {
            format!("observing {observing} of one core, with deciding {all}")
        } else {
            format!(
                "observing {observing} of one core, with deciding and moving {all}; moving {} in {} calls, the longest \
                 {}, looking where pages are {}",
                short_time(seconds(moves.moving_ns)),
                moves.calls,
                short_time(seconds(moves.longest_call_ns)),
                short_time(seconds(moves.looking_ns)),
            )
        },
    ));
    fields
}

/// How long it went on, and what ended it.
fn time(summary: &Summary) -> String {
    let until = match summary.ended {
        None => "",
        Some(Ended::Target) => ", until the target ended",
        Some(Ended::Limit) => ", until the time was up",
        Some(Ended::Interrupt) => ", until it was interrupted",
    };
    format!("{} in {}{until}", duration(summary.seconds), epochs(summary.epochs))
}

fn epochs(number: u32) -> String {
    many(number as usize, "epoch")
}

/// A run beside its plan.
fn beside(verified: &Verified) -> String {
    let Verified { recording, unit, from_s, held, plan_share, run_share } = verified;
    let figures = format!(
        "from {} on fast memory served {} of the accesses, {held} of it; the plan for {recording} (by {unit}) says {} \
         for as much",
        duration(*from_s),
        percent(*run_share),
        percent(*plan_share),
    );
    if (run_share - plan_share).abs() <= APART {
        return figures;
    }
    let units = if unit == "2M" {
        ", or single pages that moved are hotter than the regions of 2 MiB that the plan places (record with --unit 4K)"
    } else {
        ""
    };
    format!(
        "{figures}. That is far apart: the program did something else than when it was recorded, the recording or the run was \
         too short for a policy to know it (give each two minutes){units}"
    )
}

/// A plan and a run that are further apart are worth a word.
const APART: f64 = 0.05;

/// Of memory that comes and goes, and of a governor that changes its mind again and again, the last times.
const TURNS: usize = 10;

fn tier_changes(all: &[TierChange]) -> Vec<(&'static str, String)> {
    let last = &all[all.len().saturating_sub(TURNS)..];
    let line = |change: &TierChange| {
        ("Then", format!("from {} on: {}", duration(change.at_s), change.tiers))
    };
    last.iter().map(line).collect()
}

fn turns(all: &[Turn]) -> Vec<(&'static str, String)> {
    let left_out = all.len().saturating_sub(TURNS);
    let more = format!("{left_out} stops and restarts before these");
    let first = (left_out > 0).then_some(("Governor", more));
    let line = |turn: &Turn| {
        let label = if turn.stopped { "Stopped" } else { "Restarted" };
        (label, format!("process {} after {}: {}", turn.pid, duration(turn.at_s), turn.reason))
    };
    first.into_iter().chain(all[left_out..].iter().map(line)).collect()
}

fn now(line: &EpochLine) -> String {
    format!("{} of {}{}", line.held, line.resident, served(line))
}

fn moved(amount: Amount) -> String {
    if amount.is_zero() {
        return "nothing".to_owned();
    }
    format!("{}: {}", amount.bytes(), pages(amount))
}

fn pages(amount: Amount) -> String {
    let parts = [(amount.huge_pages, "2 MiB"), (amount.base_pages, "4 KiB")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(pages, _)| *pages > 0)
        .map(|(pages, size)| format!("{pages} x {size}"))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u32) -> Turn {
        Turn {
            at_s: f64::from(number) * 20.0,
            pid: 42,
            stopped: number.is_multiple_of(2),
            reason: format!("reason {number}"),
        }
    }

    #[test]
    fn stops_and_restarts_are_told_with_their_reason() {
        let summary = Summary { turns: vec![turn(2), turn(3)], ..Summary::default() };
        let text = run_summary(&summary, Style::new(80, false));
        for line in [
            "Stopped     process 42 after 40 s: reason 2",
            "Restarted   process 42 after 60 s: reason 3",
        ] {
            assert!(text.contains(line), "no '{line}' in {text}");
        }
    }

    #[test]
    fn what_was_fast_has_a_row_for_the_beginning_and_one_for_the_end() {
        let line = |mib, share| EpochLine {
            held: Bytes::mib(mib),
            resident: Bytes::mib(107),
            fast_share: Some(share),
            ..EpochLine::default()
        };
        let (first, last) = (line(39, 0.004), line(38, 0.94));
        let summary = Summary { first, last, ..Summary::default() };
        let text = run_summary(&summary, Style::new(80, false));
        let rows = [
            "  In fast     first 39.0 MiB of 107 MiB, 0.4 % of accesses",
            "              last 38.0 MiB of 107 MiB, 94 % of accesses",
        ];
        assert!(text.contains(&rows.join("\n")), "{text}");
        assert!(text.contains("in 0 calls"), "{text}");
        let dry = run_summary(&Summary { dry_run: true, ..summary }, Style::new(80, false));
        assert!(!dry.contains("calls") && dry.contains("with deciding"), "{dry}");
    }

    #[test]
    fn what_ended_a_run_is_told() {
        let said = |ended, epochs| {
            let summary = Summary { ended, epochs, seconds: 3.9, ..Summary::default() };
            run_summary(&summary, Style::new(80, false))
        };
        for (ended, epochs, line) in [
            (Some(Ended::Target), 3, "3.9 s in 3 epochs, until the target ended\n"),
            (Some(Ended::Limit), 1, "3.9 s in 1 epoch, until the time was up\n"),
            (Some(Ended::Interrupt), 2, "3.9 s in 2 epochs, until it was interrupted\n"),
            (None, 2, "3.9 s in 2 epochs\n"),
        ] {
            assert!(said(ended, epochs).contains(line), "no '{line}' in {}", said(ended, epochs));
        }
    }

    #[test]
    fn a_run_stands_beside_its_plan_and_what_is_far_apart_is_said() {
        let verified = Verified {
            recording: "app.heat".into(),
            unit: "4K".into(),
            from_s: 60.0,
            held: Bytes::mib(495),
            plan_share: 0.962,
            run_share: 0.969,
        };
        let said = |verified: Verified| {
            let summary = Summary { verified: Some(verified), ..Summary::default() };
            let text = run_summary(&summary, Style::new(100, false));
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let near = said(verified.clone());
        assert!(near.contains(
            "from 60 s on fast memory served 97 % of the accesses, 495 MiB of it; the plan for app.heat (by 4K) says 96 % for \
             as much"
        ), "{near}");
        let far = said(Verified { run_share: 0.7, ..verified });
        assert!(far.contains("far apart") && far.contains("two minutes"), "{far}");
    }

    #[test]
    fn what_is_seen_and_what_is_to_be_minded_is_told() {
        let line = EpochLine {
            hot_set: Some(Bytes::mib(412)),
            watched_share: 0.97,
            unknown_share: 0.16,
            ..EpochLine::default()
        };
        let seen = seen(line.hot_set, line.watched_share, line.unknown_share);
        assert_eq!(seen, ["hot set 412 MiB", "97 % watched", "16 % unknown"]);
        assert!(epoch_parts(&line).ends_with(&seen), "{:?}", epoch_parts(&line));
        assert_eq!(super::seen(None, 1.0, 0.002), ["100 % watched"], "what is not, is not told");
        let summary = Summary { notes: vec!["much is unknown".to_owned()], ..Summary::default() };
        let text = run_summary(&summary, Style::new(80, false));
        assert!(text.contains("Mind: much is unknown."), "{text}");
    }

    #[test]
    fn of_many_the_last_are_told() {
        let all: Vec<Turn> = (0..25).map(turn).collect();
        let told = turns(&all);
        assert_eq!(told[0], ("Governor", "15 stops and restarts before these".to_owned()));
        assert_eq!((told.len(), told[1].0), (11, "Restarted"));
        assert!(told[10].1.ends_with("reason 24"), "{told:?}");
    }
}
