//! What moves AMP's gains: its tie rule, its choice between equals, its window, its threshold, each
//! changed alone. Where the tie rule changes, it does so for LRU and LFU, too.

use super::runs::{FIXED, System, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

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

/// Rules among equal ages and frequencies: what they are called; AMP, LRU and LFU with them.
const TIES: [(&str, [&str; 3]); 3] = [
    ("ties by address", ["ties=1", "always=1,ties=1,warm-up=0", "always=2,ties=1,warm-up=0"]),
    (
        "ties by the other's key",
        ["ties=2", "always=1,ties=2,warm-up=0", "always=2,ties=2,warm-up=0"],
    ),
    (
        "ties as published code",
        ["ties=3,equal=1", "always=1,ties=3,warm-up=0", "always=2,ties=3,warm-up=0"],
    ),
];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let (changes, ties) =
        if context.small { (&CHANGES[..1], &TIES[2..]) } else { (&CHANGES[..], &TIES[..]) };
    let of_ties = ties.iter().flat_map(|(_, systems)| systems);
    let changed = changes.iter().map(|(options, _)| options).chain(of_ties);
    let changed: Vec<System> = changed.map(|options| System::AmpWith(options)).collect();
    let systems = [&[System::Amp], &FIXED[..], &changed].concat();
    let found = performance(context, &systems, |_| ())?;
    let amp = found.of(System::Amp);
    let mut outcome = Outcome { series: found.series(""), ..Outcome::default() };
    for (options, what) in changes {
        let ours = gain(&found.of(System::AmpWith(options)), &amp);
        outcome.rows.push(Row::new(format!("{what}: over AMP"), "%", ours));
    }
    let random = found.of(System::Random);
    for (what, systems) in ties {
        let [amp_so, lru, lfu] = systems.map(|options| found.of(System::AmpWith(options)));
        let mut push = |what: String, ours, published: Option<f64>| {
            let row = Row::new(what, "%", ours);
            outcome.rows.push(match published {
                Some(published) => row.published(published, Tolerance::None),
                None => row,
            });
        };
        push(format!("{what}: AMP over ours"), gain(&amp_so, &amp), None);
        push(format!("{what}: AMP over LRU"), gain(&amp_so, &lru), Some(10.9));
        push(format!("{what}: AMP over LFU"), gain(&amp_so, &lfu), Some(6.4));
        push(format!("{what}: AMP over Random"), gain(&amp_so, &random), Some(17.6));
    }
    Ok(outcome)
}
