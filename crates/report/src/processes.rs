//! Whose memory it is (`pagetide trace info --by process`).

use crate::Style;
use crate::number::{count, duration};
use crate::style::shortened;
use crate::table::{Align, Table};
use pagetide_replay::percent;
use pagetide_trace::{ByProcess, ProcessUse};
use pagetide_types::Bytes;

/// Processes that are listed; the rest have less memory.
const SHOWN: usize = 25;

/// Renders the memory of every process of a recording that is called `name`, of `target`.
#[must_use]
pub fn trace_processes(by: &ByProcess, name: &str, target: &str, style: Style) -> String {
    let title = format!("Recording {name}, by process");
    let mut out = format!("{}\n\n", style.bold(&shortened(&title, style.width())));
    out += &style.field("Target", target);
    out += &style.field("Time", &duration(by.seconds));
    out += &style.heading("Processes, means over all epochs");
    if by.processes.is_empty() {
        return out + &style.paragraph("  ", "No memory of the target was resident.");
    }
    out += &table(by, style);
    let hot = format!(
        "hot: in the hottest memory that together gets {} of the accesses. Shared memory and files \
         count once, whoever maps them; how much of them each process uses is not recorded.",
        percent(by.hot_share)
    );
    out + &style.dim(&style.paragraph("  ", &hot))
}

fn table(by: &ByProcess, style: Style) -> String {
    let wide = style.width() >= 64;
    let mut columns =
        vec![("process", Align::Left), ("memory, mean", Align::Right), ("hot", Align::Right)];
    if wide {
        columns.insert(1, ("pid", Align::Right));
        columns.push(("accesses", Align::Right));
        columns.push(("per second", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for used in by.processes.iter().take(SHOWN) {
        let pid = used.pid.map_or_else(|| "–".into(), |pid| pid.to_string());
        table.row(&row(used, &pid, wide, style));
    }
    let rest = by.processes.get(SHOWN..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = |value: fn(&ProcessUse) -> Bytes| rest.iter().map(value).sum::<Bytes>();
        let sum_of = |value: fn(&ProcessUse) -> f64| rest.iter().map(value).sum::<f64>();
        let others = ProcessUse {
            pid: None,
            name: format!("{} others", rest.len()),
            bytes: sum(|used| used.bytes),
            accesses_per_s: sum_of(|used| used.accesses_per_s),
            share_of_accesses: sum_of(|used| used.share_of_accesses),
            hot_bytes: sum(|used| used.hot_bytes),
        };
        table.row(&row(&others, "–", wide, style));
    }
    table.render()
}

fn row(used: &ProcessUse, pid: &str, wide: bool, style: Style) -> Vec<String> {
    // Where there is no column for it the number stands behind the name.
    let name = match used.pid {
        Some(pid) if !wide => format!("{} {pid}", used.name),
        _ => used.name.clone(),
    };
    let mut cells = vec![
        shortened(&name, style.width() / 3),
        used.bytes.to_string(),
        if used.hot_bytes.0 == 0 { "–".into() } else { used.hot_bytes.to_string() },
    ];
    if wide {
        cells.insert(1, pid.to_owned());
        cells.push(percent(used.share_of_accesses));
        cells.push(count(used.accesses_per_s));
    }
    cells
}
