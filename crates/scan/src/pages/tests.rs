//! Rates of single pages against a simulated process whose rates are known.

use super::{Pages, REGION, has};
use crate::burst::Bursts;
use crate::evidence::{Estimate, Evidence};
use crate::pacing::Limits;
use crate::piece::Piece;
use crate::row::Range;
use crate::sample::Sample;
use crate::simulated::Simulated;

/// A program of `rates.len() / 512` pieces and what the recorder knows of it.
struct Recorded {
    eyes: Simulated,
    pieces: Vec<Piece>,
    memory: Vec<Evidence>,
    epoch: u64,
}

impl Recorded {
    fn new(rates: Vec<f64>) -> Self {
        let count = u32::try_from(rates.len() / REGION).unwrap();
        let pages = Pages { resident: [u64::MAX; 8], ..Pages::default() };
        let pieces: Vec<Piece> = (0..count)
            .map(|unit| Piece { pages: Some(Box::new(pages.clone())), ..Piece::whole(unit, false) })
            .collect();
        let memory = vec![Evidence::default(); pieces.len()];
        Self { eyes: Simulated::new(false, rates), pieces, memory, epoch: 0 }
    }

    /// An epoch of 5 s at 1 % of a core; of each piece one of `windows` parts is watched.
    fn epoch(&mut self, windows: u64) {
        let part = (1 << 21) / windows;
        let window = |piece: &Piece| {
            let start = piece.range.start + self.epoch % windows * part;
            Range { start, end: start + part }
        };
        let samples: Vec<Sample> = self
            .pieces
            .iter()
            .enumerate()
            .map(|(i, piece)| Sample::new(i, window(piece), piece))
            .collect();
        let limits = Limits::simple(self.eyes.now + 5_000_000_000, 25_000_000, 50_000_000);
        let outcome = Bursts::new(&mut self.eyes, &self.pieces, samples, limits).run(&|| false);
        for sample in outcome.samples {
            let piece = &mut self.pieces[sample.piece];
            let memory = &mut self.memory[sample.piece];
            let estimate = memory.learn(&sample.evidence, true);
            piece.saturated = matches!(estimate, Estimate::AtLeast(_));
            piece.rate = Some(match estimate {
                Estimate::Rate(rate) | Estimate::AtLeast(rate) => rate * 512.0,
                Estimate::Unseen | Estimate::Nothing => 0.0,
            });
            let mean = f64::from(piece.mean_rate());
            let (pages, trials) = (piece.pages.as_mut().unwrap(), sample.pages.unwrap());
            pages.begin();
            pages.learn(&trials, mean, memory, piece.saturated);
        }
        self.epoch += 1;
    }

    fn rates(&self) -> Vec<f64> {
        let rate = |piece: &Piece, page| {
            f64::from(piece.pages.as_ref().and_then(|pages| pages.rates()).map_or(0.0, |r| r[page]))
        };
        self.pieces
            .iter()
            .flat_map(|piece| (0..REGION).map(move |page| rate(piece, page)))
            .collect()
    }
}

/// Mean, and the tenth, fiftieth and ninetieth percentile.
fn spread_of(mut rates: Vec<f64>) -> (f64, [f64; 3]) {
    rates.sort_by(f64::total_cmp);
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    (mean, [1, 5, 9].map(|tenth| rates[rates.len() * tenth / 10]))
}

fn sum(rates: &[f64]) -> f64 {
    rates.iter().sum()
}

/// 5,000/s, 2,500/s, 1,667/s... scattered over the pages.
fn zipf(pages: usize) -> Vec<f64> {
    (0..pages).map(|page| 5_000.0 / ((page * 7919 % pages) as f64 + 1.0)).collect()
}

#[test]
fn single_pages_from_hot_to_cold_get_their_rates() {
    // Neighbours differ by up to 100,000 times.
    let classes = [3_000.0, 300.0, 30.0, 3.0, 0.3, 0.03];
    let truth: Vec<f64> = (0..64 * REGION).map(|page| classes[page * 31 % 6]).collect();
    let mut recorded = Recorded::new(truth.clone());
    for (epochs, [wide, mean_off]) in [(2, [2.0, 0.35]), (6, [1.5, 0.2])] {
        (0..epochs).for_each(|_| recorded.epoch(1));
        let found = recorded.rates();
        for class in classes {
            let of = truth.iter().zip(&found).filter(|(rate, _)| **rate == class);
            let (mean, [tenth, middle, ninetieth]) = spread_of(of.map(|(_, rate)| *rate).collect());
            let case = format!("{class}/s after {epochs}: {mean} {tenth} {middle} {ninetieth}");
            assert!((middle / class - 1.0).abs() < 0.12, "{case}");
            // The coldest are accessed once in 33 s: of them, one epoch says little.
            if class > 0.1 {
                assert!((mean / class - 1.0).abs() < mean_off, "{case}");
            }
            if class > 1.0 {
                assert!(tenth > class / wide && ninetieth < class * wide, "{case}");
            }
        }
        assert!((sum(&found) / sum(&truth) - 1.0).abs() < 0.1, "{}", sum(&found));
    }
}

#[test]
fn pages_that_are_alike_look_alike() {
    for rate in [100.0, 1.0, 0.05] {
        let mut recorded = Recorded::new(vec![rate; 32 * REGION]);
        (0..4).for_each(|_| recorded.epoch(1));
        let (mean, [tenth, _, ninetieth]) = spread_of(recorded.rates());
        assert!((mean / rate - 1.0).abs() < 0.1, "{rate}: {mean}");
        // One access is seen of most of them: their own rates would differ a hundredfold.
        assert!(tenth > rate / 1.6 && ninetieth < rate * 1.7, "{rate}: {tenth} {ninetieth}");
    }
}

#[test]
fn what_looks_hottest_is_as_hot_as_it_looks() {
    let truth = zipf(32 * REGION);
    let mut recorded = Recorded::new(truth.clone());
    (0..6).for_each(|_| recorded.epoch(1));
    let found = recorded.rates();
    assert!((sum(&found) / sum(&truth) - 1.0).abs() < 0.15, "{} {}", sum(&found), sum(&truth));
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|a, b| found[*b].total_cmp(&found[*a]));
    for first in [64, 512, 4096] {
        let of = |rates: &[f64]| order[..first].iter().map(|page| rates[*page]).sum::<f64>();
        let ratio = of(&found) / of(&truth);
        assert!((0.85..1.2).contains(&ratio), "the {first} hottest: {ratio}");
    }
}

#[test]
fn pages_not_watched_keep_their_rate_or_have_that_of_the_mean_watched_page() {
    let truth: Vec<f64> = (0..32 * REGION).map(|page| f64::from(page % 7 == 0) * 400.0).collect();
    let mut recorded = Recorded::new(truth.clone());
    recorded.epoch(4);
    let first = recorded.rates();
    assert!((sum(&first) / sum(&truth) - 1.0).abs() < 0.15, "{}", sum(&first));
    assert!(first[128..512].iter().all(|rate| *rate == first[128]), "nothing is known of them");
    recorded.epoch(4);
    assert_eq!(recorded.rates()[..128], first[..128], "they were watched in the first epoch");
    (2..8).for_each(|_| recorded.epoch(4));
    let found = recorded.rates();
    assert!((sum(&found) / sum(&truth) - 1.0).abs() < 0.15, "{}", sum(&found));
    let hottest_cold = (0..found.len()).filter(|page| page % 7 != 0).map(|page| found[page]);
    let hottest_cold = hottest_cold.fold(0.0, f64::max);
    let hidden = (0..found.len()).filter(|page| page % 7 == 0 && found[*page] < hottest_cold);
    assert_eq!(hidden.count(), 0, "every hot page is hotter than every cold one");
}

#[test]
fn pages_that_change_are_known_in_the_next_epoch() {
    let pages = 16 * REGION;
    let hot = |page: usize| page.is_multiple_of(5);
    let rates = (0..pages).map(|page| if hot(page) { 800.0 } else { 0.5 }).collect();
    let mut recorded = Recorded::new(rates);
    (0..4).for_each(|_| recorded.epoch(1));
    for page in 0..pages {
        recorded.eyes.set_rate(page as u64, if hot(page + 1) { 800.0 } else { 0.5 });
    }
    recorded.epoch(1);
    let found = recorded.rates();
    let class = |of: &dyn Fn(usize) -> bool| {
        spread_of((0..pages).filter(|p| of(*p)).map(|p| found[p]).collect()).0
    };
    let (new, old) = (class(&|page| hot(page + 1)), class(&|page| hot(page)));
    assert!(new > 400.0 && old < 40.0, "hot now: {new}, no longer: {old}");
}

#[test]
fn always_seen_is_marked_and_never_seen_is_no_more_than_its_neighbours() {
    // Every 64th page is hotter than the shortest gap can tell.
    let truth = (0..8 * REGION).map(|page| if page % 64 == 0 { 1e6 } else { 0.0 }).collect();
    let mut recorded = Recorded::new(truth);
    (0..9).for_each(|_| recorded.epoch(1));
    for piece in &recorded.pieces {
        let pages = piece.pages.as_ref().unwrap();
        for page in 0..REGION {
            let rate = pages.rates().unwrap()[page];
            let hot = page % 64 == 0;
            assert_eq!(has(&pages.saturated, page), hot, "{page}");
            assert_eq!(has(&pages.accessed, page), hot, "{page}");
            assert!(has(&pages.watched, page));
            assert!(if hot { rate > 1_000.0 } else { rate < 0.1 }, "{page}: {rate}");
        }
    }
}
