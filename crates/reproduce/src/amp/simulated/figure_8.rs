//! Figure 8: how much of a program's memory is accessed in an interval: what tells that Random is
//! best.

use super::programs::Class;
use super::runs::{System, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "8",
    title: "accessed page ratio, by program",
    source: "section 4.1",
    slow: false,
    run,
};

/// Programs that favour Random have more.
const ABOVE: f64 = 80.0;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = performance(context, &[System::Random], |_| ())?;
    let mut outcome = Outcome::default();
    let mut series = Series::new("Random in force", "program", "accessed in 5 s, %");
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for (program, came) in found.programs.iter().zip(&found.came) {
        let accessed = 100.0 * came[0].of(program.name, "accessed")?;
        series = series.point(program.name, accessed);
        let what = format!("{} ({})", program.name, program.class.name());
        outcome.rows.push(Row::new(what, "%", accessed));
        if program.class == Class::Random {
            least = least.min(accessed);
        } else {
            most = most.max(accessed);
        }
    }
    let above = |ours: f64| f64::from(u8::from(ours > ABOVE));
    outcome.rows.push(
        Row::new("the least of Random-favour is above 80 % (1: yes)", "", above(least))
            .published(1.0, Tolerance::Percent(0.0)),
    );
    outcome.rows.push(
        Row::new("the most of the others is above 80 % (1: yes)", "", above(most))
            .published(0.0, Tolerance::Percent(0.0)),
    );
    outcome.series.push(series);
    Ok(outcome)
}
