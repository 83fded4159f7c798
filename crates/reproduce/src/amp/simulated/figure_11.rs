//! Figures 11 and 13: what AMP sees and chooses over time.

use super::programs::Program;
use super::runs::{Came, MEANS, Run, System, came, programs, timeline};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "11",
    title: "mean hit ratios and choices over time: a program of each class",
    source: "section 6.2",
    slow: false,
    run: |context| over_time(context, &["cactus", "graph500", "lbm"]),
};

pub(in crate::amp) const FIGURE_13: Figure = Figure {
    id: "13",
    title: "mean hit ratios over time: graph-analytics",
    source: "section 6.3",
    slow: false,
    run: |context| over_time(context, &["graph-analytics"]),
};

fn over_time(context: &Context, names: &[&str]) -> Result<Outcome, ReproduceError> {
    // Of a small set what there is.
    let mut shown = programs(context);
    if !context.small {
        shown.retain(|program| names.contains(&program.name));
    }
    let runs: Vec<Run> = shown.iter().map(|program| Run::of(*program, System::Amp)).collect();
    let mut outcome = Outcome::default();
    for (program, came) in shown.iter().zip(came(context, &runs)?) {
        draw(program, &came, &mut outcome);
    }
    outcome.notes.push("choices are 0: LRU, 1: LFU, 2: Random".to_owned());
    Ok(outcome)
}

fn draw(program: &Program, came: &Came, outcome: &mut Outcome) {
    let line = |name: &str, what: &str, values: Vec<f64>| {
        let points = values.into_iter().enumerate().map(|(epoch, value)| (epoch as f64, value));
        Series::new(name, "interval", what).panel(program.name).points(points)
    };
    let [lru, lfu] = MEANS.map(|at| timeline(came, program.name, &at.to_string()));
    let gap = lru.iter().zip(&lfu).map(|(lru, lfu)| 100.0 * (lru - lfu)).collect::<Vec<_>>();
    // Of the intervals in which the window is full.
    let late = &gap[gap.len().min(36)..];
    let mean = late.iter().sum::<f64>() / late.len().max(1) as f64;
    let what = format!("{}: mean hits of LRU less those of LFU, window full", program.name);
    outcome.rows.push(Row::new(what, "points", mean));
    outcome.series.push(line("LRU", "mean hits, share of the memory", lru));
    outcome.series.push(line("LFU", "mean hits, share of the memory", lfu));
    let choices = timeline(came, program.name, "choice");
    outcome.series.push(line("choice", "mean hits, share of the memory", choices));
}
