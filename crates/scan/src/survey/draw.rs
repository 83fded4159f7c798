//! Which regions are visited in an epoch, and in which wave: a systematic sample with known
//! probabilities (Madow 1949). Every wave takes every n-th point, so that it is a miniature of all
//! memory.

/// An epoch's plan of visits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Draw {
    /// Regions of each wave, ascending; no region twice in one.
    pub(crate) waves: Vec<Vec<usize>>,
    /// How often each region is visited on average over all draws.
    pub(crate) expected: Vec<f64>,
}

/// Draws about `visits` visits to regions in waves of about `size`. `wanted`: by region, the
/// standard deviation of what a visit adds to the total; 0 for regions that cannot be visited.
/// `floor`: by region, its size in pages: so that nothing is never looked at.
///
/// Where all fit, each region that can be visited has one visit at least, and what is left goes to
/// those where it steadies the total most (Neyman 1934).
pub(crate) fn draw(
    wanted: &[f64],
    floor: &[f64],
    visits: f64,
    size: usize,
    random: &mut impl FnMut() -> f64,
) -> Draw {
    let expected = expected(wanted, floor, visits);
    let total: f64 = expected.iter().sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
    let count = {
        // As many as the region that is visited most needs, for a wave visits it once.
        let most = expected.iter().copied().fold(0.0, f64::max).ceil();
        (total / size.max(1) as f64).round().max(most).max(1.0) as usize
    };
    let mut waves = vec![Vec::new(); if total > 0.0 { count } else { 0 }];
    // Waves in random order: two visits to one region are not always close to each other.
    let mut order: Vec<usize> = (0..waves.len()).collect();
    for i in (1..order.len()).rev() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below i + 1")]
        let other = (random() * (i + 1) as f64) as usize;
        order.swap(i, other.min(i));
    }
    let (mut sum, mut next, mut point) = (0.0, random(), 0);
    for (region, expected) in expected.iter().enumerate() {
        sum += expected;
        while next < sum {
            waves[order[point % count]].push(region);
            point += 1;
            next += 1.0;
        }
    }
    for wave in &mut waves {
        wave.dedup();
    }
    Draw { waves, expected }
}

/// Waves of about `size` that visit each of `regions`, which ascend, once; every wave takes every n-th.
pub(crate) fn each_once(regions: &[usize], size: usize) -> Vec<Vec<usize>> {
    let count = regions.len().div_ceil(size.max(1));
    (0..count).map(|wave| regions.iter().skip(wave).step_by(count).copied().collect()).collect()
}

/// How often each region is to be visited.
fn expected(wanted: &[f64], floor: &[f64], visits: f64) -> Vec<f64> {
    let can: Vec<bool> = wanted.iter().map(|wanted| *wanted > 0.0).collect();
    let regions = can.iter().filter(|can| **can).count() as f64;
    if regions == 0.0 || visits <= 0.0 {
        return vec![0.0; wanted.len()];
    }
    let (all_wanted, all_floor) = (
        wanted.iter().sum::<f64>(),
        floor.iter().zip(&can).filter(|(_, can)| **can).map(|(floor, _)| floor).sum::<f64>(),
    );
    let (base, rest) = if visits >= regions { (1.0, visits - regions) } else { (0.0, visits) };
    let share = |region: usize| {
        let by_size = if all_floor > 0.0 { floor[region] / all_floor } else { 1.0 / regions };
        let by_want = wanted[region] / all_wanted;
        (by_size + by_want) / 2.0
    };
    let of = |region: usize| if can[region] { base + rest * share(region) } else { 0.0 };
    let limit = if base > 0.0 { MOST } else { 1.0 };
    (0..wanted.len()).map(|region| of(region).min(limit)).collect()
}

/// Visits of one region per epoch at most.
const MOST: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::simulated::random;

    #[test]
    fn a_region_is_drawn_as_often_as_is_said() {
        let wanted: Vec<f64> = (0..50).map(|i| f64::from(i * i)).collect();
        let floor = vec![512.0; 50];
        let mut count = [0.0; 50];
        let mut random = random(3);
        let mut said = Vec::new();
        for _ in 0..4000 {
            let drawn = draw(&wanted, &floor, 20.0, 8, &mut random);
            drawn.waves.iter().flatten().for_each(|region| count[*region] += 1.0 / 4000.0);
            said = drawn.expected;
        }
        assert_eq!(said[0], 0.0, "what cannot be visited is not");
        for (said, count) in said.iter().zip(count) {
            assert!((said - count).abs() < 0.04, "{said} {count}");
        }
        assert!(said[49] > 2.0 * said[1]);
    }

    #[test]
    fn where_all_fit_none_is_left_out() {
        let wanted = vec![1.0; 100];
        let drawn = draw(&wanted, &vec![512.0; 100], 250.0, 32, &mut random(1));
        let mut visits = [0; 100];
        drawn.waves.iter().flatten().for_each(|region| visits[*region] += 1);
        assert!(visits.iter().all(|visits| *visits >= 1), "{visits:?}");
        assert!(drawn.waves.iter().all(|wave| wave.is_sorted_by(|a, b| a < b)));
        assert_eq!(drawn.waves.len(), 8);
    }

    #[test]
    fn few_regions_are_visited_as_often_as_is_said() {
        let drawn = draw(&[1.0, 4.0, 1.0], &[512.0; 3], 800.0, 32, &mut random(1));
        assert_eq!(drawn.expected, [16.0; 3]);
        assert_eq!(drawn.waves.len(), 16);
        assert!(drawn.waves.iter().all(|wave| wave == &[0, 1, 2]));
    }

    #[test]
    fn waves_that_visit_each_once_are_miniatures() {
        let regions: Vec<usize> = (0..70).map(|i| 3 * i).collect();
        let waves = each_once(&regions, 32);
        assert_eq!(waves.iter().map(Vec::len).collect::<Vec<_>>(), [24, 23, 23]);
        assert_eq!(waves[1][..3], [3, 12, 21]);
        let mut all = waves.concat();
        all.sort_unstable();
        assert_eq!(all, regions);
        assert_eq!(each_once(&[], 32).len(), 0);
    }

    #[test]
    fn nothing_to_visit_makes_no_waves() {
        assert_eq!(draw(&[], &[], 100.0, 32, &mut random(1)).waves.len(), 0);
        assert_eq!(draw(&[0.0; 3], &[1.0; 3], 100.0, 32, &mut random(1)).waves.len(), 0);
    }
}
