//! The table of a split of fast memory between several programs.

use crate::Style;
use crate::number::band;
use crate::said::HEADING;
use crate::style::short_name;
use crate::table::{Align, Table};
use pagetide_replay::{Part, Share, Split, percent};

/// Renders a split, and what the other ways to split would give.
#[must_use]
pub fn split(split: &Split, style: Style) -> String {
    let mut out = format!("{}\n\n", style.bold(&title(split)));
    let wide = style.width() >= 72;
    let mut columns =
        vec![("program", Align::Left), ("gets", Align::Right), ("slowdown", Align::Right)];
    if wide {
        columns.insert(2, ("of", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for part in &split.parts {
        let mut cells = vec![name(part, style), part.fast_bytes.to_string(), band(part.slowdown)];
        if wide {
            cells.insert(2, part.footprint_bytes.to_string());
        }
        table.row(&cells);
    }
    out += &table.render();
    if wide {
        out += &format!("\n{}", ways(split, style));
    }
    out.push('\n');
    out += &style.paragraph("  ", &means(split));
    for clause in minded(split) {
        out += &style.paragraph("  ", &format!("Mind: {clause}"));
    }
    let clauses = stands_on(split);
    if !clauses.is_empty() {
        out += &style.heading(HEADING);
        out.extend(clauses.iter().map(|clause| style.paragraph("  - ", clause)));
    }
    out
}

/// What is split, and how; of one program there is nothing to split.
pub(crate) fn title(split: &Split) -> String {
    if let [_] = &split.parts[..] {
        return format!("With {} of fast memory", split.fast_bytes);
    }
    format!(
        "{} of fast memory, {}",
        split.fast_bytes,
        match split.share {
            Share::Equal => "in equal parts",
            Share::Weighted => "by weight",
            Share::Utility => "by utility",
        }
    )
}

/// What the ways to split it come to.
pub(crate) fn means(split: &Split) -> String {
    if let [part] = &split.parts[..] {
        let slowdown = band(part.slowdown);
        return format!("Predicted slowdown: {slowdown} under the policy {}.", part.policy);
    }
    let left = split.unused_bytes;
    let left = match split.share {
        _ if left.0 == 0 => String::new(),
        Share::Utility => format!(" {left} is left over: nobody gains from it."),
        Share::Equal | Share::Weighted => format!(" {left} is left over."),
    };
    format!(
        "Weighted mean slowdown at most {} in equal parts, {} by weight, {} by utility.{left}",
        percent(split.mean_slowdown_equal),
        percent(split.mean_slowdown_weighted),
        percent(split.mean_slowdown_utility),
    )
}

/// What to mind of each program, and what must hold for its curve.
pub(crate) fn minded(split: &Split) -> Vec<String> {
    let of = |part: &Part| {
        let name =
            if split.parts.len() == 1 { String::new() } else { format!("{}: ", called(part)) };
        let said = &part.said;
        let ifs =
            said.conditions.iter().map(|condition| format!("its slowdown holds if {condition}"));
        let all = ifs.chain(said.caveats.iter().cloned());
        all.map(|clause| format!("{name}{clause}.")).collect::<Vec<_>>()
    };
    split.parts.iter().flat_map(of).collect()
}

/// What the curves stand on: what is said of all programs once, the rest with its program's name.
pub(crate) fn stands_on(split: &Split) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let by_all =
        |clause: &String| split.parts.iter().all(|part| part.said.stands_on.contains(clause));
    for part in &split.parts {
        for clause in &part.said.stands_on {
            let text =
                if by_all(clause) { clause.clone() } else { format!("{}: {clause}", called(part)) };
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}

/// A program's recording, without the folders before it.
fn called(part: &Part) -> &str {
    let name = part.name.trim_end_matches('/');
    name.rsplit('/').next().unwrap_or(name)
}

/// What everyone loses, however fast memory is split.
fn ways(split: &Split, style: Style) -> String {
    let columns = [
        ("slowdown", Align::Left),
        ("equal", Align::Right),
        ("weighted", Align::Right),
        ("utility", Align::Right),
    ];
    let mut table = Table::new(style, &columns);
    for part in &split.parts {
        let bands = [part.slowdown_equal, part.slowdown_weighted, part.slowdown_utility].map(band);
        table.row(&[vec![name(part, style)], bands.to_vec()].concat());
    }
    table.render()
}

fn name(part: &Part, style: Style) -> String {
    short_name(&part.name, style.width() / 3)
}
