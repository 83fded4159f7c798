//! The plan's sentences: the recommendation and what it stands on.

use crate::answer::interval::{METHOD, WIDE, sampled};
use crate::answer::recommend::{Candidate, Doubt};
use crate::{Certainty, Interval, PlanInput, Recommendation, RecordingFacts};
use pagetide_machine::Machine;
use pagetide_types::Bytes;

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

/// A share that somebody gave, with the digits that they gave: `5 %`, `2.25 %`, `0.05 %`.
#[must_use]
pub fn percent_exactly(share: f64) -> String {
    let digits = format!("{:.6}", share * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The answer in one sentence; `doubt` is what leaves it open, if something does.
pub(crate) fn sentence(
    answer: &Recommendation,
    doubt: Doubt,
    best: &Candidate<'_>,
    facts: &RecordingFacts,
    target: f64,
) -> String {
    let footprint = facts.footprint_bytes;
    let (within, policy) = (percent_exactly(target), &answer.policy);
    if answer.fast_bytes.0 == 0 {
        return format!(
            "All {footprint} may be slow memory: the slowdown stays within {within} without any \
             fast memory."
        );
    }
    let between = answer.interval.map_or_else(String::new, |Interval { low, high, .. }| {
        format!("between {low} and {high}; ")
    });
    let size = format!(
        "{} of fast memory ({between}{} of the {footprint} in use)",
        answer.fast_bytes,
        percent(answer.share_of_footprint)
    );
    match answer.certainty {
        Certainty::Estimate => {
            // Where their rates could be far higher nothing parts one of them from another.
            let alike = if best.cost.saturated_multiple() > 1.0 {
                format!(
                    ", if units too hot to measure ({} of the memory traffic) are alike",
                    percent(facts.saturated_share)
                )
            } else {
                String::new()
            };
            format!("{size} keeps the slowdown within {within} under the policy {policy}{alike}.")
        }
        Certainty::UpperBound => format!(
            "{size} is an upper bound: it keeps the slowdown within {within} under the policy \
             {policy}, but as little as {} may do, for {}.",
            answer.fast_bytes_low,
            doubt.says(facts)
        ),
    }
}

/// What the answer stands on, most important first.
pub(crate) fn assumptions(
    answer: &Recommendation,
    best: &Candidate<'_>,
    input: &PlanInput,
    machine: &Machine,
) -> Vec<String> {
    let (facts, warm_up) = (&input.facts, &input.warm_up);
    let mut all = Vec::new();
    let share = best.cost.model().share();
    all.push(match facts.stall_share {
        Some(stall) if share.low == stall && share.high == stall => format!(
            "the hardware counted {} of the cycles as stalled on memory; this path is unverified",
            percent(stall)
        ),
        _ if share.low == share.high => {
            format!("{} of the run time waits for memory, as given", percent(share.high))
        }
        _ => format!(
            "between {} and {} of the run time waits for memory (no stall counters were read); the \
             size holds for the high end",
            percent(share.low),
            percent(share.high)
        ),
    });
    let counted = !best.curve().fast_leads.is_empty();
    all.push(if counted && best.cost.charges_leads() {
        let curve = best.curve();
        let leads = if curve.accesses > 0.0 { curve.leads / curve.accesses } else { 0.0 };
        format!(
            "every miss of the CPU caches was counted: the program waits for {} of them, which no \
             prefetcher can have fetched; the others take bandwidth alone",
            percent(leads)
        )
    } else if counted {
        "every miss of the CPU caches was counted, and is taken to wait for memory".to_owned()
    } else if facts.traffic_was_sampled() {
        format!(
            "traffic is what comes in after the time in which {} of CPU cache per core fill, as \
             accessed bits show it; how many lines of a page that is they do not show",
            facts.cache_per_core
        )
    } else if facts.cache_per_core.0 > 0 {
        format!(
            "accessed bits cannot tell cache hits from memory traffic: {} of CPU cache per core \
             are taken to serve {} of the accesses",
            facts.cache_per_core,
            percent(facts.cached_share)
        )
    } else {
        "accessed bits cannot tell cache hits from memory traffic: all accesses count, for the \
         machine's file gives no cache_per_core"
            .to_owned()
    });
    if let Some(cache) = machine.cache_per_core
        && facts.traffic_was_sampled()
        && cache != facts.cache_per_core
    {
        all.push(format!(
            "the recording was made for {} of CPU cache per core, the machine has {cache}",
            facts.cache_per_core
        ));
    }
    if facts.saturated_share >= 0.005 {
        all.push(format!(
            "{} of the memory traffic went to units too hot to measure; the size counts them at \
             their lower bound{}",
            percent(facts.saturated_share),
            match answer.certainty {
                Certainty::UpperBound => format!(
                    "; were they as hot as the CPU time allows, {} would do",
                    answer.fast_bytes_low
                ),
                Certainty::Estimate => String::new(),
            }
        ));
    }
    if best.curve().unseen_bound > 0.01 * best.curve().accesses {
        all.push(format!(
            "units never seen accessed ({} of the memory) count as up to three accesses each \
             at the high end",
            percent(facts.unseen_share)
        ));
    }
    if facts.watched_share < 0.995 {
        all.push(format!(
            "{} of the pages were watched; the rest is taken to be like its neighbours",
            percent(facts.watched_share)
        ));
    }
    if facts.unwatched_share >= 0.005 {
        all.push(format!(
            "{} of the memory had not had its turn to be watched: no policy knows it yet, and \
             nothing of it is charged",
            percent(facts.unwatched_share)
        ));
    }
    if facts.uncleared_share >= 0.005 {
        all.push(format!(
            "the heat of {} of the memory is unknown: its accessed bits cannot be cleared",
            percent(facts.uncleared_share)
        ));
    }
    if let Some(interval) = answer.interval {
        if sampled(best, facts) {
            all.push(format!(
                "the range holds chance ({}) and the {} by which this method was off on programs \
                 that were also counted exactly",
                percent(interval.chance),
                percent(METHOD)
            ));
        }
        all.extend(longer(interval, facts));
    }
    let (fast, slow) = (machine.fast(), machine.slow());
    all.push(format!(
        "machine {}: {} {:.0} ns, {} {:.0} ns and {:.0} GB/s; a move takes {:.0} us for 4 KiB, \
         {:.0} us for 2 MiB{}",
        machine.name,
        fast.name,
        fast.read_latency_ns,
        slow.name,
        slow.read_latency_ns,
        slow.read_bandwidth_gb_s,
        machine.migration.page_4k_us,
        machine.migration.page_2m_us,
        match machine.migration.exchange_4k_us {
            Some(both) => format!("; two of 4 KiB that take each other's place {both:.0} us"),
            None => String::new(),
        }
    ));
    if let Some(capacity) = fast.capacity.filter(|capacity| *capacity < answer.fast_bytes) {
        all.push(format!("that machine has only {capacity} of {}", fast.name));
    }
    let other = answer.at_other_targets;
    let far = |bytes: Option<Bytes>| {
        bytes.is_some_and(|b| {
            (b.as_f64() - answer.fast_bytes.as_f64()).abs()
                > 0.1 * answer.fast_bytes.as_f64() + best.unit.as_f64()
        })
    };
    if far(other.tighter_bytes) || far(other.looser_bytes) {
        let show = |b: Option<Bytes>| b.map_or_else(|| "more than all".into(), |b| b.to_string());
        all.push(format!(
            "the curve is flat here: a tenth less slowdown needs {}, a tenth more {}",
            show(other.tighter_bytes),
            show(other.looser_bytes)
        ));
    }
    all.push(warm_up.warning().unwrap_or_else(|| {
        format!(
            "the program goes on as in the {} evaluated epochs ({:.0} s)",
            facts.evaluated_epochs, facts.seconds
        )
    }));
    all.extend(facts.part());
    all
}

/// How much longer to record, where chance alone leaves the size wide open: the error falls with the
/// root of the time.
fn longer(interval: Interval, facts: &RecordingFacts) -> Option<String> {
    let times = (interval.chance / WIDE).powi(2);
    (times > 1.0).then(|| {
        let seconds = facts.seconds * times;
        let long = if seconds < 120.0 {
            format!("{seconds:.0} s")
        } else {
            format!("{:.0} minutes", (seconds / 60.0).ceil())
        };
        format!(
            "by chance alone the size may be off by {} (95 %); to know it within {} record {long}",
            percent(interval.chance),
            percent(WIDE)
        )
    })
}
