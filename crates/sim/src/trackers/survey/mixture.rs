//! How the rates of units that are asked together are distributed, by what was seen of them, and what that says of one (empirical
//! Bayes; B. Efron, Large-Scale Inference, 2010, chapter 1).

use pagetide_types::KEEP;

/// Rates: none, and from one in three minutes on each 1.4 times the one before, up to half a million a second.
const RATES: usize = 55;
/// Steps of the fit (expectation maximization).
const STEPS: usize = 30;
/// Visits that saw as much count as one where their times differ by less than a twelfth: a factor of 2 in so many steps.
const OCTAVE: f64 = 8.0;
/// Before anything was seen all rates are as likely, which counts for so many visits.
const UNKNOWN: f64 = 1e-3;

/// See the module. Visits for each rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixture([f64; RATES]);

impl Default for Mixture {
    fn default() -> Self {
        Self([UNKNOWN / RATES as f64; RATES])
    }
}

impl Mixture {
    /// Adds an interval's visits, each so many accesses in so many seconds.
    pub(super) fn learn(&mut self, visits: &[[f64; 2]]) {
        let before = self.0.map(|visits| f64::from(KEEP) * visits);
        let mut places: Vec<[i64; 2]> = visits.iter().map(place).collect();
        places.sort_unstable();
        let alike: Vec<(f64, [f64; RATES])> = places
            .chunk_by(|one, next| one == next)
            .map(|some| (some.len() as f64, likely(&visit_at(some[0]))))
            .collect();
        for _ in 0..STEPS {
            let mut next = before;
            for (visits, likely) in &alike {
                let posterior = self.posterior(likely);
                next.iter_mut().zip(posterior).for_each(|(next, part)| *next += visits * part);
            }
            self.0 = next;
        }
    }

    /// Accesses a second of a unit on average.
    pub(super) fn mean(&self) -> f64 {
        let all: f64 = self.0.iter().sum();
        self.0.iter().enumerate().map(|(at, visits)| visits * rate(at)).sum::<f64>() / all
    }

    /// Accesses a second of a unit by one visit.
    pub(super) fn rate(&self, visit: &[f64; 2]) -> f64 {
        self.posterior(&likely(visit))
            .into_iter()
            .enumerate()
            .map(|(at, part)| part * rate(at))
            .sum()
    }

    /// How likely each rate is, where a visit makes them so likely.
    fn posterior(&self, likely: &[f64; RATES]) -> [f64; RATES] {
        let parts: [f64; RATES] = std::array::from_fn(|at| self.0[at] * likely[at]);
        let all: f64 = parts.iter().sum();
        if all > 0.0 { parts.map(|part| part / all) } else { *likely }
    }
}

fn rate(at: usize) -> f64 {
    if at == 0 { 0.0 } else { (at as f64 / 2.0 - 8.0).exp2() }
}

/// Alike for visits that are.
#[expect(clippy::cast_possible_truncation, reason = "a logarithm")]
fn place([count, time_s]: &[f64; 2]) -> [i64; 2] {
    [(256.0 * count).round() as i64, (time_s.log2() * OCTAVE).round() as i64]
}

fn visit_at([count, time]: [i64; 2]) -> [f64; 2] {
    [count as f64 / 256.0, (time as f64 / OCTAVE).exp2()]
}

/// How likely each rate makes what was seen, over the likeliest.
fn likely([count, time_s]: &[f64; 2]) -> [f64; RATES] {
    let log =
        |rate: f64| if *count > 0.0 { count * rate.ln() - rate * time_s } else { -rate * time_s };
    let logs: [f64; RATES] = std::array::from_fn(|at| log(rate(at)));
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.map(|log| (log - most).exp())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Visits of looks after 4 ms, and after twice as long each time, up to 2 s, of units with rates drawn from these.
    pub(in super::super) fn visits(rates: &[f64], count: usize) -> Vec<[f64; 2]> {
        let mut state = 1_u64;
        let mut wait = |mean_s: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            -mean_s * ((state >> 11) as f64 / 2_f64.powi(53)).ln()
        };
        let looks = || (0..10).map(|look| 0.004 * f64::from(look).exp2());
        let seen = |at: usize| {
            let wait_s = wait(rates[at % rates.len()].recip());
            let before_s = looks().rfind(|look| *look < wait_s).unwrap_or(0.0);
            let after_s = looks().find(|look| *look >= wait_s);
            after_s.map_or([0.0, before_s], |after_s| [1.0, f64::midpoint(before_s, after_s)])
        };
        (0..count).map(seen).collect()
    }

    #[test]
    fn a_visit_of_one_access_says_what_others_like_it_say() {
        for rates in [&[250.0][..], &[30.0], &[300.0, 1.0], &[100.0, 10.0]] {
            let visits = visits(rates, 2000);
            let mut mixture = Mixture::default();
            mixture.learn(&visits);
            let mean = visits.iter().map(|visit| mixture.rate(visit)).sum::<f64>() / 2000.0;
            let truth = rates.iter().sum::<f64>() / rates.len() as f64;
            assert!((0.8..1.25).contains(&(mean / truth)), "{rates:?}: {mean} on average");
            assert!((mixture.mean() / mean - 1.0).abs() < 0.05, "{}", mixture.mean());
            // Those that the first look sees, and the last one, alone would say 500 and 0.7.
            let [soon, late] = [0.002, 1.5].map(|time_s| mixture.rate(&[1.0, time_s]));
            let hottest = rates[0];
            assert!((0.6..1.6).contains(&(soon / hottest)), "{rates:?}: {soon}");
            assert!(late < 1.2 * rates[rates.len() - 1], "{rates:?}: {late}");
        }
    }
}
