//! The cost model against closed formulas, and its laws.

use crate::build::{Unit, curve, cxl, hot_cold};
use pagetide_replay::{CostFacts, CostModel};
use pagetide_types::Bytes;
use proptest::prelude::*;

fn facts() -> CostFacts {
    CostFacts { target_cpu_s: 60.0, huge_share: 1.0, stall_share: None }
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
    let huge = CostModel::new(&cxl(), &facts(), None).slowdown(&curve, 100);
    assert!((huge.high - 2.0 * 600.0 * 370e-6 / 60.0).abs() < 1e-9, "{huge:?}");
    assert_eq!(huge.low, 0.0);
    let base = CostModel::new(&cxl(), &CostFacts { huge_share: 0.0, ..facts() }, None);
    let base = base.slowdown(&curve, 100).high;
    assert!((base - 2.0 * 600.0 * 512.0 * 12e-6 / 60.0).abs() < 1e-9, "{base}");
}

#[test]
fn demand_near_the_bandwidth_queues() {
    // 100 units at 4.4 million accesses per second: 28 GB/s, all that the CXL tier has.
    let busy = curve("rate", &hot_cold(100, 100, 4.375e6, 1.0));
    let model = CostModel::new(&cxl(), &facts(), None);
    let all_slow = model.slowdown(&busy, 0);
    assert!(all_slow.high > 10.0, "{all_slow:?}");
    assert!((all_slow.low - 0.3).abs() < 1e-6, "the low end counts no queue: {all_slow:?}");
    // A tenth of it: no queue to speak of.
    assert!((model.slowdown(&busy, 90).high - 0.15).abs() < 1e-3);
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
        let name = pagetide_machine::Machine::names().nth(machine).unwrap();
        let machine = pagetide_machine::Machine::load(name).unwrap();
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
