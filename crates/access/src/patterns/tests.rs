//! What holds for every pattern, and what their tests have in common.

use super::{
    Amp, Favour, Gups, HotCold, Keys, Order, Origin, Pattern, Phases, Pick, Place, PointerChase,
    Source, Spin, Strided, Uniform, Within, Zipf, every_page,
};
pub(super) use super::{Op, Setup, Step};
pub(super) use crate::generators::index;
use pagetide_types::{Bytes, UnitSize};
use std::time::Duration;

/// Memory and threads, with a seed.
pub(super) fn setup(size: u64, threads: u32) -> Setup {
    Setup::new(Bytes(size), threads, 7).unwrap()
}

/// The first accesses of a pattern's first thread, all at its start.
pub(super) fn steps(pattern: &impl Pattern, setup: &Setup, n: u32) -> Vec<Step> {
    let mut steps = vec![];
    pattern.walks(setup).unwrap()[0].take(n, Duration::ZERO, &mut steps);
    steps
}

/// Their offsets.
pub(super) fn offsets(steps: &[Step]) -> Vec<u64> {
    steps.iter().map(|step| step.offset).collect()
}

/// Chi-squared of counts over its degrees of freedom.
pub(super) fn misfit(seen: &[f64], shares: &[f64]) -> f64 {
    let all: f64 = seen.iter().sum();
    let term = |(n, share): (&f64, &f64)| (n - share * all).powi(2) / (share * all);
    seen.iter().zip(shares).map(term).sum::<f64>() / (shares.len() - 1) as f64
}

/// Insists on a refusal, before there is memory and after.
pub(super) fn refused(pattern: &impl Pattern, setup: &Setup, reason: &str) {
    let Err(error) = pattern.walks(setup).map(drop) else { panic!("{reason}: not refused") };
    assert!(error.to_string().contains(reason), "{error}, not {reason}");
    if !error.to_string().contains("too small for this `size`") {
        assert_eq!(pattern.check(setup), Err(error));
    }
}

const SIZE: u64 = 128 << 20;

/// A program's threads, of whichever pattern.
type Threads = Vec<Box<dyn Source>>;

/// All patterns, each in its variants, by name.
fn all(setup: &Setup) -> Vec<(&'static str, Threads)> {
    fn threads(pattern: &impl Pattern, setup: &Setup) -> Threads {
        let boxed = |walk| Box::new(walk) as Box<dyn Source>;
        pattern.walks(setup).unwrap().into_iter().map(boxed).collect()
    }
    let mut all = vec![
        ("uniform", threads(&Uniform, setup)),
        ("gups", threads(&Gups, setup)),
        ("strided", threads(&Strided { stride: Bytes(24) }, setup)),
        ("pointer-chase", threads(&PointerChase { slot: Bytes(72) }, setup)),
    ];
    for keys in [Keys::InOrder, Keys::Scattered] {
        let zipf = Zipf { exponent: 0.9, object: Bytes(1000), keys };
        all.push(("zipf", threads(&zipf, setup)));
    }
    for place in [Place::Contiguous, Place::Random] {
        let hot = Bytes::mib(16);
        let hot_cold = HotCold { hot, ratio: 10.0, place, granule: UnitSize::Huge };
        all.push(("hot-cold", threads(&hot_cold, setup)));
    }
    for (access, scattered) in [(Within::Random, false), (Within::Sequential, true)] {
        let set_size = Some(Bytes::mib(50));
        let phases = Phases {
            sets: 3,
            set_size,
            sizes: vec![],
            every: 0.5,
            access,
            elsewhere: 0.1,
            scattered,
        };
        all.push(("phases", threads(&phases, setup)));
    }
    for source in [Origin::Text, Origin::Code] {
        let favour = vec![Favour::Lru, Favour::Lfu, Favour::Random];
        let amp = Amp { favour, each: 1.0, source, scale: 0.1, cold: 0.1 };
        all.push(("amp", threads(&amp, setup)));
    }
    for order in [Order::Sequential, Order::Random] {
        let page = UnitSize::Base;
        let spin = Spin { pages: 50, pick: Pick::Random, list: vec![], order, page };
        all.push(("spin", threads(&spin, setup)));
    }
    all
}

/// What all threads touch in four seconds, in batches of `n`.
fn taken(threads: Threads, n: u32) -> Vec<Vec<Step>> {
    let run = |mut source: Box<dyn Source>| {
        let mut steps = vec![];
        for quarter in 0..16 {
            let now = Duration::from_millis(quarter * 250);
            (0..1200 / n).for_each(|_| source.take(n, now, &mut steps));
        }
        steps
    };
    threads.into_iter().map(run).collect()
}

#[test]
fn a_seed_gives_the_same_accesses_however_they_are_taken() {
    let setup = setup(SIZE, 2);
    for ((name, one), (_, other)) in all(&setup).into_iter().zip(all(&setup)) {
        assert!(taken(one, 1200) == taken(other, 100), "{name}");
    }
}

#[test]
fn another_seed_gives_other_accesses() {
    let other = Setup::new(Bytes(SIZE), 1, 8).unwrap();
    for ((name, one), (_, other)) in all(&setup(SIZE, 1)).into_iter().zip(all(&other)) {
        assert_eq!(taken(one, 1200) == taken(other, 1200), name == "strided", "{name}");
    }
}

#[test]
fn accesses_stay_within_the_memory_and_are_as_many_as_asked_for() {
    for size in [SIZE, 64 << 20] {
        for (name, threads) in all(&setup(size, 3)) {
            for steps in taken(threads, 400) {
                assert!(steps.iter().all(|step| step.offset < size && step.gap == 0), "{name}");
                assert!(steps.len() == 16 * 1200 || name == "amp", "{name}: {}", steps.len());
            }
        }
    }
}

#[test]
fn threads_differ() {
    for (name, threads) in all(&setup(SIZE, 3)) {
        let threads = taken(threads, 1200);
        assert!(threads[0] != threads[1] && threads[1] != threads[2], "{name}");
    }
}

#[test]
fn every_page_is_touched_first_in_order_of_address() {
    let pages: Vec<u64> = Uniform.first_touch(&setup(4096 * 3 + 1, 1)).collect();
    assert_eq!(pages, [0, 4096, 8192, 12288]);
    assert_eq!(every_page(Bytes(1)).collect::<Vec<_>>(), [0]);
    assert_eq!(Uniform.fill(&setup(4096, 1)).count(), 0);
}

#[test]
fn there_is_memory_and_a_thread() {
    let no_memory = Setup::new(Bytes(0), 1, 1).unwrap_err().to_string();
    assert_eq!(no_memory, "size 0: no memory to touch; give for example `size` 1G");
    assert_eq!(Setup::new(Bytes(1), 0, 1).unwrap_err().parameter, "threads");
}
