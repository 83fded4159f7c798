//! The tables of `pagetide sim`: what came of one scenario under several systems.

use crate::Style;
use crate::number::count;
use crate::table::{Align, Table};
use pagetide_sim::scenario::{Outcome, TenantOutcome, Turn};
use pagetide_sim::systems::REGISTRY;

/// The system that others are compared with.
const BOUND: &str = "all-fast";
/// Turns of a governor that are told.
const TURNS: usize = 8;

/// Renders outcomes of a scenario side by side: first by tenant, then by system.
#[must_use]
pub fn sim(scenario: &str, outcomes: &[Outcome], style: Style) -> String {
    let mut out = style.bold(&format!("{scenario}\n"));
    let bound = outcomes.iter().find(|outcome| outcome.system == BOUND);
    let tenants = outcomes.first().map_or(0, |outcome| outcome.tenants.len());
    for number in 0..tenants {
        let of = |outcome: &Outcome| outcome.tenants.get(number).cloned();
        let rows: Vec<(&str, TenantOutcome)> = outcomes
            .iter()
            .filter_map(|outcome| Some((outcome.system.as_str(), of(outcome)?)))
            .collect();
        let best = bound.and_then(of).map(|tenant| tenant.accesses_per_s);
        let name = rows.first().map_or("", |(_, tenant)| tenant.name.as_str());
        out += &style.heading(&format!("Tenant {name}"));
        out += &tenant(&rows, best, style);
        out += &turns(&rows, style);
    }
    out += &style.heading("The machine");
    out += &machine(outcomes, style);
    let ratio =
        if bound.is_some() { "; ratio: of its rate to that with all memory fast" } else { "" };
    let text = format!(
        "rate: accesses per second; ns: from one access of a thread to its next; fast: of those that \
         memory served, the share of the fast tier; up, down: what moved{ratio}; kernel: its \
         CPU time, in cores; stolen: what \
         of it programs lost; tier: share of the time in which its channel was busy."
    );
    out + "\n" + &style.paragraph("  ", &text)
}

/// One tenant under every system; `best` is how fast it is with all memory fast, if that was run.
fn tenant(rows: &[(&str, TenantOutcome)], best: Option<f64>, style: Style) -> String {
    let mut columns = vec![("system", Align::Left)];
    let right = ["rate", "ns", "fast %", "MiB up", "MiB down"];
    columns.extend(right.map(|name| (name, Align::Right)));
    let ends = rows.iter().any(|(_, tenant)| tenant.ended_s.is_some());
    if ends {
        columns.push(("ended", Align::Right));
    }
    if best.is_some() {
        columns.push(("ratio", Align::Right));
    }
    let mut table = Table::new(style, &columns);
    for (system, tenant) in rows {
        let one_digit = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
        };
        let fast = (tenant.accesses > 0).then_some(100.0 * tenant.fast_share);
        let mut cells = vec![
            (*system).to_owned(),
            format!("{}/s", count(tenant.accesses_per_s)),
            one_digit(tenant.ns_per_access),
            one_digit(fast),
            mebibytes(tenant.promoted),
            mebibytes(tenant.demoted),
        ];
        if ends {
            let end = tenant.ended_s;
            cells
                .push(end.map_or_else(|| "no".to_owned(), |end| format!("{} s", significant(end))));
        }
        cells.extend(best.map(|best| format!("{:.2}", tenant.accesses_per_s / best.max(1e-9))));
        table.row(&cells);
    }
    table.render()
}

/// When governors changed their minds, and why.
fn turns(rows: &[(&str, TenantOutcome)], style: Style) -> String {
    let mut out = String::new();
    for (system, tenant) in rows {
        for Turn { at_s, migrates, reason } in tenant.turns.iter().take(TURNS) {
            let what = if *migrates { "migrates again" } else { "stops migrating" };
            let text = format!("{system} {what} at {} s: {reason}", significant(*at_s));
            out += &style.paragraph("  ", &text);
        }
        let more = tenant.turns.len().saturating_sub(TURNS);
        if more > 0 {
            out += &style.paragraph("  ", &format!("{system}: {more} more (--json has all)"));
        }
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn machine(outcomes: &[Outcome], style: Style) -> String {
    let tiers = outcomes.iter().map(|outcome| outcome.busy.len()).max().unwrap_or(0);
    let names: Vec<String> = (0..tiers).map(|tier| format!("tier {tier} %")).collect();
    let mut columns = vec![("system", Align::Left)];
    columns.extend(["kernel", "stolen"].map(|name| (name, Align::Right)));
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(style, &columns);
    for outcome in outcomes {
        let mut cells = vec![
            outcome.system.clone(),
            significant(outcome.kernel_cores),
            significant(outcome.stolen_cores),
        ];
        let busy = |tier| {
            outcome.busy.get(tier).map_or_else(String::new, |busy| format!("{:.1}", 100.0 * busy))
        };
        cells.extend((0..tiers).map(busy));
        table.row(&cells);
    }
    table.render()
}

/// All systems, with what they do and where they come from.
#[must_use]
pub fn systems(style: Style) -> String {
    let mut out = String::new();
    for info in REGISTRY {
        out += &style.bold(&format!("{}\n", info.name));
        out += &style.paragraph("    ", &format!("{} ({})", info.summary, info.source));
    }
    out
}

fn mebibytes(bytes: u64) -> String {
    ((bytes as f64 / 1_048_576.0).round()).to_string()
}

/// Three digits, however small.
fn significant(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 5e-4 => "<0.001".to_owned(),
        v if v < 9.995 => format!("{value:.3}"),
        _ => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(system: &str, accesses_per_s: f64, ended_s: Option<f64>) -> Outcome {
        let tenant = TenantOutcome {
            name: "store".to_owned(),
            accesses: 1000,
            accesses_per_s,
            ns_per_access: (accesses_per_s > 0.0).then(|| 1e9 / accesses_per_s),
            fast_share: 0.25,
            promoted: 64 << 20,
            demoted: 0,
            ended_s,
            turns: Vec::new(),
        };
        Outcome {
            system: system.to_owned(),
            seconds: 1.0,
            tenants: vec![tenant],
            kernel_cores: 0.0001,
            stolen_cores: 0.25,
            busy: vec![0.5, 0.125],
            decisions: Vec::new(),
            simulated: 1000,
        }
    }

    #[test]
    fn systems_stand_side_by_side_and_against_the_bound() {
        let text = sim(
            "x.toml",
            &[outcome("all-fast", 2e7, None), outcome("lru", 1.5e7, None)],
            Style::new(80, false),
        );
        for part in ["Tenant store", "ratio", "15 M/s", "66.7", "25.0", "64", "0.75"] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        assert!(text.contains("<0.001") && text.contains("12.5"), "{text}");
        assert!(!text.contains("ended"), "{text}");
        let text = sim("x.toml", &[outcome("lru", 1e7, Some(12.345))], Style::new(80, false));
        assert!(text.contains("12.3 s") && !text.contains("ratio"), "{text}");
    }

    #[test]
    fn what_governors_decided_is_told_and_why() {
        let mut governed = outcome("pagetide", 1e7, None);
        let turn = |at_s| Turn { at_s, migrates: at_s > 200.0, reason: "settled".to_owned() };
        governed.tenants[0].turns = (0..10).map(|i| turn(100.0 + 30.0 * f64::from(i))).collect();
        let text = sim("x.toml", &[governed], Style::new(80, false));
        for part in [
            "pagetide stops migrating at 100.0 s: settled",
            "pagetide migrates again at 220.0 s: settled",
            "pagetide: 2 more (--json has all)",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }

    #[test]
    fn every_system_is_listed() {
        let text = systems(Style::new(80, false));
        assert!(REGISTRY.iter().all(|info| text.contains(info.name)), "{text}");
    }
}
