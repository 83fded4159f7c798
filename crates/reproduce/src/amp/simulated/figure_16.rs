//! Figure 16: more and less fast memory.

use super::runs::{FIXED, System, WITHIN, gain, performance};
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
                System::Lfu => row.published(published, WITHIN),
                _ => row,
            });
        }
    }
    outcome.series = lines;
    Ok(outcome)
}
