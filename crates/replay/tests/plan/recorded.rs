//! Plans of whole recordings, written and read back.

use crate::build::{cxl, near};
use pagetide_replay::{
    AdviceKind, PlanOptions, Share, Sharer, Weighting, all_policies, plan_recording, split,
};
use pagetide_trace::{Area, Epoch, EpochRecord, Header, Recording, RecordingWriter};
use pagetide_types::{
    AreaKind, Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId,
    UnitKey, UnitSize,
};
use std::path::Path;

/// Writes `epochs` epochs of 5 s with units of 2 MiB; `rate(epoch, unit)` for the `live(epoch)`
/// first units, the rest not yet there; a negative rate if nobody has watched the unit yet,
/// and none (NaN) once it died.
fn record(
    path: &Path,
    epochs: u32,
    live: impl Fn(u32) -> u32,
    rate: impl Fn(u32, u32) -> f32,
) -> Recording {
    record_numbered(path, 0..epochs, live, rate)
}

/// The same, of epochs with these numbers.
pub(crate) fn record_numbered(
    path: &Path,
    epochs: impl IntoIterator<Item = u32>,
    live: impl Fn(u32) -> u32,
    rate: impl Fn(u32, u32) -> f32,
) -> Recording {
    record_begun(path, true, epochs, live, rate)
}

/// The same, of a program that began with the recording or before it.
#[expect(clippy::unwrap_used, reason = "a test's own recording")]
pub(crate) fn record_begun(
    path: &Path,
    began_with_target: bool,
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
        began_with_target,
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
            if rate.is_nan() {
                continue;
            }
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
            mapped: None,
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
    assert_eq!((plan.warm_up.epochs, plan.recording.evaluated_epochs), (5, 11));
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
fn room_for_what_is_born_is_said_where_some_is() {
    let folder = tempfile::tempdir().unwrap();
    let rate = |_, i: u32| if i.is_multiple_of(4) { 5000.0 } else { 10.0 };
    let plan = |name: &str, units: &dyn Fn(u32) -> u32| {
        let recording = record(&folder.path().join(name), 16, units, rate);
        plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
    };
    let says_so = |plan: &pagetide_replay::Plan| {
        plan.said.stands_on.iter().any(|said| said.starts_with("new memory, 8.00 MiB an epoch"))
    };
    let (same, grows) = (plan("same.heat", &|_| 400), plan("grows.heat", &|e| 400 + 4 * e));
    assert_eq!((same.recording.born_bytes, says_so(&same)), (Bytes(0), false));
    assert_eq!((grows.recording.born_bytes, says_so(&grows)), (Bytes::mib(8), true));
}

#[test]
fn what_does_well_by_where_the_program_began_is_not_recommended_where_its_memory_is_renewed() {
    let folder = tempfile::tempdir().unwrap();
    // Each epoch the oldest 4 of 400 units die and 4 are born, which have nine tenths of the accesses for four epochs.
    // The oldest were touched first, so what is born lies where they did.
    let rate = |e: u32, i: u32| match i {
        _ if i < 4 * e => f32::NAN,
        _ if i + 16 >= 400 + 4 * e => 200_000.0,
        _ => 926.0,
    };
    let recording =
        record_begun(&folder.path().join("a.heat"), false, 0..16, |e| 400 + 4 * e, rate);
    let plan = plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default());
    let plan = plan.unwrap();
    let answer = plan.recommendation.as_ref().unwrap();
    let need = |name: &str| plan.policies.iter().find(|p| p.policy == name).unwrap().fast_bytes;
    assert!(need("first-touch") < Some(Bytes::mib(700)), "no trap: {:?}", need("first-touch"));
    assert!(answer.policy != "first-touch" && answer.policy != "random", "{answer:?}");
    assert!(plan.advice.iter().all(|advice| advice.kind != AdviceKind::FirstTouch));
    // Where nobody else is asked it is the answer all the same.
    let alone = ["first-touch".parse().unwrap()];
    let alone = plan_recording(&recording, &alone, &cxl(), &PlanOptions::default()).unwrap();
    assert_eq!(alone.recommendation.unwrap().fast_bytes, need("first-touch").unwrap());
}

#[test]
fn what_nobody_had_watched_yet_is_known_to_no_policy_and_said() {
    let folder = tempfile::tempdir().unwrap();
    // Every fourth unit is hot; every unit has its turn to be watched in one of ten epochs.
    let rate = |_, i: u32| if i.is_multiple_of(4) { 5000.0 } else { 10.0 };
    let turns = |e, i| if e < i * 7 % 10 { -1.0 } else { rate(e, i) };
    let never = |e, i| if i == 104 { -1.0 } else { rate(e, i) };
    let plan = |name: &str, rate: &dyn Fn(u32, u32) -> f32| {
        let recording = record(&folder.path().join(name), 16, |_| 400, rate);
        plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
    };
    let known = plan("known.heat", &rate);
    assert_eq!(known.recording.unwatched_share, 0.0);
    let turns = plan("turns.heat", &turns);
    // On average 2.8 of the 14 epochs that are not left out.
    assert!((turns.recording.unwatched_share - 2.8 / 14.0).abs() < 0.02, "{:?}", turns.recording);
    let need = |plan: &pagetide_replay::Plan| plan.recommendation.clone().unwrap().fast_bytes;
    // What becomes known too late is missed until then; no plan may know it sooner.
    assert!(need(&turns) > need(&known));
    // Nothing of what was never watched is charged.
    let never = plan("never.heat", &never);
    let missing = 1.0 - never.recording.accesses_per_s / known.recording.accesses_per_s;
    assert!((missing - 5000.0 / 503_000.0).abs() < 1e-6, "{missing}");
}

#[test]
fn a_program_that_ran_before_is_judged_by_the_second_half() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |epochs: u32| {
        let path = folder.path().join(format!("{epochs}.heat"));
        let rate = |_, i| if i < 100 { 5000.0 } else { 10.0 };
        let recording = record_begun(&path, false, 0..epochs, |_| 400, rate);
        plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
    };
    let whole = plan(21);
    assert_eq!((whole.warm_up.epochs, whole.recording.evaluated_epochs), (10, 11));
    assert!(whole.warm_up.note.contains("had begun before"), "{:?}", whole.warm_up);
    let answered = |epochs| plan(epochs).recommendation.is_some();
    assert!(answered(5) && !answered(4), "three epochs must be left to judge by");
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

#[test]
fn exact_counts_of_single_pages_say_what_placing_by_regions_would_take() {
    // Of every region every eighth page is hot, and the others are hardly used.
    let folder = tempfile::tempdir().unwrap();
    let plan = |source, name: &str| {
        let header = Header {
            schema_version: pagetide_trace::SCHEMA_VERSION,
            tool: "test".into(),
            started_unix_s: 0,
            target: "./program".into(),
            unit: UnitSize::Base,
            epoch_s: 5.0,
            gaps_s: Vec::new(),
            budget: 0.0,
            source,
            began_with_target: true,
            cache_per_core: Some(Bytes::mib(1)),
            machine: [].into(),
        };
        let path = folder.path().join(name);
        let mut writer = RecordingWriter::create(&path, &header, None).unwrap();
        for e in 0..6 {
            let mut heat = EpochHeat::new(EpochId(e));
            for i in 0..16 * 512 {
                let rate = if i % 8 == 3 { 1000.0 } else { 1.0 };
                let flags = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
                let (unit, node) = (UnitId(i), NodeId(0));
                heat.push(HeatRow { unit, rate, flags, pages: 1, watched: 1, touched: 1, node });
                heat.traffic.push(rate);
            }
            let key = |i| UnitKey { object: ObjectId(0), index: i };
            let new_units = if e == 0 { (0..16 * 512).map(key).collect() } else { Vec::new() };
            let epoch = Epoch {
                epoch: EpochId(e),
                start_s: 5.0 * f64::from(e),
                length_s: 5.0,
                processes: 1,
                target_cpu_s: 5.0,
                watched_share: 1.0,
                ..Epoch::default()
            };
            writer.append(EpochRecord { epoch, new_units, new_areas: Vec::new(), heat }).unwrap();
        }
        writer.finish().unwrap();
        let recording = Recording::open(&path).unwrap();
        plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
    };
    let exact = plan(pagetide_trace::Source::Exact, "exact.heat");
    let by_pages = exact.recommendation.unwrap().fast_bytes;
    assert!((Bytes::mib(3)..Bytes::mib(5)).contains(&by_pages), "{by_pages}");
    let by_regions = exact.fast_bytes_by_regions.unwrap();
    assert!(by_regions > Bytes::mib(30), "every region has as many hot pages: {by_regions}");
    let sampled = plan(pagetide_trace::Source::Sampled, "sampled.heat");
    assert_eq!(sampled.fast_bytes_by_regions, None);
    // The traffic was measured for another CPU cache than the machine's 2 MiB.
    assert_eq!(sampled.recording.cache_per_core, Bytes::mib(1));
    let assumptions = sampled.recommendation.unwrap().assumptions;
    let said = |words| assumptions.iter().any(|text| text.contains(words));
    assert!(said("made for 1.00 MiB of CPU cache per core"), "{assumptions:?}");
}
