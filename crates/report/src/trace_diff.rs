//! The report of two recordings side by side (`pagetide trace diff`): what changed, area by area.
//! How well single units agree, which judges estimators, is told on request.

use crate::Style;
use crate::number::{count, duration};
use crate::style::short_name;
use crate::table::{Align, Table};
use pagetide_replay::percent;
use pagetide_trace::{AreaChange, AreaSide, Diff, RateAgreement, Side};

/// Areas that are listed; the rest changed less.
const SHOWN: usize = 20;
/// What changed by less of its recording is not worth a line.
const WORTH: f64 = 0.001;

/// Renders how two recordings differ; `names` are what the user calls them.
#[must_use]
pub fn trace_diff(diff: &Diff, names: [&str; 2], verbose: bool, style: Style) -> String {
    let mut out = format!("{}\n\n", style.bold("Two recordings"));
    out += &style.field("first", names[0]);
    out += &style.field("second", names[1]);
    out.push('\n');
    out += &sides(diff, verbose, style);
    out += &style.heading("Areas, means over all epochs, what changed most first");
    out += &areas(&diff.areas, style);
    if let Some(common) = in_common(diff).filter(|_| !verbose) {
        out += &style.paragraph("  ", &common);
    }
    if verbose {
        out += &style.heading("Agreement of single units");
        out += &agreement(diff, style);
    }
    out
}

/// Each recording as a whole.
fn sides(diff: &Diff, verbose: bool, style: Style) -> String {
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
    if verbose {
        row(&format!("units of {}", diff.unit), &|side| count(side.units as f64));
        row("units not in the other", &|side| count(side.unmatched_units as f64));
        if let Some(hot) = &diff.hot {
            table.row(&[
                "90 % of the accesses in".to_owned(),
                hot.a_bytes.to_string(),
                hot.b_bytes.to_string(),
            ]);
        }
    }
    table.render()
}

fn areas(areas: &[AreaChange], style: Style) -> String {
    if areas.is_empty() {
        return style.paragraph("  ", "No memory of either was resident.");
    }
    let wide = style.width() >= 72;
    let mut columns = vec![("area", Align::Left)];
    if wide {
        columns.extend([("memory", Align::Right), ("then", Align::Right)]);
    }
    columns.extend([("accesses/s", Align::Right), ("then", Align::Right)]);
    let mut table = Table::new(style, &columns);
    let shown = areas.iter().take(SHOWN).take_while(|area| area.change >= WORTH);
    let listed: Vec<&AreaChange> = shown.collect();
    for area in &listed {
        let [a, b] = [area.a, area.b];
        let there = |side: AreaSide| side.bytes.0 > 0 || side.accesses_per_s > 0.0;
        let show = |side: AreaSide, text: String| if there(side) { text } else { "–".into() };
        let mut cells = vec![area_name(&area.name, style.width() / 2 - 8)];
        if wide {
            cells.extend([a, b].map(|side| show(side, side.bytes.to_string())));
        }
        cells.extend([a, b].map(|side| show(side, count(side.accesses_per_s))));
        table.row(&cells);
    }
    let mut out = if listed.is_empty() { String::new() } else { table.render() };
    let rest = areas.len() - listed.len();
    if rest > 0 {
        let less = if listed.is_empty() { "hardly changed" } else { "changed less" };
        let text = match rest {
            1 => format!("1 area {less}."),
            n => format!("{n} areas {less}."),
        };
        out += &style.dim(&style.paragraph("  ", &text));
    }
    if !wide {
        out += &style.dim(&style.paragraph("  ", "Memory is left out here; 72 columns show it."));
    }
    out
}

/// A name that keeps whose memory it is: of `redis: /usr/lib/x.so` the path is cut.
fn area_name(name: &str, width: usize) -> String {
    match name.split_once(": ") {
        Some((command, area)) if command.len() + 6 < width => {
            format!("{command}: {}", short_name(area, width - command.len() - 2))
        }
        _ => short_name(name, width),
    }
}

fn agreement(diff: &Diff, style: Style) -> String {
    let mut out = String::new();
    if let Some(apart) = apart(diff) {
        out += &style.paragraph("  ", &apart);
    }
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

/// How much of what is hot stayed where it is: areas with the same figures may hold other hot parts.
fn in_common(diff: &Diff) -> Option<String> {
    let jaccard = diff.hot.as_ref()?.jaccard?;
    Some(format!(
        "Hot in both: {} of the units that are hot in either, that is among its hottest, which get \
         90 % of the accesses. -v tells more of single units.",
        percent(jaccard)
    ))
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
