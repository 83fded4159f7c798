//! Walks the registry: what every policy must be and do, the ones added later too.

use crate::heats::epochs;
use pagetide_policy::{AccessHistory, Observation, PriorityOrder, moves};
use pagetide_policy::{
    Class, EpochView, Fixed, GOVERNORS, Moves, Placement, Policy, PolicyOptions, PolicySpec,
    REGISTRY,
};
use pagetide_types::{Bytes, EpochHeat, UnitId};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_everything_is_documented() {
    let names: BTreeSet<_> = REGISTRY.iter().map(|info| info.name).collect();
    assert_eq!(names.len(), REGISTRY.len());
    let word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let line = |text: &str| text.len() > 10 && !text.contains('\n') && !text.ends_with('.');
    for info in REGISTRY {
        assert!(word(info.name), "{}", info.name);
        assert!(line(info.summary) && info.summary.len() < 80, "{}", info.name);
        assert!(!info.source.is_empty(), "{}", info.name);
        assert!(!info.needs.oracle || info.class == Class::Bound, "{} sees ahead", info.name);
        let figures: BTreeSet<_> = info.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(figures.len(), info.figures.len(), "{}", info.name);
        for figure in info.figures {
            assert!(word(figure.name) && line(figure.summary), "{}:{}", info.name, figure.name);
        }
        let options: BTreeSet<_> = info.options.iter().map(|option| option.name).collect();
        assert_eq!(options.len(), info.options.len(), "{}", info.name);
        for option in info.options {
            assert!(word(option.name) && line(option.summary), "{}:{}", info.name, option.name);
            // The default and both ends can be given; beyond them nothing can.
            let given = |value| PolicyOptions([(option.name.to_owned(), value)].into());
            let (low, high) = option.range;
            for value in [low, option.default, high] {
                let spec = PolicySpec::new(info.name, given(value)).unwrap();
                assert_eq!(spec.to_string(), format!("{}:{}={value}", info.name, option.name));
                drop(spec.build());
            }
            for value in [low - 1.0, high * 2.0 + 1.0, f64::NAN] {
                assert!(PolicySpec::new(info.name, given(value)).is_err(), "{}", option.name);
            }
        }
    }
}

/// An observation holds what the registry says it does.
fn check_observation(spec: &PolicySpec, found: Option<Observation>) {
    let figures = spec.info().figures;
    let Some(found) = found else { return };
    assert_eq!(found.figures.len(), figures.len(), "{spec}");
    assert!(found.figures.iter().all(|figure| figure.is_finite()), "{spec}: {found:?}");
}

/// What a policy did in one epoch.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    fast: Vec<bool>,
    moves: Moves,
    order: Vec<UnitId>,
}

fn run(spec: &PolicySpec, epochs: &[EpochHeat], budget: Bytes) -> Vec<Seen> {
    let mut policy = spec.build();
    let (mut order, mut history) = (PriorityOrder::new(), AccessHistory::default());
    let needs = spec.info().needs;
    let steps = epochs.iter().enumerate().map(|(i, heat)| {
        history.update(heat);
        order.arrive(heat);
        let fast = match policy {
            Policy::Fixed(Fixed::AllFast) => vec![true; heat.len()],
            Policy::Fixed(Fixed::AllSlow) => vec![false; heat.len()],
            _ => order.cut(heat, budget),
        };
        let mut found = Moves::default();
        if let Policy::Rank(policy) = &mut policy {
            let mut keys = vec![0; heat.len()];
            let oracle = epochs.get(i + 1).filter(|_| needs.oracle);
            let now = Placement { fast: &fast, capacity: budget };
            let placement = needs.placement.then_some(now);
            let view = EpochView {
                heat,
                history: &history,
                length_s: 5.0,
                free_moves: false,
                one_unit_in: 1,
                oracle,
                placement,
            };
            policy.rank(&view, &mut keys);
            check_observation(spec, policy.observation());
            order.rank(&keys);
            found = moves(&order, heat, &fast, &order.cut(heat, budget));
        }
        Seen { fast, moves: found, order: order.units().collect() }
    });
    steps.collect()
}

fn row(heat: &EpochHeat, unit: &UnitId) -> usize {
    heat.unit.binary_search(unit).unwrap_or_else(|_| panic!("unit {unit} is not alive"))
}

fn fast_bytes(heat: &EpochHeat, fast: &[bool]) -> Bytes {
    (0..heat.len()).filter(|row| fast[*row]).map(|row| heat.bytes(row)).sum()
}

/// The placement after the moves; checks that every unit moves at most once and from where it is.
fn apply(heat: &EpochHeat, seen: &Seen) -> Vec<bool> {
    let mut fast = seen.fast.clone();
    let mut touched = BTreeSet::new();
    let mut set = |unit: &UnitId, to: bool| {
        let row = row(heat, unit);
        assert!(touched.insert(*unit), "{unit} moves twice");
        assert_eq!(fast[row], !to, "{unit} is there already");
        fast[row] = to;
    };
    for (up, down) in &seen.moves.exchange {
        set(up, true);
        set(down, false);
        let pages = |unit| heat.pages[row(heat, unit)];
        assert_eq!(pages(up), pages(down));
    }
    seen.moves.promote.iter().for_each(|unit| set(unit, true));
    seen.moves.demote.iter().for_each(|unit| set(unit, false));
    fast
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn none_is_over_budget_loses_or_doubles_a_unit_or_answers_twice_differently(
        epochs in epochs(),
        budget in 0u64..80,
    ) {
        let budget = Bytes::kib(4 * budget);
        for info in REGISTRY {
            let spec = PolicySpec::from(*info);
            let seen = run(&spec, &epochs, budget);
            prop_assert_eq!(&seen, &run(&spec, &epochs, budget), "{} is not repeatable", info.name);
            let heeds = info.name != "all-fast";
            for (heat, seen) in epochs.iter().zip(&seen) {
                let mut units = seen.order.clone();
                units.sort_unstable();
                prop_assert_eq!(&units, &heat.unit, "{}", info.name);
                let after = apply(heat, seen);
                for placement in [&seen.fast, &after] {
                    let used = fast_bytes(heat, placement);
                    prop_assert!(!heeds || used <= budget, "{}: {used} of {budget}", info.name);
                }
                // No room is left that the next unit in the order would fit into.
                let mut left = seen.order.iter().filter(|unit| !after[row(heat, unit)]);
                if let (Policy::Rank(_), Some(next)) = (spec.build(), left.next()) {
                    let size = heat.bytes(row(heat, next));
                    prop_assert!(fast_bytes(heat, &after) + size > budget, "{}", info.name);
                }
            }
        }
    }

    #[test]
    fn first_touch_never_moves_and_random_never_demotes(epochs in epochs(), budget in 0u64..80) {
        let budget = Bytes::kib(4 * budget);
        for seen in run(&"first-touch".parse().unwrap(), &epochs, budget) {
            prop_assert_eq!(seen.moves, Moves::default());
        }
        for seen in run(&"random".parse().unwrap(), &epochs, budget) {
            prop_assert!(seen.moves.demote.is_empty() && seen.moves.exchange.is_empty());
        }
    }
}

#[test]
fn every_option_of_a_governor_is_documented_with_its_default() {
    let page = include_str!("../../../../docs/run.md");
    for info in GOVERNORS {
        assert!(page.contains(&format!("\n| `{}`", info.name)), "{}", info.name);
        for option in info.options {
            let name = format!("`{}`", option.name);
            let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains(&name));
            let default = option.default.to_string();
            let of_it = |row: &str| {
                let cells: Vec<&str> = row.split('|').collect();
                cells[2].split(", ").any(|cell| cell.trim() == default)
            };
            assert!(rows.into_iter().any(of_it), "{}:{} = {default}", info.name, option.name);
        }
    }
}
