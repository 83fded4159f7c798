//! Figure 14: pairs of programs with different offsets (12 and 13 are its parts: UF and UU).

use super::pairs::{Dram, OFFSETS_S, Pair, run as run_pairs};
use super::runs::{ADAPTIVE, GUARDED, NOMAD, NONE, TPP_MOD};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "14",
    title: "two programs at a time, the second one 5, 200 and 400 s later: UF and UU",
    source: "section 5.4",
    slow: true,
    run,
};

/// What NOMAD degrades performance by, "approximately": taken for what is lost of it [I].
const LOST_PERCENT: f64 = 88.0;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut pairs: Vec<Pair> = Pair::of("UF").chain(Pair::of("UU")).collect();
    let mut offsets = OFFSETS_S.to_vec();
    if context.small {
        // GUPS and SP.
        (pairs, offsets) = (pairs.drain(1..2).collect(), vec![5]);
    }
    let [tpp, nomad, guarded, ours] =
        [TPP_MOD, NOMAD, GUARDED, ADAPTIVE].map(|system| (system, Dram::Shared));
    let found = run_pairs(
        context,
        &pairs,
        &offsets,
        &[(NONE, Dram::FirstTouch), tpp, nomad, guarded, ours],
    )?;
    let mut outcome = Outcome::default();
    for (system, published) in
        [(tpp, None), (nomad, Some(LOST_PERCENT)), (guarded, None), (ours, None)]
    {
        let speedups = found.speedups(system);
        let worst = speedups.iter().fold(f64::INFINITY, |worst, one| worst.min(one.factor));
        let what = format!("{}: time over no migration's, at most", system.0.name);
        let row = Row::new(what, "x", 1.0 / worst);
        outcome.rows.push(match published {
            Some(lost) => row.published(100.0 / (100.0 - lost), Tolerance::Ratio(1.5)),
            None => row,
        });
    }
    // A program's, at any offset [I]: the texts say "up to".
    let nomads = found.speedups(nomad).into_iter();
    let over = nomads.zip(found.speedups(ours)).map(|(nomad, own)| own.factor / nomad.factor);
    let row = Row::new(
        "Adaptive: gain over NOMAD, at most",
        "%",
        100.0 * (over.fold(0.0, f64::max) - 1.0),
    );
    outcome.rows.push(row.published(72.0, Tolerance::Ratio(1.5)));
    found.draw(&mut outcome);
    outcome.notes.push(
        "published: performance degrades by approximately 88 %; what is lost of it, so 8.3 times the time [I]".into(),
    );
    outcome.notes.push("MEMTIS is left out, as in the paper".into());
    outcome
        .notes
        .push("the texts do not say which pairs, and which offsets: those of figure 4 [I]".into());
    Ok(outcome)
}
