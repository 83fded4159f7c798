//! Figure 10: AMP beside the lists and each fixed policy.

use super::programs::Class;
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

/// By how many percent AMP is above.
pub(super) const PUBLISHED: [(System, f64); 4] =
    [(System::Lru, 10.9), (System::Lfu, 6.4), (System::Random, 17.6), (System::ListsHuge, 23.8)];

const OF_LRU: &str = "the tie rule: ours keeps what is fast among equal ages, so scans push little \
                      out; the published code's is in 10-ablations";
const OF_WAITING: &str = "how much of their time the models wait for memory, and what of theirs is fast \
                          first: 10-programs";

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = performance(context, &SYSTEMS, |_| ())?;
    let amp = found.of(System::Amp);
    let mut outcome = Outcome { series: found.series(""), ..Outcome::default() };
    for (system, published) in PUBLISHED {
        let what = format!("AMP over {}", system.name());
        let ours = gain(&amp, &found.of(system));
        let row = Row::new(what, "%", ours).published(published, WITHIN);
        outcome.rows.push(row.why(if system == System::Lru { OF_LRU } else { OF_WAITING }));
    }
    for class in [Class::Lru, Class::Lfu, Class::Random, Class::Neutral] {
        let of_class = |all: &[f64]| -> Vec<f64> {
            let all = found.programs.iter().zip(all).filter(|(program, _)| program.class == class);
            all.map(|(_, of)| *of).collect()
        };
        for system in FIXED {
            let what = format!("{}: AMP over {}", class.name(), system.name());
            let ours = gain(&of_class(&amp), &of_class(&found.of(system)));
            outcome.rows.push(Row::new(what, "%", ours));
        }
    }
    let best = found.best(&FIXED);
    outcome.rows.push(Row::new("AMP over the best policy of each program", "%", gain(&amp, &best)));
    for (program, (amp, best)) in found.programs.iter().zip(amp.iter().zip(&best)) {
        let what = format!("{} ({}): AMP over the best", program.name, program.class.name());
        outcome.rows.push(Row::new(what, "%", 100.0 * (amp / best - 1.0)));
    }
    Ok(outcome)
}
