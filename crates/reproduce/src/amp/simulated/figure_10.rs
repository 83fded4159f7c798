//! Figure 10: AMP beside the lists and each fixed policy.

use super::runs::{FIXED, System, WITHIN, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "10",
    title: "performance of AMP, fixed policies and LRU lists",
    source: "section 6.2",
    slow: false,
    run,
};

pub(super) const SYSTEMS: [System; 6] =
    [System::ListsBase, System::ListsHuge, System::Lru, System::Lfu, System::Random, System::Amp];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = performance(context, &SYSTEMS, |_| ())?;
    let amp = found.of(System::Amp);
    let mut outcome = Outcome { series: found.series(""), ..Outcome::default() };
    let published = [
        (System::Lru, 10.9),
        (System::Lfu, 6.4),
        (System::Random, 17.6),
        (System::ListsHuge, 23.8),
    ];
    for (system, published) in published {
        let what = format!("AMP over {}", system.name());
        let ours = gain(&amp, &found.of(system));
        outcome.rows.push(Row::new(what, "%", ours).published(published, WITHIN));
    }
    let best = found.best(&FIXED);
    outcome.rows.push(Row::new("AMP over the best policy of each program", "%", gain(&amp, &best)));
    for (program, (amp, best)) in found.programs.iter().zip(amp.iter().zip(&best)) {
        let what = format!("{} ({}): AMP over the best", program.name, program.class.name());
        outcome.rows.push(Row::new(what, "%", 100.0 * (amp / best - 1.0)));
    }
    Ok(outcome)
}
