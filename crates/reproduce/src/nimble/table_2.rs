//! Table 2, the Xeon, and section 4.2.5: each optimisation over the one before.

use super::calibration::{Moves, WITHIN};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "table-2",
    title: "most throughput by optimisation, and what each adds",
    source: "sections 4.2.5 and 4.6",
    slow: false,
    run,
};

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let base = Moves::serial(false).up(512)?.gb_s();
    let huge = Moves::serial(true).up(1)?.gb_s();
    let concurrent = Moves::concurrent(true).up(512)?.gb_s();
    let exchange = Moves::concurrent(true).exchange(512)?.gb_s();
    let base_exchange = Moves::concurrent(false).exchange(512)?.gb_s();
    let row =
        |what: &str, unit, ours, published| Row::new(what, unit, ours).published(published, WITHIN);
    Ok(Outcome {
        rows: vec![
            row("base pages", "GB/s", base, 0.75),
            row("huge pages", "GB/s", huge, 2.15),
            row("parallel and concurrent", "GB/s", concurrent, 9.80),
            row("exchange", "GB/s", exchange, 11.23),
            row("huge over base", "x", huge / base, 2.9),
            row("parallel and concurrent over huge", "x", concurrent / huge, 4.6),
            row("exchange over concurrent", "x", exchange / concurrent, 1.1),
            row("all over huge", "x", exchange / huge, 5.2),
            row("all over base", "x", exchange / base, 15.0),
            row("base pages, all but huge", "x", base_exchange / base, 1.4),
        ],
        notes: vec!["Power 8 and TX1 are not modelled".into()],
        series: Vec::new(),
    })
}
