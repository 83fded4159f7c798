//! Figure 13: the configurations by fast memory, 4 to 28 GiB.

use super::figure_12::{CONFIGURATIONS, OF_BASE, performance, speedups};
use super::programs::Variant;
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "13",
    title: "four configurations by fast memory, 4 to 28 GiB",
    source: "section 4.4",
    slow: true,
    run,
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let sizes: &[f64] =
        if context.small { &[4.0, 28.0] } else { &[4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0] };
    let mut outcome = Outcome::default();
    let configurations = &CONFIGURATIONS[..5];
    let mut series: Vec<Series> = configurations
        .iter()
        .map(|(name, ..)| Series::new(*name, "fast memory, GiB", "speed-up over All Remote"))
        .collect();
    let systems: Vec<String> =
        configurations.iter().map(|(_, system, _)| format!("name = \"{system}\"")).collect();
    let variant = Variant::default();
    // Nothing is fast, however much of it there is: the points of figure 12.
    let remote = performance(context, "end-to-end", 16.0, &systems[..1], &variant)?;
    for size in sizes {
        let others = performance(context, "end-to-end", *size, &systems[1..], &variant)?;
        let found = speedups(&[&remote[..], &others].concat());
        let mean: Vec<f64> = found.iter().map(|row| geomean(row.iter().copied())).collect();
        for (series, mean) in series.iter_mut().zip(&mean) {
            *series = series.clone().point(*size, *mean);
        }
        if *size <= 8.0 {
            let row =
                Row::new(format!("base pages at {size} GiB: loss"), "%", 100.0 * (1.0 - mean[1]));
            let published = if *size < 8.0 { 10.0 } else { 5.0 };
            let row = row.published(published, Tolerance::Ratio(2.0));
            outcome.rows.push(row.why(OF_BASE));
        }
    }
    outcome.series = series.split_off(1);
    outcome.notes.push("the text says 5 to 10 % for 4 and 8 GiB together".into());
    Ok(outcome)
}
