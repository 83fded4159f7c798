//! The report of a recording (`pagetide trace info`), and of two side by side (`trace diff`).

use crate::number::{count, duration, many, short_time};
use crate::style::{short_name, shortened};
use crate::table::{Align, Table};
use crate::{Style, heatmap};
use pagetide_replay::{AreaHeat, Overview, percent};
use pagetide_trace::{Diff, Info, RateAgreement, Side, Source};

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
        out += &style.field(&shortened(key, 11), value);
    }
    out += &style.heading("Areas");
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
            "{} of the pages watched; of the units watched {} too hot to measure, {} never seen \
             accessed",
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
            "the heat of up to {}: accessed bits that cannot be cleared",
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

/// Renders how two recordings differ; `names` are what the user calls them.
#[must_use]
pub fn trace_diff(diff: &Diff, names: [&str; 2], style: Style) -> String {
    let mut out = format!("{}\n\n", style.bold("Two recordings"));
    if let Some(apart) = apart(diff) {
        out += &style.bold(style.paragraph("  ", &apart).trim_end());
        out += "\n\n";
    }
    out += &style.field("first", names[0]);
    out += &style.field("second", names[1]);
    out.push('\n');
    let columns = [("", Align::Left), ("first", Align::Right), ("second", Align::Right)];
    let mut table = Table::new(style, &columns);
    let mut row = |what: &str, value: &dyn Fn(&Side) -> String| {
        table.row(&[what.to_owned(), value(&diff.a), value(&diff.b)]);
    };
    row("time", &|side| duration(side.seconds));
    row("epochs", &|side| side.epochs.to_string());
    row("memory, mean", &|side| side.resident_mean_bytes.to_string());
    row("memory, most", &|side| side.resident_max_bytes.to_string());
    row("accesses per second", &|side| count(side.rate));
    row(&format!("units of {}", diff.unit), &|side| count(side.units as f64));
    row("units not in the other", &|side| count(side.unmatched_units as f64));
    if let Some(hot) = &diff.hot {
        table.row(&[
            "90 % of the accesses in".to_owned(),
            hot.a_bytes.to_string(),
            hot.b_bytes.to_string(),
        ]);
    }
    out += &table.render();
    out += &style.heading("Agreement");
    let mut matched = format!("{} units", count(diff.matched_units as f64));
    if diff.a.units + diff.b.units > 0 {
        matched += &format!(", {} of the memory", percent(diff.matched_share));
    }
    out += &style.field("Matched", &matched);
    out += &diff.rates.map_or_else(String::new, |rates| rates_agree(&rates, style));
    if let Some(hot) = &diff.hot {
        let sets = hot.jaccard.map_or_else(
            || "cannot be told: nothing was accessed".to_owned(),
            |j| format!("{} of the units hot in either are hot in both", percent(j)),
        );
        out += &style.field("Hot sets", &sets);
    }
    for (label, side) in [("only first", &diff.a), ("only second", &diff.b)] {
        if !side.unmatched_objects.is_empty() {
            out += &style.field(label, &listed(&side.unmatched_objects));
        }
    }
    out
}

/// Why units were not compared, where they were not.
pub(crate) fn apart(diff: &Diff) -> Option<String> {
    diff.rates.is_none().then(|| {
        format!(
            "Only {} of the memory matched: addresses are randomised (record both under \
             `setarch -R`), or these are not runs of one program. Rates and hot sets are not \
             compared.",
            percent(diff.matched_share)
        )
    })
}

fn rates_agree(rates: &RateAgreement, style: Style) -> String {
    let rank = rates.spearman.map_or_else(
        || "cannot be told: too few units, or all of them alike".to_owned(),
        |r| format!("rank correlation {r:.3} (1: the same order, 0: none)"),
    );
    let mut out = style.field("Rates", &rank);
    if let (Some(low), Some(middle), Some(high)) =
        (rates.log2_ratio_p10, rates.log2_ratio_p50, rates.log2_ratio_p90)
    {
        let ratio = format!(
            "the first is {:.2} x the second in the middle; four fifths of the {} units lie \
             between {:.2} x and {:.2} x",
            middle.exp2(),
            count(rates.ratio_units as f64),
            low.exp2(),
            high.exp2()
        );
        out += &style.field("", &ratio);
    }
    out
}

/// The first few of a list, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
