//! The cost model against closed formulas, and its laws.

use crate::build::{Unit, candidate, curve, cxl, hot_cold, input};
use pagetide_machine::Machine;
use pagetide_replay::{
    ByEpoch, Charge, CostFacts, CostModel, Curve, PlanOptions, Sharer, Stretch, Traffic, plan,
};
use pagetide_types::Bytes;
use proptest::prelude::*;

fn facts() -> CostFacts {
    CostFacts { target_cpu_s: 60.0, stall_share: None }
}

#[test]
fn the_latencies_weighted_by_misses() {
    // Demand is far below the bandwidth: 250 / 100 - 1 = 1.5 for a miss share of 1.
    let units = hot_cold(50, 100, 1000.0, 10.0);
    let (curve, model) = (curve("rate", &units), CostModel::new(&cxl(), &facts(), None));
    let all_slow = model.slowdown(&curve, 0);
    assert!((all_slow.high - 1.5).abs() < 1e-6, "{all_slow:?}");
    assert!((all_slow.low - 0.3).abs() < 1e-6, "{all_slow:?}");
    let hot_fast = model.slowdown(&curve, 50).high;
    assert!((hot_fast - 1.5 * 50.0 / 550.0).abs() < 1e-6, "{hot_fast}");
    assert_eq!(model.slowdown(&curve, 100).high, 0.0);
}

#[test]
fn moves_cost_their_time() {
    let mut curve = curve("lru", &hot_cold(50, 100, 1000.0, 10.0));
    // 600 pages of 2 MiB in 60 s at 370 us each, in each direction.
    curve.promoted[100] = Bytes::mib(1200).0;
    curve.demoted[100] = Bytes::mib(1200).0;
    let base = CostModel::new(&cxl(), &facts(), None).slowdown(&curve, 100).high;
    assert!((base - 2.0 * 600.0 * 512.0 * 12e-6 / 60.0).abs() < 1e-9, "{base}");
    curve.promoted_huge = curve.promoted.clone();
    curve.demoted_huge = curve.demoted.clone();
    let huge = CostModel::new(&cxl(), &facts(), None).slowdown(&curve, 100);
    assert!((huge.high - 2.0 * 600.0 * 370e-6 / 60.0).abs() < 1e-9, "{huge:?}");
    assert_eq!(huge.low, 0.0);
}

#[test]
fn demand_near_the_bandwidth_queues() {
    // 100 units at 4.4 million accesses per second: 28 GB/s, all that the CXL tier has.
    let busy = curve("rate", &hot_cold(100, 100, 4.375e6, 1.0));
    let model = CostModel::new(&cxl(), &facts(), None);
    let all_slow = model.slowdown(&busy, 0);
    // 1 + s = 2.5 x queue(u / (1 + s)), with a line written back for every third one that is read:
    // u = 1 + 28 / 3 / 25.
    assert!((all_slow.high - 1.7925).abs() < 1e-3, "{all_slow:?}");
    assert!((all_slow.low - 0.3).abs() < 1e-6, "the low end counts no queue: {all_slow:?}");
    // A tenth of it: no queue to speak of.
    assert!((model.slowdown(&busy, 90).high - 0.15).abs() < 1e-3);
    // Three times what it has: whoever waits little waits for bandwidth all the same.
    let model = CostModel::new(&cxl(), &facts(), Some((0.0, 0.0)));
    let flooded = model.slowdown(&curve("rate", &hot_cold(100, 100, 3.0 * 4.375e6, 1.0)), 0);
    assert!((flooded.low - 2.0).abs() < 1e-6, "{flooded:?}");
    assert!((flooded.high - 2.0 - 3.0 * 28.0 / 3.0 / 25.0).abs() < 1e-6, "{flooded:?}");
}

/// The units of [`curve`] counted exactly: so large a part of what every unit was asked for waits,
/// and so large a part writes.
fn counted(mut curve: Curve, leads: f64, writes: f64) -> Curve {
    let part = |of: &[f64], part: f64| of.iter().map(|value| value * part).collect();
    curve.fast_leads = part(&curve.fast_accesses, leads);
    curve.fast_writes = part(&curve.fast_accesses, writes);
    (curve.leads, curve.writes) = (curve.accesses * leads, curve.accesses * writes);
    curve
}

#[test]
fn what_is_counted_needs_no_band() {
    let model = CostModel::new(&cxl(), &facts(), Some((1.0, 1.0)));
    let full = || curve("rate", &hot_cold(100, 100, 4.375e6, 1.0));
    // Reads that all wait: the fixed point of the documentation.
    let reads = model.slowdown(&counted(full(), 1.0, 0.0), 0);
    assert!((reads.high - 1.6137).abs() < 1e-3, "{reads:?}");
    // Reads that all stream: exactly what the memory gives.
    assert_eq!(model.slowdown(&counted(full(), 0.0, 0.0), 0).high, 0.0);
    // Half of them written back, at 25 GB/s.
    let written = model.slowdown(&counted(full(), 0.0, 0.5), 0).high;
    assert!((written - 0.5 * 28.0 / 25.0).abs() < 1e-9, "{written}");
    // As in a recording that cannot tell: every line waits.
    let lines = model.clone().with_charge(Charge::Lines);
    assert!((lines.slowdown(&counted(full(), 0.0, 0.0), 0).high - 1.6137).abs() < 1e-3);
    // Where latency is all that counts, leads are all that counts.
    let quiet = curve("rate", &hot_cold(50, 100, 1000.0, 10.0));
    let mut streams = counted(quiet, 1.0, 0.0);
    streams.fast_leads[1..=50].fill(0.0);
    streams.fast_leads.iter_mut().skip(51).for_each(|leads| *leads -= 3e6);
    streams.leads -= 3e6;
    let hot_fast = model.slowdown(&streams, 50).high;
    assert!((hot_fast - 1.5).abs() < 1e-6, "the hot half streams: {hot_fast}");
}

#[test]
fn nothing_waits_for_lines_that_are_written_back() {
    let model =
        CostModel::new(&Machine::load("disaggregated-pcm").unwrap(), &facts(), Some((1.0, 1.0)));
    let quiet = counted(curve("rate", &hot_cold(50, 100, 100.0, 10.0)), 1.0, 0.25);
    let found = model.slowdown(&quiet, 0);
    assert!((found.high - (340.0 / 60.0 - 1.0)).abs() < 1e-3, "{found:?}");
    assert_eq!(found.low, found.high);
    // Where they were not counted a third may be writes that are waited for.
    let unknown = model.slowdown(&curve("rate", &hot_cold(50, 100, 100.0, 10.0)), 0);
    let mixed = (2.0 * 340.0 + 1040.0) / 3.0 / 60.0;
    assert!((unknown.high - (mixed - 1.0)).abs() < 1e-3, "{unknown:?}");
}

/// A curve of one unit whose accesses come in these epochs of a second.
fn in_epochs(rates: &[f64; 4]) -> Curve {
    let seconds = rates.len() as f64;
    let accesses: f64 = rates.iter().sum();
    let of = |accesses: f64| Traffic { accesses, leads: accesses, ..Traffic::default() };
    let stretches = rates.iter().map(|rate| Stretch { seconds: 1.0, all: of(*rate) }).collect();
    Curve {
        step: Bytes::mib(2),
        epochs: 4,
        seconds,
        accesses,
        leads: accesses,
        fast_accesses: vec![0.0, accesses],
        fast_leads: vec![0.0, accesses],
        fast_writes: vec![0.0; 2],
        fast_saturated: vec![0.0; 2],
        fast_unseen_bound: vec![0.0; 2],
        promoted: vec![0; 2],
        demoted: vec![0; 2],
        one_unit_in: 1,
        by_epoch: ByEpoch {
            at: vec![0, 1],
            stretches,
            fast: rates.iter().flat_map(|rate| [of(0.0), of(*rate)]).collect(),
        },
        ..Curve::default()
    }
}

#[test]
fn a_burst_waits_longer_than_the_same_accesses_spread_out() {
    let model = CostModel::new(&cxl(), &facts(), Some((1.0, 1.0)));
    let full = 28e9 / 64.0;
    let even = model.slowdown(&in_epochs(&[0.5 * full; 4]), 0).high;
    let burst = model.slowdown(&in_epochs(&[2.0 * full, 0.0, 0.0, 0.0]), 0).high;
    assert!(even < 1.54, "{even}");
    // Latency costs both 150 %; the burst lasts a quarter of the time, and 2.5 x queue(2 / (1 + s))
    // - 1 = s holds at s = 2.2536: 75 % of a quarter more.
    assert!((burst - (1.5 + (2.2536 - 1.5) / 4.0)).abs() < 1e-3, "{burst}");
    // Epochs that are alike cost what the run costs as one.
    let mut one = in_epochs(&[0.5 * full; 4]);
    one.by_epoch = ByEpoch::default();
    assert!((model.slowdown(&one, 0).high - even).abs() < 1e-9);
}

#[test]
fn moves_are_traffic_too() {
    let model = CostModel::new(&cxl(), &facts(), Some((1.0, 1.0)));
    let quiet = in_epochs(&[0.6 * 28e9 / 64.0; 4]);
    let mut moving = quiet.clone();
    // A tenth of the bandwidth each way, by an engine that takes no time.
    moving.promoted = vec![11_200_000_000; 2];
    moving.demoted = vec![10_000_000_000; 2];
    let free = CostModel::new(&free_moves(), &facts(), Some((1.0, 1.0)));
    let more = free.slowdown(&moving, 0).high - free.slowdown(&quiet, 0).high;
    assert!((0.02..0.2).contains(&more), "{more}");
    assert_eq!(model.clone().with_free_moves().slowdown(&moving, 0), model.slowdown(&quiet, 0));
}

#[test]
fn memory_is_shared_by_what_is_charged() {
    let plan_of = |curve: Curve| {
        let mut input = input(vec![candidate(curve)]);
        // Most of what the program does never leaves the CPU caches.
        input.facts.accesses_per_s *= 50.0;
        plan(input, &cxl(), &PlanOptions::default())
    };
    let quiet = || curve("rate", &hot_cold(50, 100, 1000.0, 10.0));
    let per_s = quiet().accesses / quiet().seconds;
    let sampled = Sharer::of(&plan_of(quiet()));
    assert!((sampled.memory_time - per_s * 100e-9).abs() < 1e-12, "{sampled:?}");
    let exact = Sharer::of(&plan_of(counted(quiet(), 0.25, 0.0)));
    assert!((exact.memory_time - 0.25 * per_s * 100e-9).abs() < 1e-12, "{exact:?}");
}

fn free_moves() -> Machine {
    let mut machine = cxl();
    machine.migration.page_4k_us = 0.0;
    machine.migration.page_2m_us = 0.0;
    machine
}

#[test]
fn a_stall_share_makes_a_point_and_the_user_overrides() {
    let curve = curve("rate", &hot_cold(50, 100, 1000.0, 10.0));
    let measured = CostFacts { stall_share: Some(0.4), ..facts() };
    let point = CostModel::new(&cxl(), &measured, None).slowdown(&curve, 0);
    assert_eq!(point.low, point.high);
    assert!((point.high - 0.6).abs() < 1e-6);
    let given = CostModel::new(&cxl(), &measured, Some((0.5, 0.1))).slowdown(&curve, 0);
    assert!((given.low - 0.15).abs() < 1e-6 && (given.high - 0.75).abs() < 1e-6);
}

#[test]
fn unseen_units_are_bounded_over_the_whole_recording() {
    // 100 units seen 60 times each; 100 never seen in 12 epochs: at most 3 accesses each.
    let mut units = hot_cold(100, 200, 1.0, 1.0);
    for unit in &mut units[100..] {
        *unit = Unit { unseen: true, ..Unit::default() };
    }
    let band = CostModel::new(&cxl(), &facts(), None).slowdown(&curve("rate", &units), 100);
    assert!((band.high - 1.5 * 300.0 / 6300.0).abs() < 1e-6, "{band:?}");
    assert_eq!(band.low, 0.0);
}

#[test]
fn nothing_accessed_costs_nothing() {
    let model = CostModel::new(&cxl(), &CostFacts::default(), None);
    for mut idle in [curve("rate", &[]), curve("rate", &[Unit::default()])] {
        idle.seconds = 0.0;
        idle.promoted[0] = 4096;
        let band = model.slowdown(&idle, 0);
        assert_eq!((band.low, band.high), (0.0, 0.0));
    }
}

fn units() -> impl Strategy<Value = Vec<Unit>> {
    proptest::collection::vec((0.0..1e6f64, any::<bool>(), any::<bool>()), 1..60).prop_map(|raw| {
        let mut units: Vec<Unit> = raw
            .into_iter()
            .map(|(rate, saturated, unseen)| Unit {
                rate: if unseen { 0.0 } else { rate },
                saturated: saturated && !unseen,
                unseen,
            })
            .collect();
        units.sort_by(|a, b| b.rate.total_cmp(&a.rate));
        units
    })
}

proptest! {
    #[test]
    fn more_fast_memory_is_never_slower_and_the_band_is_in_order(
        units in units(),
        cores in 0.0..16.0f64,
        machine in 0usize..6,
    ) {
        let name = Machine::names().nth(machine).unwrap();
        let machine = Machine::load(name).unwrap();
        let facts = CostFacts { target_cpu_s: cores * 60.0, ..facts() };
        let (model, curve) = (CostModel::new(&machine, &facts, None), curve("rate", &units));
        let bands: Vec<_> = (0..=units.len()).map(|i| model.slowdown(&curve, i)).collect();
        for pair in bands.windows(2) {
            prop_assert!(pair[1].high <= pair[0].high + 1e-9, "{pair:?}");
            prop_assert!(pair[1].low <= pair[0].low + 1e-9, "{pair:?}");
        }
        for band in bands {
            prop_assert!(0.0 <= band.low && band.low <= band.high && band.high.is_finite());
        }
    }
}
