//! Figure 7: a program with three phases, of which none fits into DRAM: stops, restarts, and what they
//! are decided by.

use super::runs::{ADAPTIVE, GUARDED, System, answers, simulate, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance, Values};

pub(super) const FIGURE: Figure = Figure {
    id: "7",
    title: "three phases: 30 of 80 GB, 60 GB that contain them, 30 GB again; 16 GB of DRAM",
    source: "section 5.2",
    slow: false,
    run,
};

/// Threads [I].
const THREADS: u32 = 4;
const PHASES: usize = 3;
const PHASE_S: f64 = 300.0;
/// Less than a thousandth of DRAM is nothing.
const LEAST_PROMOTED: f64 = 16e6;
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

/// What went up in each phase, bytes.
fn promoted(values: &Values) -> [f64; PHASES] {
    let mut sums = [0.0; PHASES];
    for answer in answers(values) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let phase = ((answer.at_s / PHASE_S).ceil() as usize).clamp(1, PHASES);
        sums[phase - 1] += answer.promoted;
    }
    sums
}

/// With how many seeds there are three stops and two restarts; of these, in how many pages went up in each phase; and of how
/// many seeds.
pub(super) fn right(
    context: &Context,
    scale: u32,
    system: System<'_>,
    seeds: u32,
) -> Result<[f64; 3], ReproduceError> {
    let all = simulate(context, &texts(context, scale, system, seeds), true)?;
    let right = all.iter().filter(|one| {
        let of = |name| one.get(name).copied();
        of("stops") == Some(3.0) && of("restarts") == Some(2.0)
    });
    let moving = |one: &&Values| promoted(one).iter().all(|bytes| *bytes >= LEAST_PROMOTED);
    let right: Vec<&Values> = right.collect();
    let moving = right.iter().copied().filter(moving).count();
    Ok([right.len() as f64, moving as f64, all.len() as f64])
}

/// The same as rows.
pub(super) fn as_published(
    context: &Context,
    scale: u32,
    system: System<'_>,
) -> Result<[Row; 2], ReproduceError> {
    let [right, moving, seeds] = right(context, scale, system, SEEDS)?;
    let what = format!("{}: seeds with three stops and two restarts, of {seeds}", system.name);
    let also = format!("{}: of these, with pages that go up in each phase", system.name);
    Ok([Row::new(what, "", right), Row::new(also, "", moving)])
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let first = texts(context, context.scale, ADAPTIVE, 1).remove(0);
    let first = simulate(context, &[first], true)?.remove(0);
    let mut outcome = Outcome::default();
    for (name, published) in [("stops", 3.0), ("restarts", 2.0)] {
        let row = Row::new(name, "", value(&first, name)?);
        outcome.rows.push(row.published(published, Tolerance::Percent(0.0)));
    }
    let gb = 1e9;
    for (phase, bytes) in ["first", "second", "third"].into_iter().zip(promoted(&first)) {
        outcome.rows.push(Row::new(format!("promoted in the {phase} phase"), "GB", bytes / gb));
    }
    let at = |name| first.get(name).copied();
    let second =
        at("second-stop-s").zip(at("first-restart-s")).map(|(stop, restart)| stop - restart);
    for (what, seconds) in [
        ("from the start to the first stop", at("first-stop-s")),
        ("from the first restart to the second stop", second),
    ] {
        outcome.rows.extend(seconds.map(|seconds| Row::new(what, "s", seconds)));
    }
    for system in [ADAPTIVE, GUARDED] {
        outcome.rows.extend(as_published(context, context.scale, system)?);
    }
    let answers = answers(&first);
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
