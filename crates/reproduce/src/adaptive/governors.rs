//! Pagetide under its two governors: `gain`, its own, is to be at least as good as `adaptive` on every row. Programs beside each
//! other are not among these rows: in the simulator each tenant of Pagetide has fast memory of its own.

use super::figure_7;
use super::programs::Program;
use super::runs::{Grid, NONE, PAGETIDE, System, grid, programs, threads};
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Row};

pub(super) const FIGURE: Figure = Figure {
    id: "governors",
    title: "Pagetide's two governors: all programs, one thread, three phases",
    source: "ours",
    slow: true,
    run,
};

const ADAPTIVE: System =
    System::of("Pagetide, governor adaptive", "name = \"pagetide\"\ngovernor = \"adaptive\"");

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let systems = [NONE, PAGETIDE, ADAPTIVE];
    let all = grid(context, threads(context), &programs(context), &systems)?;
    rows(&all, "", &mut outcome);
    let names: &[&str] = if context.small { &["GUPS"] } else { &["Silo", "GUPS"] };
    let single: Vec<&Program> = names.iter().filter_map(|name| Program::named(name)).collect();
    rows(&grid(context, 1, &single, &systems)?, ", one thread", &mut outcome);
    for system in [PAGETIDE, ADAPTIVE] {
        outcome.rows.extend(figure_7::as_published(context, context.scale, system)?);
    }
    outcome.notes.push("the programs are models [I]: see adaptive/programs.rs".into());
    Ok(outcome)
}

/// What both are over no migration, and `gain` over `adaptive` by row.
fn rows(found: &Grid, what: &str, outcome: &mut Outcome) {
    for system in [PAGETIDE, ADAPTIVE] {
        let speedups = found.speedups(system, NONE);
        let least = speedups.iter().copied().fold(f64::INFINITY, f64::min);
        let name = format!("{}{what}: speed-up over no migration", system.name);
        outcome.rows.push(Row::new(format!("{name}, geometric mean"), "x", geomean(speedups)));
        outcome.rows.push(Row::new(format!("{name}, at worst"), "x", least));
    }
    for ((program, gb, _), over) in found.rows.iter().zip(found.speedups(PAGETIDE, ADAPTIVE)) {
        let name = format!("{}, {gb} GB{what}: gain over adaptive", program.name);
        outcome.rows.push(Row::new(name, "x", over));
    }
}
