//! Published figures that ours miss by more than 15 %, and which ablation moves each of them. Of cells that the
//! text publishes for several numbers of pages at once, one stands for all.

use super::ablations::{BY_TIME, ablations};
use super::figure_3::LOST;
use super::figure_5::{EPOCHS, PUBLISHED as CELLS};
use super::figure_6::{self, PUBLISHED as SHOOTDOWNS};
use super::figure_7::{LATENCY, PUBLISHED as LATENCIES};
use super::runs::{NODES, Point, Runs, programs, title};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance, Verdict};
use pagetide_sim::pool::{Migration, SwapStall};

pub(super) const FIGURE: Figure = Figure {
    id: "misses",
    title: "What is missed by more than 15 % in figures 3, 5, 6 and 7, and the ablation that moves it",
    source: "figures 3, 5, 6, 7",
    slow: true,
    run,
};

pub(super) const WITHIN: Tolerance = Tolerance::Percent(15.0);
/// The number of pages that stands for others.
const MOST: u32 = 50;
/// Less of the distance, by logarithms, is not nearer.
const NEARER: f64 = 0.1;

/// A published number: the instructions per cycle of one point over those of another.
pub(super) struct Published {
    pub(super) what: String,
    pub(super) point: Point,
    pub(super) over: Point,
    pub(super) ratio: f64,
}

impl Published {
    fn new(figure: u32, what: &str, (point, over): (Point, Point), ratio: f64) -> Self {
        Self {
            what: format!("Figure {figure}, {}: {what}", title(point.program)),
            point,
            over,
            ratio,
        }
    }
}

/// All that are promised within 15 %.
pub(super) fn published(program: &'static str) -> Vec<Published> {
    let moving = |migration| (Point::of(program).moving(migration), Point::of(program));
    let mut all = Vec::new();
    for (_, lost) in LOST.iter().filter(|(of, _)| *of == program) {
        let points = (
            Point { nodes: NODES, ..Point::of(program) },
            Point { nodes: 1, ..Point::of(program) },
        );
        all.push(Published::new(
            3,
            "what is left with 8 nodes, against 1",
            points,
            1.0 - lost / 100.0,
        ));
    }
    for (_, name, most, threshold, gain) in CELLS.iter().filter(|(of, ..)| *of == program) {
        let same = |(of, at, _, than, _): &&(&str, &str, u32, u32, f64)| {
            (of, at, than) == (&program, name, threshold)
        };
        let stands = CELLS.iter().filter(same).any(|(_, _, most, ..)| *most == MOST);
        let epoch = EPOCHS.iter().find(|(_, of)| of == name);
        if let (Some((epoch_cycles, _)), true) = (epoch, *most == MOST || !stands) {
            let of = Migration {
                threshold: *threshold,
                most: *most,
                epoch_cycles: *epoch_cycles,
                ..Migration::default()
            };
            let what = format!("{name} cycles, M {most}, threshold {threshold}");
            all.push(Published::new(5, &what, moving(of), *gain));
        }
    }
    for (_, name, shootdown_us, gain) in SHOOTDOWNS.iter().filter(|(of, ..)| *of == program) {
        let epoch = figure_6::EPOCHS.iter().find(|(_, of)| of == name);
        if let Some((epoch_cycles, _)) = epoch {
            let of = Migration {
                epoch_cycles: *epoch_cycles,
                shootdown_us: *shootdown_us,
                swap_stall: SwapStall::None,
                ..Migration::default()
            };
            let what = format!("{name} cycles, {shootdown_us} us, swaps for nothing");
            all.push(Published::new(6, &what, moving(of), *gain));
        }
    }
    for (_, gains) in LATENCIES.iter().filter(|(of, _)| *of == program) {
        for (latency, gain) in [LATENCY[0], LATENCY[4]].into_iter().zip(gains) {
            let (point, over) = moving(Migration::default());
            let points = (point.with_latency(latency), over.with_latency(latency));
            let what = format!("{}/{} ns, over no migration", latency.0, latency.1);
            all.push(Published::new(7, &what, points, *gain));
        }
    }
    all
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for program in programs(context) {
        let runs = Runs::new(context);
        let mut all = published(program);
        all.truncate(if context.small { 2 } else { all.len() });
        let points: Vec<Point> =
            all.iter().flat_map(|of| [of.point.clone(), of.over.clone()]).collect();
        let ipc = runs.ipc(&points)?;
        for (of, ipc) in all.iter().zip(ipc.chunks(2)) {
            let row = Row::new(of.what.clone(), "x", ipc[0] / ipc[1]).published(of.ratio, WITHIN);
            if row.verdict() == Some(Verdict::Missed) {
                let why = why(context, &runs, of, row.ours)?;
                outcome.rows.push(row.why(why));
            }
        }
    }
    outcome.notes.push("each ablation of the figure above, at the setting that is missed".into());
    outcome.notes.push(BY_TIME.into());
    Ok(outcome)
}

/// Which ablation moves a number nearest to what was published.
fn why(
    context: &Context,
    runs: &Runs<'_>,
    of: &Published,
    ours: f64,
) -> Result<String, ReproduceError> {
    let migrates = of.point.migration.is_some();
    let mut all = ablations();
    all.retain(|ablation| ablation.is_of_machine() || migrates);
    all.truncate(if context.small { 2 } else { all.len() });
    let points: Vec<Point> = all
        .iter()
        .flat_map(|ablation| [&of.point, &of.over].map(|point| ablation.of(point.clone())))
        .collect();
    let speeds = runs.speeds(&points)?;
    let found: Vec<(&str, f64)> =
        all.iter().zip(speeds.chunks(2)).map(|(of, two)| (of.name, two[0] / two[1])).collect();
    Ok(said(&found, of.ratio, ours))
}

/// The ablation that comes nearest, in words.
fn said(found: &[(&str, f64)], published: f64, ours: f64) -> String {
    let off = |ratio: f64| (ratio / published).ln().abs();
    let nearest = found.iter().min_by(|(_, a), (_, b)| off(*a).total_cmp(&off(*b)));
    let Some((name, ratio)) = nearest else { return "no ablation of it is made".into() };
    let met = Row::new("", "", *ratio).published(published, WITHIN).verdict() == Some(Verdict::Met);
    if met {
        format!("met if {name}: {ratio:.2}")
    } else if off(*ratio) < off(ours) * (1.0 - NEARER) {
        format!("nearest if {name}: {ratio:.2}")
    } else {
        let least = found.iter().map(|(_, ratio)| *ratio).fold(f64::INFINITY, f64::min);
        let most = found.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
        format!("no ablation moves it nearer: {least:.2} to {most:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ablation_that_comes_nearest_is_named() {
        let found = [("as it is", 1.2), ("slow", 1.4), ("quick", 1.9)];
        assert_eq!(said(&found, 2.0, 1.2), "met if quick: 1.90");
        assert_eq!(said(&found, 3.0, 1.2), "nearest if quick: 1.90");
        assert_eq!(said(&found, 0.5, 1.2), "no ablation moves it nearer: 1.20 to 1.90");
    }

    #[test]
    fn cells_published_for_several_numbers_of_pages_stand_once() {
        let all = published("simplemoc");
        let fives = all.iter().filter(|of| of.what.starts_with("Figure 5"));
        assert_eq!(fives.clone().count(), 3, "one for each epoch");
        assert!(fives.clone().all(|of| of.what.contains("M 50,")));
        assert_eq!(published("minife").iter().filter(|of| of.what.contains("M 500")).count(), 4);
    }
}
