//! The stock compactor beside a real one: guests in which a program fragmented memory and Linux 6.12 compacted it on
//! request; the model begins with the frames that the guest had. Nothing of it is published.

use super::guests::{At, GUESTS, Guest};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance, Verdict};
use pagetide_sim::frames::{Rules, Stock};

pub(super) const FIGURE: Figure = Figure {
    id: "calibration",
    title: "the model's stock compactor beside a guest's, Linux 6.12 compacting on request",
    source: "measured in guests, not published",
    slow: false,
    run,
};

/// How near the model is to be to a guest.
const WITHIN: Tolerance = Tolerance::Percent(25.0);
/// What the model has not.
const LISTS: &str = "a page that a CPU keeps on its own list of free ones (124 at most here) keeps its block from being \
                     whole; the model has no such lists";
/// Points of a curve that a picture shows.
const SHOWN: usize = 60;

/// A guest and the model of it.
struct Pair {
    guest: Vec<At>,
    model: Vec<At>,
    /// Frames scanned for pages to move, and for free ones.
    scanned: [f64; 2],
}

fn pair(guest: &Guest) -> Result<Pair, ReproduceError> {
    let mut memory = guest.memory()?;
    let mut model = vec![(0.0, memory.free_pageblocks() as f64)];
    let mut stock = Stock::new(&memory, Rules::ON_REQUEST);
    let done = stock.watched(&mut memory, usize::MAX, &mut |memory, done| {
        model.push((done.moved as f64, memory.free_pageblocks() as f64));
    });
    // What was set aside and not used is free again.
    model.push((done.moved as f64, memory.free_pageblocks() as f64));
    let scanned = [done.scanned as f64, done.free_scanned as f64];
    Ok(Pair { guest: guest.curve()?, model, scanned })
}

/// Blocks beyond those at the start when so many pages were migrated.
fn recovered(curve: &[At], migrated: f64) -> f64 {
    let start = curve.first().map_or(0.0, |at| at.1);
    curve.iter().take_while(|at| at.0 <= migrated).last().map_or(0.0, |at| at.1 - start)
}

/// The largest distance between the curves, percent of what the guest recovered in the end.
fn farthest(pair: &Pair) -> f64 {
    let whole = recovered(&pair.guest, f64::MAX);
    let distance = |at: &At| (recovered(&pair.model, at.0) - recovered(&pair.guest, at.0)).abs();
    100.0 * pair.guest.iter().map(distance).fold(0.0, f64::max) / whole
}

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for guest in GUESTS {
        let pair = pair(guest)?;
        let name = guest.name;
        let migrated = |curve: &[At]| curve.last().map_or(0.0, |at| at.0);
        let (whole, all) = (migrated(&pair.guest), f64::MAX);
        let counters = ["compact_migrate_scanned", "compact_free_scanned"];
        let mut row = |what: &str, unit, of: f64, in_guest: f64| {
            let row = Row::new(format!("{name}: {what}"), unit, of).published(in_guest, WITHIN);
            let missed = row.verdict() == Some(Verdict::Missed);
            outcome.rows.push(if missed { row.why(LISTS) } else { row });
        };
        for part in [0.25, 0.5, 0.75] {
            let at = part * whole;
            let what = format!("recovered when {:.0} % were migrated", 100.0 * part);
            row(&what, "blocks", recovered(&pair.model, at), recovered(&pair.guest, at));
        }
        let ends = [recovered(&pair.model, all), recovered(&pair.guest, all)];
        row("recovered in the end", "blocks", ends[0], ends[1]);
        row("pages migrated", "", migrated(&pair.model), whole);
        let what = ["frames scanned for pages", "frames scanned for free ones"];
        for ((what, counter), scanned) in what.into_iter().zip(counters).zip(pair.scanned) {
            row(what, "", scanned, guest.grew(counter)?);
        }
        let what = format!("{name}: most that the curves are apart, of the guest's end");
        outcome.rows.push(Row::new(what, "%", farthest(&pair)));
        for (who, curve) in [("guest", &pair.guest), ("model", &pair.model)] {
            let step = curve.len().div_ceil(SHOWN).max(1);
            let points = curve.iter().step_by(step).chain(curve.last()).copied();
            let series = Series::new(who, "pages migrated", "free blocks of 2 MiB").panel(name);
            outcome.series.push(series.points(points));
        }
    }
    outcome.notes.push(
        "published stands for the guest here: benches/results/2026-11-23-amdepyc-2cores/frames"
            .into(),
    );
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stock_compactor_is_within_a_quarter_of_every_guest() {
        let outcome = run(&Context::in_memory(1)).unwrap();
        // While it is under way some counts are of a few blocks: there the curves as a whole are compared.
        for row in outcome.rows.iter().filter(|row| !row.what.contains("recovered when")) {
            assert_ne!(row.verdict(), Some(Verdict::Missed), "{row:?}");
            assert!(row.unit != "%" || row.ours < 25.0, "{row:?}");
        }
    }

    #[test]
    fn curves_are_compared_at_the_same_number_of_pages() {
        let guest = vec![(0.0, 3.0), (100.0, 5.0), (200.0, 13.0)];
        let model = vec![(0.0, 3.0), (50.0, 4.0), (100.0, 6.0), (200.0, 12.0)];
        assert_eq!([recovered(&guest, 99.0), recovered(&model, 99.0)], [0.0, 1.0]);
        let pair = Pair { guest, model, scanned: [0.0; 2] };
        // One of ten blocks.
        assert!((farthest(&pair) - 10.0).abs() < 1e-9);
    }
}
