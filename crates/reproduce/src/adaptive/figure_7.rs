//! Figure 7: a program with three phases, of which none fits into DRAM: stops, restarts, and what they
//! are decided by.

use super::runs::{BARE, OURS, System, answers, simulate, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const FIGURE: Figure = Figure {
    id: "7",
    title: "three phases: 30 of 80 GB, 60 GB that contain them, 30 GB again; 16 GB of DRAM",
    source: "section 5.2",
    slow: false,
    run,
};

/// Threads [I].
const THREADS: u32 = 4;
/// Whether three stops and two restarts depend on what is random.
const SEEDS: u32 = 10;

/// The micro-test. First touch puts the same share of every part into DRAM, as of pages chosen at random.
fn scenario((scale, seed): (u32, u32), threads: u32, system: System<'_>) -> String {
    format!(
        "machine = \"adaptive-cxl\"\nscale = {scale}\nseed = {seed}\nhuge_pages = false\n\
         seconds = 900\n{}\
         [[tenant]]\nname = \"phases\"\nmemory = \"80G\"\nfast = \"16G\"\n\
         threads = {threads}\ncompute_ns = 40\n\
         [tenant.pattern]\nkind = \"regions\"\ninit = \"interleaved\"\npart = [\n\
         {{ name = \"first\", from = 0, to = 0.375, weight = 1, walk = \"random\" }},\n\
         {{ name = \"more\", from = 0.375, to = 0.75, weight = 1, walk = \"random\" }},\n\
         {{ name = \"rest\", from = 0.75, to = 1, weight = 1e-5, walk = \"random\" }}]\n\
         phase = [{{ seconds = 300, weights = {{ more = 1e-5 }} }}, {{ seconds = 300 }}]",
        system.lines()
    )
}

/// So many seeds at most, each with its scenario at a scale.
fn texts(context: &Context, scale: u32, system: System<'_>, seeds: u32) -> Vec<String> {
    let (threads, seeds) = if context.small { (1, 1) } else { (THREADS, seeds) };
    (0..seeds).map(|seed| scenario((scale, seed), threads, system)).collect()
}

/// With how many seeds there are three stops and two restarts, and of how many.
pub(super) fn right(
    context: &Context,
    scale: u32,
    system: System<'_>,
    seeds: u32,
) -> Result<[f64; 2], ReproduceError> {
    let all = simulate(context, &texts(context, scale, system, seeds), false)?;
    let right = all.iter().filter(|one| {
        let of = |name| one.get(name).copied();
        of("stops") == Some(3.0) && of("restarts") == Some(2.0)
    });
    Ok([right.count() as f64, all.len() as f64])
}

/// The same as a row.
pub(super) fn as_published(
    context: &Context,
    scale: u32,
    system: System<'_>,
) -> Result<Row, ReproduceError> {
    let [right, seeds] = right(context, scale, system, SEEDS)?;
    let what = format!("{}: seeds with three stops and two restarts, of {seeds}", system.name);
    Ok(Row::new(what, "", right))
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let first = texts(context, context.scale, OURS, 1).remove(0);
    let first = simulate(context, &[first], true)?.remove(0);
    let mut outcome = Outcome::default();
    for (name, published) in [("stops", 3.0), ("restarts", 2.0)] {
        let row = Row::new(name, "", value(&first, name)?);
        outcome.rows.push(row.published(published, Tolerance::Percent(0.0)));
    }
    for system in [OURS, BARE] {
        outcome.rows.push(as_published(context, context.scale, system)?);
    }
    let answers = answers(&first);
    let gb = 1e9;
    let promoted = answers.iter().map(|answer| (answer.at_s, answer.promoted / gb));
    let scanned = answers.iter().filter(|answer| answer.accessed > 0.0);
    let series = |name| Series::new(name, "time, s", "GB").panel(name);
    outcome.series = vec![
        series("promoted between two answers").points(promoted),
        series("accessed entries of the scan")
            .points(scanned.map(|answer| (answer.at_s, answer.accessed / gb))),
    ];
    outcome.notes.push("the governor's constants are inferred [I]: the texts give none".into());
    Ok(outcome)
}
