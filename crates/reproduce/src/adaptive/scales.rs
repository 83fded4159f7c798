//! Whether the scale matters: three phases and two programs, and the same with twice the memory and times.

use super::figure_7;
use super::programs::Program;
use super::runs::{ADAPTIVE, NONE, simulate, threads, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "scales",
    title: "figures 7 and 10 at two scales",
    source: "ours",
    slow: true,
    run,
};

/// Programs of figure 10, and their DRAM, GB.
const PROGRAMS: [(&str, u32); 2] = [("PageRank", 16), ("Liblinear", 48)];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for scale in [context.scale, (context.scale / 2).max(1)] {
        let smaller = format!("memory and times {scale} times smaller");
        for row in figure_7::as_published(context, scale, ADAPTIVE)? {
            outcome.rows.push(Row { what: format!("{}: {smaller}", row.what), ..row });
        }
        for (name, dram_gb) in PROGRAMS {
            let Some(program) = Program::named(name) else { continue };
            let what = (scale, threads(context), dram_gb);
            let texts = [NONE, ADAPTIVE].map(|system| program.scenario(what, system));
            let found = simulate(context, &texts, false)?;
            let rate = |at: usize| value(&found[at], "accesses_per_s");
            let what = format!("{name} at {dram_gb} GB, gain over no migration: {smaller}");
            outcome.rows.push(Row::new(what, "%", 100.0 * (rate(1)? / rate(0)? - 1.0)));
        }
    }
    Ok(outcome)
}
