//! The pictures' words: what each shows, for those who do not see it, and at which resolution.

use super::Subject;
use crate::number::{band, count, lengths};
use pagetide_replay::{HeatColumn, Plan, Point, PolicyPlan, percent};

/// A picture's words.
pub(super) struct Words {
    /// What it shows, in a sentence or two: read out instead of the picture.
    pub(super) shows: String,
    /// How to read it, and at which resolution it is drawn.
    pub(super) caption: String,
}

/// Why there is no curve over fast memory; none if there is one.
pub(super) fn no_curve(plan: &Plan) -> Option<String> {
    plan.nothing_to_compare().map(|why| format!("There is no curve to draw: {why}."))
}

/// How to read the slowdowns of these plans.
pub(super) fn band_says(subjects: &[Subject]) -> String {
    let band = subjects.iter().any(|s| s.plan.memory_share.low < s.plan.memory_share.high);
    let says = if band {
        "The line is the high end, which the recommendation keeps to; the band reaches down to the \
         low end, since it is not known how much of the run time waits for memory."
    } else {
        "The line is the high end, which the recommendation keeps to."
    };
    let one = if subjects.len() == 1 { " A click on a name shows that policy's band." } else { "" };
    format!("{says}{one} Below 0.1 % is drawn at 0.1 %.")
}

/// The curves over fast memory of one plan.
pub(super) fn over_fast_memory(subject: &Subject, what: &str) -> Words {
    let plan = &subject.plan;
    let policy = plan.shown_policy();
    let name = policy.map_or("", |policy| policy.policy.as_str());
    let points = policy.map_or(&[][..], |policy| &policy.points);
    let value = |point: &Point| match what {
        "slowdown" => band(point.slowdown),
        "hits" => percent(point.hit_ratio),
        _ => crate::number::bytes_per_s(point.promoted_bytes_per_s + point.demoted_bytes_per_s),
    };
    let told: Vec<String> = [0, points.len() / 4, points.len() / 2, points.len() * 3 / 4]
        .into_iter()
        .chain(points.len().checked_sub(1))
        .filter_map(|i| points.get(i))
        .map(|point| format!("{} at {}", value(point), point.fast_bytes))
        .collect();
    let title = match what {
        "slowdown" => "Slowdown",
        "hits" => "Share of the memory traffic that fast memory serves",
        _ => "Bytes moved per second",
    };
    let shows = format!("{title} over fast memory under the policy {name}: {}.", told.join(", "));
    let caption = match (points.first(), points.get(1)) {
        (Some(first), Some(second)) => format!(
            "{} sizes of fast memory, one every {}.",
            count(points.len() as f64),
            pagetide_types::Bytes(second.fast_bytes.0.saturating_sub(first.fast_bytes.0))
        ),
        _ => String::new(),
    };
    Words { shows, caption }
}

/// Of what a policy's curve is drawn, if it is less than every size and every unit.
pub(super) fn coarse(policy: &PolicyPlan) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(sizes) = policy.replayed_capacities {
        parts.push(format!("at {sizes} sizes, with straight lines between"));
    }
    if policy.one_unit_in > 1 {
        parts.push(format!("with one unit in {}, which stands for all", policy.one_unit_in));
    }
    let name = &policy.policy;
    (!parts.is_empty()).then(|| format!("{name} was replayed {}.", parts.join(" and ")))
}

/// What a policy told of its decisions.
pub(super) struct Told {
    pub(super) policy: String,
    pub(super) chose: bool,
    pub(super) choice_id: String,
    pub(super) told_id: String,
    pub(super) shows: String,
    pub(super) caption: String,
    pub(super) figures: String,
}

/// The policies of a plan, the `at`-th of the page, that told something.
pub(super) fn told(plan: &Plan, at: usize) -> Vec<Told> {
    let policies = plan.policies.iter().enumerate();
    policies
        .filter_map(|(place, policy)| {
            let decisions = policy.decisions.as_ref()?;
            let first = decisions.choices.first().map(|choice| choice.choice.as_str());
            let changes = decisions.choices.len().saturating_sub(1);
            let shows = match (first, changes) {
                (None, _) => "It chose nothing.".to_owned(),
                (Some(first), 0) => format!("It followed {first} throughout."),
                (Some(first), 1) => format!("It followed {first} first and changed once."),
                (Some(first), n) => format!("It followed {first} first and changed {n} times."),
            };
            let figures = decisions.figures.iter();
            let figures = figures.map(|figure| format!("{}: {}", figure.name, figure.about));
            Some(Told {
                policy: policy.policy.clone(),
                chose: first.is_some(),
                choice_id: format!("choice-{at}-{place}"),
                told_id: format!("told-{at}-{place}"),
                caption: format!(
                    "{shows} With {} of fast memory; every change is drawn.",
                    decisions.fast_bytes
                ),
                shows,
                figures: format!(
                    "{}. {} of its decisions, with {} of fast memory.",
                    figures.collect::<Vec<_>>().join("; "),
                    count(decisions.epochs.len() as f64),
                    decisions.fast_bytes
                ),
            })
        })
        .collect()
}

/// Heat over address and time.
pub(super) fn heat(subject: &Subject) -> Words {
    let picture = &subject.pictures.heat;
    let rows: usize = picture.areas.iter().map(|area| area.rows.len()).sum();
    let hottest = subject
        .plan
        .areas
        .iter()
        .max_by(|a, b| a.share_of_accesses.total_cmp(&b.share_of_accesses))
        .filter(|area| area.share_of_accesses > 0.0);
    let most = hottest.map_or_else(
        || "No access was seen.".to_owned(),
        |area| {
            format!(
                "{} takes {} of the accesses on {} of the memory.",
                area.name,
                percent(area.share_of_accesses),
                percent(area.share_of_bytes)
            )
        },
    );
    let row_bytes = picture.areas.iter().flat_map(|area| &area.rows).map(|row| row.bytes).max();
    let per_column = match picture.epochs_per_column {
        1 => "one epoch".to_owned(),
        n => format!("{n} epochs, their mean"),
    };
    let bins = if picture.units_per_bin > 1 {
        format!("; {} neighbouring units are told apart no further", picture.units_per_bin)
    } else {
        String::new()
    };
    Words {
        shows: format!(
            "Accesses per second and MiB over address and time, for {} areas of memory. {most}",
            picture.areas.len()
        ),
        caption: format!(
            "{} columns of {per_column} ({}), {rows} rows of up to {}, their mean{bins}. Areas \
             stand in order of size, each from low addresses to high; heights follow their memory, \
             but none is thinner than its name.",
            picture.columns.len(),
            column_lengths(&picture.columns),
            row_bytes.unwrap_or_default(),
        ),
    }
}

/// How long columns are, but for the last, in which the target or the time may have ended.
fn column_lengths(columns: &[HeatColumn]) -> String {
    let whole = &columns[..columns.len().saturating_sub(1).max(1).min(columns.len())];
    let each = || whole.iter().map(|column| column.end_s - column.start_s);
    lengths(each().fold(f64::INFINITY, f64::min), each().fold(0.0, f64::max))
}

/// Rates by rank.
pub(super) fn rates(subject: &Subject) -> Words {
    let rates = &subject.pictures.rates;
    let hottest = rates.steps.first().map_or(0.0, |step| step.rate_per_mib);
    let half: f64 = rates.steps.iter().map(|step| step.bytes.as_f64()).sum::<f64>() / 2.0;
    let mut before = 0.0;
    let middle = rates.steps.iter().find(|step| {
        before += step.bytes.as_f64();
        before >= half
    });
    let units = |n: usize| match n {
        0 => "none of them was".to_owned(),
        1 => "one of them was".to_owned(),
        n => format!("{} of them were", count(n as f64)),
    };
    Words {
        shows: format!(
            "Accesses per second and MiB, the hottest memory first: {} at the hottest, {} in the \
             middle. Of {} units {} too hot to measure and {} seen accessed in no epoch of the \
             recording.",
            count(hottest),
            count(middle.map_or(0.0, |step| step.rate_per_mib)),
            count(rates.units as f64),
            units(rates.saturated_units),
            units(rates.untouched_units),
        ),
        caption: format!(
            "{} units in {} steps: one by one at the hot end, then by twentieths of what is \
             hotter, each step its mean. Circles: too hot to measure for half of the time or more, \
             so the rate is a lower bound.{}",
            count(rates.units as f64),
            rates.steps.len(),
            match rates.untouched_units {
                0 => String::new(),
                n => format!(
                    " {} units seen accessed in no epoch lie right of the end.",
                    count(n as f64)
                ),
            }
        ),
    }
}

/// From epoch to epoch.
pub(super) fn timeline(subject: &Subject) -> Words {
    let timeline = &subject.pictures.timeline;
    let most = timeline.points.iter().map(|point| point.resident_bytes).max().unwrap_or_default();
    let point = match timeline.epochs_per_point {
        1 => "one epoch".to_owned(),
        n => format!("{n} epochs: the most memory, the mean of the rest"),
    };
    // In the very first no decision is in force.
    let first = subject.plan.warm_up.epochs.max(1);
    Words {
        shows: format!(
            "Memory in use, accesses per second, hits and moves from epoch to epoch; at most {most} \
             are in use."
        ),
        caption: format!(
            "{} points of {point}. Hits and moves begin after the first {}, on which no decision \
             was judged.",
            timeline.points.len(),
            if first == 1 { "epoch".to_owned() } else { format!("{first} epochs") }
        ),
    }
}
