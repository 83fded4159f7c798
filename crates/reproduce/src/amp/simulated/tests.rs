//! A small set: one program of each class, scaled down far, for few intervals.

use super::programs::{Change, Class, PROGRAMS};
use super::runs::{FIXED, System, performance};
use super::{figure_2, figure_8, figure_12, figure_17};
use crate::Context;
use pagetide_sim::scenario::parse;
use std::collections::BTreeSet;

/// Memory of some MiB, intervals of some ms.
const SCALE: u32 = 1024;

#[test]
fn every_program_is_a_tenant() {
    let names: BTreeSet<&str> = PROGRAMS.iter().map(|program| program.name).collect();
    assert_eq!(names.len(), PROGRAMS.len());
    for program in PROGRAMS {
        let tenant = program.tenant(0.3, Change::default());
        let text = format!("machine = \"amp\"\nseconds = 1\n[system]\nname = \"amp\"\n{tenant}");
        let scenario = parse(&text, program.name).unwrap();
        assert_eq!(scenario.tenants[0].fast_share, Some(0.3));
        assert!(scenario.tenants[0].memory.unwrap().0 > 3 << 30, "{}", program.name);
    }
}

#[test]
fn changes_of_programs_change_what_they_say() {
    let [usual, changed] = [(1.0, false), (2.0, true)].map(|(computing, reversed)| {
        let tenant = PROGRAMS[0].tenant(0.5, Change { computing, reversed });
        tenant.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let of = |lines: &[String], key: &str| -> Vec<f64> {
        let values = lines.iter().filter_map(|line| line.strip_prefix(key)?.parse().ok());
        values.collect()
    };
    assert_eq!(of(&changed, "compute_ns = "), [2.0 * of(&usual, "compute_ns = ")[0]]);
    assert_eq!(of(&changed, "passes = "), [of(&usual, "passes = ")[0] / 2.0]);
    let mirrored: Vec<f64> = of(&usual, "from = ").iter().map(|from| 1.0 - from).collect();
    assert_eq!(of(&changed, "to = "), mirrored);
}

#[test]
fn classes_are_won_by_the_policy_that_they_are_called_after_and_amp_follows() {
    let context = Context::in_memory(SCALE);
    let systems = [&FIXED[..], &[System::Amp]].concat();
    let found = performance(&context, &systems, |_| ()).unwrap();
    for (program, all) in found.programs.iter().zip(&found.normalised) {
        let &[lru, lfu, random, amp] = &all[..] else { panic!("{all:?}") };
        let name = program.name;
        match program.class {
            Class::Lru => assert!(lru > 1.02 * lfu.max(random), "{name}: {all:?}"),
            Class::Lfu => assert!(lfu > 1.02 * lru.max(random), "{name}: {all:?}"),
            Class::Random => assert!(random >= 0.99 * lru.max(lfu), "{name}: {all:?}"),
            Class::Neutral => {}
        }
        let best = lru.max(lfu).max(random);
        assert!(amp > 0.85 * best && amp <= 1.05 * best, "{name}: {all:?}");
    }
    // The same points, and some more.
    for figure in [figure_2::FIGURE, figure_8::FIGURE, figure_12::FIGURE] {
        let outcome = (figure.run)(&context).unwrap();
        assert!(outcome.rows.len() >= 4 && !outcome.series.is_empty(), "{}", figure.id);
    }
}

#[test]
fn the_choice_follows_to_random_at_once() {
    let outcome = (figure_17::FIGURE.run)(&Context::in_memory(SCALE)).unwrap();
    assert_eq!(outcome.rows[0].what, "published programs and rules: LRU → Random");
    assert!(outcome.rows[0].ours <= 3.0, "{outcome:?}");
}
