//! When Adaptive stops, when it goes on, and what that is worth.

use super::super::hint_scenarios::{HOT_COLD, TRIAL, Trial};
use crate::scenario::{Outcome, parse, run};
use pagetide_policy::Verdict;

/// When the governor of a tenant changed its mind, s, and whether it let it migrate.
fn turns(outcome: &Outcome, tenant: usize) -> Vec<(f64, bool)> {
    let turn = |log: &crate::systems::DecisionLog| {
        let turn = log.turn.as_ref().filter(|_| log.tenant == tenant)?;
        Some((turn.at_s, turn.verdict == Verdict::Migrate))
    };
    outcome.decisions.iter().filter_map(turn).collect()
}

fn scenario(text: &str) -> Outcome {
    run(&parse(text, "x.toml").unwrap(), None, "x.toml").unwrap()
}

#[test]
fn what_is_friendly_is_stopped_once_it_is_in_place_and_costs_nothing_from_then_on() {
    let friendly = Trial { seconds: 240.0, ..TRIAL };
    let outcome = friendly.outcome("adaptive");
    let [(at_s, false)] = turns(&outcome, 0)[..] else { panic!("{:?}", turns(&outcome, 0)) };
    assert!((20.0..80.0).contains(&at_s), "{at_s}");
    let found = &outcome.tenants[0];
    assert!(found.fast_share > 0.99, "{found:?}");
    let (base, best) = (friendly.under("tpp-mod"), friendly.under("all-fast"));
    assert!(found.accesses_per_s > base.accesses_per_s, "{found:?} {base:?}");
    let lost = 1.0 - found.accesses_per_s / best.accesses_per_s;
    // Below the marks `kswapd` goes on demoting for a while.
    assert!(lost < 0.05, "{lost}");
}

#[test]
fn what_is_unfriendly_is_stopped_and_runs_as_if_nothing_had_moved() {
    let unfriendly = Trial { pattern: "kind = \"uniform\"", seconds: 120.0, ..TRIAL };
    let outcome = unfriendly.outcome("adaptive");
    let [(at_s, false)] = turns(&outcome, 0)[..] else { panic!("{:?}", turns(&outcome, 0)) };
    assert!((10.0..60.0).contains(&at_s), "{at_s}");
    let (none, base) = (unfriendly.under("no-migration"), unfriendly.under("tpp-mod"));
    let share = |rate: f64| rate / none.accesses_per_s;
    assert!(share(outcome.tenants[0].accesses_per_s) > 0.98, "{outcome:?}");
    assert!(share(base.accesses_per_s) < 0.1, "13 times slower than none, and more: {base:?}");
}

/// The paper's micro-test (section 5.2).
const THREE_PHASES: &str = include_str!("../../../../scenarios/three-phases.toml");

#[test]
fn three_phases_are_three_stops_and_two_restarts() {
    for (seed, threads) in [(0, 1), (1, 1), (2, 4)] {
        let keys = format!("compute_ns = 40\nthreads = {threads}");
        let text = THREE_PHASES.replace("compute_ns = 40", &keys);
        let found = turns(&scenario(&format!("seed = {seed}\n{text}")), 0);
        let [stop, restart, again, second, last] = found[..] else {
            panic!("{seed} {threads}: {found:?}")
        };
        assert!([stop, again, last].iter().all(|turn| !turn.1), "{found:?}");
        assert!([restart, second].iter().all(|turn| turn.1), "{found:?}");
        assert!(stop.0 < 300.0 && (300.0..360.0).contains(&restart.0), "{found:?}");
        assert!(again.0 < 600.0 && (600.0..660.0).contains(&second.0), "{found:?}");
    }
}

#[test]
fn what_is_stopped_is_looked_at_as_often_as_the_governor_counts() {
    // Half of it, and for two seconds all of it.
    let burst = "kind = \"regions\", part = [\
         { name = \"half\", from = 0, to = 0.5, weight = 1, walk = \"random\" },\
         { name = \"rest\", from = 0.5, to = 1, weight = 1e-5, walk = \"random\" }], phase = [\
         { seconds = 200 }, { seconds = 2, weights = { rest = 1e5 } }, { seconds = 1000 }]";
    let keys = "governor = \"adaptive:every=4,watch=1.25\"";
    let outcome = Trial { pattern: burst, seconds: 260.0, keys, ..TRIAL }.outcome("adaptive");
    let [(stop_s, false)] = turns(&outcome, 0)[..] else { panic!("{:?}", turns(&outcome, 0)) };
    assert!(stop_s < 190.0, "before the burst, which no four counts see: {stop_s}");
    let asked_s: Vec<f64> = outcome.decisions.iter().map(|log| log.at_s * 256.0).collect();
    let gaps = asked_s.windows(2).map(|at| at[1] - at[0]);
    let mut gaps: Vec<f64> = gaps.map(|gap| (gap * 1000.0).round() / 1000.0).collect();
    gaps.dedup();
    assert_eq!(gaps, [4.0, 1.25]);
}

#[test]
fn tenants_are_stopped_each_for_itself() {
    // A hot set that fits, and from 100 s on a neighbour without one.
    let text = format!(
        "machine = \"adaptive-cxl\"\nscale = 256\nhuge_pages = false\nseconds = 500\n\
         [system]\nname = \"adaptive\"\n\
         [[tenant]]\nmemory = \"16G\"\nfast = \"4G\"\ncompute_ns = 40\n\
         pattern = {{ {HOT_COLD} }}\n\
         [[tenant]]\nmemory = \"16G\"\nfast = \"1M\"\nstart = 100\ncompute_ns = 40\n\
         pattern = {{ kind = \"uniform\" }}"
    );
    let outcome = scenario(&text);
    let [(first_s, false)] = turns(&outcome, 0)[..] else { panic!("{:?}", turns(&outcome, 0)) };
    let [(second_s, false)] = turns(&outcome, 1)[..] else { panic!("{:?}", turns(&outcome, 1)) };
    assert!(first_s < 100.0 && second_s < 400.0, "each counts from its start: {second_s}");
    let [friendly, unfriendly] = &outcome.tenants[..] else { panic!("two tenants") };
    assert!(friendly.fast_share > 0.95 && unfriendly.promoted < 4 << 30, "{outcome:?}");
}

#[test]
fn each_part_can_be_switched_off() {
    let trial = |keys| Trial { pattern: "kind = \"uniform\"", seconds: 60.0, keys, ..TRIAL };
    let bare = trial("governor = \"none\"").outcome("adaptive");
    assert_eq!(bare.tenants, trial("").outcome("refault-distance").tenants);
    assert!(bare.decisions.is_empty());
    let without_distance = trial("governor = \"adaptive\"").outcome("tpp-mod");
    assert!(!turns(&without_distance, 0).is_empty(), "it is stopped");
    let slower = trial("governor = \"adaptive:stabilizing=1000,patience=0\"").outcome("adaptive");
    assert!(turns(&slower, 0).is_empty(), "its governor's options");
}

#[test]
fn what_went_up_and_down_again_is_counted_to_its_owner() {
    // Side by side from the start: one all of whose pages are alike, and one with a hot set that fits.
    let text = format!(
        "machine = \"adaptive-cxl\"\nscale = 256\nhuge_pages = false\nseconds = 60\n\
         [system]\nname = \"adaptive\"\ngovernor = \"adaptive:floor=0,stabilizing=10000,patience=0\"\n\
         [[tenant]]\nmemory = \"16G\"\nfast = \"2G\"\ncompute_ns = 40\n\
         pattern = {{ kind = \"uniform\" }}\n\
         [[tenant]]\nmemory = \"16G\"\nfast = \"2G\"\ncompute_ns = 40\n\
         pattern = {{ {HOT_COLD} }}"
    );
    let outcome = scenario(&text);
    let sums = |tenant: usize| {
        let of = outcome.decisions.iter().filter(|log| log.tenant == tenant);
        of.fold([0, 0, 0], |[up, down, again], log| {
            [up + log.promote, down + log.demote, again + log.promoted_then_demoted]
        })
    };
    let [[up, down, again], [friendly_up, friendly_down, friendly_again]] = [0, 1].map(sums);
    assert!(
        again <= up && again <= down && friendly_again <= friendly_up,
        "{:?}",
        [0, 1].map(sums)
    );
    assert!(friendly_again <= friendly_down, "{:?}", [0, 1].map(sums));
    assert!(up > 0 && friendly_up > 0 && again > 0, "both go up: {:?}", [0, 1].map(sums));
    let share = |again: u64, up: u64| again as f64 / up as f64;
    let [of, of_friendly] = [share(again, up), share(friendly_again, friendly_up)];
    assert!(of_friendly < 0.5 * of, "{of_friendly} {of} {:?}", [0, 1].map(sums));
}
