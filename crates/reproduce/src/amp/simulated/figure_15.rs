//! Figure 15: AMP with shorter intervals.

use super::runs::{System, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "15",
    title: "performance of AMP by interval",
    source: "section 6.7",
    slow: false,
    run,
};

const OF_LU: &str = "the text blames migrations; here a program that accesses all pages alike makes \
                     none once fast memory is full, with Random in force or without";

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let intervals = if context.small { &[2u32, 5][..] } else { &[2, 3, 4, 5] };
    let mut found = Vec::new();
    for interval in intervals {
        let of = performance(context, &[System::Amp], |run| run.interval = f64::from(*interval))?;
        found.push(of);
    }
    let mut outcome = Outcome::default();
    let shortest = found[0].of(System::Amp);
    for (interval, found) in intervals.iter().zip(&found) {
        let all = found.of(System::Amp);
        let over = all.iter().zip(&shortest).map(|(of, shortest)| of / shortest);
        let names = found.programs.iter().map(|program| program.name);
        let line = Series::new(format!("{interval} s"), "program", "performance, 2 s is 1");
        outcome.series.push(line.points(names.zip(over)));
    }
    let longest = found[found.len() - 1].of(System::Amp);
    for (at, program) in found[0].programs.iter().enumerate() {
        let what = format!("{}: 5 s over 2 s", program.name);
        let row = Row::new(what, "%", 100.0 * (longest[at] / shortest[at] - 1.0));
        outcome.rows.push(match program.name {
            "lu.D" => row.published(13.8, Tolerance::Ratio(1.5)).why(OF_LU),
            _ => row,
        });
    }
    outcome.rows.push(Row::new("all: 5 s over 2 s", "%", gain(&longest, &shortest)));
    outcome.notes.push(
        "published: most programs alike, in-memory-analytics faster below 5 s, little gained on \
         average"
            .to_owned(),
    );
    Ok(outcome)
}
