//! The burst engine against a simulated process whose rates are known.

use super::*;
use crate::evidence::{Estimate, Evidence};
use crate::simulated::Simulated;

fn pieces(count: u32, huge: bool) -> Vec<Piece> {
    (0..count).map(|unit| Piece::whole(unit, huge)).collect()
}

/// Epochs of 5 s at 1 % of a core; the rates of one epoch are known to the next.
fn run(eyes: &mut Simulated, pieces: &mut [Piece], epochs: usize) -> (Vec<Sample>, Tally) {
    run_on(eyes, pieces, &mut vec![Evidence::default(); pieces.len()], epochs)
}

/// The same, with what earlier epochs have seen.
fn run_on(
    eyes: &mut Simulated,
    pieces: &mut [Piece],
    memory: &mut [Evidence],
    epochs: usize,
) -> (Vec<Sample>, Tally) {
    let mut last = None;
    for _ in 0..epochs {
        let whole = |(i, piece): (usize, &Piece)| Sample::new(i, piece.range, piece);
        let samples = pieces.iter().enumerate().map(whole).collect();
        let limits = Limits::simple(eyes.now + 5_000_000_000, 25_000_000, 50_000_000);
        let outcome = Bursts::new(eyes, pieces, samples, limits).run(&|| false);
        for sample in &outcome.samples {
            let pages = if sample.huge { 1.0 } else { f32::from(sample.present) };
            let estimate = memory[sample.piece].learn(&sample.evidence, !sample.huge);
            pieces[sample.piece].saturated = matches!(estimate, Estimate::AtLeast(_));
            pieces[sample.piece].rate = Some(match estimate {
                Estimate::Rate(rate) | Estimate::AtLeast(rate) => rate * pages,
                Estimate::Unseen | Estimate::Nothing => 0.0,
            });
        }
        last = Some((outcome.samples, outcome.tally));
    }
    last.unwrap()
}

fn rates(pieces: &[Piece]) -> Vec<f64> {
    pieces.iter().map(|piece| f64::from(piece.rate.unwrap())).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn huge_pages_from_hottest_to_coldest_get_their_rates() {
    // Five classes of 40 huge pages: 400,000/s down to 0.04/s, and one that is never touched.
    let classes = [400_000.0, 10_000.0, 200.0, 5.0, 0.3, 0.0];
    let truth: Vec<f64> = classes.iter().flat_map(|rate| [*rate; 40]).collect();
    let mut eyes = Simulated::new(true, truth);
    let mut pieces = pieces(240, true);
    let (mut samples, mut sums) = (Vec::new(), vec![0.0; classes.len()]);
    let mut memory = vec![Evidence::default(); pieces.len()];
    for epoch in 0..8 {
        samples = run_on(&mut eyes, &mut pieces, &mut memory, 1).0;
        if epoch >= 2 {
            for (class, sum) in sums.iter_mut().enumerate() {
                *sum += mean(&rates(&pieces)[class * 40..][..40]) / 6.0;
            }
        }
    }
    for (rate, found) in classes.iter().zip(&sums) {
        assert!((found - rate).abs() <= 0.25 * rate, "{rate}: {sums:?}");
    }
    let accessed = samples.iter().filter(|sample| sample.accessed && sample.piece < 160).count();
    assert_eq!(accessed, 160, "all but the coldest were accessed in the epoch");
    assert!(samples.iter().all(|sample| sample.piece < 200 || !sample.accessed));
}

#[test]
fn a_process_that_is_put_aside_half_of_the_time_is_no_colder() {
    let classes = [100_000.0, 1_000.0];
    let mut eyes = Simulated::new(true, classes.iter().flat_map(|rate| [*rate; 40]));
    eyes.running = 0.5;
    let mut pieces = pieces(80, true);
    run(&mut eyes, &mut pieces, 4);
    let found = rates(&pieces);
    for (class, rate) in classes.iter().enumerate() {
        let average = mean(&found[class * 40..][..40]);
        assert!((average - rate).abs() <= 0.2 * rate, "{rate}: {average} per second of CPU time");
    }
}

#[test]
fn base_pages_count_by_their_hottest() {
    // In every unit 4 pages of 1,000/s, 60 of 5/s and 448 of 0.002/s: 4,301/s.
    let unit = |page: usize| match page % 512 {
        0..4 => 1_000.0,
        4..64 => 5.0,
        _ => 0.002,
    };
    let mut eyes = Simulated::new(false, (0..64 * 512).map(unit));
    let mut pieces = pieces(64, false);
    run(&mut eyes, &mut pieces, 3);
    let average = mean(&rates(&pieces));
    assert!((average / 4_301.0 - 1.0).abs() < 0.2, "{average}");
}

#[test]
fn the_budget_is_kept_and_every_batch_has_its_burst() {
    let mut eyes = Simulated::new(false, (0..128 * 512).map(|page| f64::from(page % 700)));
    let mut pieces = pieces(128, false);
    let before = eyes.cpu;
    let (samples, tally) = run(&mut eyes, &mut pieces, 1);
    let used = eyes.cpu - before;
    assert!(used < 55_000_000, "{used} ns of 50 ms");
    assert!(used > 25_000_000, "{used} ns: the budget is there to be used");
    assert_eq!(tally.starved, 0);
    assert!(samples.iter().all(|sample| sample.watched));
    assert!(tally.longest_clear_ns < 100_000, "a call clears 2 MiB at most: {tally:?}");
}

#[test]
fn a_process_that_goes_away_ends_the_epoch() {
    let mut eyes = Simulated::new(true, [1000.0; 10]);
    eyes.gone_at = 100_000_000;
    let pieces = pieces(10, true);
    let samples: Vec<Sample> =
        pieces.iter().enumerate().map(|(i, piece)| Sample::new(i, piece.range, piece)).collect();
    let limits = Limits::simple(5_000_000_000, 25_000_000, 50_000_000);
    let outcome = Bursts::new(&mut eyes, &pieces, samples, limits).run(&|| false);
    assert_eq!(outcome.lost, [0]);
    assert!(eyes.now < 4_000_000_000, "noticed when next looked at, not at the end of the epoch");
}
