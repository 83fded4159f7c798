//! Every program's accesses against what it is defined to do. Counts are those of the truth,
//! whose rates are rounded to 1.6 %: that is in every tolerance.

use super::{Ran, number, run, run_with_truth};
use crate::{programs::hot_cold, registry::Workload};
use pagetide_testing::undisturbed;
use pagetide_trace::Epoch;
use pagetide_types::{EpochHeat, HeatFlags};
use std::collections::BTreeSet;

fn spread(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(0.0, f64::max))
}

#[test]
fn strided_treats_every_unit_alike() {
    for (unit, pages) in [("2M", "4K"), ("2M", "2M"), ("4K", "4K")] {
        let ran = run_with_truth(&format!(
            "strided --size 16M --accesses 2621440 --page-size {pages} --truth-unit {unit}"
        ));
        // 10 passes of 262,144 lines over 8 or 4,096 units.
        let expected = 2_621_440.0 / if unit == "2M" { 8.0 } else { 4096.0 };
        let (low, high) = spread(&ran.per_unit());
        assert!(low > expected * 0.98 && high < expected * 1.02, "{low} to {high}");
        assert_eq!(number(&ran.printed, "accesses"), 2_621_440.0);
    }
}

#[test]
fn strided_threads_share_the_memory() {
    let ran = run_with_truth("strided --size 8M --accesses 1048576 --threads 3 --stride 4K");
    let (low, high) = spread(&ran.per_unit());
    assert!(low > 262_144.0 * 0.97 && high < 262_144.0 * 1.03, "{low} to {high}");
}

/// Hot and cold rates lie apart by the ratio, and exactly the hot bytes are hot.
fn hot_cold(line: &str, hot_units: usize, ratio: f64) {
    let ran = run_with_truth(line);
    let mut units = ran.per_unit();
    units.sort_by(|a, b| b.total_cmp(a));
    let (hot, cold) = units.split_at(hot_units);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let seen = mean(hot) / mean(cold);
    // Five standard deviations of the cold count, and the rounding.
    let tolerance = 0.016 + 5.0 / cold.iter().sum::<f64>().sqrt();
    assert!((seen / ratio - 1.0).abs() < tolerance, "{line}: ratio {seen}, within {tolerance}");
    let gap = hot[hot.len() - 1] / cold[0].max(1.0);
    assert!(gap > ratio.sqrt(), "{line}: the coldest hot unit is only {gap} times hotter");
}

#[test]
fn hot_cold_has_its_ratio_and_its_hot_bytes() {
    let huge = "hot-cold --size 64M --accesses 3000000";
    hot_cold(&format!("{huge} --hot 4M --ratio 100"), 2, 100.0);
    hot_cold(&format!("{huge} --hot 32M --ratio 20 --page-size 4K"), 16, 20.0);
    hot_cold(&format!("{huge} --hot 50M --ratio 20 --place contiguous --threads 2"), 25, 20.0);
    hot_cold(&format!("{huge} --hot 16M --ratio 1000 --seed 9"), 8, 1000.0);
    let base = "hot-cold --size 8M --accesses 4000000 --page-size 4K --granule 4K --truth-unit 4K";
    hot_cold(&format!("{base} --hot 1600K --ratio 30"), 400, 30.0);
}

#[test]
fn hot_cold_places_its_hot_set_as_told() {
    let hot = |line: &str| -> Vec<usize> {
        let ran = run_with_truth(&format!("hot-cold --size 64M --hot 8M --accesses 200000 {line}"));
        let units = ran.per_unit();
        (0..units.len()).filter(|i| units[*i] > 10_000.0).collect()
    };
    assert_eq!(hot("--place contiguous"), [0, 1, 2, 3]);
    let random = hot("--place random");
    assert_eq!(random.len(), 4);
    assert_eq!(random, hot("--place random --page-size 4K"), "the seed decides");
    assert_ne!(random, hot("--place random --seed 2"));
}

#[test]
fn all_hot_is_uniform() {
    let Workload::HotCold(hot_cold::HotCold { hot, size, .. }) = super::parse("hot-cold --hot 1G")
    else {
        panic!("another program");
    };
    assert_eq!(hot, size);
    let ran = run_with_truth("hot-cold --hot 16M --size 16M --accesses 1000000");
    let (low, high) = spread(&ran.per_unit());
    assert!(low > 122_000.0 && high < 128_000.0, "{low} to {high}");
}

/// Chi-squared over degrees of freedom, counts being known to within `rounding`.
fn misfit(seen: &[f64], expected: &[f64]) -> f64 {
    let term = |(n, e): (&f64, &f64)| (n - e).powi(2) / (e + (0.016 * e).powi(2));
    seen.iter().zip(expected).map(term).sum::<f64>() / (seen.len() - 1) as f64
}

#[test]
fn uniform_and_gups_have_no_preference() {
    for program in ["uniform", "gups"] {
        let ran = run_with_truth(&format!("{program} --size 256M --accesses 500000"));
        let misfit = misfit(&ran.per_unit(), &[500_000.0 / 128.0; 128]);
        assert!(misfit < 1.5, "{program}: {misfit}");
    }
}

#[test]
fn zipf_follows_the_formula() {
    // 4,096 objects of 4 KiB in order: unit u holds the ranks 512 u + 1 to 512 (u + 1).
    let weight = |from: u32| (from..from + 512).map(|k| f64::from(k).powf(-0.99)).sum::<f64>();
    let weights: Vec<f64> = (0..8).map(|unit| weight(512 * unit + 1)).collect();
    let expected: Vec<f64> =
        weights.iter().map(|w| w / weights.iter().sum::<f64>() * 1e6).collect();
    let ran = run_with_truth("zipf --size 16M --accesses 1000000 --exponent 0.99");
    let fit = misfit(&ran.per_unit(), &expected);
    assert!(fit < 2.5, "{fit}: {:?} instead of {expected:?}", ran.per_unit());

    // Scattered, the same rates per object, in another order.
    let line = "zipf --size 4M --page-size 4K --truth-unit 4K --accesses 1000000 --keys";
    let mut ordered = run_with_truth(&format!("{line} in-order")).per_unit();
    let mut scattered = run_with_truth(&format!("{line} scattered")).per_unit();
    assert!(scattered[0] < scattered.iter().copied().fold(0.0, f64::max));
    for rates in [&mut ordered, &mut scattered] {
        rates.sort_by(|a, b| b.total_cmp(a));
    }
    let fit = misfit(&scattered[..100], &ordered[..100]);
    assert!(fit < 3.0, "{fit}");
}

/// The share of each epoch's accesses that is to `units` of that epoch. Complains of an epoch with
/// so few that its thread was put aside for most of it.
fn shares(ran: &Ran, units: impl Fn(usize) -> Vec<usize>) -> Result<Vec<f64>, String> {
    let heats = ran.heats.iter().zip(ran.recording.epochs()).enumerate();
    let share = |(epoch, (heat, about)): (usize, (&EpochHeat, &Epoch))| {
        let rate = |unit: usize| f64::from(heat.rate[unit]);
        let all: f64 = (0..heat.len()).map(rate).sum();
        if all * about.length_s < 20_000.0 {
            return Err(format!("epoch {epoch} has {all} accesses per second"));
        }
        Ok(units(epoch).into_iter().map(rate).sum::<f64>() / all)
    };
    heats.map(share).collect()
}

#[test]
fn phases_stay_in_their_working_sets() {
    undisturbed("phases_stay_in_their_working_sets", 5, || {
        let ran = run_with_truth(
            "phases --size 32M --sets 4 --every 0.2 --truth-epoch 0.2 --seconds 1 \
             --access sequential",
        );
        assert_eq!(ran.heats.len(), 5);
        let within = shares(&ran, |epoch| (epoch % 4 * 4..epoch % 4 * 4 + 4).collect())?;
        // Whether a set changes is looked at before every batch.
        assert!(within.iter().all(|share| *share > 0.95), "{within:?}");
        Ok(())
    });
}

#[test]
fn growing_phases_begin_at_the_same_byte() {
    undisturbed("growing_phases_begin_at_the_same_byte", 5, || {
        let ran = run_with_truth(
            "phases --size 16M --sizes 4M,8M --every 0.2 --truth-epoch 0.2 --seconds 0.4 \
             --elsewhere 0.1",
        );
        let set = |epoch| [2, 4][epoch];
        let inside = shares(&ran, |epoch| (0..set(epoch)).collect())?;
        for (epoch, inside) in inside.into_iter().enumerate() {
            let expected = 0.9 + 0.1 * set(epoch) as f64 / 8.0;
            assert!((inside - expected).abs() < 0.05, "epoch {epoch}: {inside}");
        }
        Ok(())
    });
}

#[test]
fn amp_runs_its_programs_in_turn() {
    undisturbed("amp_runs_its_programs_in_turn", 5, || {
        let ran = run_with_truth(
            "amp --size 64M --favour lru,lfu,random --scale 0.05 --each 0.8 --seconds 2 \
             --truth-epoch 0.2 --cold 0.1",
        );
        assert_eq!(ran.heats.len(), 10);
        // 32 units: 4 sets of 8; or a hot half, and of the cold one a single unit in each turn.
        let within = shares(&ran, |epoch| match epoch {
            0..4 => (epoch * 8..epoch * 8 + 8).collect(),
            4..8 => (0..16).chain([16 + epoch]).collect(),
            _ => (0..32).collect(),
        })?;
        assert!(within.iter().all(|share| *share > 0.95), "{within:?}");
        let cold = shares(&ran, |epoch| vec![16 + epoch])?;
        assert!(cold[4..8].iter().all(|share| (share - 0.1).abs() < 0.02), "{cold:?}");
        Ok(())
    });
}

#[test]
fn amp_as_published_stays_longer_on_a_set_and_passes_over_all_memory() {
    let name = "amp_as_published_stays_longer_on_a_set_and_passes_over_all_memory";
    undisturbed(name, 3, || {
        let ran = run_with_truth(
            "amp --size 64M --source code --favour lru,lfu,random --scale 0.02 --each 1.6 \
             --seconds 4 --truth-epoch 0.4 --rate 1000000",
        );
        assert_eq!(ran.heats.len(), 10);
        // 32 units: 4 sets of 8, each for 0.4 s; or the upper half, and every 0.04 s a pass over
        // the next of 16 subsets, which begin at the first byte.
        let within = shares(&ran, |epoch| match epoch {
            0..4 => (epoch * 8..epoch * 8 + 8).collect(),
            4..8 => (16..32).collect(),
            _ => (0..32).collect(),
        })?;
        let passed: BTreeSet<usize> = ran.heats[4..8]
            .iter()
            .flat_map(|heat| (0..16).filter(|unit| heat.rate[*unit] > 0.0))
            .collect();
        // Passes come at their times, what else is done in between only if there is a CPU.
        if within.iter().any(|share| *share < 0.9) || passed.len() < 8 {
            return Err(format!("shares of {within:?}, passes over {passed:?}"));
        }
        Ok(())
    });
}

#[test]
fn pointer_chase_visits_every_slot_once_per_round() {
    // 4 rounds of 131,072 slots.
    let ran = run_with_truth("pointer-chase --size 8M --accesses 524288");
    let (low, high) = spread(&ran.per_unit());
    assert!(low > 131_072.0 * 0.98 && high < 131_072.0 * 1.02, "{low} to {high}");
}

#[test]
fn spin_touches_its_pages_and_no_others() {
    for line in [
        "spin --size 16M --pages 100 --page-size 4K",
        "spin --size 16M --pages 100 --page-size 4K --order random",
        "spin --size 16M --pages 7 --page-size 4K --pick even --threads 2",
        "spin --size 16M --pages 3 --page-size 4K --pick first",
        "spin --size 16M --list 9,4095,0,9 --page-size 4K",
    ] {
        let Workload::Spin(spin) = super::parse(line) else { panic!("another program") };
        let ran = run_with_truth(&format!("{line} --truth-unit 4K --accesses 100000"));
        let counts = ran.per_unit();
        let touched: Vec<u64> =
            (0u64..).zip(&counts).filter(|(_, n)| **n > 0.0).map(|(i, _)| i).collect();
        assert_eq!(touched, spin.picked().unwrap(), "{line}");
        for row in ran.heats[0].rows() {
            assert_ne!(row.flags.has(HeatFlags::ACCESSED), row.flags.has(HeatFlags::UNSEEN));
            assert_eq!(row.flags.has(HeatFlags::ACCESSED), row.rate > 0.0);
        }
    }
}

#[test]
fn newest_reads_what_was_born_last_and_gives_the_oldest_back() {
    let line = "newest --size 16M --slots 8 --every 0.1 --recent 2 --elsewhere 0 --page-size 4K";
    let printed = run(&format!("{line} --seconds 0.75")).unwrap();
    assert_eq!(number(&printed, "in_use"), f64::from(16 << 20));
    assert_eq!(number(&printed, "bytes"), f64::from(32 << 20));
    let born = number(&printed, "born");
    assert!((5.0..=7.0).contains(&born), "{printed}");
}

#[test]
fn graph_ends_with_the_time() {
    undisturbed("graph_ends_with_the_time", 5, || {
        for algorithm in ["bfs", "pagerank", "both"] {
            let line = "graph --scale 12 --page-size 4K --seconds 0.3 --algorithm";
            let ran = run_with_truth(&format!("{line} {algorithm}"));
            let n = |key| number(&ran.printed, key);
            assert_eq!(n("seconds"), 0.3, "{}", ran.printed);
            assert!(algorithm != "pagerank" || n("searches") == 0.0, "{}", ran.printed);
            assert!(algorithm != "bfs" || n("pageranks") == 0.0, "{}", ran.printed);
            let ended = match algorithm {
                "bfs" => n("searches"),
                "pagerank" => n("pageranks"),
                _ => n("searches").min(n("pageranks")),
            };
            if n("accesses") < 1e5 || ended == 0.0 {
                return Err(ran.printed);
            }
        }
        Ok(())
    });
}

#[test]
fn a_seed_gives_the_same_accesses() {
    for program in [
        "hot-cold --size 16M --hot 4M",
        "uniform --size 16M",
        "zipf --size 16M --keys scattered",
        "gups --size 16M",
        "pointer-chase --size 4M",
        "spin --size 16M --order random --pages 4",
        "graph --scale 10",
    ] {
        let checksum = |seed: u32| {
            let line = format!("{program} --page-size 4K --accesses 300001 --seed {seed}");
            let printed = run(&line).unwrap();
            let from = printed.find("checksum=").unwrap();
            printed[from..from + 27].to_owned()
        };
        assert_eq!(checksum(1), checksum(1), "{program}");
        assert_ne!(checksum(1), checksum(2), "{program}");
    }
}
