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
/// first units, the rest not yet there; a negative rate if nobody has watched the unit yet.
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
        source: pagetide_trace::Source::default(),
        began_with_target: false,
        cache_per_core: None,
        machine: [].into(),
    };
    let mut writer = RecordingWriter::create(path, &header, None).unwrap();
    let mut known = 0;
    for (n, e) in epochs.into_iter().enumerate() {
        let mut heat = EpochHeat::new(EpochId(e));
        let mut all_watched = true;
        for i in 0..live(e) {
            let rate = rate(e, i);
            let watched = rate >= 0.0;
            all_watched &= watched;
            let seen = if rate > 0.0 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
            let looked = if watched { HeatFlags::SAMPLED | seen } else { HeatFlags::default() };
            heat.push(HeatRow {
                unit: UnitId(i),
                rate: rate.max(0.0),
                flags: HeatFlags::HUGE | looked,
                pages: 512,
                watched: if watched { 512 } else { 0 },
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
                watched_share: if all_watched { 1.0 } else { 0.5 },
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
    assert_eq!((plan.warm_up.epochs, plan.recording.evaluated_epochs), (3, 13));
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
fn what_nobody_had_watched_yet_does_not_become_hot_later() {
    let folder = tempfile::tempdir().unwrap();
    // Every fourth unit is hot; every unit has its turn to be watched in one of ten epochs.
    let rate = |_, i: u32| if i.is_multiple_of(4) { 5000.0 } else { 10.0 };
    let turns = |e, i| if e < i * 7 % 10 { -1.0 } else { rate(e, i) };
    let never = |e, i| if i == 103 { -1.0 } else { rate(e, i) };
    let plan = |name: &str, rate: &dyn Fn(u32, u32) -> f32| {
        let recording = record(&folder.path().join(name), 16, |_| 400, rate);
        plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
    };
    let known = plan("known.heat", &rate);
    assert_eq!(known.recording.unwatched_share, 0.0);
    let turns = plan("turns.heat", &turns);
    // On average 4.5 of the 16 epochs.
    assert!((turns.recording.unwatched_share - 4.5 / 16.0).abs() < 0.02, "{:?}", turns.recording);
    let need = |plan: &pagetide_replay::Plan| plan.recommendation.clone().unwrap().fast_bytes;
    assert_eq!(need(&turns), need(&known));
    assert!((turns.recording.accesses_per_s / known.recording.accesses_per_s - 1.0).abs() < 1e-3);
    // Who never has a turn counts as its neighbour.
    let never = plan("never.heat", &never);
    assert!((never.recording.accesses_per_s / known.recording.accesses_per_s - 1.0).abs() < 1e-6);
    assert_eq!(need(&never), need(&known));
}

/// What `rate` serves with half of the memory fast.
#[expect(clippy::unwrap_used, reason = "a test's own plan")]
fn served_by_half(recording: &Recording) -> f64 {
    let plan = plan_recording(recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap();
    let rate = plan.policies.iter().find(|policy| policy.policy == "rate").unwrap();
    rate.points[rate.points.len() / 2].hit_ratio
}

/// A factor from `1 - off` to `1 + off`, by dice of its own for every unit and epoch.
fn noise(epoch: u32, unit: u32, off: f32) -> f32 {
    let mixed = u64::from(epoch << 16 | unit).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    1.0 + off * ((mixed >> 40) as f32 / (1 << 23) as f32 - 1.0)
}

#[test]
fn a_past_that_was_not_recorded_flatters_no_policy() {
    // All units are alike: whoever takes noise for heat serves more than half, for the past shows
    // the very noise that counts.
    let folder = tempfile::tempdir().unwrap();
    let rate = |epoch, unit| 1000.0 * noise(epoch, unit, 0.4);
    let served = served_by_half(&record(&folder.path().join("a.heat"), 13, |_| 400, rate));
    assert!((0.49..0.51).contains(&served), "{served}");
}

#[test]
fn lukewarm_memory_lies_where_months_of_service_put_it() {
    // The second half, touched last, is twice as hot; no epoch alone shows it, and within the
    // recording no move repays. Whoever has it fast serves two thirds, who learns as it counts 0.55.
    let folder = tempfile::tempdir().unwrap();
    let rate = |epoch, unit| (if unit < 200 { 20.0 } else { 40.0 }) * noise(epoch, unit, 0.8);
    let served = served_by_half(&record(&folder.path().join("a.heat"), 13, |_| 400, rate));
    assert!(served > 0.6, "{served}");
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
