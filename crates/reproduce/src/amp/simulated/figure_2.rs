//! Figure 2 and table 4: which policy is best for a program.

use super::programs::Class;
use super::runs::{FIXED, System, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "2",
    title: "performance under LRU, LFU and Random, and what programs favour (table 4)",
    source: "section 3.2",
    slow: false,
    run,
};

/// What comes so near to the best is no worse, %.
const NO_WORSE: f64 = 0.5;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = performance(context, &FIXED, |_| ())?;
    let mut outcome = Outcome { series: found.series(""), ..Outcome::default() };
    let classes =
        [(Class::Lru, System::Lru), (Class::Lfu, System::Lfu), (Class::Random, System::Random)];
    for (class, favoured) in classes {
        let others = FIXED.into_iter().filter(|system| *system != favoured).collect::<Vec<_>>();
        let all = found.of(favoured).into_iter().zip(found.best(&others));
        let (mut count, mut won) = (0.0, 0.0);
        let of_class = found.programs.iter().zip(all).filter(|(program, _)| program.class == class);
        for (program, (own, other)) in of_class {
            let ahead = 100.0 * (own / other - 1.0);
            let what = format!("{}: {} over the better other", program.name, favoured.name());
            outcome.rows.push(Row::new(what, "%", ahead));
            count += 1.0;
            won += f64::from(u8::from(ahead >= -NO_WORSE));
        }
        let what = format!("{}: programs for which {} is best", class.name(), favoured.name());
        outcome.rows.push(Row::new(what, "", won).published(count, Tolerance::Percent(0.0)));
    }
    let neutral = found.programs.iter().zip(&found.normalised);
    for (program, all) in neutral.filter(|(program, _)| program.class == Class::Neutral) {
        let most = all.iter().copied().fold(0.0, f64::max);
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let what = format!("{}: the best over the worst", program.name);
        outcome.rows.push(Row::new(what, "%", 100.0 * (most / least - 1.0)));
    }
    outcome.notes.push(format!("a policy within {NO_WORSE} % of the best counts as best"));
    Ok(outcome)
}
