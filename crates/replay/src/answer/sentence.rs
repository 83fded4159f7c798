//! The plan's first sentence, and how shares are written in all of them.

use crate::answer::recommend::Doubt;
use crate::{Band, Certainty, Interval, Recommendation, RecordingFacts};

/// A share or slowdown as people write it: `5 %`, `0.8 %`, `below 0.1 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if !v.is_finite() => "unknown".to_owned(),
        0.0 => "0 %".to_owned(),
        v if v.abs() < 0.1 => "below 0.1 %".to_owned(),
        v if v.abs() < 9.95 && (v - v.round()).abs() >= 0.05 => format!("{v:.1} %"),
        v => format!("{v:.0} %"),
    }
}

/// A band of shares: `0.8 – 5 %`.
#[must_use]
pub fn percents(band: Band) -> String {
    let (low, high) = (percent(band.low), percent(band.high));
    if low == high {
        return high;
    }
    format!("{} – {high}", low.trim_end_matches(" %").replace("below ", "<"))
}

/// A share that somebody gave, with the digits that they gave: `5 %`, `2.25 %`, `0.05 %`.
#[must_use]
pub fn percent_exactly(share: f64) -> String {
    let digits = format!("{:.6}", share * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The answer in one sentence, with the `conditions` under which it holds; `doubt` is what leaves it
/// open, if something does.
pub(crate) fn sentence(
    answer: &Recommendation,
    doubt: Doubt,
    conditions: &[String],
    facts: &RecordingFacts,
    target: f64,
) -> String {
    let footprint = facts.footprint_bytes;
    let (within, policy) = (percent_exactly(target), &answer.policy);
    let ifs = if_clause(conditions);
    if answer.fast_bytes.0 == 0 {
        return format!(
            "All {footprint} may be slow memory: the slowdown stays within {within} without any \
             fast memory{ifs}."
        );
    }
    let open = answer.interval.filter(Interval::is_open);
    let between = open.map_or_else(String::new, |Interval { low, high, .. }| {
        format!("between {low} and {high}; ")
    });
    let size = format!(
        "{} of fast memory ({between}{} of the {footprint} in use)",
        answer.fast_bytes,
        percent(answer.share_of_footprint)
    );
    let alike = match &answer.not_told_apart[..] {
        [] => String::new(),
        others => {
            let within = if open.is_some() { "within that range " } else { "" };
            format!(" (or {}: {within}they are not told apart)", others.join(" or "))
        }
    };
    match answer.certainty {
        Certainty::Estimate => {
            format!(
                "{size} keeps the slowdown within {within} under the policy {policy}{alike}{ifs}."
            )
        }
        Certainty::UpperBound => format!(
            "{size} is an upper bound: it keeps the slowdown within {within} under the policy \
             {policy}{alike}, but as little as {} may do, for {}.",
            answer.fast_bytes_low,
            doubt.says(facts)
        ),
    }
}

/// What must hold for an answer, as it follows the answer: nothing, or `, if this and that`.
pub(crate) fn if_clause(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        all => format!(", if {}", all.join(" and ")),
    }
}
