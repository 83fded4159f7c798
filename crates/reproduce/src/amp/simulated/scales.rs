//! Whether the scale matters, and the seed: three programs of figure 10, the same with twice the memory and
//! times, and the same with other random numbers.

use super::programs::PROGRAMS;
use super::runs::{Run, SEED, System, came};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "scales",
    title: "performance under AMP at two scales and with two seeds, all fast is 100 %",
    source: "ours",
    slow: true,
    run,
};

/// One of each class.
const NAMES: [&str; 3] = ["cg.D", "graph500", "lu.D"];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for program in PROGRAMS.iter().filter(|program| NAMES.contains(&program.name)) {
        for (finer, seed) in [(1, SEED), (2, SEED), (1, SEED + 100)] {
            let run = |system| Run { finer, seed, ..Run::of(*program, system) };
            let found = came(context, &[run(System::Amp), run(System::AllFast)])?;
            let rate = |at: usize| found[at].of(program.name, "accesses_per_s");
            let scale = (context.scale / finer).max(1);
            let other = if seed == SEED { "" } else { ", another seed" };
            let what = format!("{}: memory and times {scale} times smaller{other}", program.name);
            outcome.rows.push(Row::new(what, "%", 100.0 * rate(0)? / rate(1)?));
        }
    }
    Ok(outcome)
}
