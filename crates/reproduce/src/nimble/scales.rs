//! Whether the scale matters: three programs of figure 12, and the same with twice and four times the memory and times.

use super::programs::{PROGRAMS, Variant, scenario};
use crate::simulated::simulate;
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "scales",
    title: "figure 12 at three scales: gain of THP Migration over All Remote",
    source: "ours",
    slow: true,
    run,
};

const NAMES: [&str; 3] = ["504.polbm", "551.ppalm", "graph500"];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for program in PROGRAMS.iter().filter(|program| NAMES.contains(&program.name)) {
        for scale in [1, 2, 4].map(|times| (context.scale / times).max(1)) {
            let systems = ["all-slow", "nimble-huge"];
            let text = |system: &&str| {
                let system = format!("name = \"{system}\"");
                scenario(program, (scale, 16.0), &system, &Variant::default())
            };
            let texts: Vec<String> = systems.iter().map(text).collect();
            let found = simulate(context, "nimble/end-to-end", &texts)?;
            let rate = |at: usize| {
                let name = format!("{}.accesses_per_s", program.name);
                found[at].get(&name).copied().ok_or(ReproduceError::Missing(name))
            };
            let what = format!("{}: memory and times {scale} times smaller", program.name);
            outcome.rows.push(Row::new(what, "%", 100.0 * (rate(1)? / rate(0)? - 1.0)));
        }
    }
    Ok(outcome)
}
