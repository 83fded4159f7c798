//! The report of a recording (`pagetide trace info`).

use crate::number::{count, duration, many, short_time};
use crate::style::{short_name, shortened};
use crate::table::{Align, Table};
use crate::{Style, heatmap};
use pagetide_replay::{AreaHeat, Overview, percent};
use pagetide_trace::{Info, Source};

/// How a key of the machine's description is shown.
fn of_machine(key: &str) -> &str {
    match key {
        "cpu" => "Processor",
        "host" => "Machine",
        "huge_pages" => "THP",
        "kernel" => "Kernel",
        "memory" => "RAM",
        "nodes" => "NUMA nodes",
        "self_test" => "Self-test",
        other => other,
    }
}

/// Renders what is known of a recording: its figures, its areas and its heatmap.
#[must_use]
pub fn trace_info(info: &Info, overview: &Overview, style: Style) -> String {
    let title = format!("Recording {}", info.path.display());
    let mut out = format!("{}\n\n", style.bold(&shortened(&title, style.width())));
    for (label, text) in fields(info) {
        out += &style.field(label, &text);
    }
    if !overview.warm_up.note.is_empty() {
        out += &style.field("Warm-up", &overview.warm_up.note);
    }
    for (key, value) in &info.machine {
        out += &style.field(&shortened(of_machine(key), 11), value);
    }
    out += &style.heading(match overview.warm_up.epochs {
        0 => "Areas, means over all epochs",
        _ => "Areas, means over the epochs after those left out",
    });
    out += &areas(&overview.areas, style);
    out += &style.heading("Heat over address and time");
    out + &heatmap::heatmap(&overview.heatmap, &overview.areas, style)
}

fn fields(info: &Info) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("Target", info.target.clone()),
        ("Time", format!("{} in {}", duration(info.seconds), many(info.epochs, "epoch"))),
    ];
    if let Some(why) = info.unfinished() {
        fields.push(("State", format!("{why}; what is here is whole")));
    }
    if !info.leftovers.is_empty() {
        fields.push(("Ignored", info.leftovers.join(", ")));
    }
    let exact = info.source == Source::Exact;
    let mut memory =
        format!("{} on average, {} at most", info.resident_mean_bytes, info.resident_max_bytes);
    if !exact {
        memory += &format!("; {} of the units huge pages", percent(info.huge_share));
    }
    let observed = if exact {
        "every access was counted".to_owned()
    } else {
        format!(
            "{} of the pages watched; of the units watched {} too hot to measure, {} not seen \
             accessed, on average over all epochs",
            percent(info.watched_share),
            percent(info.saturated_share),
            percent(info.unseen_share)
        )
    };
    fields.extend([
        ("Memory", memory),
        (
            "Units",
            format!(
                "{} of {} in {} of {}, {}",
                count(info.units as f64),
                info.unit,
                many(info.areas, "area"),
                many(info.objects, "object"),
                match info.processes {
                    1 => "1 process".to_owned(),
                    n => format!("{n} processes at most"),
                }
            ),
        ),
        ("Observed", observed),
    ]);
    if info.uncleared_max_bytes.0 > 0 {
        let unknown = format!(
            "the heat of {} of the memory, up to {} at a time: accessed bits that cannot be cleared",
            percent(info.uncleared_share),
            info.uncleared_max_bytes
        );
        fields.push(("Unknown", unknown));
    }
    if !info.gaps_s.is_empty() {
        let gaps: Vec<String> = info.gaps_s.iter().map(|gap| short_time(*gap)).collect();
        fields.push(("Gaps", gaps.join(", ")));
    }
    fields.extend([
        ("CPU", cpu(info)),
        (
            "On disk",
            format!(
                "{}, {:.2} bytes per unit and epoch",
                info.disk_bytes, info.disk_bytes_per_unit_epoch
            ),
        ),
        ("Written by", format!("{}, schema {}", info.tool, info.schema_version)),
    ]);
    fields
}

/// What the target computed, and what recording took where there was a budget for it.
fn cpu(info: &Info) -> String {
    let target = format!("target {}", duration(info.target_cpu_s));
    if info.source == Source::Exact {
        return format!("{target}, as it would take outside of QEMU");
    }
    let stalled =
        info.stall_share.map(|s| format!("; {} of its cycles stalled on memory", percent(s)));
    format!(
        "{target}{}; recorder {} of one core ({} allowed), no stall above {}",
        stalled.unwrap_or_default(),
        percent(info.recorder_share),
        percent(info.budget),
        short_time(info.longest_clear_s)
    )
}

fn areas(areas: &[AreaHeat], style: Style) -> String {
    if areas.is_empty() {
        return style.paragraph("  ", "No memory of the target was resident.");
    }
    let wide = style.width() >= 64;
    let mut columns =
        vec![("area", Align::Left), ("memory, mean", Align::Right), ("accesses", Align::Right)];
    if wide {
        columns.insert(1, ("kind", Align::Left));
        columns.push(("per second", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for area in areas {
        let mut cells = vec![
            short_name(&area.name, style.width() / 2 - 8),
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
