//! Damaged scenarios: whatever is in them they are refused in words, or run to an end. `FUZZ_ROUNDS` makes
//! it longer, `FUZZ_SEED` another.

use pagetide_sim::scenario::{self, parse};
use pagetide_sim::sweep::{Draft, Setting};
use pagetide_testing::Mutator;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Damaged inputs in a run of all tests.
const ROUNDS: u64 = 3000;
/// No input takes so long.
const HANGS: Duration = Duration::from_secs(60);
/// What makes any scenario small, whatever it was.
const SMALL: [&str; 7] = [
    "scale=1.0",
    "seconds=0.0003",
    "warm_up=0.0001",
    "system.interval=0.0001",
    "tenant.start=0",
    "tenant.threads=2",
    "tenant.memory=8M",
];

fn examples() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let read =
        |path: &PathBuf| fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    paths.iter().map(read).collect()
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().unwrap_or_else(|e| panic!("{variable}: {e}")))
}

/// Whether it ran; else the error, which is named.
fn read(text: &str, small: &[Setting]) -> Result<(), String> {
    parse(text, "x.toml").map_err(|error| error.to_string())?;
    let draft = Draft::new(text, "x.toml").map_err(|error| error.to_string())?;
    let made = draft.with(small).map_err(|error| error.to_string())?;
    let outcome =
        scenario::run(&made.scenario, None, "x.toml").map_err(|error| error.to_string())?;
    let finite =
        outcome.tenants.iter().all(|tenant| tenant.ns_per_access.is_none_or(f64::is_finite));
    assert!(finite && !outcome.tenants.is_empty(), "{outcome:?}");
    Ok(())
}

#[test]
fn a_damaged_scenario_is_refused_in_words_or_runs_to_an_end() {
    let (rounds, seed) = (number("FUZZ_ROUNDS", ROUNDS), number("FUZZ_SEED", 1));
    let corpus = examples();
    let (done, told) = channel();
    std::thread::spawn(move || {
        let small: Vec<Setting> = SMALL.iter().map(|text| text.parse().unwrap()).collect();
        for round in 0..rounds {
            let mut mutator = Mutator::new(seed.wrapping_mul(1 << 40).wrapping_add(round));
            let mut bytes = mutator.pick(&corpus).cloned().unwrap_or_default();
            // The first one undamaged, so that something runs.
            if round > 0 {
                mutator.mutate(&mut bytes, &corpus);
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if done.send((round, text.clone(), None)).is_err() {
                return;
            }
            let found = catch_unwind(|| read(&text, &small)).map_err(|_| "it panicked".to_owned());
            let wrong = match &found {
                Ok(Err(error)) if !error.contains("x.toml") => {
                    Some(format!("no file is named: {error}"))
                }
                Err(panicked) => Some(panicked.clone()),
                Ok(_) => None,
            };
            let ran = found == Ok(Ok(()));
            if done.send((round, text, Some((ran, wrong)))).is_err() {
                return;
            }
        }
    });
    let (mut last, mut ran) = (None, 0);
    loop {
        match told.recv_timeout(HANGS) {
            Ok((round, text, None)) => last = Some((round, text)),
            Ok((round, text, Some((_, Some(wrong))))) => {
                panic!("round {round} of seed {seed}: {wrong}\n{text}")
            }
            Ok((.., Some((true, None)))) => ran += 1,
            Ok((.., Some((false, None)))) => {}
            Err(RecvTimeoutError::Timeout) => panic!("it does not end: {last:?}"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(last.map(|(round, _)| round + 1), Some(rounds), "it stopped early");
    assert!(ran * 20 > rounds, "only {ran} of {rounds} ran");
}
