//! The page's tables: policies, areas, how it was recorded, the machine.

use super::{Subject, date};
use crate::number::{band, bytes_per_s, count, short_time};
use crate::plan::{needs, recorded_fields};
use pagetide_replay::{PolicyPlan, Role, percent};

/// A row of the table of policies.
pub(super) struct PolicyRow {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) bound: bool,
    pub(super) chosen: bool,
    pub(super) cells: Vec<String>,
}

/// The columns beside the name, for one plan.
pub(super) fn policy_columns(subject: &Subject) -> Vec<String> {
    let mut columns = vec!["needs".to_owned()];
    if let Some(answer) = &subject.plan.recommendation {
        columns.push(format!("hits at {}", answer.fast_bytes));
        columns.push("slowdown there".into());
        columns.push("moves there".into());
    }
    columns
}

/// One line per policy.
pub(super) fn policy_rows(subject: &Subject) -> Vec<PolicyRow> {
    let plan = &subject.plan;
    let row = |policy: &PolicyPlan| {
        let mut cells = vec![needs(plan, policy)];
        if plan.recommendation.is_some() {
            match policy.at_recommended {
                Some(point) => cells.extend([
                    percent(point.hit_ratio),
                    band(point.slowdown),
                    bytes_per_s(point.promoted_bytes_per_s + point.demoted_bytes_per_s),
                ]),
                None => cells.extend(["–"; 3].map(str::to_owned)),
            }
        }
        PolicyRow {
            name: policy.policy.clone(),
            about: policy.about.clone(),
            bound: policy.role == Role::Bound,
            chosen: chosen(subject, policy),
            cells,
        }
    };
    plan.policies.iter().map(row).collect()
}

/// The needs of every policy that any of the plans has, a column per plan.
pub(super) fn needs_together(subjects: &[Subject]) -> Vec<PolicyRow> {
    let mut rows: Vec<PolicyRow> = Vec::new();
    for policy in subjects.iter().flat_map(|subject| &subject.plan.policies) {
        if rows.iter().any(|row| row.name == policy.policy) {
            continue;
        }
        let of = |subject: &Subject| {
            let found = subject.plan.policies.iter().find(|p| p.policy == policy.policy);
            found.map_or_else(
                || "–".to_owned(),
                |found| {
                    let mark = if chosen(subject, found) { " ←" } else { "" };
                    needs(&subject.plan, found) + mark
                },
            )
        };
        rows.push(PolicyRow {
            name: policy.policy.clone(),
            about: policy.about.clone(),
            bound: policy.role == Role::Bound,
            chosen: false,
            cells: subjects.iter().map(of).collect(),
        });
    }
    rows
}

fn chosen(subject: &Subject, policy: &PolicyPlan) -> bool {
    subject.plan.recommendation.as_ref().is_some_and(|answer| answer.policy == policy.policy)
}

/// A row of the table of areas; shares are percentages for a bar, 0 to 100.
pub(super) struct AreaRow {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) bytes: String,
    pub(super) bytes_bar: String,
    pub(super) accesses: String,
    pub(super) accesses_bar: String,
    pub(super) per_second: String,
}

/// One line per named area.
pub(super) fn area_rows(subject: &Subject) -> Vec<AreaRow> {
    let bar = |share: f64| format!("{:.2}", (share * 100.0).clamp(0.0, 100.0));
    let areas = subject.plan.areas.iter();
    areas
        .map(|area| AreaRow {
            name: area.name.clone(),
            kind: area.kind.map_or_else(|| "–".into(), |kind| kind.to_string()),
            bytes: format!("{} ({})", area.bytes, percent(area.share_of_bytes)),
            bytes_bar: bar(area.share_of_bytes),
            accesses: percent(area.share_of_accesses),
            accesses_bar: bar(area.share_of_accesses),
            per_second: count(area.accesses_per_s),
        })
        .collect()
}

/// How it was recorded.
pub(super) fn recorded(subject: &Subject) -> Vec<(String, String)> {
    let header = &subject.header;
    let mut rows = vec![("Target".to_owned(), header.target.clone())];
    if header.started_unix_s > 0 {
        rows.push(("Started".into(), date::utc(header.started_unix_s)));
    }
    let fields = recorded_fields(&subject.plan);
    rows.extend(fields.into_iter().map(|(label, text)| (label.to_owned(), text)));
    let gaps: Vec<String> = header.gaps_s.iter().map(|gap| short_time(*gap)).collect();
    if !gaps.is_empty() {
        rows.push(("Gaps".into(), gaps.join(", ")));
    }
    rows.push((
        "Budget".into(),
        format!("{} of one core for the recorder", percent(header.budget)),
    ));
    rows.push(("Written by".into(), format!("{}, schema {}", header.tool, header.schema_version)));
    rows.push(("File".into(), subject.plan.recording.name.clone()));
    rows.extend(header.machine.iter().map(|(key, text)| (key.replace('_', " "), text.clone())));
    rows
}

/// The machine that the plan is for.
pub(super) fn machine(subject: &Subject) -> Vec<(String, String)> {
    let machine = &subject.plan.machine;
    let mut rows = vec![("Machine".to_owned(), format!("{}: {}", machine.name, machine.title))];
    for tier in [machine.fast(), machine.slow()] {
        let capacity = tier.capacity.map(|bytes| format!(", {bytes}"));
        rows.push((
            tier.name.clone(),
            format!(
                "reads {:.0} ns and {:.0} GB/s, writes {:.0} ns and {:.0} GB/s{}",
                tier.read_latency_ns,
                tier.read_bandwidth_gb_s,
                tier.write_latency_ns,
                tier.write_bandwidth_gb_s,
                capacity.unwrap_or_default()
            ),
        ));
    }
    rows.push((
        "Moves".into(),
        format!(
            "{:.0} us for 4 KiB, {:.0} us for 2 MiB",
            machine.migration.page_4k_us, machine.migration.page_2m_us
        ),
    ));
    rows.push(("Source".into(), machine.source.clone()));
    rows
}
