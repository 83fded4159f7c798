//! Figure 6 and table 1: which features tell how well a policy does. Four policies for each program, as
//! the published p-values ask for (44 points): LRU, LFU, Random and the lists on huge pages.

use super::runs::{FIXED, System, performance};
use super::statistics::{p_value, pearson};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "6",
    title: "features of policies against their performance, and table 1",
    source: "section 4.1",
    slow: false,
    run,
};

/// What it is called, which value, Pearson's coefficient and its p-value as published.
const FEATURES: [(&str, &str, f64, f64); 3] = [
    ("fast memory hit ratio", "hits", -0.8194, 1.0505e-11),
    ("migration stability", "stable", 0.0322, 0.8355),
    ("accessed page ratio", "accessed", -0.4975, 0.0006),
];
/// Below it a correlation counts.
const SIGNIFICANT: f64 = 0.01;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let systems = [&FIXED[..], &[System::ListsHuge]].concat();
    let found = performance(context, &systems, |_| ())?;
    let mut outcome = Outcome::default();
    let flag = |p: f64| f64::from(u8::from(p < SIGNIFICANT));
    for (name, value, published, published_p) in FEATURES {
        let mut points = Vec::new();
        for ((program, came), all) in found.programs.iter().zip(&found.came).zip(&found.normalised)
        {
            let best = (0..all.len()).max_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap_or(0);
            let feature = |system: usize| came[system].of(program.name, value);
            for system in 0..all.len() {
                points.push((feature(best)? - feature(system)?, all[system] / all[best]));
            }
        }
        let r = pearson(&points);
        let p = p_value(r, points.len());
        let within =
            if published_p < SIGNIFICANT { Tolerance::Ratio(1.5) } else { Tolerance::None };
        outcome.rows.push(Row::new(format!("{name}: Pearson"), "", r).published(published, within));
        outcome
            .rows
            .push(Row::new(format!("{name}: p"), "", p).published(published_p, Tolerance::None));
        outcome.rows.push(
            Row::new(format!("{name}: significant (p below {SIGNIFICANT}; 1: yes)"), "", flag(p))
                .published(flag(published_p), Tolerance::Percent(0.0)),
        );
        let dots = Series::new("programs and policies", "gap to the best policy", "performance");
        outcome.series.push(dots.panel(name).points(points));
    }
    Ok(outcome)
}
