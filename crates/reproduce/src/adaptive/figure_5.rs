//! Figure 5: how much of what was promoted is demoted again, every 2 s, and its slope.

use super::programs::Program;
use super::runs::{System, answers, simulate};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "5",
    title: "demote_promoted of Liblinear with 15 threads and Silo with one, and its slope",
    source: "section 4.2",
    slow: true,
    run,
};

/// TPP-mod, whose counters are read and which is never stopped.
const COUNTED: System = System::of(
    "TPP-mod, counted",
    "name = \"tpp-mod\"\ngovernor = \"adaptive:stabilizing=1000,patience=0\"",
);
/// GB; the text does not say how much [I].
const DRAM_GB: u32 = 32;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for (name, threads) in [("Liblinear", 15), ("Silo", 1)] {
        let Some(program) = Program::named(name) else { continue };
        let text = program.scenario((context.scale, threads, DRAM_GB), COUNTED);
        let answers = answers(&simulate(context, &[text], true)?[0]);
        let delta: Vec<(f64, f64)> =
            answers.iter().map(|one| (one.at_s, one.demote_promoted / 1e9)).collect();
        // The central difference.
        let slope: Vec<(f64, f64)> =
            delta.windows(3).map(|at| (at[1].0, (at[2].1 - at[0].1) / 2.0)).collect();
        let most = delta.iter().fold(0.0, |most: f64, at| most.max(at.1));
        let last = &delta[delta.len() * 2 / 3..];
        let mean = last.iter().map(|at| at.1).sum::<f64>() / last.len().max(1) as f64;
        let what = format!("{name}: demote_promoted in the last third, of its maximum");
        outcome.rows.push(Row::new(what, "%", 100.0 * mean / most.max(1e-9)));
        let steepest = slope.iter().fold(0.0, |most: f64, at| most.max(at.1.abs()));
        outcome.rows.push(Row::new(format!("{name}: steepest slope"), "GB", steepest));
        let series = |panel| Series::new(name, "time, s", "GB in 2 s").panel(panel);
        outcome.series.push(series("a: demote_promoted").points(delta));
        outcome.series.push(series("b: slope").points(slope));
    }
    outcome.notes.push(
        "published in words: Silo's stays high throughout, Liblinear's settles after a while"
            .into(),
    );
    Ok(outcome)
}
