//! Several plans side by side: what they are called, and how their recordings differ.

use super::Subject;
use crate::number::count;
use crate::recording::apart;
use pagetide_replay::percent;
use pagetide_trace::Diff;

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
