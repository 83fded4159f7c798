//! What `rate` makes of a recorder that pools what it sees: rates are posterior means of the
//! memory traffic, over all epochs since a unit last changed, and what nobody watched in an epoch
//! keeps its rate and is not `sampled`.

use crate::dice::Dice;
use pagetide_policy::{Decider, Now, PolicySpec};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

const UNITS: usize = 1000;
/// Sightings per access/s in an epoch that watches a unit: some ten of a unit of 1000/s.
const EXPOSURE: f64 = 0.01;
/// The prior: a gamma distribution of this shape around the mean of all units.
const SHAPE: f64 = 0.5;
/// Standard deviations by which sightings must be unlikely to end what was pooled before.
const CHANGED: f64 = 4.0;

/// What a recorder knows of a unit.
#[derive(Clone, Copy, Default)]
struct Pooled {
    sightings: f64,
    exposure: f64,
}

impl Pooled {
    /// Mean and shape of the posterior, accesses/s.
    fn posterior(self, prior_mean: f64) -> (f64, f64) {
        let shape = SHAPE + self.sightings;
        (shape / (SHAPE / prior_mean + self.exposure), shape)
    }

    /// Takes in an epoch; forgets those before if they cannot explain it.
    fn watch(&mut self, sightings: f64, prior_mean: f64) {
        let (mean, shape) = self.posterior(prior_mean);
        let expected = mean * EXPOSURE;
        let variance = expected + expected * expected / shape;
        if self.exposure > 0.0 && (sightings - expected).abs() > CHANGED * variance.sqrt() + 1.0 {
            *self = Self::default();
        }
        self.sightings += sightings;
        self.exposure += EXPOSURE;
    }
}

/// A recording: of every epoch the heat, and which units were watched.
struct Recorded {
    epochs: Vec<EpochHeat>,
    watched: Vec<Vec<bool>>,
}

/// Records `truth(epoch, unit)` accesses/s, watching a share of the units in each epoch.
fn record(
    epochs: u32,
    watched: f64,
    huge: bool,
    dice: &mut Dice,
    truth: impl Fn(u32, usize) -> f64,
) -> Recorded {
    let prior_mean = (0..UNITS).map(|unit| truth(0, unit)).sum::<f64>() / UNITS as f64;
    let mut pooled = vec![Pooled::default(); UNITS];
    let mut recorded = Recorded { epochs: Vec::new(), watched: Vec::new() };
    for epoch in 0..epochs {
        let mut heat = EpochHeat::new(EpochId(epoch));
        // Everything is watched at first, as it is resident for long before it counts.
        let seen: Vec<bool> = (0..UNITS).map(|_| epoch == 0 || dice.even() < watched).collect();
        for (number, pooled) in (0..).zip(&mut pooled) {
            let unit = number as usize;
            let mut flags = if huge { HeatFlags::HUGE } else { HeatFlags::default() };
            if seen[unit] {
                let sightings = dice.count(truth(epoch, unit) * EXPOSURE);
                pooled.watch(sightings, prior_mean);
                flags |= HeatFlags::SAMPLED | HeatFlags::ACCESSED;
            }
            #[expect(clippy::cast_possible_truncation, reason = "a rate to seven digits")]
            let rate = pooled.posterior(prior_mean).0 as f32;
            let (unit, pages, node) = (UnitId(number), 512, NodeId(0));
            heat.push(HeatRow { unit, rate, flags, pages, watched: 0, touched: 0, node });
        }
        recorded.epochs.push(heat);
        recorded.watched.push(seen);
    }
    recorded
}

/// What is fast after the decision at the end of every epoch, when `part` of the units fit.
fn fast_sets(spec: &str, recorded: &Recorded, part: f64) -> Vec<Vec<bool>> {
    let Ok(spec) = spec.parse::<PolicySpec>() else { panic!("{spec}") };
    let mut decider = Decider::new(&spec);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part")]
    let capacity = Bytes::kib((UNITS as f64 * part) as u64 * 2048);
    let decide = recorded.epochs.iter().map(|heat| {
        decider.arrive(heat);
        let fast = decider.fast(heat, capacity);
        let now = Now {
            length_s: 5.0,
            free_moves: false,
            capacity,
            fast: &fast,
            movable: None,
            next: None,
        };
        decider.decide(heat, &now);
        decider.fast(heat, capacity)
    });
    decide.collect()
}

/// Units promoted by each decision but the first.
fn promoted(sets: &[Vec<bool>]) -> Vec<usize> {
    let enter =
        |pair: &[Vec<bool>]| pair[0].iter().zip(&pair[1]).filter(|(a, b)| !**a && **b).count();
    sets.windows(2).map(enter).collect()
}

/// Units of a Zipf distribution with this exponent, in random order: accesses/s.
fn zipf(exponent: f64, dice: &mut Dice) -> Vec<f64> {
    let mut rates: Vec<f64> = (1..=UNITS).map(|rank| 3e5 / (rank as f64).powf(exponent)).collect();
    for at in (1..UNITS).rev() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        rates.swap(at, (dice.even() * at as f64) as usize);
    }
    rates
}

/// The share of the traffic that a set serves.
fn served(set: &[bool], truth: impl Fn(usize) -> f64) -> f64 {
    let fast: f64 = (0..UNITS).filter(|unit| set[*unit]).map(&truth).sum();
    fast / (0..UNITS).map(&truth).sum::<f64>()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part")]
fn ideal(truth: &[f64], part: f64) -> f64 {
    let mut sorted = truth.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let fast = (UNITS as f64 * part) as usize;
    sorted[..fast].iter().sum::<f64>() / sorted.iter().sum::<f64>()
}

/// Every difference counts, and only the last epoch does.
const NAIVE: &str = "rate:steps=256";

#[test]
fn pooled_rates_are_ranked_well_and_move_little() {
    for (exponent, watched) in [(0.5, 1.0), (1.0, 1.0), (0.5, 0.4), (1.0, 0.4)] {
        for (part, huge) in [(0.2, true), (0.5, true), (0.2, false), (0.5, false)] {
            let mut dice = Dice(17);
            let truth = zipf(exponent, &mut dice);
            let recorded = record(40, watched, huge, &mut dice, |_, unit| truth[unit]);
            let sets = fast_sets("rate", &recorded, part);
            let case = format!("exponent {exponent}, watched {watched}, part {part}, huge {huge}");
            let share = served(&sets[39], |unit| truth[unit]) / ideal(&truth, part);
            assert!(share > if huge { 0.98 } else { 0.96 }, "{case}: {share}");
            let late: usize = promoted(&sets)[10..].iter().sum();
            assert!(late <= 29 * UNITS / 100, "{case}: {late}");
        }
    }
}

#[test]
fn among_equals_what_is_left_of_the_noise_moves_next_to_nothing() {
    for rate in [300.0, 1000.0, 1e4, 3e5] {
        for watched in [1.0, 0.4] {
            let mut dice = Dice(17);
            let recorded = record(40, watched, true, &mut dice, |_, _| rate);
            let moves = promoted(&fast_sets("rate", &recorded, 0.5));
            let naive: usize = promoted(&fast_sets(NAIVE, &recorded, 0.5)).iter().sum();
            let all: usize = moves.iter().sum();
            // In exchange for something at 0.8 ms each: 0.2 % of the time at most, for 2 GB.
            assert!(all <= 39 * UNITS / 100, "{rate}, {watched}: {moves:?}");
            assert!(naive > 2 * all, "{rate}, {watched}: {all}, {naive}");
        }
    }
}

#[test]
fn a_change_is_followed_within_two_decisions_that_saw_it() {
    const CHANGE: usize = 15;
    for (hot, cold, huge) in
        [(2e4, 200.0, false), (2e4, 5e3, false), (2e4, 200.0, true), (2e4, 5e3, true)]
    {
        for (watched, part) in [(1.0, 0.25), (1.0, 0.5), (0.5, 0.5)] {
            let mut dice = Dice(5);
            let late = |unit: usize| unit % 4 == 3;
            let truth = |epoch: u32, unit: usize| {
                let is_hot = unit % 4 == if (epoch as usize) < CHANGE { 1 } else { 3 };
                if is_hot { hot } else { cold }
            };
            let recorded = record(30, watched, huge, &mut dice, truth);
            let sets = fast_sets("rate", &recorded, part);
            let case = format!("{hot} {cold}, huge {huge}, watched {watched}, part {part}");
            let (mut followed, mut all) = (0, 0);
            for unit in (0..UNITS).filter(|unit| late(*unit)) {
                // The decision at the end of the second epoch that watched it.
                let saw = (CHANGE..30).filter(|epoch| recorded.watched[*epoch][unit]).nth(1);
                if let Some(saw) = saw {
                    all += 1;
                    followed += usize::from(sets[saw][unit]);
                }
            }
            assert!(followed * 100 >= all * 98 && all > 240, "{case}: {followed} of {all}");
            let moves: usize = promoted(&sets)[CHANGE - 1..].iter().sum();
            assert!(moves <= UNITS / 4 + UNITS / 50, "{case}: {moves}");
        }
    }
}
