//! The micro-test of Adaptive (section 5.2) as counters alone: of 80 GB a random 30 are accessed for
//! five minutes, then 60 that contain them, then the 30 again, with 16 GB of fast memory. None of
//! the sets fits, so migration is to stop in each phase, and to restart where the phases meet.

use crate::dice::Dice;
use crate::governed::{Second, Turn, times, turns};

const PHASE_S: u32 = 300;
/// Pages of a hot page's memory that are found by a hint fault in a second, as a part.
const FAULTS: f64 = 0.04;

/// Memory under TPP: a page that is accessed and slow goes up when a hint fault finds it; what is not
/// accessed goes down first, then anything.
struct Memory {
    dice: Dice,
    /// What each stands for, MiB.
    page_mib: f64,
    fast: Vec<bool>,
    promoted: Vec<bool>,
    /// 0: accessed in all phases; 1: in the second; 2: never.
    rank: Vec<u8>,
}

impl Memory {
    fn new(pages: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let mut order: Vec<(f64, usize)> = (0..pages).map(|page| (dice.even(), page)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut rank = vec![2; pages];
        for (at, (_, page)) in order.iter().enumerate() {
            rank[*page] = u8::from(at >= pages * 3 / 8) + u8::from(at >= pages * 6 / 8);
        }
        let fast = (0..pages).map(|page| page < pages / 5).collect();
        let page_mib = 80.0 * 1024.0 / pages as f64;
        Self { dice, page_mib, fast, promoted: vec![false; pages], rank }
    }

    fn second(&mut self, second: u32, migrates: bool) -> Second {
        let hot = if second / PHASE_S == 1 { 1 } else { 0 };
        let pages = self.rank.len();
        let mut ups = Vec::new();
        for page in (0..pages).filter(|_| migrates) {
            let finds = self.rank[page] <= hot && !self.fast[page];
            if finds && self.dice.even() < FAULTS {
                ups.push(page);
            }
        }
        let (cold, warm): (Vec<usize>, Vec<usize>) =
            (0..pages).filter(|page| self.fast[*page]).partition(|page| self.rank[*page] > hot);
        let mut victims = [self.shuffled(cold), self.shuffled(warm)].concat().into_iter();
        let mut again = 0;
        for (up, down) in ups.iter().zip(&mut victims) {
            (self.fast[*up], self.promoted[*up]) = (true, true);
            self.fast[down] = false;
            again += u32::from(std::mem::take(&mut self.promoted[down]));
        }
        Second {
            up: ups.len() as f64 * self.page_mib,
            again: f64::from(again) * self.page_mib,
            accessed: self.accessed(hot),
            ..Second::default()
        }
    }

    fn shuffled(&mut self, pages: Vec<usize>) -> Vec<usize> {
        let mut keyed: Vec<(f64, usize)> =
            pages.into_iter().map(|page| (self.dice.even(), page)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        keyed.into_iter().map(|(_, page)| page).collect()
    }

    /// By one entry of eight pages.
    fn accessed(&mut self, hot: u8) -> f64 {
        let entries: Vec<u8> = self.rank.iter().step_by(8).copied().collect();
        let seen = entries.iter().filter(|rank| **rank <= hot && self.dice.even() < 0.98).count();
        seen as f64 / entries.len() as f64
    }
}

fn run(spec: &str, pages: usize, seed: u64, epoch_s: u32) -> Vec<Turn> {
    let mut memory = Memory::new(pages, seed);
    turns(spec, 3 * PHASE_S, epoch_s, |second, migrates| memory.second(second, migrates))
}

/// One stop in each phase, one restart at the start of the second and of the third.
fn as_published(turns: &[Turn]) -> bool {
    let phase = |at_s: f64| (at_s / f64::from(PHASE_S)).floor();
    let (stops, restarts) = times(turns);
    let stops: Vec<f64> = stops.into_iter().map(phase).collect();
    let restarts: Vec<f64> = restarts.into_iter().map(phase).collect();
    stops == [0.0, 1.0, 2.0] && restarts == [1.0, 2.0]
}

#[test]
fn three_stops_and_two_restarts_at_two_scales_and_lengths_of_an_epoch() {
    for (pages, epoch_s) in [(5120, 1), (5120, 5), (1280, 1), (1280, 2)] {
        for spec in ["adaptive", BARE] {
            let right = |seed: &u64| as_published(&run(spec, pages, *seed, epoch_s));
            let right: Vec<u64> = (1..=10).filter(right).collect();
            assert!(right.len() >= 9, "{spec}, {pages} pages, {epoch_s} s: only seeds {right:?}");
        }
    }
}

/// As published: without the rules of ours.
pub(crate) const BARE: &str = "adaptive:churn=0,patience=0,floor=0,backoff=1";

#[test]
fn the_second_stop_comes_sooner_after_its_restart_than_the_first_after_the_start() {
    let (stops, restarts) = times(&run("adaptive", 5120, 1, 1));
    assert!(stops[1] - restarts[0] < stops[0], "{stops:?} {restarts:?}");
}

#[test]
fn it_says_why() {
    let turns = run("adaptive", 5120, 1, 1);
    assert!(turns[0].reason.starts_with("ping-pong: of "), "{turns:?}");
    assert!(turns[0].reason.contains(" promoted in 16 s, "), "{turns:?}");
    assert!(turns[1].reason.starts_with("accesses changed: "), "{turns:?}");
}
