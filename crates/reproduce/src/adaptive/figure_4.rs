//! Figure 4: a friendly and an unfriendly program at a time, of which the unfriendly one starts later, and
//! is bound to slow memory or not.

use super::pairs::{Dram, Member, OFFSETS_S, Pair, Speedup, run as run_pairs};
use super::runs::{NONE, TPP_MOD};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "4",
    title: "Liblinear, and Silo that starts later: TPP-mod, and Silo bound to slow memory",
    source: "section 3.3",
    slow: true,
    run,
};

/// The text gives the threads; the sizes are those of table 4 [I].
const PAIR: Pair = Pair {
    case: "FU",
    members: [
        Member { name: "Liblinear", memory_gb: 69.0, threads: 15 },
        Member { name: "Silo", memory_gb: 53.0, threads: 1 },
    ],
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let offsets = if context.small { &OFFSETS_S[..1] } else { &OFFSETS_S };
    let (tpp, bound) = ((TPP_MOD, Dram::Shared), (TPP_MOD, Dram::Bound));
    let found = run_pairs(context, &[PAIR], offsets, &[(NONE, Dram::FirstTouch), tpp, bound])?;
    let (tpp, bound) = (found.speedups(tpp), found.speedups(bound));
    // Both programs of an offset.
    let means = |speedups: &[Speedup]| -> Vec<f64> {
        speedups.chunks(2).map(|both| geomean(both.iter().map(|one| one.factor))).collect()
    };
    let faster = |one: &(f64, f64)| one.0 >= one.1.max(1.0);
    let best = means(&bound).into_iter().zip(means(&tpp)).filter(faster).count();
    let friendly = tpp.iter().filter(|one| one.program == "Liblinear" && one.factor > 1.0).count();
    let mut outcome = Outcome::default();
    for (what, count) in [
        ("offsets at which manual bind is the best for both, by geometric mean", best),
        ("offsets at which Liblinear gains by TPP-mod", friendly),
    ] {
        let row = Row::new(what, "", count as f64);
        outcome.rows.push(row.published(offsets.len() as f64, Tolerance::Percent(0.0)));
    }
    for (what, speedups) in [("TPP-mod", &tpp), ("manual bind", &bound)] {
        for one in speedups {
            let what = format!(
                "{}, {what}, Silo {} s later: gain over no migration",
                one.program, one.offset_s
            );
            outcome.rows.push(Row::new(what, "%", 100.0 * (one.factor - 1.0)));
        }
    }
    found.draw(&mut outcome);
    outcome.notes.push(
        "published in words: manual bind is the best at all offsets, Liblinear always gains, Silo does best \
         where it starts latest. The text has Silo in one place and FT in another"
            .into(),
    );
    Ok(outcome)
}
