//! AMP's choices on programs that follow each other, over fast memory, tie rule and phase of the
//! interval.

use super::accessed::Accessed;
use super::right::{Choice, Interval, Stay, stays};
use super::{Result, wrong};
use pagetide_policy::PolicySpec;
use pagetide_replay::{Replay, ReplayOptions, Replayed, Told};
use pagetide_types::{Bytes, UnitSize};
use std::fmt::Write as _;

/// What the programs favour, one after the other: all changes of table 5 are in this order.
pub(crate) const PROGRAMS: [Choice; 7] = [
    Choice::Lru,
    Choice::Lfu,
    Choice::Lru,
    Choice::Random,
    Choice::Lfu,
    Choice::Random,
    Choice::Lru,
];
/// Table 5: what changes into what, the place in [`PROGRAMS`] of what it changes into, and
/// table 6: the epochs until the choice followed.
pub(crate) const MIXES: [(&str, usize, u32); 6] = [
    ("LRU→LFU", 1, 27),
    ("LFU→LRU", 2, 17),
    ("LRU→Random", 3, 2),
    ("LFU→Random", 5, 2),
    ("Random→LRU", 6, 3),
    ("Random→LFU", 4, 4),
];
/// Options of the policy, and what they are called.
pub(crate) const TIES: [(&str, &str); 5] = [
    ("ties=0", "what is fast stays"),
    ("ties=1", "by address"),
    ("ties=2", "by the other's key"),
    ("ties=3", "by the other's key, reversed"),
    ("ties=3,equal=1", "reversed, equal means: LRU"),
];
pub(crate) const RATIOS: [f64; 3] = [0.3, 0.5, 0.7];
/// Epochs of a recording per interval, which is 5 s in the paper.
pub(crate) const PER_INTERVAL: u32 = 5;

/// One choice of fast memory, tie rule and phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) ratio: f64,
    pub(crate) ties: usize,
    /// Epochs of the recording by which the first interval is shorter.
    pub(crate) phase: u32,
    pub(crate) stays: Vec<Stay>,
}

/// Seconds between two decisions on a table.
pub(crate) fn interval_s(table: &Accessed) -> Result<f64> {
    let mut lengths: Vec<f64> = table.epochs.iter().map(|epoch| epoch.length_s).collect();
    lengths.sort_by(f64::total_cmp);
    let epoch_s = lengths.get(lengths.len() / 2).ok_or_else(|| wrong("a table without epochs"))?;
    Ok(epoch_s * f64::from(PER_INTERVAL))
}

/// Replays AMP in all ways.
pub(crate) fn choices(table: &Accessed) -> Result<Vec<Row>> {
    let interval_s = interval_s(table)?;
    let epoch_s = interval_s / f64::from(PER_INTERVAL);
    let ways = (0..TIES.len()).flat_map(|ties| (0..PER_INTERVAL).map(move |phase| (ties, phase)));
    let ways: Vec<(usize, u32)> = ways.collect();
    let spec = |(ties, phase): &(usize, u32)| {
        let (ties, phase_s) = (TIES[*ties].0, epoch_s * f64::from(*phase));
        format!("amp:{ties},interval={interval_s},phase={phase_s}").parse::<PolicySpec>()
    };
    let specs: Vec<PolicySpec> = ways.iter().map(spec).collect::<std::result::Result<_, _>>()?;
    let footprint = Bytes(table.units() as u64 * UnitSize::Huge.bytes().0);
    // Every tenth of the memory.
    let options = ReplayOptions { footprint, capacities: 10, ..ReplayOptions::default() };
    let mut replay = Replay::new(&specs, options);
    for (heat, length_s) in table.heats() {
        replay.push(heat, length_s)?;
    }
    let replayed = replay.finish();
    let mut rows = Vec::new();
    for ratio in RATIOS {
        for ((ties, phase), replayed) in ways.iter().zip(&replayed) {
            let told = near(replayed, footprint.as_f64() * ratio)
                .ok_or_else(|| wrong("nothing was told"))?;
            let intervals = intervals(table, told);
            let stays = stays(&intervals, |program| PROGRAMS[program % PROGRAMS.len()]);
            rows.push(Row { ratio, ties: *ties, phase: *phase, stays });
        }
    }
    Ok(rows)
}

/// What was told with the fast memory nearest to `fast` bytes.
fn near(replayed: &Replayed, fast: f64) -> Option<&Told> {
    let far = |told: &&Told| (told.capacity.as_f64() - fast).abs();
    replayed.told.iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn intervals(table: &Accessed, told: &Told) -> Vec<Interval> {
    let interval = |(epoch, observation): &(usize, pagetide_policy::Observation)| Interval {
        program: table.epochs[*epoch].program,
        choice: match observation.choice {
            Some("lru") => Choice::Lru,
            Some("lfu") => Choice::Lfu,
            _ => Choice::Random,
        },
        lru: observation.figures[2],
        lfu: observation.figures[3],
    };
    told.decisions.iter().map(interval).collect()
}

/// A line for every program of every row, without their names: see [`HEADER`].
pub(crate) fn lines(recording: &str, rows: &[Row]) -> String {
    let mut text = String::new();
    let number = |value: Option<usize>| value.map_or(String::new(), |value| value.to_string());
    for Row { ratio, ties, phase, stays } in rows {
        for stay in stays {
            let (favours, better) = (name(PROGRAMS[stay.program]), name(stay.better));
            let ties = TIES[*ties].0.replace(',', " ");
            let program = stay.program;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{recording},{ratio},{ties},{phase},{program},{favours},{},{:.4},{:.4},{better},{},\
                 {},{},{},{},{},{},{:.4},{:.4},{},{},{}",
                stay.intervals,
                stay.lru,
                stay.lfu,
                stay.matter,
                stay.right,
                stay.kept,
                stay.right_by_program,
                stay.matter_after,
                stay.right_after,
                stay.random,
                stay.lost,
                stay.lost_kept,
                stay.wanted,
                number(stay.first),
                number(stay.settled),
            );
        }
    }
    text
}

/// The columns of [`lines`].
pub(crate) const HEADER: &str = "recording,fast,ties,phase,program,favours,intervals,lru_hits,\
    lfu_hits,better,matter,right,kept,right_by_program,matter_after,right_after,random,lost,lost_kept,favoured,first,settled";

fn name(choice: Choice) -> &'static str {
    match choice {
        Choice::Lru => "lru",
        Choice::Lfu => "lfu",
        Choice::Random => "random",
    }
}

#[cfg(test)]
mod tests {
    use super::super::accessed::Epoch;
    use super::super::right::MATTERS;
    use super::*;

    /// One program with four working sets of two units, each in turn for so many epochs.
    fn in_turn(epochs_each: usize) -> Accessed {
        let epoch = |number: usize| {
            let set = number / epochs_each % 4;
            Epoch {
                program: Some(0),
                length_s: 0.2,
                accessed: (0..8).map(|unit| unit / 2 == set).collect(),
                unwatched: vec![false; 8],
            }
        };
        Accessed { epochs: (0..60 * 5).map(epoch).collect() }
    }

    #[test]
    fn sets_that_last_four_intervals_favour_lru_and_sets_that_last_less_than_one_do_not() {
        let rows = choices(&in_turn(20)).unwrap();
        assert_eq!(rows.len(), RATIOS.len() * TIES.len() * PER_INTERVAL as usize);
        for row in rows.iter().filter(|row| row.ratio > 0.4 && row.ratio < 0.6) {
            let [stay] = &row.stays[..] else { panic!("{row:?}") };
            assert!(stay.lru > stay.lfu + MATTERS, "{stay:?}");
            assert_eq!((stay.better, stay.first.is_some()), (Choice::Lru, true), "{row:?}");
        }
        let kept_in_place = |row: &&Row| row.ties == 0 && row.ratio > 0.4 && row.ratio < 0.6;
        for row in choices(&in_turn(4)).unwrap().iter().filter(kept_in_place) {
            assert!(row.stays[0].lru < row.stays[0].lfu + MATTERS, "{row:?}");
        }
    }
}
