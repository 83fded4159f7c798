//! What moves AMP's gains: its tie rule, its choice between equals, its window, its threshold, each
//! changed alone; how much of a program's time is waiting for memory, and what is fast first. Where the
//! tie rule changes, it does so for LRU and LFU, too.

use super::figure_10;
use super::programs::Change;
use super::runs::{FIXED, System, WITHIN, gain, performance};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "10-ablations",
    title: "figure 10 with one rule or parameter changed",
    source: "section 6.2, algorithm 1",
    slow: false,
    run,
};

pub(in crate::amp) const PROGRAMS: Figure = Figure {
    id: "10-programs",
    title: "figure 10 with programs that compute longer, and with memory the other way round",
    source: "section 6.2",
    slow: false,
    run: run_programs,
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

/// What of [the models](super::programs) is [I] and may matter most.
const OF_PROGRAMS: [(&str, Change); 4] = [
    ("computing twice as long", Change { computing: 2.0, reversed: false }),
    ("computing four times as long", Change { computing: 4.0, reversed: false }),
    ("memory the other way round", Change { computing: 1.0, reversed: true }),
    ("both, twice", Change { computing: 2.0, reversed: true }),
];

fn run_programs(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let changes = if context.small { &OF_PROGRAMS[..1] } else { &OF_PROGRAMS };
    for (what, change) in changes {
        let found = performance(context, &figure_10::SYSTEMS[1..], |run| run.change = *change)?;
        let amp = found.of(System::Amp);
        for (system, published) in figure_10::PUBLISHED {
            let name = format!("{what}: AMP over {}", system.name());
            let row = Row::new(name, "%", gain(&amp, &found.of(system)));
            outcome.rows.push(row.published(published, WITHIN));
        }
        let best = found.best(&FIXED);
        let name = format!("{what}: AMP over the best policy of each program");
        outcome.rows.push(Row::new(name, "%", gain(&amp, &best)));
        outcome.series.extend(found.series(what));
    }
    Ok(outcome)
}
