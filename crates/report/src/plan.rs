//! The report of a plan: the answer first, then what it was made from.

use crate::number::{band, bytes_per_s, count, duration, lengths};
use crate::style::shortened;
use crate::table::{Align, Table};
use crate::{Style, chart, heatmap, said};
use pagetide_replay::{
    NextStep, Plan, PolicyPlan, RecordingFacts, Role, next_step, percent, percent_exactly,
};
use pagetide_types::shell;
use unicode_width::UnicodeWidthStr;

/// Renders a plan for a terminal.
#[must_use]
pub fn plan(plan: &Plan, style: Style) -> String {
    let facts = &plan.recording;
    let mut out = format!("{}\n\n", style.bold(&shortened(&title(facts), style.width())));
    out += &answer(plan, style);
    if facts.evaluated_epochs == 0 || facts.footprint_bytes.0 == 0 {
        // Nothing but zeros would follow.
        return out;
    }
    out += &style.heading("Recording");
    out += &recorded(plan, style);
    if plan.nothing_to_compare().is_none() {
        out += &compared(plan, style);
    }
    out += &style.heading("Heat over address and time");
    out += &heatmap::heatmap(&plan.heatmap, &plan.areas, style);
    if !plan.advice.is_empty() {
        out += &style.heading("Placement at start");
        for advice in &plan.advice {
            out += &style.paragraph("  ", &advice.text);
            let expected = format!("Slowdown to expect: {}.", band(advice.slowdown));
            out += &style.paragraph("  ", &expected);
            for command in &advice.commands {
                out += &format!("      {command}\n");
            }
        }
        if plan.advice.iter().any(|advice| !advice.commands.is_empty()) {
            let nodes = "The line takes node 0 for fast memory and node 1 for slow; numactl -H \
                         shows yours.";
            out += &style.dim(&style.paragraph("  ", nodes));
        }
    }
    if let Some(next) = next_step(plan) {
        out += &style.heading("Next");
        out += &style.paragraph("  ", &next_says(&next));
        out += &copied(&next.command, style);
    }
    out + &said::stands_on(&plan.said, style)
}

/// A line to copy: where it is too wide, on several, as a shell joins them again.
fn copied(command: &str, style: Style) -> String {
    let words = shell::words(command).unwrap_or_default();
    let quoted: Vec<String> = words.iter().filter_map(|word| shell::quote(word)).collect();
    let mut lines = vec!["     ".to_owned()];
    for word in quoted {
        let last = lines.len() - 1;
        // A space before it, and one with a backslash behind it.
        if lines[last].width() + word.width() + 3 > style.width() && !lines[last].trim().is_empty()
        {
            lines[last] += " \\";
            lines.push("       ".to_owned());
        }
        let last = lines.len() - 1;
        lines[last] += &format!(" {word}");
    }
    lines.join("\n") + "\n"
}

/// What the next step brings.
pub(crate) fn next_says(next: &NextStep) -> String {
    format!("{} of it may be slow. On a machine with both kinds of memory:", next.saved)
}

/// What every policy needs, and the curve of the one that matters.
fn compared(plan: &Plan, style: Style) -> String {
    let mut out = style.heading(&format!(
        "Fast memory for a slowdown within {} (machine {})",
        percent_exactly(plan.target_slowdown),
        plan.machine.name
    ));
    if plan.recommendation.is_none() {
        out += &style.paragraph("  ", UNANSWERED);
    }
    out += &needs_table(plan, style);
    if let Some(policy) = plan.shown_policy() {
        let size = plan.recommendation.as_ref().map(|answer| answer.fast_bytes);
        let chart = chart::slowdown(policy, plan.target_slowdown, size, style);
        if !chart.is_empty() {
            let best = if size.is_none() { ", the best of them" } else { "" };
            let title = format!("Slowdown over fast memory, policy {}{best}", policy.policy);
            out += &style.heading(&title);
            out += &chart;
        }
    }
    out
}

/// What the table of needs is good for where nothing is recommended.
pub(crate) const UNANSWERED: &str = "None of these is a recommendation: they only compare the \
    policies with one another, by what was recorded, read in the harshest way.";

fn title(facts: &RecordingFacts) -> String {
    let target = if facts.target.is_empty() { &facts.name } else { &facts.target };
    format!("Plan for {target}")
}

fn answer(plan: &Plan, style: Style) -> String {
    match (&plan.recommendation, &plan.why_not) {
        (Some(answer), _) => {
            let expected = format!(
                "Predicted slowdown: {}, against all memory being fast.",
                band(answer.slowdown)
            );
            let sentence = style.paragraph("  ", &answer.sentence);
            let by_regions = plan.fast_bytes_by_regions.map_or_else(String::new, |bytes| {
                let text = format!("Placed by regions of 2 MiB, not by pages of 4 KiB: {bytes}.");
                style.paragraph("  ", &text)
            });
            style.bold(sentence.trim_end())
                + "\n"
                + &style.paragraph("  ", &expected)
                + &by_regions
                + &said::first(&plan.said, style)
        }
        (None, why_not) => {
            let why_not = why_not.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            style.paragraph("  ", &format!("No recommendation{why_not}."))
                + &said::minded(&plan.said, style)
        }
    }
}

fn recorded(plan: &Plan, style: Style) -> String {
    let fields = recorded_fields(plan);
    fields.iter().map(|(label, text)| style.field(label, text)).collect()
}

/// What was recorded, in labelled sentences.
pub(crate) fn recorded_fields(plan: &Plan) -> Vec<(&'static str, String)> {
    let facts = &plan.recording;
    let told = plan.warm_up.epochs > 0 || plan.warm_up.warning().is_some();
    let mut left_out = if told { format!("; {}", plan.warm_up.note) } else { String::new() };
    if plan.warm_up.epochs == 0 && facts.evaluated_epochs < facts.epochs {
        left_out += "; the first is not judged, for nothing was decided before it";
        if plan.warm_up.ended && !told {
            left_out += ", nor the last, in which the program ended";
        }
    }
    let part = facts.window.map_or_else(String::new, |window| format!("{window}: "));
    let time = format!(
        "{part}{}, {} of {} epochs of {}{left_out}",
        duration(facts.seconds),
        facts.evaluated_epochs,
        facts.epochs,
        lengths(facts.shortest_epoch_s, facts.longest_epoch_s)
    );
    // Only exact counts tell leads; they know no huge pages, no looks and no budget.
    let exact = facts.leads_per_s.is_some();
    let mut memory = format!(
        "{} in {} units of {}",
        facts.footprint_bytes,
        count(facts.units as f64),
        facts.unit
    );
    if partly_filled(facts) {
        memory += " (some partly filled)";
    }
    if !exact {
        memory += &format!(", {} of it in huge pages", percent(facts.huge_share));
    }
    let past_caches = facts.cached_share <= 0.0 && facts.cache_per_core.0 > 0;
    let mut accesses = if past_caches {
        format!("about {} cache lines per second past the CPU caches", count(facts.traffic_per_s))
    } else {
        format!(
            "about {} per second, {} of them served by the CPU caches",
            count(facts.accesses_per_s),
            percent(facts.cached_share),
        )
    };
    if !exact {
        let of_the_rest = if past_caches { "" } else { "of the rest " };
        accesses += &format!(
            "; {of_the_rest}{} to units too hot to measure; on average {} of the memory not seen \
             accessed in an epoch",
            percent(facts.saturated_share),
            percent(facts.unseen_share)
        );
    }
    let mut watched = match exact {
        true => "every access was counted".to_owned(),
        false => format!("{} of the pages", percent(facts.watched_share)),
    };
    if facts.uncleared_share > 0.0 {
        watched += &format!(
            "; the heat of {} is unknown (accessed bits that cannot be cleared)",
            percent(facts.uncleared_share)
        );
    }
    let mut cpu = format!("target {:.2} cores", facts.target_cores);
    if !exact {
        cpu += &format!(", recorder {} of one core", percent(facts.recorder_cores));
    }
    let mut fields = vec![
        ("Time", time),
        ("Memory", memory),
        ("Accesses", accesses),
        ("Watched", watched),
        ("CPU", cpu),
    ];
    fields.extend(plan.hot_set.map(|hot| {
        let traffic = percent(hot.share_of_traffic);
        ("Hot set", format!("{} get {traffic} of the memory traffic", hot.bytes))
    }));
    fields
}

/// Whether the units hold noticeably more than what is resident in them.
fn partly_filled(facts: &RecordingFacts) -> bool {
    let whole = facts.units as f64 * facts.unit.bytes().as_f64();
    whole > facts.footprint_bytes.as_f64() * 1.01
}

/// What a policy needs: a size, or that no size keeps the target, or that nothing can be said.
pub(crate) fn needs(plan: &Plan, policy: &PolicyPlan) -> String {
    match policy.fast_bytes {
        Some(bytes) => bytes.to_string(),
        None if plan.nothing_to_compare().is_none() => "misses it".into(),
        None => "–".into(),
    }
}

/// One line per policy; columns that do not fit are left out, the needed size never.
fn needs_table(plan: &Plan, style: Style) -> String {
    let at = plan.recommendation.as_ref().map(|answer| answer.fast_bytes);
    let wide = style.width() >= 72;
    let mut columns = vec![("policy", Align::Left), ("needs", Align::Right)];
    let heads = at.map(|at| [format!("hits at {at}"), "slowdown there".into(), "moves".into()]);
    if let Some([hits, slowdown, moves]) = &heads {
        columns.push((hits, Align::Right));
        if wide {
            columns.push((slowdown, Align::Right));
            columns.push((moves, Align::Right));
        }
    }
    let mut table = Table::new(style, &columns);
    for policy in &plan.policies {
        let chosen = plan.recommendation.as_ref().is_some_and(|a| a.policy == policy.policy);
        let mark = match (chosen, policy.role) {
            (true, _) => " ←",
            (_, Role::Bound) => " *",
            _ => "",
        };
        let mut cells = vec![format!("{}{mark}", policy.policy), needs(plan, policy)];
        if heads.is_some() {
            let point = policy.at_recommended;
            let show = |text: Option<String>| text.unwrap_or_else(|| "–".into());
            cells.push(show(point.map(|p| percent(p.hit_ratio))));
            if wide {
                cells.push(show(point.map(|p| band(p.slowdown))));
                let moved = |p: pagetide_replay::Point| {
                    bytes_per_s(p.promoted_bytes_per_s + p.demoted_bytes_per_s)
                };
                cells.push(show(point.map(moved)));
            }
        }
        table.row(&cells);
    }
    let mut out = table.render();
    if plan.policies.iter().any(|policy| policy.role == Role::Bound) {
        out += &style
            .dim(&style.paragraph("  ", "* a bound to compare with, moves free; cannot be run"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_line_is_copied_in_parts_that_a_shell_joins() {
        let command = "sudo pagetide run --fast 1006M -- sh -c 'a; b c' --port 0 --save ''";
        let shown = copied(command, Style::new(40, false));
        assert!(
            shown.lines().count() > 1 && shown.lines().all(|line| line.width() <= 40),
            "{shown}"
        );
        let joined = shown.replace("\\\n", " ");
        assert_eq!(joined.split_whitespace().collect::<Vec<_>>().join(" "), command);
        assert_eq!(copied(command, Style::new(100, false)), format!("      {command}\n"));
    }
}
