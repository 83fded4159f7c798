//! What a page draws holds every access and every byte, however coarsely it is drawn, and agrees
//! with the plan.

use crate::build::cxl;
use crate::recorded::record_numbered;
use pagetide_replay::{Pictures, Plan, PlanOptions, all_policies, plan_recording};
use pagetide_trace::Recording;

#[expect(clippy::unwrap_used, reason = "a test's own recording")]
fn drawn(recording: &Recording) -> (Plan, Pictures) {
    let options = PlanOptions::default();
    let plan = plan_recording(recording, &all_policies(), &cxl(), &options).unwrap();
    let pictures = Pictures::read(recording, &plan).unwrap();
    (plan, pictures)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.01 * b.abs()
}

#[test]
fn the_timeline_adds_up_to_what_the_plan_says_of_its_recommendation() {
    let folder = tempfile::tempdir().unwrap();
    // The hot set wanders by half of its size in the middle, so that something is moved.
    let hot =
        |e, i| if (150..250).contains(&(i + if e < 9 { 0 } else { 50 })) { 5e3 } else { 10.0 };
    let path = folder.path().join("a.heat");
    let recording = record_numbered(&path, 0..18, |_| 400, hot);
    let (plan, pictures) = drawn(&recording);
    let answer = plan.recommendation.unwrap();
    let policy = plan.policies.iter().find(|policy| policy.policy == answer.policy).unwrap();
    let point = policy.at_recommended.unwrap();
    let points = &pictures.timeline.points;
    let sum = |value: &dyn Fn(usize) -> f64| (0..points.len()).map(value).sum::<f64>();
    let hits = sum(&|i| points[i].fast) / sum(&|i| points[i].judged);
    assert!(close(hits, point.hit_ratio), "{hits} {point:?}");
    let moved = sum(&|i| points[i].promoted_bytes.as_f64()) / plan.recording.seconds;
    // It shows all moves; the plan counts those to where a unit has been before.
    assert!(moved > 0.0 && moved >= point.promoted_bytes_per_s, "{moved} {point:?}");
    let accesses = sum(&|i| points[i].accesses) / sum(&|i| points[i].seconds);
    assert!(close(accesses, plan.recording.accesses_per_s));
}

#[test]
fn no_access_and_no_byte_is_lost_when_much_shares_a_cell() {
    let folder = tempfile::tempdir().unwrap();
    let rate = |e: u32, i: u32| ((i * 7919 + e) % 100) as f32;
    let recording = record_numbered(&folder.path().join("a.heat"), 0..1300, |_| 600, rate);
    let (plan, pictures) = drawn(&recording);
    let mib = f64::from(1 << 20);
    let rates = &pictures.rates;
    assert_eq!(rates.units, 600);
    assert_eq!(rates.steps.iter().map(|step| step.units).sum::<usize>(), 600);
    let by_rank: f64 = rates.steps.iter().map(|s| s.rate_per_mib * s.bytes.as_f64() / mib).sum();
    assert!(close(by_rank, plan.recording.accesses_per_s), "{by_rank}");
    assert!(rates.steps.windows(2).all(|pair| pair[0].rate_per_mib >= pair[1].rate_per_mib));

    let heat = &pictures.heat;
    assert!((120..=240).contains(&heat.columns.len()), "{}", heat.columns.len());
    assert_eq!(heat.columns.len(), 1300usize.div_ceil(heat.epochs_per_column));
    let rows = || heat.areas.iter().flat_map(|area| &area.rows);
    assert_eq!(rows().map(|row| row.bytes.0).sum::<u64>(), 600 << 21);
    for column in 0..heat.columns.len() - 1 {
        let drawn: f64 = rows()
            .map(|row| f64::from(row.rate_per_mib[column].unwrap()) * row.bytes.as_f64() / mib)
            .sum();
        assert!(close(drawn, plan.recording.accesses_per_s), "column {column}: {drawn}");
    }
    let timeline = &pictures.timeline;
    assert!(timeline.points.len() <= 600);
    assert!(timeline.points.iter().map(|point| point.seconds).sum::<f64>() == 6500.0);
}

#[test]
fn addresses_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record_numbered(&folder.path().join("a.heat"), 0..6, |_| 1000, |_, _| 3.0);
    let (_, pictures) = drawn(&recording);
    let rows = &pictures.heat.areas[0].rows;
    assert_eq!((rows[0].first, rows[rows.len() - 1].end), (0, Some(1000 << 21)));
    assert!(rows.windows(2).all(|pair| pair[0].end == Some(pair[1].first)));
}

#[test]
fn missing_epochs_are_gaps_and_not_time_that_passed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = [0, 1, 2, 3, 7, 8, 9, 11, 12];
    let recording = record_numbered(&folder.path().join("a.heat"), numbers, |_| 50, |_, _| 3.0);
    let (_, pictures) = drawn(&recording);
    let gaps: Vec<_> = pictures
        .timeline
        .gaps
        .iter()
        .map(|gap| (gap.after_epoch, gap.epochs, gap.start_s, gap.end_s))
        .collect();
    assert_eq!(gaps, [(3, 3, 20.0, 35.0), (9, 1, 50.0, 55.0)]);
    let columns = &pictures.heat.columns;
    assert_eq!((columns[3].end_s, columns[4].start_s), (20.0, 35.0));
}

#[test]
fn the_smallest_recordings_draw_what_they_have() {
    let folder = tempfile::tempdir().unwrap();
    for (k, (epochs, units)) in [(1, 10), (10, 0), (10, 1), (1, 0)].into_iter().enumerate() {
        for hot in [0.0, 100.0] {
            let path = folder.path().join(format!("{k}-{hot}.heat"));
            let recording = record_numbered(&path, 0..epochs, |_| units, |_, _| hot);
            let (_, pictures) = drawn(&recording);
            assert_eq!(pictures.timeline.points.len(), epochs as usize);
            assert_eq!(pictures.rates.units, units as usize);
            assert_eq!(pictures.heat.areas.is_empty(), units == 0);
            assert!(pictures.rates.steps.iter().all(|step| step.rate_per_mib.is_finite()));
        }
    }
}
