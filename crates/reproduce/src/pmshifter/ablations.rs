//! Figure 3 with each rule of the stock compactor by itself: which of them makes it recover nothing.

use super::figure_3::best;
use super::runs::{EVERY, Point, SECONDS, Who, recovered};
use super::states::FRAGMENTED;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};
use pagetide_sim::frames::Rules;

pub(super) const FIGURE: Figure = Figure {
    id: "3-rules",
    title: "figure 3's stock compactor with each of its rules by itself (a model)",
    source: "section 3.2; not published",
    slow: false,
    run,
};

fn rules() -> Vec<(&'static str, Rules)> {
    vec![
        ("none of the rules", Rules::NONE),
        ("large free blocks are kept (i)", Rules { keep_large: true, ..Rules::NONE }),
        ("a block must take a whole list (ii)", Rules { all_or_nothing: true, ..Rules::NONE }),
        ("blocks are skipped for good (iii)", Rules { skip_state: true, ..Rules::NONE }),
        ("an unmovable page ends a block", Rules { give_up: true, ..Rules::NONE }),
        ("all four", Rules::PAPER),
        ("all four, each round anew", Rules { anew: true, ..Rules::PAPER }),
        ("all four, 200 MB scanned and not moved", Rules { scanned_counts: true, ..Rules::PAPER }),
        ("as Linux 6.12 compacts on request", Rules::ON_REQUEST),
    ]
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let rules = rules();
    let mut points = vec![
        Point { who: Who::Dram, state: FRAGMENTED },
        Point { who: Who::Pm, state: FRAGMENTED },
    ];
    points.extend(
        rules.iter().map(|(_, rules)| Point { who: Who::Stock(*rules), state: FRAGMENTED }),
    );
    let found = recovered(context, &points)?;
    let (ours, stock) = found.split_at(2);
    let mut outcome = Outcome::default();
    for ((name, _), of) in rules.iter().zip(stock) {
        let mut row = |what: &str, unit, value: f64| {
            outcome.rows.push(Row::new(format!("{name}: {what}"), unit, value));
        };
        for seconds in [60, 180, SECONDS] {
            row(&format!("recovered after {seconds} s"), "blocks", of.at(seconds));
        }
        if let Some(first) = of.first() {
            row("recovers nothing for", "s", f64::from(first - EVERY));
        }
        let isolated = of.moved + of.failed;
        if isolated > 0.0 {
            row("isolated in vain", "%", 100.0 * of.failed / isolated);
        }
        if let Some((ratio, seconds)) = best([of, &ours[0], &ours[1]]) {
            row(&format!("the paper's over it, most, at {seconds} s"), "x", ratio);
        }
        let times = (0..=SECONDS).step_by(EVERY as usize);
        let points = times.map(|seconds| (seconds, of.at(seconds)));
        let series = Series::new(*name, "seconds", "free blocks of 2 MiB more than at the start");
        outcome.series.push(series.points(points));
    }
    outcome.notes.push(
        "(ii) is in the paper and not in mm/compaction.c (read: a version between 6.5 and 6.7); (iii) and the last do not hold there for compaction by schedule or on request"
            .into(),
    );
    Ok(outcome)
}
