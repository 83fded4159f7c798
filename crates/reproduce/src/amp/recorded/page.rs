//! The tables of section 6.6, in Markdown.

use super::choices::{MIXES, PROGRAMS, RATIOS, Row, TIES};
use super::right::{Choice, Stay};
use std::fmt::Write as _;

/// The goal: a share of intervals in which the right policy is in force.
const GOAL: f64 = 0.8;

/// Where hits depend on the tie rule: kept places, and those of the published code.
const SHOWN: [usize; 2] = [0, 3];
/// The paper's own ratio.
pub(crate) const PUBLISHED_RATIO: f64 = 0.5;

/// All tables of one recording; `counted` is what the programs themselves counted meanwhile.
pub(crate) fn section(name: &str, rows: &[Row], counted: &[Row]) -> String {
    let mut text = format!("\n### `accessed-{name}.csv`\n\n");
    text.push_str(&summary(rows));
    text.push_str(&right(rows, counted));
    text.push_str(&follow(rows, counted));
    text.push_str(&hits(rows));
    text
}

/// Right and counted intervals of stays, summed up.
#[derive(Clone, Copy, Default)]
struct Sum {
    matter: usize,
    right: usize,
    kept: usize,
    by_program: usize,
    matter_after: usize,
    right_after: usize,
    random: usize,
    lost: f64,
    lost_kept: f64,
}

impl Sum {
    fn of<'a>(stays: impl Iterator<Item = &'a Stay>) -> Self {
        stays.fold(Self::default(), |sum, stay| Self {
            matter: sum.matter + stay.matter,
            right: sum.right + stay.right,
            kept: sum.kept + stay.kept,
            by_program: sum.by_program + stay.right_by_program,
            matter_after: sum.matter_after + stay.matter_after,
            right_after: sum.right_after + stay.right_after,
            random: sum.random + stay.random,
            lost: sum.lost + stay.lost,
            lost_kept: sum.lost_kept + stay.lost_kept,
        })
    }

    /// A number of intervals as a share of those that matter.
    fn share(self, of: usize) -> Option<f64> {
        (self.matter > 0).then(|| of as f64 / self.matter as f64)
    }

    /// Hits per interval that matters, in points.
    fn points(self, hits: f64) -> String {
        if self.matter == 0 {
            return "–".into();
        }
        format!("{:.1}", 100.0 * hits / self.matter as f64)
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".into(), |share| format!("{:.0} %", 100.0 * share))
}

/// The rows of one fast ratio and tie rule, one per phase.
pub(crate) fn phases(rows: &[Row], ratio: f64, ties: usize) -> Vec<&Row> {
    rows.iter().filter(|row| (row.ratio - ratio).abs() < 1e-9 && row.ties == ties).collect()
}

fn ways() -> impl Iterator<Item = (f64, usize)> {
    RATIOS.into_iter().flat_map(|ratio| (0..TIES.len()).map(move |ties| (ratio, ties)))
}

fn favours(stay: &Stay, choice: Choice) -> bool {
    PROGRAMS[stay.program % PROGRAMS.len()] == choice
}

fn summary(rows: &[Row]) -> String {
    let reached = |of: fn(Sum) -> usize| {
        let shares = rows.iter().map(|row| {
            let sum = Sum::of(row.stays.iter());
            sum.share(of(sum))
        });
        let shares: Vec<f64> = shares.flatten().collect();
        format!("{} of {}", shares.iter().filter(|share| **share >= GOAL).count(), shares.len())
    };
    format!(
        "The goal of {:.0} % is reached in {} ways (fast memory, tie rule, phase) by interval, in {} \
         by program; with the policy that is better for a program kept throughout it would be in {} \
         by interval.\n\n",
        100.0 * GOAL,
        reached(|sum| sum.right),
        reached(|sum| sum.by_program),
        reached(|sum| sum.kept),
    )
}

/// How often the right policy was in force.
fn right(rows: &[Row], counted: &[Row]) -> String {
    let mut text = String::from(
        "| fast | equal ages or frequencies | LRU-favour | LFU-favour | all | all, counted \
         | once it has followed | better kept | by program | Random in force | points lost \
         | better kept |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (ratio, ties) in ways() {
        let phases = phases(rows, ratio, ties);
        let stays = || phases.iter().flat_map(|row| &row.stays);
        let of = |choice| Sum::of(stays().filter(|stay| favours(stay, choice)));
        let cell = |sum: Sum| format!("{} of {}", percent(sum.share(sum.right)), sum.matter);
        let all = Sum::of(stays());
        let truth = self::phases(counted, ratio, ties);
        let truth = Sum::of(truth.iter().flat_map(|row| &row.stays));
        let shares = phases.iter().filter_map(|row| {
            let sum = Sum::of(row.stays.iter());
            sum.share(sum.right)
        });
        let after =
            (all.matter_after > 0).then(|| all.right_after as f64 / all.matter_after as f64);
        let mut shares: Vec<f64> = shares.collect();
        shares.sort_by(f64::total_cmp);
        let range = match (shares.first(), shares.last()) {
            (Some(low), Some(high)) => format!(" ({:.0}–{:.0})", 100.0 * low, 100.0 * high),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "| {:.0} % | {} | {} | {} | {}{range} | {} | {} | {} | {} | {} | {} | {} |",
            100.0 * ratio,
            TIES[ties].1,
            cell(of(Choice::Lru)),
            cell(of(Choice::Lfu)),
            percent(all.share(all.right)),
            percent(truth.share(truth.right)),
            percent(after),
            percent(all.share(all.kept)),
            percent(all.share(all.by_program)),
            percent(all.share(all.random)),
            all.points(all.lost),
            all.points(all.lost_kept),
        );
    }
    text.push('\n');
    text
}

/// How soon the choice follows a change of the program.
fn follow(rows: &[Row], counted: &[Row]) -> String {
    let mut text = String::from("| fast | equal ages or frequencies |");
    for (number, (name, ..)) in (1..).zip(MIXES) {
        let _ = write!(text, " {number} {name} |");
    }
    text.push_str("\n|---|---|---|---|---|---|---|---|\n| 50 % | published (not said) |");
    for (.., published) in MIXES {
        let _ = write!(text, " {published} |");
    }
    text.push('\n');
    let mut line = |rows: &[Row], ratio: f64, ties: usize, note: &str| {
        let phases = phases(rows, ratio, ties);
        let cell = |(_, program, _): (&str, usize, u32)| {
            cell(&phases.iter().filter_map(|row| row.stays.get(program)).collect::<Vec<_>>())
        };
        let cells = MIXES.map(cell).join(" | ");
        let _ = writeln!(text, "| {:.0} %{note} | {} | {cells} |", 100.0 * ratio, TIES[ties].1);
    };
    ways().for_each(|(ratio, ties)| line(rows, ratio, ties, ""));
    if !counted.is_empty() {
        (0..TIES.len()).for_each(|ties| line(counted, PUBLISHED_RATIO, ties, ", counted"));
    }
    text.push('\n');
    text
}

/// Median and range over the phases of the intervals until the choice follows, and in how many
/// it is as wanted.
fn cell(stays: &[&Stay]) -> String {
    let (wanted, intervals) =
        stays.iter().fold((0, 0), |sum, stay| (sum.0 + stay.wanted, sum.1 + stay.intervals));
    let until = until(stays);
    let text = |at: Option<usize>| at.map_or("never".into(), |at| at.to_string());
    let (Some(first), Some(last)) = (until.first(), until.last()) else { return "–".into() };
    let range = if first == last {
        String::new()
    } else {
        format!(" ({}–{})", text(*first), text(*last))
    };
    let share = 100.0 * wanted as f64 / intervals.max(1) as f64;
    format!("{}{range}; {share:.0} %", text(until[until.len() / 2]))
}

/// The intervals until the choice follows, ascending; last those in which it never does.
pub(crate) fn until(stays: &[&Stay]) -> Vec<Option<usize>> {
    let mut until: Vec<Option<usize>> = stays.iter().map(|stay| stay.first).collect();
    until.sort_unstable_by_key(|first| first.unwrap_or(usize::MAX));
    until
}

/// What the choice stands on: mean hits in all stays and phases.
fn hits(rows: &[Row]) -> String {
    let mut text = String::from(
        "| fast | equal ages or frequencies | LRU-favour: LRU, LFU hit | LFU-favour: LRU, LFU hit |\n\
         |---|---|---|---|\n",
    );
    for (ratio, ties) in ways().filter(|(_, ties)| SHOWN.contains(ties)) {
        let phases = phases(rows, ratio, ties);
        let cell = |choice| {
            let stays = phases.iter().flat_map(|row| &row.stays);
            let stays: Vec<&Stay> = stays.filter(|stay| favours(stay, choice)).collect();
            let all = stays.iter().map(|stay| stay.intervals).sum::<usize>().max(1) as f64;
            let mean = |hits: fn(&Stay) -> f64| {
                let sum = |stay: &&Stay| hits(stay) * stay.intervals as f64;
                100.0 * stays.iter().map(sum).sum::<f64>() / all
            };
            format!("{:.1} %, {:.1} %", mean(|stay| stay.lru), mean(|stay| stay.lfu))
        };
        let _ = writeln!(
            text,
            "| {:.0} % | {} | {} | {} |",
            100.0 * ratio,
            TIES[ties].1,
            cell(Choice::Lru),
            cell(Choice::Lfu)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::right::{Interval, stays};
    use super::*;

    /// Stays of the first program, one for each list of choices.
    fn row(phase: u32, choices: &[Choice]) -> Row {
        let interval =
            |choice: &Choice| Interval { program: Some(0), choice: *choice, lru: 0.5, lfu: 0.4 };
        let intervals: Vec<Interval> = choices.iter().map(interval).collect();
        Row { ratio: 0.5, ties: 0, phase, stays: stays(&intervals, |_| Choice::Lru) }
    }

    #[test]
    fn phases_are_summed_up_and_their_range_is_told() {
        use Choice::{Lfu, Lru};
        let rows = [row(0, &[Lru; 4]), row(1, &[Lfu, Lru, Lru, Lru]), row(2, &[Lfu; 4])];
        let stays: Vec<&Stay> = rows.iter().map(|row| &row.stays[0]).collect();
        assert_eq!(cell(&stays), "2 (1–never); 58 %");
        assert_eq!(cell(&stays[..1]), "1; 100 %");
        assert_eq!(cell(&[]), "–");
        // In force are 3, 2 and 0 of 4.
        let table = right(&rows, &rows[..1]);
        let line = table.lines().find(|line| line.starts_with("| 50 % | what is fast")).unwrap();
        assert!(line.contains("| 42 % of 12 | – of 0 | 42 % (0–75) | 75 % |"), "{line}");
    }
}
