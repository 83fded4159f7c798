//! Figure 14: pages under migration at a time.

use super::figure_12::{performance, speedups};
use super::programs::Variant;
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "14",
    title: "pages under migration, 8 to unbounded, end to end",
    source: "section 4.5.2",
    slow: true,
    run,
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    // Of the machine that is modelled: the mover knows that a page here stands for many.
    let together = [(8, "8"), (64, "64"), (512, "512"), (0, "unconstrained")];
    let mut systems = vec!["name = \"all-slow\"".to_owned()];
    systems.extend(
        together
            .iter()
            .map(|(pages, _)| format!("name = \"nimble-exchange-huge\"\ntogether = {pages}")),
    );
    let found = speedups(&performance(context, "end-to-end", 16.0, &systems, &Variant::default())?);
    let mean: Vec<f64> = found[1..].iter().map(|row| geomean(row.iter().copied())).collect();
    let best = mean[..3].iter().copied().fold(0.0, f64::max);
    let series = Series::new("Opt. Exchange Pages", "pages", "speed-up over All Remote");
    Ok(Outcome {
        rows: vec![
            Row::new("unconstrained: loss", "%", 100.0 * (1.0 - mean[3] / best))
                .published(10.0, Tolerance::None),
        ],
        notes: vec!["the text says almost 10 %, the axis of its figure less".into()],
        series: vec![series.points(together.iter().map(|(_, name)| *name).zip(mean))],
    })
}
