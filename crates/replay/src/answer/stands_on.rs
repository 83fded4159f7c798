//! What an answer stands on, a clause each.

use crate::answer::facts::{SOME, unmapped_memory};
use crate::answer::interval::{EpochHits, HELD_OUT, METHOD, WIDE, sampled};
use crate::answer::recommend::Candidate;
use crate::answer::sentence::percent;
use crate::{AreaHeat, Certainty, Interval, PlanInput, Recommendation, RecordingFacts};
use pagetide_machine::Machine;
use pagetide_policy::PolicySpec;
use pagetide_trace::Source;
use pagetide_types::{AreaKind, Bytes, UnitSize};

/// What an answer stands on, most important first; without one, what the figures do.
pub(crate) fn stands_on(
    answer: Option<&Recommendation>,
    best: &Candidate<'_>,
    input: &PlanInput,
    machine: &Machine,
) -> Vec<String> {
    let facts = &input.facts;
    let mut all = vec![waiting(best, facts), traffic(best, facts)];
    all.extend(answer.and_then(|answer| spread_out(answer, best, facts)));
    if let Some(cache) = machine.cache_per_core
        && facts.traffic_was_sampled()
        && cache != facts.cache_per_core
    {
        all.push(format!(
            "the recording was made for {} of CPU cache per core, the machine has {cache}",
            facts.cache_per_core
        ));
    }
    all.extend(observed(answer, best, facts));
    all.extend(unmapped(input));
    all.extend(born(best, facts));
    all.extend(renewed(best, facts));
    if let Some(interval) = answer.and_then(|answer| answer.interval) {
        if sampled(best, facts) {
            all.push(format!(
                "the range holds chance ({}) and the {} by which this method was off on the programs \
                 that it was made with; it held the size of {} that were counted exactly",
                percent(interval.chance),
                percent(METHOD),
                HELD_OUT
            ));
        }
        all.extend(longer(interval, facts, input.warm_up.epochs));
    }
    all.extend(answer.and_then(|answer| trend(&best.cost.hits(best.entry(answer.fast_bytes)))));
    all.push(costs(machine));
    all.extend(answer.and_then(|answer| flat(answer, best)));
    if input.warm_up.warning().is_none() {
        all.push(format!(
            "the program goes on as in the {} ({:.0} s)",
            match facts.evaluated_epochs {
                1 => "evaluated epoch".to_owned(),
                epochs => format!("{epochs} evaluated epochs"),
            },
            facts.seconds
        ));
    }
    all
}

/// How much of the run time waits for memory.
fn waiting(best: &Candidate<'_>, facts: &RecordingFacts) -> String {
    let share = best.cost.model().share();
    match facts.stall_share {
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
    }
}

/// Which accesses are charged.
fn traffic(best: &Candidate<'_>, facts: &RecordingFacts) -> String {
    let counted = !best.curve().fast_leads.is_empty();
    if counted && best.cost.charges_leads() {
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
        let alike = match facts.unit {
            UnitSize::Base => {
                ", and the pages of 2 MiB are taken to be alike in that (a store's table and its values are not: measured on \
                 redis, single pages then seem to serve up to 20 % more than they do)"
            }
            UnitSize::Huge => "",
        };
        format!(
            "traffic is what comes in after the time in which {} of CPU cache per core fill, as \
             accessed bits show it; how many lines of a page that is they do not show{alike}",
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
    }
}

/// From this share of the memory on an answer asks why it is so much, and from this share of the traffic on the
/// colder half of the memory is not cold.
const NEARLY_ALL: f64 = 0.7;
const NOT_COLD: f64 = 0.15;

/// Why nearly all of the memory has to be fast, where that is because traffic is spread over it.
fn spread_out(
    answer: &Recommendation,
    best: &Candidate<'_>,
    facts: &RecordingFacts,
) -> Option<String> {
    let curve = best.curve();
    let half = curve.fast_accesses.len() / 2;
    let of_the_rest = 1.0 - curve.hit_ratio(half);
    (answer.share_of_footprint >= NEARLY_ALL && of_the_rest >= NOT_COLD).then(|| {
        format!(
            "so much, because traffic is spread out: without the hottest {} there is still {} of it; what \
             is hot lies scattered among what is not, in nearly every {}, or all of it is alike",
            curve.capacity(half),
            percent(of_the_rest),
            facts.unit
        )
    })
}

/// What of the memory was not, or not well, observed.
fn observed(
    answer: Option<&Recommendation>,
    best: &Candidate<'_>,
    facts: &RecordingFacts,
) -> Vec<String> {
    let mut all = Vec::new();
    if facts.saturated_share >= 0.005 {
        all.push(format!(
            "{} of the memory traffic went to units too hot to measure; the size counts them at \
             their lower bound{}",
            percent(facts.saturated_share),
            match answer {
                Some(answer) if answer.certainty == Certainty::UpperBound => format!(
                    "; were they as hot as the CPU time allows, {} would do",
                    answer.fast_bytes_low
                ),
                _ => String::new(),
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
    all.extend(facts.unknown().filter(|_| !facts.much_is_unknown()));
    all
}

/// That shared memory holds more than anybody maps, or may.
fn unmapped(input: &PlanInput) -> Option<String> {
    let facts = &input.facts;
    let bytes = facts.unmapped_bytes;
    if bytes.0 > 0 && bytes.as_f64() >= SOME * facts.footprint_bytes.as_f64() {
        return Some(unmapped_memory(bytes));
    }
    let shared = |area: &AreaHeat| area.kind == Some(AreaKind::Shared);
    let open = facts.source == Source::Sampled && !facts.unmapped_counted;
    (open && input.areas.iter().any(shared)).then(|| {
        "of shared memory only what some process has touched is seen: what nobody maps now (cold \
         pages of a buffer pool) comes on top, and may be slow"
            .to_owned()
    })
}

/// That there is room for what is born.
fn born(best: &Candidate<'_>, facts: &RecordingFacts) -> Option<String> {
    let placed =
        best.curve().policy.parse::<PolicySpec>().is_ok_and(|spec| spec.info().needs.births);
    (placed && facts.some_is_born()).then(|| {
        format!(
            "new memory, {} an epoch on the mean, begins fast where it was worth that before: so much \
             of the fast memory is free beyond the size (pagetide run keeps twice that), or the kernel makes room for it",
            facts.born_bytes
        )
    })
}

/// Fewer epochs show no trend, and what changes by less matters to nobody.
const LEAST_EPOCHS: usize = 6;
const LEAST_CHANGE: f64 = 0.005;
/// Standard errors that a difference of the halves must be.
const SURE: f64 = 2.0;

/// That what fast memory served grew or fell while it was judged, by more than a fifth of the misses and than chance.
fn trend(epochs: &[EpochHits]) -> Option<String> {
    if epochs.len() < LEAST_EPOCHS {
        return None;
    }
    let (early, late) = epochs.split_at(epochs.len() / 2);
    let (before, after) = (missed(early)?, missed(late)?);
    let change = before.0 - after.0;
    let much = change.abs() >= LEAST_CHANGE.max(0.2 * before.0.max(after.0));
    let tenths = |share: f64| format!("{:.1} %", 100.0 * share);
    (much && change.abs() > SURE * before.1.hypot(after.1)).then(|| {
        let (why, than) = if change > 0.0 {
            ("the policy was still learning, or the program became easier to serve", "less")
        } else {
            ("the program became harder to serve", "more")
        };
        format!(
            "fast memory served {} of the accesses in the first half of what was judged, {} in the second: {why}; a longer \
             recording is likely to name {than}",
            tenths(1.0 - before.0),
            tenths(1.0 - after.0),
        )
    })
}

/// The mean share of misses of some epochs, and its standard error.
fn missed(epochs: &[EpochHits]) -> Option<(f64, f64)> {
    let shares: Vec<f64> = (epochs.iter().filter(|epoch| epoch.accesses > 0.0))
        .map(|epoch| 1.0 - epoch.fast / epoch.accesses)
        .collect();
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
    (n > 1.0).then(|| (mean, (squares / (n - 1.0) / n).sqrt()))
}

/// That memory is renewed, and whom that left out.
fn renewed(best: &Candidate<'_>, facts: &RecordingFacts) -> Option<String> {
    (facts.is_being_renewed() && !best.moves_nothing()).then(|| {
        "policies that never move anything are left out: memory that was there all the time goes, and what is born in its place \
         lies where the program began only until all of it has been renewed"
            .to_owned()
    })
}

/// What the machine costs.
fn costs(machine: &Machine) -> String {
    let (fast, slow) = (machine.fast(), machine.slow());
    format!(
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
    )
}

/// What begins the clause that only matters to who may choose the size.
pub(crate) const FLAT: &str = "the curve is flat at";

/// Whether a little less slowdown would need much more.
fn flat(answer: &Recommendation, best: &Candidate<'_>) -> Option<String> {
    let other = answer.at_other_targets;
    let far = |bytes: Option<Bytes>| {
        bytes.is_some_and(|b| {
            (b.as_f64() - answer.fast_bytes.as_f64()).abs()
                > 0.1 * answer.fast_bytes.as_f64() + best.unit.as_f64()
        })
    };
    let show = |b: Option<Bytes>| b.map_or_else(|| "more than all".into(), |b| b.to_string());
    (far(other.tighter_bytes) || far(other.looser_bytes)).then(|| {
        format!(
            "{FLAT} {}: a tenth less slowdown needs {}, a tenth more {}",
            answer.fast_bytes,
            show(other.tighter_bytes),
            show(other.looser_bytes)
        )
    })
}

/// How long to record, where chance alone leaves the size wide open: the error falls with the root of the time that is
/// judged. What was `left_out` at the beginning is left out again: half of all where the program ran before, else as much.
fn longer(interval: Interval, facts: &RecordingFacts, left_out: usize) -> Option<String> {
    let times = (interval.chance / WIDE).powi(2);
    (times > 1.0).then(|| {
        let part = left_out as f64 / facts.epochs.max(1) as f64;
        let seconds = if 2 * left_out >= facts.epochs.saturating_sub(1) && part < 1.0 {
            facts.seconds * times / (1.0 - part)
        } else {
            facts.seconds * times + left_out as f64 * facts.epoch_s
        };
        let long = if seconds < 120.0 {
            format!("{seconds:.0} s")
        } else {
            format!("{:.0} minutes", (seconds / 60.0).ceil())
        };
        let budget = match facts.source {
            Source::Sampled => ", or for less time with a larger --budget",
            Source::Exact => "",
        };
        format!(
            "by chance alone the size may be off by {} (95 %); to know it within {} record {long}{budget}",
            percent(interval.chance),
            percent(WIDE)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_know_it_better_what_is_left_out_is_recorded_as_well() {
        let none = Bytes(0);
        let interval = Interval { low: none, high: none, chance: 1.2 * WIDE, slowdown: 0.0 };
        let long = |epochs, left_out| {
            let seconds = 5.0 * (epochs - left_out) as f64;
            let facts =
                RecordingFacts { epochs, epoch_s: 5.0, seconds, ..RecordingFacts::default() };
            longer(interval, &facts, left_out).unwrap()
        };
        assert!(
            long(12, 6).contains("record 86 s"),
            "1.44 times as long, half of it to learn from"
        );
        assert!(long(12, 2).contains("record 82 s"), "1.44 times 50 s, and 10 s to fill");
        assert!(long(5, 1).contains("record 34 s"));
    }

    fn said(shares: &[f64]) -> Option<String> {
        let epoch = |fast: &f64| EpochHits { accesses: 1000.0, fast: 1000.0 * fast };
        trend(&shares.iter().map(epoch).collect::<Vec<_>>())
    }

    #[test]
    fn what_grows_or_falls_by_more_than_chance_is_said() {
        let grows = said(&[0.95, 0.955, 0.96, 0.97, 0.975, 0.98]).unwrap();
        assert!(grows.contains("95.5 %") && grows.contains("97.5 %"), "{grows}");
        assert!(grows.contains("still learning") && grows.ends_with("name less"), "{grows}");
        let falls = said(&[0.98, 0.975, 0.97, 0.96, 0.955, 0.95]).unwrap();
        assert!(falls.contains("harder") && falls.ends_with("name more"), "{falls}");
        assert_eq!(said(&[0.95, 0.98, 0.95, 0.98, 0.95, 0.98]), None, "chance");
        assert_eq!(said(&[0.996, 0.996, 0.997, 0.998, 0.998, 0.999]), None, "next to nothing");
        assert_eq!(said(&[0.9, 0.91, 0.95, 0.96]), None, "few epochs");
    }
}
