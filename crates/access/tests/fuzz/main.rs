//! Files of accesses, damaged: whatever is in them they are read to an end, without a panic, in memory that
//! does not depend on what they claim, and errors say where. `FUZZ_ROUNDS` makes it longer, `FUZZ_SEED` another.
//!
//! The corpus holds files of every format: `valid-*` can be read, `damaged-*` cannot. An input that failed goes
//! there, under a name that says what was wrong with it.

mod counted;
mod judge;
mod parts;

use judge::{judge, read};
use pagetide_testing::Mutator;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Damaged inputs in a run of all tests.
const ROUNDS: u64 = 20_000;
/// No input takes so long: longer than what [`judge`] lets pass.
const HANGS: Duration = Duration::from_secs(60);

/// Names and bytes of the corpus, in the order of the names.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let file = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    };
    let mut all: Vec<_> = files.flatten().map(|entry| file(&entry.path())).collect();
    all.sort();
    all
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().unwrap_or_else(|e| panic!("{variable}: {e}")))
}

/// The damaged input of a round.
fn input(seed: u64, round: u64, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut mutator = Mutator::new(seed.wrapping_mul(1 << 40).wrapping_add(round));
    let mut bytes = mutator.pick(corpus).cloned().unwrap_or_default();
    let mut pack = mutator.below(8) == 0;
    if mutator.below(3) > 0
        && let Some(unpacked) = parts::unpacked(&bytes)
    {
        bytes = unpacked;
        pack = true;
    }
    let which = mutator.below(3);
    if which > 0 {
        parts::damage(&mut mutator, &mut bytes, corpus);
    }
    if which < 2 {
        mutator.mutate(&mut bytes, corpus);
    }
    if pack { zstd::encode_all(bytes.as_slice(), 1).unwrap_or(bytes) } else { bytes }
}

#[test]
fn every_file_of_the_corpus_is_what_its_name_says() {
    let corpus = corpus();
    for (name, bytes) in &corpus {
        assert!(bytes.len() <= 4096, "{name} is too long");
        judge(bytes).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let result = read(bytes, usize::MAX);
        assert_eq!(result.is_ok(), name.starts_with("valid-"), "{name}: {result:?}");
    }
    for format in [".stream", ".stream.zst", ".oracleGeneral", ".oracleGeneral.zst"] {
        for kind in ["valid-", "damaged-"] {
            let there = |name: &str| name.starts_with(kind) && name.ends_with(format);
            assert!(corpus.iter().any(|(name, _)| there(name)), "no {kind}*{format}");
        }
    }
}

#[test]
fn damage_is_named_and_costs_little() {
    let (rounds, seed) = (number("FUZZ_ROUNDS", ROUNDS), number("FUZZ_SEED", 1));
    let corpus: Vec<_> = corpus().into_iter().map(|(_, bytes)| bytes).collect();
    let (done, told) = channel();
    std::thread::spawn(move || {
        for round in 0..rounds {
            let bytes = input(seed, round, &corpus);
            // Before it is read: what hangs is known then.
            if done.send((round, bytes.clone(), None)).is_err() {
                return;
            }
            if let Err(wrong) = judge(&bytes) {
                let _ = done.send((round, bytes, Some(wrong)));
                return;
            }
        }
    });
    let mut last = None;
    loop {
        let wrong = match told.recv_timeout(HANGS) {
            Ok((round, bytes, wrong)) => {
                last = Some((round, bytes));
                wrong
            }
            Err(RecvTimeoutError::Timeout) => Some("it does not end".to_owned()),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(wrong) = wrong {
            let (round, bytes) = last.unwrap_or_default();
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{seed}-{round}"));
            let at = kept.display();
            fs::write(&kept, bytes).unwrap_or_else(|e| panic!("{at}: {e}"));
            panic!("round {round} of seed {seed}: {wrong}; the input is in {at}");
        }
    }
    assert_eq!(last.map(|(round, _)| round + 1).unwrap_or_default(), rounds, "it stopped early");
}
