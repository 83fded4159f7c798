//! The tables of `pagetide sim` for a scenario of a pool: what came of it, by node and in all.

use crate::Style;
use crate::number::count;
use crate::table::{Align, Table};
use pagetide_sim::pool::{Chooser, Migration, PoolOutcome};

/// Renders what came of a pool's scenario; where it says how pages move, beside the same without.
#[must_use]
pub fn pool(
    scenario: &str,
    outcome: &PoolOutcome,
    moving: Option<(&Migration, &PoolOutcome)>,
    style: Style,
) -> String {
    let mut out = style.bold(&format!("{scenario}\n"));
    out += &style.heading("Nodes");
    out += &nodes(outcome, style);
    out += &style.heading("All");
    out += &all(outcome, moving, style);
    let text = "ipc: instructions per cycle of a core, mean; delay: of a fetch, from issue to data, mean of \
                all and of those from the pool; local: share of fetches that the node's own memory served; \
                in, out: pages that came, and pages of the program that left; stalls: shootdowns, and how \
                long the node stood still for them; busy: share of the time in which the pool's banks were \
                at work; gain: of ipc, against the same without migration; time: the same of the time until \
                the last core was done; moving: epochs at whose end pages moved, of all.";
    out += "\n";
    let governed = moving.and_then(|(migration, _)| stopped(migration.governor()?, outcome));
    for why in [governed, not_hot(outcome), alone_at_the_end(outcome)].into_iter().flatten() {
        out += &style.paragraph("  ", &why);
        out += "\n";
    }
    out + &style.paragraph("  ", text)
}

/// Which nodes their governor stopped, and what that took of their time.
fn stopped(governor: &str, outcome: &PoolOutcome) -> Option<String> {
    let stopped: Vec<_> = outcome.nodes.iter().filter(|node| node.stopped > 0).collect();
    let (count, all) = (stopped.len(), outcome.nodes.len());
    let name = format!("migration.governor = \"{governor}\"");
    if stopped.is_empty() {
        return (all > 0).then(|| format!("{name} stopped none of {all} nodes."));
    }
    let times: u64 = stopped.iter().map(|node| node.stopped).sum();
    let stood_still: f64 = stopped.iter().map(|node| node.stood_still_s).sum();
    let ran: f64 = stopped.iter().map(|node| node.seconds).sum();
    let often = if times == 1 { "once".to_owned() } else { format!("{times} times in all") };
    Some(format!(
        "{name} stopped {count} of {all} nodes, {often}: their pages stayed where they were for {:.2} ms a node, \
         {:.0} % of the time.",
        1e3 * stood_still / count as f64,
        100.0 * stood_still / ran.max(1e-12)
    ))
}

/// Why nothing moves, where no page was ever hot.
fn not_hot(outcome: &PoolOutcome) -> Option<String> {
    let most = outcome.most_accesses();
    (most > 0 && outcome.most_hot() == 0).then(|| {
        format!(
            "No page was hot: in an epoch a page of the pool was accessed {most} times at most, and \
             migration.threshold is no less. Give a lower one, or longer epochs."
        )
    })
}

/// Nodes that end later than others by more than this share have the pool to themselves at the end.
const LATER: f64 = 0.1;

/// How long not all nodes ran, where that is long.
fn alone_at_the_end(outcome: &PoolOutcome) -> Option<String> {
    let all = || outcome.nodes.iter().map(|node| node.seconds);
    let (first, last) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    (last > first * (1.0 + LATER)).then(|| {
        format!(
            "The first node was done after {:.2} ms, the last after {:.2}: who is done asks nothing of the pool \
             any more, so the others' ipc is higher than beside a program that goes on. Compare nodes by what \
             each does alone, or give programs that take as long.",
            1e3 * first,
            1e3 * last
        )
    })
}

fn nodes(outcome: &PoolOutcome, style: Style) -> String {
    let names = ["node", "ipc", "delay ns", "pool ns", "local %", "in", "out", "stalls", "for ms"];
    let mut table = Table::new(style, &names.map(|name| (name, Align::Right)));
    for (number, node) in outcome.nodes.iter().enumerate() {
        let fetches = (node.local_fetches + node.pool_fetches).max(1) as f64;
        table.row(&[
            number.to_string(),
            format!("{:.3}", node.ipc),
            format!("{:.0}", node.delay_ns),
            format!("{:.0}", node.pool_delay_ns),
            format!("{:.1}", 100.0 * node.local_fetches as f64 / fetches),
            count(node.moved_in as f64),
            count(node.moved_out as f64),
            count(node.stalls as f64),
            format!("{:.2}", 1e3 * node.stalled_s),
        ]);
    }
    table.render()
}

fn all(outcome: &PoolOutcome, moving: Option<(&Migration, &PoolOutcome)>, style: Style) -> String {
    let still = moving.map(|(_, still)| still);
    let names = ["moves", "ipc", "gain", "time", "ms", "delay ns", "local %", "busy %", "moving"];
    let columns: Vec<(&str, Align)> = names
        .iter()
        .map(|name| (*name, if *name == "moves" { Align::Left } else { Align::Right }))
        .collect();
    let mut table = Table::new(style, &columns);
    let mut row = |name: &str, of: &PoolOutcome| {
        let over = |ratio: fn(&PoolOutcome, &PoolOutcome) -> f64| {
            still.map_or_else(|| "-".to_owned(), |still| format!("{:.2}", ratio(of, still)))
        };
        table.row(&[
            name.to_owned(),
            format!("{:.3}", of.ipc),
            over(|of, still| of.ipc / still.ipc),
            over(|of, still| still.seconds / of.seconds),
            format!("{:.2}", 1e3 * of.seconds),
            format!("{:.0}", of.delay_ns()),
            format!("{:.1}", 100.0 * of.local_share()),
            format!("{:.1}", 100.0 * of.busy_share),
            // Without a space, at which a narrow terminal would break it.
            format!("{}/{}", count(of.epochs_with_moves as f64), count(of.epochs as f64)),
        ]);
    };
    if let Some(still) = still {
        row(STILL, still);
    }
    row(moving.map_or(STILL, |(migration, _)| chosen(migration)), outcome);
    table.render()
}

/// What stands where nothing may move; a governor is called "none", too.
const STILL: &str = "nothing";

/// What chooses the pages that move.
const fn chosen(migration: &Migration) -> &'static str {
    match migration.policy {
        _ if migration.most == 0 => "counted",
        Chooser::Hottest => "hottest",
        Chooser::Payback => "payback",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_sim::pool::NodeOutcome;

    #[test]
    fn both_gains_are_told_for_cores_that_end_apart_have_other_means_than_ends() {
        let of = |ipc, seconds| PoolOutcome { ipc, seconds, ..PoolOutcome::default() };
        let text = pool(
            "x.toml",
            &of(1.0, 2e-3),
            Some((&Migration::default(), &of(0.5, 2e-3))),
            Style::new(100, false),
        );
        assert!(text.contains("2.00   1.00"), "{text}");
    }

    #[test]
    fn rows_are_called_by_what_chooses_the_pages() {
        let moves = |migration: &Migration| {
            let of = PoolOutcome::default();
            pool("x.toml", &of, Some((migration, &of)), Style::new(100, false))
        };
        let payback = Migration { policy: Chooser::Payback, ..Migration::default() };
        let names = |text: &str| {
            ["hottest", "payback", "nothing"].map(|name| text.contains(&format!("{name} ")))
        };
        assert_eq!(names(&moves(&Migration::default())), [true, false, true]);
        assert_eq!(names(&moves(&payback)), [false, true, true]);
    }

    #[test]
    fn what_a_governor_stopped_is_told() {
        let text = |governor: Option<&str>, stopped: [u64; 2]| {
            let node = |stopped| NodeOutcome {
                stopped,
                stood_still_s: if stopped > 0 { 2e-3 } else { 0.0 },
                seconds: 4e-3,
                ..NodeOutcome::default()
            };
            let of = PoolOutcome { nodes: stopped.map(node).into(), ..PoolOutcome::default() };
            let migration =
                Migration { governor: governor.map(str::to_owned), ..Migration::default() };
            let text = pool("x.toml", &of, Some((&migration, &of)), Style::new(200, false));
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let found = text(Some("gain"), [0, 3]);
        assert!(found.contains("\"gain\" stopped 1 of 2 nodes, 3 times in all"), "{found}");
        assert!(found.contains("2.00 ms a node, 50 % of the time"), "{found}");
        assert!(text(Some("gain"), [0, 0]).contains("stopped none of 2 nodes"));
        assert!(
            !text(Some("none"), [0, 0]).contains("stopped")
                && !text(None, [0, 0]).contains("stopped")
        );
    }

    #[test]
    fn how_many_epochs_moved_pages_stays_in_one_line() {
        let of = PoolOutcome {
            epochs: 690,
            epochs_with_moves: 690,
            ipc: 0.123,
            seconds: 0.69,
            ..PoolOutcome::default()
        };
        let text = pool("x.toml", &of, Some((&Migration::default(), &of)), Style::new(80, false));
        assert_eq!(text.matches("690/690").count(), 2, "{text}");
    }

    #[test]
    fn who_is_done_long_before_others_is_told() {
        let of = |seconds: &[f64]| {
            let node = |seconds: &f64| NodeOutcome { seconds: *seconds, ..NodeOutcome::default() };
            let nodes = seconds.iter().map(node).collect();
            let outcome = PoolOutcome { nodes, ..PoolOutcome::default() };
            pool("x.toml", &outcome, None, Style::new(100, false))
        };
        let text = of(&[3e-3, 9.7e-3]);
        assert!(text.contains("after 3.00 ms, the last after 9.70"), "{text}");
        assert!(!of(&[9.5e-3, 9.7e-3]).contains("The first node"));
    }

    #[test]
    fn who_moves_nothing_is_told_how_far_pages_are_from_the_threshold() {
        let of = |most_accesses, most_hot| {
            let node = NodeOutcome { most_accesses, most_hot, ..NodeOutcome::default() };
            let outcome = PoolOutcome { nodes: vec![node], ..PoolOutcome::default() };
            pool("x.toml", &outcome, None, Style::new(100, false))
        };
        assert!(of(5, 0).contains("accessed 5 times at most"), "{}", of(5, 0));
        // Some were hot, or nothing was counted.
        assert!(!of(50, 2).contains("No page was hot") && !of(0, 0).contains("No page was hot"));
    }
}
