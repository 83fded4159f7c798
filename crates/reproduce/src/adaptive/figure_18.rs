//! Figure 18: pairs of programs, by whether migration pays for them (15 to 17 are its parts: FF, UF, UU).

use super::pairs::{Dram, OFFSETS_S, PAIRS, run as run_pairs};
use super::runs::{ADAPTIVE, GUARDED, NOMAD, NONE, TPP_MOD};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "18",
    title: "two programs at a time: FF, UF and UU",
    source: "section 5.4",
    slow: true,
    run,
};

/// The pair whose two gains are published.
const PUBLISHED: &str = "FF: Liblinear + SP";

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    // Liblinear and SP.
    let pairs = if context.small { &PAIRS[1..2] } else { &PAIRS };
    let [tpp, nomad, guarded, ours] =
        [TPP_MOD, NOMAD, GUARDED, ADAPTIVE].map(|system| (system, Dram::Shared));
    let systems = [(NONE, Dram::FirstTouch), tpp, nomad, guarded, ours];
    let found = run_pairs(context, pairs, &OFFSETS_S[..1], &systems)?;
    let own = found.speedups(ours);
    let mut outcome = Outcome::default();
    for (program, published) in [("SP", 35.0), ("Liblinear", 38.0)] {
        let of = own.iter().filter(|one| one.pair.name() == PUBLISHED && one.program == program);
        for one in of {
            let what =
                format!("FF: {program} beside the other under Adaptive, gain over no migration");
            let row = Row::new(what, "%", 100.0 * (one.factor - 1.0));
            outcome.rows.push(row.published(published, Tolerance::Ratio(1.5)));
        }
    }
    for case in ["FF", "UF", "UU"] {
        for system in [tpp, nomad, guarded, ours] {
            let speedups = found.speedups(system);
            let of = speedups.iter().filter(|one| one.pair.case == case);
            let factors: Vec<f64> = of.map(|one| one.factor).collect();
            if !factors.is_empty() {
                let what =
                    format!("{case}: {}, gain over no migration, geometric mean", system.0.name);
                outcome.rows.push(Row::new(what, "%", 100.0 * (geomean(factors) - 1.0)));
            }
        }
    }
    found.draw(&mut outcome);
    outcome.notes.push("MEMTIS is left out, as in the paper".into());
    outcome.notes.push("the texts give no offset: the second program starts 5 s later [I]".into());
    Ok(outcome)
}
