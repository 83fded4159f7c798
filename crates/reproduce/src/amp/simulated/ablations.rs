//! What moves AMP's gains: its tie rule, its choice between equals, its window, its threshold, each
//! changed alone. Where the tie rule changes, it does so for LRU and LFU, too.

use super::runs::{FIXED, System, WITHIN, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "10-ablations",
    title: "figure 10 with one rule or parameter changed",
    source: "section 6.2, algorithm 1",
    slow: false,
    run,
};

/// What of AMP alone is changed.
const CHANGES: [(&str, &str); 3] = [
    ("threshold=1", "never Random"),
    ("equal=1", "LRU of equals"),
    ("window=8", "a window of 8 intervals"),
];

/// The published code's rule among equal ages and frequencies: AMP, LRU and LFU with it.
const TIES: [&str; 3] =
    ["ties=3,equal=1", "always=1,ties=3,warm-up=0", "always=2,ties=3,warm-up=0"];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let changes = if context.small { &CHANGES[..1] } else { &CHANGES };
    let changed = changes.iter().map(|(options, _)| *options).chain(TIES);
    let changed: Vec<System> = changed.map(System::AmpWith).collect();
    let systems = [&[System::Amp], &FIXED[..], &changed].concat();
    let found = performance(context, &systems, |_| ())?;
    let amp = found.of(System::Amp);
    let mut outcome = Outcome { series: found.series(""), ..Outcome::default() };
    for (options, what) in changes {
        let ours = gain(&found.of(System::AmpWith(options)), &amp);
        outcome.rows.push(Row::new(format!("{what}: over AMP"), "%", ours));
    }
    let [amp_so, lru, lfu] = TIES.map(|options| found.of(System::AmpWith(options)));
    let random = found.of(System::Random);
    let what = "ties as in the published code";
    outcome.rows.push(Row::new(format!("{what}: over AMP"), "%", gain(&amp_so, &amp)));
    for (name, over, published) in [("LRU", lru, 10.9), ("LFU", lfu, 6.4), ("Random", random, 17.6)]
    {
        let row = Row::new(format!("{what}: AMP over {name}"), "%", gain(&amp_so, &over));
        outcome.rows.push(row.published(published, WITHIN));
    }
    Ok(outcome)
}
