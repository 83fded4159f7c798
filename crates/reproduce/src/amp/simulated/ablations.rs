//! What moves AMP's gains: its tie rule, its choice between equals, its window, its threshold, each
//! changed alone.

use super::runs::{FIXED, System, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "10-ablations",
    title: "AMP with one parameter changed",
    source: "algorithm 1",
    slow: false,
    run,
};

const CHANGES: [(&str, &str); 6] = [
    ("ties=1", "ties by address"),
    ("ties=3", "ties as in the published code"),
    ("ties=3,threshold=1", "ties as in the published code, never Random"),
    ("threshold=1", "never Random"),
    ("equal=1", "LRU of equals"),
    ("window=8", "a window of 8 intervals"),
];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let changes = if context.small { &CHANGES[..1] } else { &CHANGES };
    let changed: Vec<System> =
        changes.iter().map(|(options, _)| System::AmpWith(options)).collect();
    let systems = [&[System::Amp], &FIXED[..], &changed].concat();
    let found = performance(context, &systems, |_| ())?;
    let (amp, best) = (found.of(System::Amp), found.best(&FIXED));
    let mut outcome = Outcome::default();
    outcome.rows.push(Row::new("AMP over the best policy of each program", "%", gain(&amp, &best)));
    for (system, (_, what)) in changed.iter().zip(changes) {
        let ours = gain(&found.of(*system), &amp);
        outcome.rows.push(Row::new(format!("{what}: over AMP"), "%", ours));
    }
    outcome.series = found.series("");
    Ok(outcome)
}
