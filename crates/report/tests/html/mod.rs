//! Pages: what they say, that what they embed is whole, and that a browser draws them.

mod browser;
mod drawn;
mod words;

use crate::made::{self, Unit};
use pagetide_replay::{
    Choice, Decisions, Figure, HeatColumn, HeatPicture, PictureArea, PictureRow, Pictures, Plan,
    PlanOptions, RankedRates, RateStep, Timeline, TimelinePoint,
};
use pagetide_report::{Subject, Together, html};
use pagetide_trace::Header;
use pagetide_types::{Bytes, UnitSize};

/// A plan of these units with its pictures.
pub(crate) fn subject(units: &[Unit]) -> Subject {
    let plan = made::plan_of(units, &PlanOptions::default());
    let pictures = pictures(&plan, units);
    let header = Header {
        schema_version: 1,
        tool: "pagetide 0.1.0".into(),
        started_unix_s: 1_790_000_000,
        target: plan.recording.target.clone(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![2e-5, 2e-2, 1.0],
        budget: 0.01,
        source: pagetide_trace::Source::default(),
        began_with_target: false,
        cache_per_core: None,
        machine: [("kernel".to_owned(), "6.12.43".to_owned())].into(),
    };
    Subject { plan, pictures, header, unfinished: None }
}

/// Its third policy chooses, and is replayed on a sample at some sizes only.
pub(crate) fn deciding(mut subject: Subject) -> Subject {
    let choice = |epoch, choice: &str| Choice { epoch, choice: choice.into() };
    let policy = &mut subject.plan.policies[2];
    policy.replayed_capacities = Some(33);
    policy.one_unit_in = 8;
    policy.decisions = Some(Decisions {
        fast_bytes: Bytes::mib(512),
        choices: vec![choice(1, "lru"), choice(4, "lfu"), choice(9, "lru")],
        epochs: (1..12).collect(),
        figures: vec![Figure {
            name: "hits".into(),
            about: "share of hits".into(),
            values: (1..12).map(|epoch| f64::from(epoch) / 12.0).collect(),
        }],
    });
    subject
}

pub(crate) fn named(mut subject: Subject, name: &str) -> Subject {
    subject.plan.recording.name = name.to_owned();
    subject
}

/// The page of some plans.
#[expect(clippy::unwrap_used, reason = "a test's own page")]
pub(crate) fn page(subjects: &[Subject]) -> String {
    html(subjects, Together::default(), 1_790_000_000).unwrap()
}

/// Pictures as they would be of these units.
fn pictures(plan: &Plan, units: &[Unit]) -> Pictures {
    let columns = (0..12).map(|i| f64::from(i) * 5.0);
    let areas = plan.areas.iter().enumerate().map(|(at, area)| PictureArea {
        name: area.name.clone(),
        bytes: area.bytes,
        rows: plan
            .heatmap
            .rows
            .iter()
            .filter(|row| row.area == at)
            .zip(0..)
            .map(|(row, i)| PictureRow {
                bytes: row.bytes,
                first: i << 30,
                end: (i != 3).then_some((i + 1) << 30),
                rate_per_mib: row.rate_per_mib.clone(),
                unknown: row.unknown.clone(),
            })
            .collect(),
    });
    let step = |unit: &Unit| RateStep {
        units: 1,
        bytes: Bytes::mib(2),
        rate_per_mib: unit.0 / 2.0,
        saturated_share: f64::from(u8::from(unit.1)),
    };
    let accesses = plan.recording.accesses_per_s * 5.0;
    let point = |start_s: f64| TimelinePoint {
        start_s,
        end_s: start_s + 5.0,
        seconds: 5.0,
        resident_bytes: plan.recording.footprint_bytes,
        accesses,
        saturated: accesses * 0.03,
        judged: if start_s < 15.0 { 0.0 } else { accesses },
        fast: if start_s < 15.0 { 0.0 } else { accesses * 0.97 },
        promoted_bytes: Bytes::mib(8),
        demoted_bytes: Bytes::mib(8),
        ..TimelinePoint::default()
    };
    Pictures {
        heat: HeatPicture {
            epochs_per_column: 1,
            units_per_bin: 1,
            columns: columns
                .clone()
                .map(|start_s| HeatColumn { start_s, end_s: start_s + 5.0 })
                .collect(),
            areas: areas.collect(),
        },
        rates: RankedRates {
            units: units.len(),
            saturated_units: units.iter().filter(|unit| unit.1).count(),
            untouched_units: units.iter().filter(|unit| unit.0 <= 0.0).count(),
            steps: units.iter().map(step).collect(),
        },
        timeline: Timeline {
            epochs_per_point: 1,
            points: columns.map(point).collect(),
            gaps: Vec::new(),
            placed: plan.recommendation.is_some(),
        },
    }
}
