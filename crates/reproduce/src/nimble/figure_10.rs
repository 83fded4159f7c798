//! Figure 10: pages moved concurrently: unmapped, copied and mapped as one.

use super::calibration::{Moves, WITHIN};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "10",
    title: "concurrent migration by number of pages",
    source: "section 4.2.3",
    slow: false,
    run,
};

const PAGES: [u32; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let mut gains = Vec::new();
    let mut first_win = None;
    for (huge, panel) in [(true, "2 MiB"), (false, "4 KiB")] {
        let line = |name: &str| Series::new(name, "pages", "GB/s").panel(panel);
        let mut series = [line("one thread"), line("4 threads"), line("4 threads, concurrent")];
        for pages in PAGES {
            let parallel = Moves { threads: 4, ..Moves::serial(huge) };
            let ways = [Moves::serial(huge), parallel, Moves::concurrent(huge)];
            let mut found = [0.0; 3];
            for (way, moves) in ways.into_iter().enumerate() {
                found[way] = moves.up(pages as usize)?.gb_s();
                series[way] = series[way].clone().point(pages, found[way]);
            }
            if huge {
                gains.push(found[2] / found[1]);
            } else if found[2] > found[0] && first_win.is_none() {
                first_win = Some(f64::from(pages));
            }
        }
        outcome.series.extend(series);
    }
    let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
    let most = gains.iter().copied().fold(0.0, f64::max);
    outcome.rows = vec![
        Row::new("2 MiB: concurrent over parallel, least", "x", least).published(1.10, WITHIN),
        Row::new("2 MiB: concurrent over parallel, most", "x", most).published(1.25, WITHIN),
    ];
    let what = "4 KiB: pages from which concurrent is faster than one thread";
    match first_win {
        Some(pages) => outcome.rows.push(Row::new(what, "pages", pages)),
        None => outcome.notes.push(format!("{what}: never")),
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_pages_gain_only_in_large_numbers() {
        let rows = run(&Context::in_memory(64)).unwrap().rows;
        assert!((8.0..512.0).contains(&rows[2].ours), "{rows:?}");
    }
}
