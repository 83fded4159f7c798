//! Section 2.2: how much longer allocating takes where memory is fragmented: a program touches 2 MiB after 2 MiB, and
//! gets a huge page where one is free, else 512 base pages. What the paper allocated is not published [I].

use super::WITHIN;
use super::costs::fault_costs;
use super::states::{FRAGMENTED, State, scaled, whole};
use crate::{Context, Figure, Key, Outcome, ReproduceError, Row, Series, Values};
use pagetide_sim::frames::{MODEL, touch};

pub(super) const FIGURE: Figure = Figure {
    id: "2.2",
    title: "touching new memory, fragmented over whole (a model)",
    source: "section 2.2",
    slow: false,
    run,
};

/// Regions of 2 MiB that are touched: 1 GiB [I].
const REGIONS: usize = 512;
/// Parts of memory at the left end that are fragmented.
const PARTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const PUBLISHED: f64 = 2.6;

/// Memory of which such a part of what is touched comes from where no block of 2 MiB is free, the rest from where all
/// are.
fn state(part: f64) -> State {
    // Blocks of 4 MiB; a tenth of the fragmented ones is to spare.
    let whole = (1.0 - part) * REGIONS as f64 / 2.0;
    let fragmented = 1.1 * part * REGIONS as f64 / 2.0 / FRAGMENTED.free;
    let all = whole + fragmented;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
    let blocks = all.round() as usize;
    State { blocks, unused: whole / all, unmovable: 0.0, ..FRAGMENTED }
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let costs = fault_costs()?;
    let key = |part: &f64| {
        let key = Key::new("pmshifter/2.2", MODEL, 1);
        (key.with("small", u8::from(context.small)).with("part", part), *part)
    };
    let points: Vec<(Key, f64)> = PARTS.iter().map(key).collect();
    let found = context.store.points(&points, |(_, part)| {
        let touched =
            touch(&mut state(*part).memory(whole(context)), scaled(REGIONS, whole(context)));
        Ok(Values::from([("seconds".to_owned(), costs.touched_s(&touched))]))
    })?;
    let seconds = |at: usize| {
        let value = found.get(at).and_then(|values| values.get("seconds")).copied();
        value.ok_or_else(|| ReproduceError::Missing("seconds".to_owned()))
    };
    let whole = seconds(0)?;
    let mut outcome = Outcome::default();
    let mut series =
        Series::new("model", "part of the memory that is fragmented, %", "times as long");
    for (at, part) in PARTS.iter().enumerate() {
        let ratio = seconds(at)? / whole;
        series = series.point(100.0 * part, ratio);
        let what = format!("{:.0} % of what is touched is fragmented", 100.0 * part);
        let row = Row::new(what, "x", ratio);
        outcome.rows.push(if at + 1 == PARTS.len() {
            row.published(PUBLISHED, WITHIN).why(
                "a huge page is 120 us and 512 base pages 512 us on all machines simulated here; what was allocated is not published",
            )
        } else {
            row
        });
    }
    outcome.series.push(series);
    outcome
        .notes
        .push("the paper says up to: its 2.6 stands beside memory that is fragmented whole".into());
    Ok(outcome)
}
