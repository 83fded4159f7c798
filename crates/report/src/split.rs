//! The table of a split of fast memory between several programs.

use crate::Style;
use crate::number::band;
use crate::style::short_name;
use crate::table::{Align, Table};
use pagetide_replay::{Split, percent};

/// Renders a split beside equal parts.
#[must_use]
pub fn split(split: &Split, style: Style) -> String {
    let mut out = format!(
        "{}\n\n",
        style.bold(&format!(
            "{} of fast memory for {} programs",
            split.fast_bytes,
            split.parts.len()
        ))
    );
    let wide = style.width() >= 72;
    let mut columns =
        vec![("program", Align::Left), ("gets", Align::Right), ("slow-down", Align::Right)];
    if wide {
        columns.insert(2, ("of", Align::Right));
        columns.push(("equal parts", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for part in &split.parts {
        let mut cells = vec![
            short_name(&part.name, style.width() / 3),
            part.fast_bytes.to_string(),
            band(part.slowdown),
        ];
        if wide {
            cells.insert(2, part.footprint_bytes.to_string());
            cells.push(band(part.slowdown_equal));
        }
        table.row(&cells);
    }
    out += &table.render();
    out.push('\n');
    out += &style.paragraph(
        "  ",
        &format!(
            "Weighted mean slow-down at most {}; with equal parts {}.{}",
            percent(split.mean_slowdown),
            percent(split.mean_slowdown_equal),
            if split.unused_bytes.0 > 0 {
                format!(" {} is left over: nobody gains from it.", split.unused_bytes)
            } else {
                String::new()
            }
        ),
    );
    out
}
