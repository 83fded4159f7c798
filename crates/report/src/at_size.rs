//! What a program loses with a given fast memory: the answer when the size is known and the
//! slowdown is asked for.

use crate::Style;
use crate::number::{band, bytes_per_s};
use crate::plan::UNANSWERED;
use crate::said;
use crate::style::shortened;
use crate::table::{Align, Table};
use pagetide_replay::{Plan, Point, Role, percent};
use pagetide_types::Bytes;

/// Renders the slowdown with `fast` bytes of fast memory, under every policy.
#[must_use]
pub fn plan_at(plan: &Plan, fast: Bytes, style: Style) -> String {
    let facts = &plan.recording;
    let target = if facts.target.is_empty() { &facts.name } else { &facts.target };
    let title = format!("{fast} of fast memory for {target}");
    let mut out = format!("{}\n\n", style.bold(&shortened(&title, style.width())));
    if let Some(why) = plan.nothing_to_compare() {
        return out + &style.paragraph("  ", &format!("Nothing can be said: {why}."));
    }
    out += &answer(plan, fast, style);
    out += &style.heading(&format!("Every policy with {fast} (machine {})", plan.machine.name));
    if plan.recommendation.is_none() {
        out += &style.paragraph("  ", UNANSWERED);
    }
    out += &table(plan, fast, style);
    out + &said::stands_on(&plan.said_at(fast), style)
}

fn answer(plan: &Plan, fast: Bytes, style: Style) -> String {
    let mut out = String::new();
    if let (None, Some(why_not)) = (&plan.recommendation, &plan.why_not) {
        out += &style.paragraph("  ", &format!("These figures may be far off: {why_not}."));
    }
    if let Some(text) = plan.sentence_at(fast) {
        out += &(style.bold(style.paragraph("  ", &text).trim_end()) + "\n");
    }
    out += &said::minded(&plan.said_at(fast), style);
    let footprint = plan.recording.footprint_bytes;
    let part = if fast >= footprint {
        format!("All of the {footprint} in use fits.")
    } else {
        let share = percent(fast.as_f64() / footprint.as_f64());
        format!("{fast} is {share} of the {footprint} in use.")
    };
    let needs = plan
        .recommendation
        .as_ref()
        .map_or_else(String::new, |answer| format!(" {}", answer.sentence));
    out + &style.paragraph("  ", &(part + &needs))
}

fn table(plan: &Plan, fast: Bytes, style: Style) -> String {
    let mut columns =
        vec![("policy", Align::Left), ("hits", Align::Right), ("slowdown", Align::Right)];
    let wide = style.width() >= 60;
    if wide {
        columns.push(("moves", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for policy in &plan.policies {
        let mark = if policy.role == Role::Bound { " *" } else { "" };
        let point = policy.at(fast);
        let show = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        let mut cells = vec![
            format!("{}{mark}", policy.policy),
            show(point.map(|p| percent(p.hit_ratio))),
            show(point.map(|p| band(p.slowdown))),
        ];
        if wide {
            let moves = |p: Point| bytes_per_s(p.promoted_bytes_per_s + p.demoted_bytes_per_s);
            cells.push(show(point.map(moves)));
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
