//! The replay of a recording beside the simulation of the same program: hit ratios, and the slowdown
//! that a plan predicts beside the one that the simulation shows. docs/sim.md ("Beside plan") has
//! the table, and why what differs does.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts and shares")]

mod cell;
mod programs;
mod recording;
mod table;

use cell::{Cell, Why, cells};
use programs::{PROGRAMS, overlapping};

/// Of all programs, policies and sizes: `cargo test -p pagetide-sim --test replay -- --nocapture`
/// prints the table.
#[test]
fn replay_and_simulation_agree_but_for_moves_that_take_time_and_programs_that_slow_down() {
    let all: Vec<Cell> = PROGRAMS.into_iter().flat_map(cells).collect();
    table::print(&all);
    for cell in &all {
        // The same accesses in the same intervals, and placed as decided: the same hits. But moves hold
        // the program up by a third of a millisecond, and a sweep is elsewhere when the interval ends.
        let elsewhere = match (cell.program, cell.policy) {
            ("sweep", "amp") => 7.0,
            ("sweep" | "regions", _) => 3.0,
            _ => 1.0,
        };
        // By rate, what is alike is scattered where memory is seen, and a replay keeps its order: of a sweep, which misses
        // all that comes in one piece, that keeps more.
        let scattered = cell.policy == "rate";
        let more = if scattered && cell.program == "sweep" { 55.0 } else { 0.0 };
        assert!((-elsewhere..elsewhere + more).contains(&cell.at_once.points()), "{cell:?}");
        // What goes up is late by its place in the queue, which costs hits where much moves.
        let late = if ["phases", "sweep"].contains(&cell.program) { 11.0 } else { 3.0 };
        let more = if more > 0.0 { 65.0 } else { 0.0 };
        assert!((-late..3.0 + more).contains(&cell.own.points()), "{cell:?}");
        // No time is lost but to slow memory and to moves.
        let (least, most) = cell.possible();
        assert!((least - 0.005..most + 0.005).contains(&cell.slowdown), "{cell:?}");
        // The plan is never too pessimistic, and without moves it holds.
        assert!(cell.slowdown >= cell.band.low, "{cell:?}");
        let nearly = scattered && cell.slowdown < cell.band.high + 0.01;
        assert!(cell.moving > 0.005 || cell.why().is_none() || nearly, "{cell:?}");
        // With moves it holds but for those that it does not count, and where a slower program is
        // another one to its policy.
        assert!(cell.why() != Some(Why::Pace) || cell.program == "sweep", "{cell:?}");
    }
}

/// What `docs/sim.md` says of it: misses leave their buffers in any order.
#[test]
fn accesses_that_overlap_lose_as_latencies_in_proportion() {
    let pattern = PROGRAMS.iter().find(|(name, _)| *name == "uniform").unwrap().1;
    for (share, right) in [(0.25, 1.125), (0.5, 0.75), (0.75, 0.375)] {
        let [fast, part] = [None, Some(share)].map(|share| overlapping(pattern, share));
        let slowdown = fast / part - 1.0;
        println!("ten under way, {share} fast: {:.1} %", slowdown * 100.0);
        assert!((slowdown / right - 1.0).abs() < 0.02, "{slowdown} for {right}");
    }
}
