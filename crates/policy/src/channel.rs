//! What an access to slow memory is worth where that memory's bandwidth is short. Ours.
//!
//! An access that is waited for alone waits for the latency, and that is what [`CostBenefit::gain_ns`] says. Pages
//! that are read line after line are asked for ahead of use, so that each is waited for less
//! ([`CostBenefit::in_order`]). Where threads together ask for more than the
//! slow tier's channel carries, the program takes as long as the channel does (the roofline of Williams, Waterman and
//! Patterson 2009): an access less on it saves the time for which it would have kept the channel, to every core that waits.
//! Between an idle channel and a full one the price goes over with the fourth power of how full it is: queues are short
//! until it is nearly so.
//!
//! It takes for true that all cores wait for the channel alike, and that nobody else uses it.

use crate::CostBenefit;
use pagetide_types::EpochHeat;

/// A channel is full where lines that are read take this part of its time [I]: what is written back and what moves is
/// on it, too. Found with one simulated program, whose channel was busy for 96 % where a survey said 77.
const FULL: f64 = 0.8;
/// How steeply the price of an access rises as the channel fills.
const STEEP: i32 = 4;
/// An access that does not come in order keeps the channel for this part of the time of one that does: of the eight
/// lines that a touch of a page may stand for it needs one at least.
const ALONE: f64 = 1.0 / 8.0;
/// This part of all accesses is hardly any.
const HARDLY: f64 = 0.01;

/// What accesses count for in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth {
    /// One of those that come in order, and one of the others.
    in_order: f64,
    alone: f64,
}

impl Worth {
    /// Where the rows that `slow` names lie in slow memory, or did when their worth counts.
    pub(crate) fn of(
        heat: &EpochHeat,
        terms: &CostBenefit,
        slow: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let full = f64::from(heat.cores) * terms.channel_ns / terms.gain_ns;
        if heat.in_order.is_empty() || !(full > 0.0 && full.is_finite()) {
            return None;
        }
        let asked = |row: usize| {
            let rate = f64::from(heat.rate[row]);
            let in_order = heat.in_order_rate(row).min(rate);
            in_order + ALONE * (rate - in_order)
        };
        let per_s: f64 = (0..heat.len()).filter(|row| slow(*row)).map(asked).sum();
        let busy = (per_s * terms.channel_ns * 1e-9 / FULL).min(1.0).powi(STEEP);
        let alone = 1.0 + busy * full * ALONE;
        // Where hardly anything comes in order what seems to does so by chance.
        let ordered: f64 = (0..heat.len()).map(|row| heat.in_order_rate(row)).sum();
        let all: f64 = heat.rate.iter().map(|rate| f64::from(*rate)).sum();
        let counts = ordered > HARDLY * all;
        let in_order = terms.in_order + busy * (full - terms.in_order).max(0.0);
        Some(Self { in_order: if counts { in_order } else { alone }, alone })
    }

    /// Whether it says more than that each access counts once, but for a hundredth.
    pub(crate) fn tells(&self) -> bool {
        [self.in_order, self.alone].iter().any(|counts| (counts - 1.0).abs() > 0.01)
    }

    /// How often an access to the row counts.
    pub(crate) fn of_row(&self, heat: &EpochHeat, row: usize) -> f64 {
        let rate = f64::from(heat.rate[row]);
        let part = if rate > 0.0 { (heat.in_order_rate(row) / rate).clamp(0.0, 1.0) } else { 0.0 };
        self.alone + part * (self.in_order - self.alone)
    }

    /// The heat with each access as often as it counts.
    pub(crate) fn weigh(&self, heat: &EpochHeat) -> EpochHeat {
        let mut weighed = heat.clone();
        for row in 0..heat.len() {
            #[expect(clippy::cast_possible_truncation, reason = "a rate")]
            let counts = self.of_row(heat, row) as f32;
            weighed.rate[row] *= counts;
            for column in [&mut weighed.least, &mut weighed.traffic] {
                if let Some(value) = column.get_mut(row) {
                    *value *= counts;
                }
            }
        }
        weighed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatFlags, HeatRow, NodeId, UnitId};

    /// A line keeps the channel for 4 ns; one less to wait for saves 16.
    const TERMS: CostBenefit = CostBenefit {
        gain_ns: 16.0,
        fast_ns: 0.0,
        channel_ns: 4.0,
        in_order: 1.0,
        base_us: 10.0,
        huge_us: 370.0,
        within_s: 1.0,
    };

    /// Rows with their rates and the part of each that comes in order.
    fn heat(cores: f32, rows: &[(f32, f32)]) -> EpochHeat {
        let mut heat = EpochHeat::new(EpochId(0));
        for (unit, (rate, in_order)) in (0..).zip(rows) {
            let flags = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
            let (unit, node) = (UnitId(unit), NodeId(0));
            heat.push(HeatRow { unit, rate: *rate, flags, pages: 1, watched: 1, touched: 1, node });
            heat.in_order.push(*in_order);
            heat.least.push(rate / 2.0);
            heat.traffic.push(rate / 4.0);
        }
        heat.cores = cores;
        heat
    }

    fn rates(heat: &EpochHeat, slow: impl Fn(usize) -> bool) -> Vec<f32> {
        Worth::of(heat, &TERMS, slow).unwrap().weigh(heat).rate
    }

    #[test]
    fn on_a_full_channel_an_access_in_order_saves_its_time_on_it_to_every_core() {
        // 200 M lines a second fill it: 24 cores x 4 ns for 16.
        let heat = heat(24.0, &[(150e6, 150e6), (50e6, 50e6), (1e6, 0.0)]);
        let found = rates(&heat, |_| true);
        assert_eq!(found[..2], [6.0 * 150e6, 6.0 * 50e6]);
        // The other still waits for the latency, and for one line of eight.
        assert_eq!(found[2], 1.75e6);
        let weighed = Worth::of(&heat, &TERMS, |_| true).unwrap().weigh(&heat);
        assert_eq!(weighed.least[1], weighed.rate[1] / 2.0);
        assert_eq!(
            weighed.traffic[1],
            weighed.rate[1] / 4.0,
            "what is born is held against the others"
        );
    }

    #[test]
    fn on_an_idle_one_accesses_count_as_they_are() {
        let heat = heat(24.0, &[(200e6, 200e6), (25e6, 25e6)]);
        // What lies in fast memory keeps nobody from the slow channel, a tenth of which is used.
        let found = rates(&heat, |row| row == 1);
        assert!(found[1] < 25e6 * 1.002, "{found:?}");
        let tells = |slow: fn(usize) -> bool| Worth::of(&heat, &TERMS, slow).unwrap().tells();
        assert_eq!((tells(|row| row == 1), tells(|row| row == 0)), (false, true));
    }

    #[test]
    fn on_an_idle_one_what_comes_in_order_counts_for_less() {
        let terms = CostBenefit { in_order: 0.4, ..TERMS };
        let rates = |cores, rows: &[(f32, f32)]| {
            let heat = heat(cores, rows);
            Worth::of(&heat, &terms, |_| true).unwrap().weigh(&heat).rate
        };
        let found = rates(1.0, &[(1000.0, 1000.0), (1000.0, 500.0), (1000.0, 0.0)]);
        assert!(found.iter().zip([400.0, 700.0, 1000.0]).all(|(is, of)| (is - of).abs() < 0.1));
        assert_eq!(rates(24.0, &[(250e6, 250e6)]), [6.0 * 250e6], "and on a full one as before");
        assert_eq!(rates(1.0, &[(250e6, 250e6)]), [0.4 * 250e6], "of one core");
    }

    #[test]
    fn what_seems_to_come_in_order_in_a_program_where_hardly_anything_does_counts_as_all() {
        let terms = CostBenefit { in_order: 0.4, ..TERMS };
        let worth = |in_order| {
            Worth::of(&heat(1.0, &[(1000.0, in_order), (1000.0, 0.0)]), &terms, |_| true).unwrap()
        };
        assert!(!worth(15.0).tells() && worth(25.0).tells());
    }

    #[test]
    fn few_cores_wait_for_the_latency_whatever_the_channel_carries() {
        let heat = heat(1.0, &[(250e6, 250e6)]);
        assert_eq!(rates(&heat, |_| true), [250e6]);
    }

    #[test]
    fn where_nobody_tells_what_comes_in_order_nothing_is_weighed() {
        let slow = |_| true;
        let mut told = heat(24.0, &[(250e6, 250e6)]);
        assert!(Worth::of(&told, &TERMS, slow).is_some());
        assert_eq!(Worth::of(&told, &CostBenefit { channel_ns: 0.0, ..TERMS }, slow), None);
        assert_eq!(Worth::of(&told, &CostBenefit { gain_ns: 0.0, ..TERMS }, slow), None);
        assert_eq!(Worth::of(&EpochHeat { cores: 0.0, ..told.clone() }, &TERMS, slow), None);
        told.in_order.clear();
        assert_eq!(Worth::of(&told, &TERMS, slow), None);
    }
}
