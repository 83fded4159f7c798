//! Figure 3: blocks of 2 MiB that three compactors recover over time, from memory in which hardly any is free.

use super::WITHIN;
use super::runs::{COMPACTORS, EVERY, Point, Recovered, SECONDS, recovered};
use super::states::{FRAGMENTED, State};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "3",
    title: "blocks of 2 MiB that are recovered over time, 200 MB every 5 s (a model)",
    source: "section 5.2",
    slow: false,
    run,
};

/// What the assumed start decides.
pub(super) const STATES: Figure = Figure {
    id: "3-states",
    title: "figure 3 from other memory than the assumed (a model)",
    source: "section 5.2; not published",
    slow: false,
    run: run_states,
};

/// The end of the run, by the text; the first round after its second 272; and later.
const TIMES: [u32; 4] = [60, 180, 275, SECONDS];
/// How many times more blocks the paper's compactors have, at a time that it does not name.
const RATIO: f64 = 12.77;
/// Seconds in which the stock compactor recovers nothing.
const NOTHING: f64 = 272.0;

/// The most that either of the paper's compactors has over Linux, and when, of the times at which Linux has any.
pub(super) fn best([linux, dram, pm]: [&Recovered; 3]) -> Option<(f64, u32)> {
    (EVERY..=SECONDS)
        .step_by(EVERY as usize)
        .filter(|seconds| linux.at(*seconds) > 0.0)
        .map(|seconds| (dram.at(seconds).max(pm.at(seconds)) / linux.at(seconds), seconds))
        .max_by(|one, other| one.0.total_cmp(&other.0))
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let points = COMPACTORS.map(|(_, who)| Point { who, state: FRAGMENTED });
    let found = recovered(context, &points)?;
    let [linux, dram, pm] = [&found[0], &found[1], &found[2]];
    let mut outcome = Outcome::default();
    for ((name, _), of) in COMPACTORS.iter().zip(&found) {
        for seconds in TIMES {
            let what = format!("{name}: recovered after {seconds} s");
            outcome.rows.push(Row::new(what, "blocks", of.at(seconds)));
        }
        let times = (0..=SECONDS).step_by(EVERY as usize);
        let points = times.map(|seconds| (seconds, of.at(seconds)));
        let series = Series::new(*name, "seconds", "free blocks of 2 MiB more than at the start");
        outcome.series.push(series.points(points));
    }
    for seconds in TIMES.into_iter().filter(|seconds| linux.at(*seconds) > 0.0) {
        for (name, of) in [("DRAM", dram), ("PM", pm)] {
            let what = format!("{name} compactor over Linux after {seconds} s");
            outcome.rows.push(Row::new(what, "x", of.at(seconds) / linux.at(seconds)));
        }
    }
    let nothing = linux.first().map_or(SECONDS, |first| first - EVERY);
    let row = Row::new("Linux recovers nothing for", "s", f64::from(nothing));
    outcome.rows.push(row.published(NOTHING, WITHIN).why(
        "by the rules of section 3.2 a compactor recovers something in its first round, or never: 3-states, 3-rules",
    ));
    match best([linux, dram, pm]) {
        Some((ratio, seconds)) => {
            let what = format!("most over Linux, at {seconds} s");
            outcome.rows.push(Row::new(what, "x", ratio).published(RATIO, WITHIN).why(
                "Linux recovers as much and more here: the paper's take blocks of 4 MiB, and pass over both halves where one has an unmovable page",
            ));
        }
        None => outcome.notes.push(format!("Linux recovers nothing in {SECONDS} s: no ratio")),
    }
    outcome.notes.push(
        "the text's run takes 180 s and its stock compactor recovers nothing for the first 272 s: a ratio exists later only"
            .into(),
    );
    outcome.notes.push("memory at the start is inferred [I]: pmshifter/states.rs".into());
    let scale = context.scale;
    let note =
        format!("memory and the 200 MB are {scale} times smaller: a block stands for {scale}");
    outcome.notes.push(note);
    Ok(outcome)
}

/// What is free, how unevenly, and what is unmovable.
fn states(context: &Context) -> Vec<(String, State)> {
    let mut all = Vec::new();
    for (free, uneven) in [(0.04, 0.0), (0.06, 0.0), (0.08, 0.0), (0.5, 0.0), (0.5, 1.0)] {
        for unmovable in [0.0, 0.25, 0.9] {
            let how = if uneven > 0.0 { ", unevenly" } else { "" };
            let name = format!(
                "{:.0} % free{how}, {:.0} % of blocks with an unmovable page",
                100.0 * free,
                100.0 * unmovable
            );
            all.push((name, State { free, uneven, unmovable, ..FRAGMENTED }));
        }
    }
    all.truncate(if context.small { 2 } else { all.len() });
    all
}

fn run_states(context: &Context) -> Result<Outcome, ReproduceError> {
    let states = states(context);
    let points: Vec<Point> = states
        .iter()
        .flat_map(|(_, state)| COMPACTORS.map(|(_, who)| Point { who, state: *state }))
        .collect();
    let found = recovered(context, &points)?;
    let mut outcome = Outcome::default();
    for ((name, _), of) in states.iter().zip(found.chunks(COMPACTORS.len())) {
        let mut row = |what: &str, unit, ours: f64| {
            outcome.rows.push(Row::new(format!("{name}: {what}"), unit, ours));
        };
        for ((compactor, _), of) in COMPACTORS.iter().zip(of) {
            row(&format!("{compactor} after 180 s"), "blocks", of.at(180));
        }
        if let Some(first) = of[0].first() {
            row("Linux recovers nothing for", "s", f64::from(first - EVERY));
        }
        if let Some((ratio, seconds)) = best([&of[0], &of[1], &of[2]]) {
            row(&format!("most over Linux, at {seconds} s"), "x", ratio);
        }
    }
    outcome
        .notes
        .push(format!("where Linux has no time and no ratio it recovers nothing in {SECONDS} s"));
    Ok(outcome)
}
