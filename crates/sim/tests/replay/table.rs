//! The table of docs/sim.md.

use crate::cell::{Cell, Hits, SHARES, Why};

/// Prints it, a line for each program and policy; in each cell the sizes one after the other.
pub(crate) fn print(cells: &[Cell]) {
    println!(
        "| program | policy | replay | at once | in time | replay | only waits | plan, % | sim, % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in cells.chunks(SHARES.len()) {
        assert!(row.iter().map(|cell| cell.share).eq(SHARES));
        let each =
            |text: &dyn Fn(&Cell) -> String| row.iter().map(text).collect::<Vec<_>>().join(" / ");
        let simulated = |hits: Hits| {
            let value = percent(hits.simulated);
            if hits.points().abs() > 3.0 { format!("**{value}**") } else { value }
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row[0].program,
            row[0].policy,
            each(&|cell| percent(cell.own.replayed)),
            each(&|cell| simulated(cell.at_once)),
            each(&|cell| simulated(cell.own)),
            each(&|cell| percent(cell.bound.replayed)),
            each(&|cell| simulated(cell.bound)),
            each(&|cell| format!("{}–{}", percent(cell.band.low), percent(cell.band.high))),
            each(&|cell| {
                let value = percent(cell.slowdown);
                match cell.why() {
                    None => value,
                    Some(Why::Moves) => format!("**{value}** m"),
                    Some(Why::Pace) => format!("**{value}** p"),
                }
            }),
        );
    }
    let count = |which: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| which(cell)).count();
    println!(
        "of {}: hits within 3 points {} (at once), {} (in time), {} (only waits); the band holds {}; \
         beyond it by moves {}, by pace {}",
        cells.len(),
        count(&|cell| cell.at_once.points().abs() <= 3.0),
        count(&|cell| cell.own.points().abs() <= 3.0),
        count(&|cell| cell.bound.points().abs() <= 3.0),
        count(&|cell| cell.why().is_none()),
        count(&|cell| cell.why() == Some(Why::Moves)),
        count(&|cell| cell.why() == Some(Why::Pace)),
    );
}

fn percent(value: f64) -> String {
    format!("{:.0}", 100.0 * value)
}
