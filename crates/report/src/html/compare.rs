//! Several plans side by side: what they are called, and how their recordings differ.

use super::Subject;
use crate::number::count;
use crate::trace_diff::apart;
use pagetide_replay::percent;
use pagetide_trace::{AreaChange, Diff};

/// Areas that are listed; the rest changed less.
const CHANGES: usize = 20;

/// Short names that tell the subjects apart: the recording's, the machine's, or both.
pub(super) fn names(subjects: &[Subject]) -> Vec<String> {
    let recording = |s: &Subject| {
        let name = s.plan.recording.name.trim_end_matches('/');
        name.rsplit('/').next().unwrap_or(name).to_owned()
    };
    let machine = |s: &Subject| s.plan.machine.name.clone();
    let differ = |name: &dyn Fn(&Subject) -> String| {
        subjects.iter().enumerate().all(|(i, s)| subjects[..i].iter().all(|b| name(b) != name(s)))
    };
    let both = |s: &Subject| format!("{} on {}", recording(s), machine(s));
    let whole = |s: &Subject| s.plan.recording.name.clone();
    let way: &dyn Fn(&Subject) -> String = match () {
        () if differ(&recording) => &recording,
        () if differ(&machine) => &machine,
        () if differ(&both) => &both,
        () => &whole,
    };
    let names: Vec<String> = subjects.iter().map(way).collect();
    if subjects.len() > 1 && !differ(way) {
        return names.iter().zip(1..).map(|(name, i)| format!("{i}: {name}")).collect();
    }
    names
}

/// A row of the table of what changed.
pub(super) struct Change {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) cells: [String; 4],
}

/// What changed between the first two recordings, most first.
pub(super) fn changes(diff: &Diff) -> Vec<Change> {
    let row = |area: &AreaChange| {
        let sides = [area.a, area.b];
        let [a, b] = sides.map(|side| side.bytes.to_string());
        let [before, after] = sides.map(|side| count(side.accesses_per_s));
        Change {
            name: area.name.clone(),
            kind: area.kind.map_or_else(|| "–".into(), |kind| kind.to_string()),
            cells: [a, b, before, after],
        }
    };
    diff.areas.iter().take(CHANGES).map(row).collect()
}

/// How the first two recordings agree, in labelled sentences.
pub(super) fn agreement(diff: &Diff) -> Vec<(&'static str, String)> {
    let mut rows = vec![(
        "Units in both",
        format!(
            "{}; {} only in the first, {} only in the second",
            count(diff.matched_units as f64),
            count(diff.a.unmatched_units as f64),
            count(diff.b.unmatched_units as f64)
        ),
    )];
    if let Some(apart) = apart(diff) {
        rows.push(("Not compared", apart));
    }
    if let Some(rates) = &diff.rates {
        rows.push((
            "Order of rates",
            rates.spearman.map_or_else(
                || "cannot be told: too few units in both, or all of them alike".to_owned(),
                |r| format!("rank correlation {r:.3} (1: the same order, 0: none)"),
            ),
        ));
        if let Some(middle) = rates.log2_ratio_p50 {
            let ratio = format!("the first is {:.2} x the second in the middle", middle.exp2());
            rows.push(("Rates", ratio));
        }
    }
    if let Some(hot) = &diff.hot {
        rows.push((
            "Hot memory",
            hot.jaccard.map_or_else(
                || "cannot be told: nothing was accessed in both".to_owned(),
                |j| {
                    format!(
                        "90 % of the accesses go to {} and {}; {} of the units hot in either are \
                         hot in both",
                        hot.a_bytes,
                        hot.b_bytes,
                        percent(j)
                    )
                },
            ),
        ));
    }
    rows
}
