//! Figure 5: Nimble's lists on base and on huge pages, and the best of three policies.

use super::runs::{FIXED, System, WITHIN, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "5",
    title: "LRU lists on base and huge pages, and the best policy",
    source: "section 3.3",
    slow: false,
    run,
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let lists = [System::ListsBase, System::ListsHuge];
    let systems = [&lists[..], &FIXED].concat();
    let found = performance(context, &systems, |_| ())?;
    let [base, huge] = lists.map(|system| found.of(system));
    let best = found.best(&FIXED);
    let names = found.programs.iter().map(|program| program.name);
    let bars = Series::new("best policy", "program", "performance, all fast is 1");
    let mut series: Vec<Series> = found.series("").into_iter().take(2).collect();
    series.push(bars.points(names.zip(best.iter().copied())));
    let row = |what: &str, of: &[f64], over: &[f64], published| {
        Row::new(what, "%", gain(of, over)).published(published, WITHIN)
    };
    Ok(Outcome {
        rows: vec![
            row("huge over base pages, lists", &huge, &base, 23.5),
            row("best policy over lists on base pages", &best, &base, 33.71),
            row("best policy over lists on huge pages", &best, &huge, 23.5),
        ],
        notes: Vec::new(),
        series,
    })
}
