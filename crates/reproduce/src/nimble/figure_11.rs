//! Figure 11: pages exchanged in pairs, beside two migrations.

use super::calibration::{Moves, WITHIN, machine};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};
use pagetide_machine::Kernel;
use pagetide_sim::movers::{Mechanism, time_of};

pub(super) const FIGURE: Figure = Figure {
    id: "11",
    title: "exchange beside two migrations by number of pages",
    source: "section 4.2.4",
    slow: false,
    run,
};

const PAGES: [u32; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let mut gains = Vec::new();
    for (huge, panel) in [(true, "2 MiB"), (false, "4 KiB")] {
        let line = |name: &str| Series::new(name, "pages", "GB/s").panel(panel);
        let mut series = [line("one thread"), line("concurrent"), line("exchange")];
        for pages in PAGES {
            let of = pages as usize;
            let found = [
                Moves::serial(huge).up(of)?.gb_s(),
                Moves::concurrent(huge).up(of)?.gb_s(),
                Moves::concurrent(huge).exchange(of)?.gb_s(),
            ];
            for (series, found) in series.iter_mut().zip(found) {
                *series = series.clone().point(pages, found);
            }
            if huge {
                gains.push(found[2] / found[1]);
            }
        }
        outcome.series.extend(series);
    }
    let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
    let most = gains.iter().copied().fold(0.0, f64::max);
    let base = Moves::serial(false).up(512)?.gb_s();
    let base_exchange = Moves::concurrent(false).exchange(512)?.gb_s();
    let huge_exchange = Moves::concurrent(true).exchange(512)?.gb_s();
    let ablation = without_request()?;
    outcome.rows = vec![
        Row::new("2 MiB: 512 pairs", "GB/s", huge_exchange).published(11.2, WITHIN),
        Row::new("2 MiB: exchange over migration, least", "x", least).published(1.10, WITHIN),
        Row::new("2 MiB: exchange over migration, most", "x", most).published(1.50, WITHIN).why(
            format!(
                "exchanges here copy no faster than migrations and cost as much to request; if a \
                 request for an exchange cost nothing, it would be {ablation:.2}"
            ),
        ),
        Row::new("4 KiB: 512 pairs", "GB/s", base_exchange).published(1.1, WITHIN),
        Row::new("4 KiB: over one thread's migration", "x", base_exchange / base)
            .published(1.375, WITHIN),
    ];
    outcome.notes.push("bytes of both directions are counted".into());
    Ok(outcome)
}

/// The ablation: the gain of two pairs if a request for an exchange cost nothing.
fn without_request() -> Result<f64, ReproduceError> {
    let mut machine = machine()?;
    let kernel = machine.kernel.clone().unwrap_or_default();
    machine.kernel = Some(Kernel { call_us: 0.0, ..kernel });
    let mechanism = Mechanism { together: 0, ..Mechanism::EXCHANGE_HUGE };
    let exchange = time_of(&machine, mechanism, (2, true), true).gb_s();
    Ok(exchange / Moves::concurrent(true).up(2)?.gb_s())
}
