//! Section 4.5.1: how many threads copy hardly matters.

use super::figure_12::{performance, speedups};
use super::programs::Variant;
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "4.5.1",
    title: "copy threads, 1 to 16, end to end",
    source: "section 4.5.1",
    slow: true,
    run,
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let threads: &[u32] = if context.small { &[1, 4] } else { &[1, 2, 4, 8, 16] };
    let mut systems = vec!["name = \"all-slow\"".to_owned()];
    systems.extend(
        threads
            .iter()
            .map(|threads| format!("name = \"nimble-exchange-huge\"\nthreads = {threads}")),
    );
    let found = speedups(&performance(context, "end-to-end", 16.0, &systems, &Variant::default())?);
    let mean: Vec<f64> = found[1..].iter().map(|row| geomean(row.iter().copied())).collect();
    let most = mean.iter().copied().fold(0.0, f64::max);
    let least = mean.iter().copied().fold(f64::INFINITY, f64::min);
    let series = Series::new("Opt. Exchange Pages", "threads", "speed-up over All Remote");
    Ok(Outcome {
        rows: vec![
            Row::new("spread", "%", 100.0 * (most / least - 1.0)).published(4.0, Tolerance::None),
        ],
        notes: vec!["the paper: 4 % at most, and 4 threads mostly best; the goal is 5 %".into()],
        series: vec![series.points(threads.iter().copied().zip(mean))],
    })
}
