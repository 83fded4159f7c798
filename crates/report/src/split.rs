//! The table of a split of fast memory between several programs.

use crate::Style;
use crate::number::band;
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
        let of = of_parts(split);
        return format!("Predicted slowdown: {slowdown} under the policy {}.{of}", part.policy);
    }
    let left = split.unused_bytes;
    let left = match split.share {
        _ if left.0 == 0 => String::new(),
        Share::Utility => format!(" {left} is left over: nobody gains from it."),
        Share::Equal | Share::Weighted => format!(" {left} is left over."),
    };
    format!(
        "Weighted mean slowdown at most {} in equal parts, {} by weight, {} by utility.{left}{}",
        percent(split.mean_slowdown_equal),
        percent(split.mean_slowdown_weighted),
        percent(split.mean_slowdown_utility),
        of_parts(split)
    )
}

/// Which parts of the recordings were planned for, where that is not all of them.
fn of_parts(split: &Split) -> String {
    let named = split.parts.iter().filter_map(|part| {
        let window = part.window?;
        Some(format!(" Only the part {window} of {} was planned for.", part.name))
    });
    named.collect()
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
