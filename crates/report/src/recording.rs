//! The report of a recording, and of two side by side.

use crate::number::{count, duration};
use crate::style::shortened;
use crate::table::{Align, Table};
use crate::{Style, heatmap, plan};
use pagetide_replay::{Diff, DiffRow, DiffUnit, RecordingInfo, percent};
use pagetide_types::Bytes;

/// Renders what `pagetide trace info` knows of a recording.
#[must_use]
pub fn recording(info: &RecordingInfo, style: Style) -> String {
    let facts = &info.facts;
    let title = format!("Recording {}", facts.name);
    let mut out = format!("{}\n\n", style.bold(&shortened(&title, style.width())));
    out += &style.field("Target", &facts.target);
    let mut time = format!(
        "{} epochs of {}, {} evaluated ({})",
        facts.epochs,
        duration(facts.epoch_s),
        facts.evaluated_epochs,
        duration(facts.seconds)
    );
    if !info.warm_up.note.is_empty() {
        time += &format!("; {}", info.warm_up.note);
    }
    out += &style.field("Time", &time);
    if !info.finished {
        let unfinished =
            "not ended by its recorder: killed, or still at work; what is here is whole";
        out += &style.field("State", unfinished);
    }
    out += &plan::memory(facts, style);
    let gaps: Vec<String> = info.gaps_s.iter().map(|gap| short_time(*gap)).collect();
    out += &style.field("Gaps", &gaps.join(", "));
    out += &style.field("Stalls", &format!("at most {} at once", short_time(info.longest_clear_s)));
    out += &style.field("By", &info.tool);
    for (key, value) in &info.recorded_on {
        out += &style.field(&shortened(key, 11), value);
    }
    out += &style.heading("Areas");
    out += &areas(info, style);
    out += &style.heading("Heat over address and time");
    out + &heatmap::heatmap(&info.heatmap, &info.areas, style)
}

fn areas(info: &RecordingInfo, style: Style) -> String {
    if info.areas.is_empty() {
        return style.paragraph("  ", "No memory of the target was resident.");
    }
    let wide = style.width() >= 64;
    let mut columns =
        vec![("area", Align::Left), ("memory", Align::Right), ("accesses", Align::Right)];
    if wide {
        columns.insert(1, ("kind", Align::Left));
        columns.push(("per second", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for area in &info.areas {
        let mut cells = vec![
            shortened(&area.name, style.width() / 2 - 8),
            area.bytes.to_string(),
            percent(area.share_of_accesses),
        ];
        if wide {
            cells.insert(1, area.kind.map_or_else(|| "–".into(), |kind| kind.to_string()));
            cells.push(count(area.accesses_per_s));
        }
        table.row(&cells);
    }
    table.render()
}

/// Renders two recordings side by side.
#[must_use]
pub fn diff(diff: &Diff, style: Style) -> String {
    let mut out = format!("{}\n\n", style.bold("Two recordings"));
    out += &style.field("first", &diff.left);
    out += &style.field("second", &diff.right);
    out.push('\n');
    let columns = [
        ("", Align::Left),
        ("first", Align::Right),
        ("second", Align::Right),
        ("second/first", Align::Right),
    ];
    let mut table = Table::new(style, &columns);
    for row in &diff.facts {
        table.row(&[
            row.what.replace('_', " "),
            value(row, row.left),
            value(row, row.right),
            row.ratio.map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}")),
        ]);
    }
    out += &table.render();
    if diff.areas.is_empty() {
        return out;
    }
    out += &style.heading("Areas: memory and share of the accesses");
    let columns = [
        ("area", Align::Left),
        ("first", Align::Right),
        ("", Align::Right),
        ("second", Align::Right),
        ("", Align::Right),
    ];
    let mut table = Table::new(style, &columns);
    for area in &diff.areas {
        table.row(&[
            shortened(&area.name, style.width() / 3),
            area.left_bytes.to_string(),
            percent(area.left_share),
            area.right_bytes.to_string(),
            percent(area.right_share),
        ]);
    }
    out + &table.render()
}

fn value(row: &DiffRow, value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a u64")]
    match row.unit {
        DiffUnit::Count => count(value),
        DiffUnit::Bytes => Bytes(value as u64).to_string(),
        DiffUnit::Seconds => duration(value),
        DiffUnit::Share => percent(value),
    }
}

/// `20 us`, `0.2 ms`, `1 s`.
fn short_time(seconds: f64) -> String {
    let digits =
        |value: f64| if value < 9.95 { format!("{value:.2}") } else { format!("{value:.0}") };
    let trimmed = |value: f64| {
        let text = digits(value);
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    match seconds {
        s if s >= 1.0 => format!("{} s", trimmed(s)),
        s if s >= 1e-3 => format!("{} ms", trimmed(s * 1e3)),
        s => format!("{} us", trimmed(s * 1e6)),
    }
}
