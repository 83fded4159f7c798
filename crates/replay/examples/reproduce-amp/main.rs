//! The table of AMP's section 6.6, from recordings of `workload amp --favour
//! lru,lfu,lru,random,lfu,random,lru`: how many epochs of 5 s after a change of the program the
//! choice follows it, and how often it is right, over fast memory, tie rule and phase of the
//! interval. `make reproduce-amp` runs it; nothing is fitted.
//!
//! `cargo run --release -p pagetide-replay --example reproduce-amp -- SECONDS RECORDING...`, where
//! SECONDS is the length of one program.

use pagetide_policy::{Observation, PolicySpec};
use pagetide_replay::{Replay, ReplayOptions, Replayed, Told};
use pagetide_trace::Recording;
use pagetide_types::EpochHeat;
use std::error::Error;

/// What the programs favour, one after the other.
const PROGRAMS: [&str; 7] = ["lru", "lfu", "lru", "random", "lfu", "random", "lru"];
/// The mixes of table 5: the positions in [`PROGRAMS`] of the programs that they end with.
const MIXES: [usize; 6] = [1, 2, 3, 5, 6, 4];
const TIES: [&str; 4] =
    ["what is fast stays", "by address", "by the other's key", "by the other's key, reversed"];
const RATIOS: [f64; 3] = [0.3, 0.5, 0.7];
/// Of the interval of 5 s, in s.
const PHASES: [u32; 5] = [0, 1, 2, 3, 4];

struct Recorded {
    epochs: Vec<(EpochHeat, f64)>,
    options: ReplayOptions,
    /// The end of every epoch, seconds after the memory was there.
    ends: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().ok_or("give the seconds of one program")?.parse()?;
    for path in arguments {
        println!("\n`{}`:\n", path.rsplit('/').next().unwrap_or(&path));
        table(&read(&path)?, seconds)?;
    }
    Ok(())
}

fn read(path: &str) -> Result<Recorded, Box<dyn Error>> {
    let recording = Recording::open(path)?;
    let lengths: Vec<f64> = recording.epochs().iter().map(|epoch| epoch.length_s).collect();
    let heats: Vec<EpochHeat> = recording.heat().collect::<Result<_, _>>()?;
    let footprint = heats.iter().map(EpochHeat::resident).max().ok_or("no epoch")?;
    let there = |heat: &EpochHeat| heat.resident().as_f64() >= 0.95 * footprint.as_f64();
    let start = heats.iter().position(there).unwrap_or(0);
    let before: f64 = lengths[..start].iter().sum();
    let mut now = -before;
    let end = |length: &f64| {
        now += length;
        now
    };
    let ends = lengths.iter().map(end).collect();
    let options = ReplayOptions {
        unit: recording.header().unit,
        footprint,
        capacities: 10,
        ..ReplayOptions::default()
    };
    Ok(Recorded { epochs: heats.into_iter().zip(lengths).collect(), options, ends })
}

fn table(recorded: &Recorded, seconds: f64) -> Result<(), Box<dyn Error>> {
    println!(
        "| fast | equal ages or frequencies | 1 LRU→LFU | 2 LFU→LRU | 3 LRU→Random \
         | 4 LFU→Random | 5 Random→LRU | 6 Random→LFU |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    println!("| 50 % | published (not said) | 27 | 17 | 2 | 2 | 3 | 4 |");
    let specs = (0..TIES.len()).flat_map(|ties| {
        PHASES.map(|phase| format!("amp:ties={ties},phase={phase}").parse::<PolicySpec>())
    });
    let specs: Vec<PolicySpec> = specs.collect::<Result<_, _>>()?;
    let mut replay = Replay::new(&specs, recorded.options);
    for (heat, length_s) in &recorded.epochs {
        replay.push(heat.clone(), *length_s)?;
    }
    let replayed = replay.finish();
    for ratio in RATIOS {
        let fast = recorded.options.footprint.as_f64() * ratio;
        for (ties, name) in TIES.iter().enumerate() {
            let phases = &replayed[ties * PHASES.len()..][..PHASES.len()];
            let told = || phases.iter().filter_map(|replayed| near(replayed, fast));
            let cells = MIXES.map(|program| {
                let follow = |told: &Told| follow(recorded, &told.decisions, seconds, program);
                cell(&told().map(follow).collect::<Vec<_>>())
            });
            println!("| {:.0} % | {name} | {} |", ratio * 100.0, cells.join(" | "));
        }
    }
    hits(recorded, &replayed, seconds);
    Ok(())
}

/// What was told with the fast memory nearest to `fast` bytes.
fn near(replayed: &Replayed, fast: f64) -> Option<&Told> {
    let far = |told: &&Told| (told.capacity.as_f64() - fast).abs();
    replayed.told.iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

/// What the choice stood on: the mean hit ratios of LRU and LFU while a program runs, without
/// its first half, with what is fast staying and in all phases.
fn hits(recorded: &Recorded, replayed: &[Replayed], seconds: f64) {
    println!("\n| fast | LRU-favour: LRU, LFU hit | LFU-favour: LRU, LFU hit |\n|---|---|---|");
    for ratio in RATIOS {
        let fast = recorded.options.footprint.as_f64() * ratio;
        let mean = |program: usize, figure: usize| {
            let begin = seconds * (program as f64 + 0.5);
            let told = replayed[..PHASES.len()].iter().filter_map(|replayed| near(replayed, fast));
            let within = told.flat_map(|told| &told.decisions).filter(|(epoch, _)| {
                (begin..begin + seconds / 2.0).contains(&recorded.ends[*epoch])
            });
            let values: Vec<f64> = within.map(|(_, told)| told.figures[figure]).collect();
            100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        // The second time that each of them runs; the figures 2 and 3 are the hits.
        let [lru, lfu] = [2, 4].map(|program| [mean(program, 2), mean(program, 3)]);
        println!(
            "| {:.0} % | {:.1} %, {:.1} % | {:.1} %, {:.1} % |",
            ratio * 100.0,
            lru[0],
            lru[1],
            lfu[0],
            lfu[1]
        );
    }
}

/// How a choice followed a change of the program.
struct Follow {
    /// Epochs of the policy until the first right choice.
    until: Option<usize>,
    /// Share of right choices until the next change.
    right: f64,
}

fn follow(
    recorded: &Recorded,
    decisions: &[(usize, Observation)],
    seconds: f64,
    program: usize,
) -> Follow {
    let begin = seconds * program as f64;
    let right: Vec<bool> = decisions
        .iter()
        .filter(|(epoch, _)| (begin..begin + seconds).contains(&recorded.ends[*epoch]))
        .map(|(_, told)| told.choice == Some(PROGRAMS[program]))
        .collect();
    let share = right.iter().filter(|right| **right).count() as f64 / right.len().max(1) as f64;
    Follow { until: right.iter().position(|right| *right).map(|at| at + 1), right: share }
}

/// Median and range over the phases of the epochs until the choice follows, and the mean share.
fn cell(follows: &[Follow]) -> String {
    let share: f64 = follows.iter().map(|f| f.right).sum::<f64>() / follows.len().max(1) as f64;
    let mut until: Vec<usize> = follows.iter().map(|f| f.until.unwrap_or(usize::MAX)).collect();
    until.sort_unstable();
    let text =
        |epochs: usize| if epochs == usize::MAX { "never".into() } else { epochs.to_string() };
    let (Some(first), Some(last)) = (until.first(), until.last()) else { return String::new() };
    let median = text(until[until.len() / 2]);
    let range = if first == last {
        String::new()
    } else {
        format!(" ({}–{})", text(*first), text(*last))
    };
    format!("{median}{range}; {:.0} %", share * 100.0)
}
