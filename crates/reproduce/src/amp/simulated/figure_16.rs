//! Figure 16: more and less fast memory.

use super::runs::{FIXED, NEVER_RANDOM, System, WITHIN, gain, performance};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "16",
    title: "performance by fast memory ratio, geomean of the programs",
    source: "section 6.5",
    slow: false,
    run,
};

/// Percent of the memory that is fast, and AMP over LFU as published.
const RATIOS: [(u32, f64); 3] = [(30, 4.0), (50, 6.4), (70, 4.1)];

const RANDOM: &str =
    "Random is in force wherever more than 50 % is accessed; without it: the row below";

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let systems = [&FIXED[..], &[System::Amp]].concat();
    let mut outcome = Outcome::default();
    let mut lines: Vec<Series> = systems
        .iter()
        .map(|system| Series::new(system.name(), "fast memory, %", "performance, all fast is 1"))
        .collect();
    for (percent, published) in RATIOS {
        let found = performance(context, &systems, |run| run.fast = f64::from(percent) / 100.0)?;
        let amp = found.of(System::Amp);
        for (line, system) in lines.iter_mut().zip(&systems) {
            *line = line.clone().point(percent, geomean(found.of(*system)));
        }
        for system in FIXED {
            let what = format!("{percent} % fast: AMP over {}", system.name());
            let row = Row::new(what, "%", gain(&amp, &found.of(system)));
            outcome.rows.push(match system {
                System::Lfu if percent == 30 => row.published(published, WITHIN).why(RANDOM),
                System::Lfu => row.published(published, WITHIN).why("as at 50 %: figure 10"),
                _ => row,
            });
        }
        if percent == 30 {
            let never = [System::Lfu, NEVER_RANDOM];
            let found = performance(context, &never, |run| run.fast = 0.3)?;
            let ours = gain(&found.of(NEVER_RANDOM), &found.of(System::Lfu));
            outcome.rows.push(Row::new("30 % fast: AMP, never Random, over LFU", "%", ours));
        }
    }
    outcome.series = lines;
    Ok(outcome)
}
