//! Figure 14: two programs at a time, each with fast memory and a choice of its own.

use super::programs::PROGRAMS;
use super::runs::{FIXED, Run, System, WITHIN, came, gain};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "14",
    title: "performance of six mixes of two programs",
    source: "section 6.4",
    slow: false,
    run,
};

/// [I] The text says that classes are mixed, not which programs: two mixes of each pair of classes.
const MIXES: [[&str; 2]; 6] = [
    ["mcf", "graph500"],
    ["cactus", "pop2"],
    ["cg.D", "lbm"],
    ["mcf", "lu.D"],
    ["graph-analytics", "deepsjeng"],
    ["in-memory-analytics", "lbm"],
];

const OF_LRU: &str = "as alone: the tie rule (figures 10 and 10-ablations)";

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mixes = if context.small { &[["cg.D", "graph500"]][..] } else { &MIXES };
    let systems = [&FIXED[..], &[System::Amp]].concat();
    let mut runs = Vec::new();
    for mix in mixes {
        let programs: Vec<_> = mix
            .iter()
            .filter_map(|name| PROGRAMS.into_iter().find(|it| it.name == *name))
            .collect();
        runs.push(Run::mix(&programs, System::AllFast));
        runs.extend(systems.iter().map(|system| Run::mix(&programs, *system)));
    }
    let all = came(context, &runs)?;
    let mut by_system = vec![Vec::new(); systems.len()];
    let mut bars: Vec<Series> = systems
        .iter()
        .map(|system| Series::new(system.name(), "program", "performance, all fast is 1"))
        .collect();
    let mut outcome = Outcome::default();
    for (mix, came) in mixes.iter().zip(all.chunks(systems.len() + 1)) {
        let mut means = Vec::new();
        for system in 0..systems.len() {
            let mut both = Vec::new();
            for name in mix {
                let rate = |at: usize| came[at].of(name, "accesses_per_s");
                let value = rate(system + 1)? / rate(0)?;
                both.push(value);
                let what = format!("{name} ({})", mix.join(" + "));
                bars[system] = bars[system].clone().point(what, value);
            }
            by_system[system].extend(both.iter().copied());
            means.push(geomean(both));
        }
        let best = means[..FIXED.len()].iter().copied().fold(0.0, f64::max);
        let ahead = 100.0 * (means[FIXED.len()] / best - 1.0);
        let what = format!("{}: AMP over the best fixed policy", mix.join(" + "));
        outcome.rows.push(Row::new(what, "%", ahead));
    }
    let amp = &by_system[FIXED.len()];
    for (at, published) in [14.7, 8.2, 20.4].into_iter().enumerate() {
        let what = format!("AMP over {}", FIXED[at].name());
        let ours = gain(amp, &by_system[at]);
        let row = Row::new(what, "%", ours).published(published, WITHIN);
        outcome.rows.insert(at, if at == 0 { row.why(OF_LRU) } else { row });
    }
    outcome.series = bars;
    Ok(outcome)
}
