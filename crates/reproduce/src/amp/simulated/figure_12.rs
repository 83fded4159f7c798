//! Figure 12: how often AMP chooses what.

use super::programs::Class;
use super::runs::{System, performance};
use crate::simulated::CHOICES;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "12",
    title: "how often AMP chooses which policy",
    source: "section 6.3",
    slow: false,
    run,
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = performance(context, &[System::Amp], |_| ())?;
    let mut outcome = Outcome::default();
    let mut bars = CHOICES.map(|name| Series::new(name, "program", "share of the decisions, %"));
    let (mut count, mut mostly) = (0.0, 0.0);
    for (program, came) in found.programs.iter().zip(&found.came) {
        let mut shares = [0.0; 3];
        for (at, choice) in CHOICES.into_iter().enumerate() {
            shares[at] = 100.0 * came[0].of(program.name, choice)?;
            bars[at] = bars[at].clone().point(program.name, shares[at]);
        }
        let favoured = match program.class {
            Class::Lru => 0,
            Class::Lfu => 1,
            Class::Random => 2,
            Class::Neutral => continue,
        };
        let what = format!("{}: decisions for {}", program.name, CHOICES[favoured]);
        outcome.rows.push(Row::new(what, "%", shares[favoured]));
        // Published: most, and of graph-analytics few.
        if program.name != "graph-analytics" {
            count += 1.0;
            mostly += f64::from(u8::from(shares[favoured] > 80.0));
        }
    }
    let what = "programs, but graph-analytics, with more than 80 % for what they favour";
    outcome.rows.push(Row::new(what, "", mostly).published(count, Tolerance::Ratio(1.5)));
    outcome.series.extend(bars);
    Ok(outcome)
}
