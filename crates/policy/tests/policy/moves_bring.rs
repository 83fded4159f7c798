//! What governor `gain` is told that moves bring and cost.

use pagetide_policy::{CostBenefit, Decider, GovernorSpec, Outcome, Places, Room, Tenant};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

const PAGE: Bytes = Bytes(4096);

fn heat(epoch: u32, rates: &[f32]) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(epoch));
    for (unit, rate) in (0..).zip(rates) {
        let flags = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
        let (unit, node) = (UnitId(unit), NodeId(0));
        heat.push(HeatRow { unit, rate: *rate, flags, pages: 1, watched: 1, touched: 1, node });
    }
    heat
}

/// Two units of which one is fast and the other takes its place in the first epoch, if there is
/// migration; how often a second each is accessed then. Seconds until it stops.
fn exchanged(accesses_per_s: [f32; 2], gain_ns: f64) -> Option<u32> {
    exchanged_by(accesses_per_s, &CostBenefit { gain_ns, ..PRICES }, 0.0, 0.0)
}

const PRICES: CostBenefit = CostBenefit {
    gain_ns: 100.0,
    fast_ns: 0.0,
    channel_ns: 0.0,
    in_order: 1.0,
    base_us: 10.0,
    huge_us: 370.0,
    within_s: 0.0,
};

/// The same by such prices, where all accesses come in order, the target keeps so many cores busy, and making room took so long.
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn exchanged_by(
    accesses_per_s: [f32; 2],
    prices: &CostBenefit,
    cores: f32,
    room_s: f64,
) -> Option<u32> {
    let spec = "gain:horizon=10,patience=5".parse::<GovernorSpec>().unwrap();
    let policy = "rate:steps=256,interval=0".parse().unwrap();
    let mut tenant = Tenant::new(Decider::new(&policy), (&spec).into(), Some(*prices));
    let mut fast = [true, false];
    (0..60).find(|epoch| {
        let rates = if *epoch == 0 { [1.0, 1000.0] } else { accesses_per_s };
        let heat = EpochHeat { in_order: rates.to_vec(), cores, ..heat(*epoch, &rates) };
        let places = Places { fast: Some(&fast), ..Places::default() };
        tenant.arrive(&heat);
        tenant.watched(1e-6, None);
        let decided = tenant.decide(&heat, 1.0, places, Room::Ledger(PAGE), (false, None));
        let outcome = |row: usize, up: bool| Outcome { moved: PAGE, ..Outcome::of(&heat, row, up) };
        let ups = decided.chosen.promote.iter().map(|row| outcome(*row, true));
        let downs = decided.chosen.demote.iter().map(|row| outcome(*row, false));
        let outcomes: Vec<Outcome> = ups.chain(downs).collect();
        outcomes.iter().for_each(|outcome| fast[outcome.row] = outcome.up);
        tenant.learn(outcomes.into_iter(), room_s / 4096.0);
        decided.standing_still == 1
    })
}

#[test]
fn a_tenant_counts_what_moves_bring_and_cost() {
    // Two moves cost 20 us, and watching 1 us a second. 100 more accesses a second at 100 ns bring
    // 10 us a second, 100 us in the horizon: it goes on until the moves are older than that.
    assert_eq!(exchanged([900.0, 1000.0], 100.0), Some(15));
    // 20 more bring 20 us in the horizon, less than 30: it stops as soon as it may.
    assert_eq!(exchanged([980.0, 1000.0], 100.0), Some(14));
}

/// A window of so many units slides through memory, one unit a second. A move and its way back take 10 ms, to be brought within
/// so many seconds. Until 600 s each unit brings 0.5 ms a second while it is in the window, and then `later_ms`. The second in
/// which it was first stopped, and units that went up after 700 s.
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn slides(gain: &str, window: usize, later_ms: f32, within_s: f64) -> (Option<u32>, usize) {
    let prices = CostBenefit { base_us: 5000.0, within_s, ..PRICES };
    let policy = "rate:steps=256,interval=0".parse().unwrap();
    let spec: GovernorSpec = gain.parse().unwrap();
    let mut tenant = Tenant::new(Decider::new(&policy), (&spec).into(), Some(prices));
    let units = 1500 + window;
    let mut fast = vec![false; units];
    let (mut stopped, mut late) = (None, 0);
    for second in 0..1500 {
        let ms = if second < 600 { 0.5 } else { later_ms };
        let at = second as usize;
        let rate = |unit: usize| if (at..at + window).contains(&unit) { ms * 1e4 } else { 1.0 };
        let heat = heat(second, &(0..units).map(rate).collect::<Vec<f32>>());
        let places = Places { fast: Some(&fast), ..Places::default() };
        tenant.arrive(&heat);
        tenant.watched(1e-6, None);
        let has = |pages: usize| Bytes(4096 * pages as u64);
        let (capacity, used) = (has(window), has(fast.iter().filter(|fast| **fast).count()));
        let (most, move_budget, for_births) = (capacity, has(units), Bytes(0));
        let room = Room::Limited { capacity, most, used, move_budget, for_births };
        let decided = tenant.decide(&heat, 1.0, places, room, (false, None));
        let outcome = |row: usize, up: bool| Outcome { moved: PAGE, ..Outcome::of(&heat, row, up) };
        let ups = decided.chosen.promote.iter().map(|row| outcome(*row, true));
        let downs = decided.chosen.demote.iter().map(|row| outcome(*row, false));
        let outcomes: Vec<Outcome> = ups.chain(downs).collect();
        outcomes.iter().for_each(|outcome| fast[outcome.row] = outcome.up);
        late += if second > 700 { decided.chosen.promote.len() } else { 0 };
        tenant.learn(outcomes.into_iter(), 0.0);
        stopped = stopped.or((decided.standing_still == 1).then_some(second));
    }
    (stopped, late)
}

#[test]
fn what_is_hot_for_less_than_a_minute_is_not_taken_to_bring_for_longer() {
    let sliding = |window, later_ms| slides("gain", window, later_ms, 0.0).0;
    // In 40 s 0.5 ms a second are 20, twice what moves take, 0.3 more than they take, and 0.2 less.
    assert_eq!(sliding(40, 0.3), None);
    let stopped = sliding(40, 0.2);
    assert!(stopped.is_some_and(|second| (605..620).contains(&second)), "{stopped:?}");
    // In 120 s it is more.
    assert_eq!(sliding(120, 0.2), None);
}

#[test]
fn what_does_not_stay_hot_is_not_moved_for_what_it_would_bring_later() {
    // In 30 s 0.2 ms a second do not bring 10 ms, in five times as long they do. Nothing is stopped.
    let late = |window| slides("gain:patience=10000", window, 0.2, 30.0).1;
    assert_eq!(late(40), 0, "hot for 40 s");
    assert!(late(600) > 700, "{}", late(600));
}

#[test]
fn making_room_is_borne_by_what_goes_up() {
    // 100 more accesses a second at 100 ns bring 100 us in the horizon, of 20 us and 10 of watching.
    let with_room = |us: f64| exchanged_by([900.0, 1000.0], &PRICES, 0.0, us * 1e-6);
    assert_eq!([0.0, 60.0].map(with_room), [Some(15); 2]);
    assert_eq!(with_room(80.0), Some(14));
}

#[test]
fn the_rest_of_a_unit_that_was_fast_brings_nothing_by_going_up() {
    // A page goes up in the first epoch, of a unit that was slow or of one that counts as fast already.
    let stops = |was_fast: bool| {
        let spec = "gain:horizon=10,patience=5".parse::<GovernorSpec>().unwrap();
        let decider = Decider::new(&"rate".parse().unwrap());
        let mut tenant = Tenant::new(decider, (&spec).into(), Some(PRICES));
        (0..60).find(|epoch| {
            let heat = heat(*epoch, &[1000.0]);
            let fast = [was_fast || *epoch > 0];
            let places = Places { fast: Some(&fast), ..Places::default() };
            tenant.arrive(&heat);
            tenant.watched(1e-6, None);
            let decided = tenant.decide(&heat, 1.0, places, Room::Ledger(PAGE), (false, None));
            let outcome = Outcome { moved: PAGE, ..Outcome::of(&heat, 0, true) };
            tenant.learn((*epoch == 0).then_some(outcome).into_iter(), 0.0);
            decided.standing_still == 1
        })
    };
    assert_eq!([false, true].map(stops), [Some(15), Some(14)]);
}

#[test]
fn what_left_a_full_channel_brings_what_it_kept_the_channel_for_though_that_is_idle_now() {
    // 20 a second bring 2 us, of 3 that it costs.
    assert_eq!(exchanged([0.0, 20.0], 100.0), Some(14));
    // They kept the channel, 50 ms each, for all of the time, from cores that lose six times the latency by it.
    let full = CostBenefit { channel_ns: 50e6, ..PRICES };
    let cores = 6.0 * 100.0 / 50e6;
    assert_eq!(exchanged_by([0.0, 20.0], &full, cores, 0.0), Some(15));
    // For a fifth of it: hardly more than the latency.
    let idle = CostBenefit { channel_ns: 50e6 / 5.0, ..PRICES };
    assert_eq!(exchanged_by([0.0, 20.0], &idle, 5.0 * cores, 0.0), Some(14));
}

#[test]
fn moves_bring_no_more_than_cores_had_time_to_wait_for() {
    // 100 more accesses a second, and all of them are waited for 240 us a second at 50 and 150 ns each.
    let prices = CostBenefit { fast_ns: 50.0, ..PRICES };
    assert_eq!(exchanged_by([900.0, 1000.0], &prices, 1.0, 0.0), Some(15));
    // On cores that ran for a tenth of that.
    assert_eq!(exchanged_by([900.0, 1000.0], &prices, 24e-6, 0.0), Some(14));
}
