//! Plans of whole recordings, written and read back.

use crate::build::{cxl, near};
use pagetide_replay::{PlanOptions, Share, Sharer, Weighting, all_policies, plan_recording, split};
use pagetide_trace::{Area, Epoch, EpochRecord, Header, Recording, RecordingWriter};
use pagetide_types::{
    AreaKind, Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId,
    UnitKey, UnitSize,
};
use std::path::Path;

/// Writes `epochs` epochs of 5 s with units of 2 MiB; `rate(epoch, unit)` for the `live(epoch)`
/// first units, the rest not yet there.
fn record(
    path: &Path,
    epochs: u32,
    live: impl Fn(u32) -> u32,
    rate: impl Fn(u32, u32) -> f32,
) -> Recording {
    record_numbered(path, 0..epochs, live, rate)
}

/// The same, of epochs with these numbers.
#[expect(clippy::unwrap_used, reason = "a test's own recording")]
pub(crate) fn record_numbered(
    path: &Path,
    epochs: impl IntoIterator<Item = u32>,
    live: impl Fn(u32) -> u32,
    rate: impl Fn(u32, u32) -> f32,
) -> Recording {
    let header = Header {
        schema_version: pagetide_trace::SCHEMA_VERSION,
        tool: "test".into(),
        started_unix_s: 0,
        target: "./program".into(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![2e-4, 1.0],
        budget: 0.01,
        machine: [].into(),
    };
    let mut writer = RecordingWriter::create(path, &header).unwrap();
    let mut known = 0;
    for (n, e) in epochs.into_iter().enumerate() {
        let mut heat = EpochHeat::new(EpochId(e));
        for i in 0..live(e) {
            let rate = rate(e, i);
            let seen = if rate > 0.0 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
            heat.push(HeatRow {
                unit: UnitId(i),
                rate,
                flags: HeatFlags::SAMPLED | HeatFlags::HUGE | seen,
                pages: 512,
                watched: 512,
                touched: if rate > 0.0 { 512 } else { 0 },
                node: NodeId(0),
            });
        }
        let key = |i| UnitKey { object: ObjectId(0), index: u64::from(i) };
        let new = (known..live(e).max(known)).map(key).collect();
        known = known.max(live(e));
        let area = Area {
            object: ObjectId(0),
            first: 0,
            end: 10_000,
            kind: AreaKind::Heap,
            name: "[heap]".into(),
            pid: Pid(1),
            command: "program".into(),
            since: EpochId(0),
        };
        let record = EpochRecord {
            epoch: Epoch {
                epoch: EpochId(e),
                start_s: f64::from(e) * 5.0,
                length_s: 5.0,
                processes: 1,
                target_cpu_s: 5.0,
                watched_share: 1.0,
                ..Epoch::default()
            },
            new_units: new,
            new_areas: if n == 0 { vec![area] } else { Vec::new() },
            heat,
        };
        writer.append(record).unwrap();
    }
    writer.finish().unwrap();
    Recording::open(path).unwrap()
}

#[test]
fn the_hot_set_is_found_behind_a_warm_up() {
    let folder = tempfile::tempdir().unwrap();
    // 400 units fill within 3 epochs; of them 100 in the middle are hot, 500 times the rest.
    let live = |e| [100, 250, 380].get(e as usize).copied().unwrap_or(400);
    let rate = |_, i| if (150..250).contains(&i) { 5000.0 } else { 10.0 };
    let recording = record(&folder.path().join("a.heat"), 16, live, rate);
    let plan = plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default());
    let plan = plan.unwrap();
    assert_eq!((plan.warm_up.epochs, plan.recording.evaluated_epochs), (3, 12));
    let answer = plan.recommendation.clone().unwrap();
    // All slow accesses of the cold are 0.6 % of all: nothing but the hot set is needed, and up
    // to 2.8 % of that may be slow.
    assert!(near(answer.fast_bytes, Bytes::mib(200).as_f64(), 0.05), "{answer:?}");
    let need = |name: &str| plan.policies.iter().find(|p| p.policy == name).unwrap().fast_bytes;
    assert!(need("first-touch").unwrap() > Bytes::mib(480), "{:?}", need("first-touch"));
    assert_eq!(need("all-slow"), None);
    assert!(plan.policies.iter().all(|p| p.points.len() <= 256));
    assert_eq!(plan.areas[0].name, "[heap]");

    let shares = split(
        &[Sharer::of(&plan), Sharer::of(&plan)],
        Bytes::mib(400),
        Weighting::Equal,
        Share::Utility,
    );
    assert!(shares.mean_slowdown <= 0.06, "{shares:?}");
}

#[test]
fn the_smallest_recordings_are_answered_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [(1, 10), (2, 10), (10, 0), (10, 1), (1, 0)];
    for (k, (epochs, units)) in sizes.into_iter().enumerate() {
        for hot in [0.0, 100.0] {
            let path = folder.path().join(format!("{k}-{hot}.heat"));
            let recording = record(&path, epochs, |_| units, |_, _| hot);
            let plan = plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default());
            let plan = plan.unwrap();
            match &plan.recommendation {
                Some(answer) => {
                    assert!(epochs > 3 && units > 0 && hot > 0.0);
                    assert_eq!(answer.fast_bytes, Bytes::mib(2));
                }
                None => assert!(plan.why_not.is_some_and(|why| !why.is_empty())),
            }
            let points = plan.policies.iter().flat_map(|p| &p.points);
            for point in points {
                assert!(point.hit_ratio.is_finite() && point.slowdown.high.is_finite());
            }
        }
    }
}
