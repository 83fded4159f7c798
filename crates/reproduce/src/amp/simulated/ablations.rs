//! What moves AMP's gains: its tie rule, its choice between equals, its window, its threshold, each
//! changed alone; and how much of a program's time is waiting for memory. Where the tie rule changes, it
//! does so for LRU and LFU, too.

use super::figure_10;
use super::runs::{FIXED, System, WITHIN, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "10-ablations",
    title: "figure 10 with one rule or parameter changed",
    source: "section 6.2, algorithm 1",
    slow: false,
    run,
};

pub(in crate::amp) const COMPUTING: Figure = Figure {
    id: "10-computing",
    title: "figure 10 with programs that compute longer between misses",
    source: "section 6.2",
    slow: false,
    run: run_computing,
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

/// How many times as long as in [the models](super::programs), whose `compute_ns` is [I].
const TIMES: [f64; 2] = [2.0, 4.0];

fn run_computing(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let times = if context.small { &TIMES[..1] } else { &TIMES };
    for computing in times {
        let systems = &figure_10::SYSTEMS[1..];
        let found = performance(context, systems, |run| run.computing = *computing)?;
        let amp = found.of(System::Amp);
        for (system, published) in figure_10::PUBLISHED {
            let what = format!("{computing} times as long: AMP over {}", system.name());
            let row = Row::new(what, "%", gain(&amp, &found.of(system)));
            outcome.rows.push(row.published(published, WITHIN));
        }
        let what = format!("{computing} times as long: AMP over the best policy of each program");
        outcome.rows.push(Row::new(what, "%", gain(&amp, &found.best(&FIXED))));
        outcome.series.extend(found.series(&format!("{computing} times as long")));
    }
    Ok(outcome)
}
