//! Figure 11: programs with a single thread, whose kernel's threads have cores of their own, but for
//! MEMTIS.

use super::programs::Program;
use super::runs::{
    ADAPTIVE, GUARDED, LINUX, MEMTIS, MEMTIS_2, NOMAD, NONE, System, TPP, TPP_MOD, grid,
};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "11",
    title: "Silo and GUPS with one thread",
    source: "section 5.3",
    slow: false,
    run,
};

/// Those that the paper compares with.
const OTHERS: [System; 4] = [TPP_MOD, NOMAD, MEMTIS, MEMTIS_2];

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let names: &[&str] = if context.small { &["Silo"] } else { &["Silo", "GUPS"] };
    let programs: Vec<&Program> = names.iter().filter_map(|name| Program::named(name)).collect();
    let systems = [&[NONE, LINUX, TPP], &OTHERS[..], &[GUARDED, ADAPTIVE]].concat();
    let found = grid(context, 1, &programs, &systems)?;
    let mut outcome = Outcome::default();
    // Of one program over no migration, at all sizes.
    let times = |name: &'static str, system| {
        let rows = found.rows.iter().zip(found.speedups(NONE, system));
        rows.filter(move |((program, ..), _)| program.name == name).map(|row| row.1)
    };
    let longest = |times: &mut dyn Iterator<Item = f64>| times.fold(0.0, f64::max);
    let silo = |system| times("Silo", system);
    let ours = longest(&mut silo(ADAPTIVE));
    let shortest = OTHERS.into_iter().flat_map(silo).fold(f64::INFINITY, f64::min);
    let most = longest(&mut OTHERS.into_iter().flat_map(silo));
    for (what, ours, published) in [
        ("Silo: Adaptive's time over no migration's, at most", ours, 1.17),
        ("Silo: the others' time over no migration's, at least", shortest, 1.32),
        ("Silo: the others' time over no migration's, at most", most, 2.54),
    ] {
        outcome.rows.push(Row::new(what, "x", ours).published(published, Tolerance::Ratio(1.25)));
    }
    let guarded = longest(&mut silo(GUARDED));
    outcome.rows.push(Row::new("Silo: the guarded Adaptive's time, at most", "x", guarded));
    for system in systems.iter().skip(1).filter(|_| !context.small) {
        let what = format!("GUPS: {}'s time over no migration's, at most", system.name);
        outcome.rows.push(Row::new(what, "x", longest(&mut times("GUPS", *system))));
    }
    found.draw(&mut outcome);
    outcome.series.push(found.stops());
    outcome.notes.push("the paper's others are TPP-mod, NOMAD and MEMTIS".into());
    outcome.notes.push("published in words: on GUPS MEMTIS does better than the others".into());
    Ok(outcome)
}
