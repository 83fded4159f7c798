//! Table 6: intervals of 5 s until AMP's choice follows a change of the program, with the published
//! programs and the rules of the published code. Other programs and rules: [`super::published`].

use super::choices::MIXES;
use super::published::{RULES, Table, median};
use super::{COUNTED, replayed, tables};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "table-6",
    title: "Intervals until the choice follows a change of the program",
    source: "section 6.6",
    slow: false,
    run,
};

/// What tables of the published programs' names begin with.
const PUBLISHED_PROGRAMS: &str = "code";
/// The only one of the small set: five times faster, as the programs counted themselves.
const SMALL: &str = "code-counted";

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let Some(folder) = &context.tables else {
        let note = "left out: there are no tables of recordings here; those of Pagetide's \
                    repository are found from within it";
        return Ok(Outcome { notes: vec![note.to_owned()], ..Outcome::default() });
    };
    let is_wanted = |name: &str| {
        if context.small { name == SMALL } else { name.starts_with(PUBLISHED_PROGRAMS) }
    };
    let tables = tables(folder)?.into_iter().filter(|(name, _)| is_wanted(name));
    let tables = tables.map(replayed).collect::<Result<Vec<Table>, _>>()?;
    Ok(outcome(&tables))
}

fn outcome(tables: &[Table]) -> Outcome {
    let series = |name: &str| Series::new(name, "change of the program", "intervals");
    let mut outcome = Outcome::default();
    let published = MIXES.map(|(change, _, published)| (change, f64::from(published)));
    outcome.series.push(series("published").published().points(published));
    for table in tables {
        let name = described(table);
        let mut ours = series(&name);
        for (change, program, published) in MIXES {
            let what = format!("{change}, {name}");
            match median(table, RULES[0], program) {
                Some(Some(intervals)) => {
                    let intervals = intervals as f64;
                    ours = ours.point(change, intervals);
                    let row = Row::new(what, "", intervals);
                    // What would be near enough was never said, and is not chosen afterwards.
                    let row = row.published(published.into(), Tolerance::None);
                    outcome.rows.push(explained(row, change));
                }
                Some(None) => outcome.notes.push(format!("{what}: it never follows")),
                None => outcome.notes.push(format!("{what}: the table does not hold it")),
            }
        }
        outcome.series.push(ours);
    }
    outcome.notes.push(
        "Half of the memory is fast; median over five phases of the interval. Equal ages or \
         frequencies and equal means are decided as in the published code."
            .to_owned(),
    );
    outcome
}

/// `intervals of 1 s, counted`.
fn described(table: &Table) -> String {
    let seen = if table.name.ends_with(COUNTED) { "counted" } else { "recorded" };
    format!("intervals of {:.0} s, {seen}", table.interval_s)
}

/// The published code treats the intervals of Random in another way than its text.
fn explained(row: Row, change: &str) -> Row {
    if change.starts_with("Random") {
        row.why("not closely comparable: in the published code Random's intervals add no hits")
    } else {
        row
    }
}

#[cfg(test)]
mod tests {
    use super::super::choices::{PROGRAMS, Row as Replayed};
    use super::super::right::{Interval, stays};
    use super::*;

    #[test]
    fn every_change_has_its_row_or_a_note() {
        // Six intervals of each program but the last; in the fourth the choice never comes.
        let choice = |program: usize| PROGRAMS[if program == 3 { 0 } else { program }];
        let interval = |at: usize| {
            let program = Some(at / 6);
            Interval { program, choice: choice(at / 6), lru: 0.5, lfu: 0.4 }
        };
        let intervals: Vec<Interval> = (0..6 * 6).map(interval).collect();
        let stays = stays(&intervals, |program| PROGRAMS[program]);
        let rows = vec![Replayed { ratio: 0.5, ties: RULES[0], phase: 0, stays }];
        let table = Table { name: "code".into(), interval_s: 1.0, rows };
        let Outcome { rows, notes, series } = outcome(&[table]);
        let shown: Vec<_> = rows.iter().map(|row| (row.what.as_str(), row.ratio())).collect();
        assert_eq!(shown[0], ("LRU→LFU, intervals of 1 s, recorded", Some(1.0 / 27.0)));
        assert_eq!(rows.len(), 4, "{shown:?}");
        assert_eq!(notes[0], "LRU→Random, intervals of 1 s, recorded: it never follows");
        assert_eq!(notes[1], "Random→LRU, intervals of 1 s, recorded: the table does not hold it");
        assert_eq!(series.iter().map(|one| one.points.len()).collect::<Vec<_>>(), [6, 4]);
    }

    #[test]
    fn without_tables_it_says_so() {
        let outcome = FIGURE.make(&Context::in_memory(1)).unwrap();
        assert!(outcome.rows.is_empty() && outcome.notes[0].contains("left out"));
    }
}
