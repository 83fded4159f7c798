//! No policy knows what comes: what the next epoch holds changes no decision, of any policy of the
//! registry but the clairvoyant.

use crate::heats::{self, epochs};
use pagetide_policy::{Class, Decider, Moves, Now, Observation, PolicySpec, REGISTRY};
use pagetide_types::{Bytes, EpochHeat, UnitId};
use proptest::prelude::*;

const FORESEES: &str = "clairvoyant";

/// What a policy decided at the end of one epoch.
#[derive(Clone, Debug, PartialEq)]
struct Decided {
    fast: Vec<bool>,
    moves: Moves,
    order: Vec<UnitId>,
    told: Option<Observation>,
}

/// The decisions of a policy that is told that `next` follows each epoch, whatever does.
fn decisions(
    spec: &PolicySpec,
    epochs: &[EpochHeat],
    next: impl Fn(usize) -> Option<EpochHeat>,
    capacity: Bytes,
) -> Vec<Decided> {
    let mut decider = Decider::new(spec);
    let decide = epochs.iter().enumerate().map(|(number, heat)| {
        decider.arrive(heat);
        let fast = decider.fast(heat, capacity);
        let next = next(number);
        let now = Now {
            length_s: 5.0,
            free_moves: false,
            capacity,
            fast: &fast,
            movable: None,
            next: next.as_ref(),
        };
        let moves = decider.decide(heat, &now);
        let (order, told) = (decider.units().collect(), decider.observation());
        Decided { fast, moves, order, told }
    });
    decide.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_comes_next_changes_no_decision(
        epochs in epochs(),
        others in epochs(),
        capacity in 0u64..80,
    ) {
        let capacity = Bytes::kib(4 * capacity);
        for info in REGISTRY.iter().filter(|info| info.name != FORESEES) {
            let spec = PolicySpec::from(*info);
            let decisions = |next: &dyn Fn(usize) -> Option<EpochHeat>| {
                decisions(&spec, &epochs, next, capacity)
            };
            let blind = decisions(&|_| None);
            prop_assert_eq!(&decisions(&|at| epochs.get(at + 1).cloned()), &blind, "{}", info.name);
            let wrong = decisions(&|at| Some(others[at % others.len()].clone()));
            prop_assert_eq!(&wrong, &blind, "{}", info.name);
        }
    }
}

#[test]
fn only_the_clairvoyant_asks_for_what_comes_and_it_is_a_bound() {
    for info in REGISTRY {
        assert_eq!(info.needs.oracle, info.name == FORESEES, "{}", info.name);
        assert!(info.name != FORESEES || info.class == Class::Bound);
    }
    // It does use what it is told: the test above can tell.
    let heat = |rates: [f32; 2]| heats::build(&[rates.map(|rate| Some((1, rate, 0))).to_vec()]);
    let now = heat([1.0, 1.0]);
    let order = |next| {
        let spec: PolicySpec = FORESEES.parse().unwrap();
        decisions(&spec, &now, |_| heat(next).pop(), Bytes::kib(4)).remove(0).order
    };
    assert_ne!(order([1.0, 0.0]), order([0.0, 1.0]));
}
