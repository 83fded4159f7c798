//! What a move costs, what it brings, and from when on it pays, for `run` and `sim` (in a plan: `replay`'s `move_cost.rs`).

use pagetide_types::{Bytes, EpochHeat, HeatFlags};

/// What a move costs and brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostBenefit {
    /// By how much an access to fast memory is faster, ns.
    pub gain_ns: f64,
    /// What an access to fast memory takes, ns; 0 where that is not known: then each access is taken to be waited for alone.
    pub fast_ns: f64,
    /// For how long an access keeps the slow tier's channel from others, ns; 0 where that is not known, and nobody
    /// waits for it (see channel.rs).
    pub channel_ns: f64,
    /// What an access that comes in order counts for where that channel is idle: many are on their way at once.
    pub in_order: f64,
    /// What moving a base page takes, us.
    pub base_us: f64,
    /// What moving a huge page takes, us.
    pub huge_us: f64,
    /// The time in which a move must have brought what it cost, seconds, of a program that is new (see
    /// [`Self::at_age`]); 0: whatever is wanted moves.
    pub within_s: f64,
}

/// What has lasted is taken to last as long again; for so many times the usual time to pay at most.
pub(crate) const LONGEST: f64 = 5.0;

/// A core has so many loads under way at most that all take as long as one (`benches/window.py` finds 24). More waits than that
/// allows are counted too often, and must not make those of others look short.
const LEAST_PART: f64 = 1.0 / 24.0;

/// What comes in order is taken to be waited for in so large a part of the time at most, where the others' is told: how far it is
/// overlapped is not known well [I].
const MOST_IN_ORDER: f64 = 0.5;

/// What moves were taken to cost before counts as much as so many MiB that moved.
const EXPECTED_MIB: f64 = 8.0;
/// What less has moved says nothing of prices.
const LEAST_MIB: f64 = 4.0;
/// So many times what was said at first a price may be, or that part of it.
const OFF_BY: f64 = 4.0;

impl CostBenefit {
    /// What holds where the same has been watched for so many seconds: moves have the longer to pay, the longer a program
    /// has been what it is (the ages of what lasts by a power law: Lindy's effect).
    #[must_use]
    pub fn at_age(&self, age_s: f64) -> Self {
        let most_s = LONGEST * self.within_s;
        Self { within_s: age_s.min(most_s).max(self.within_s), ..*self }
    }

    /// These for accesses of which cores wait for several at a time. Where so many are made that they would wait for longer than
    /// they ran, each counts for a part of its latency, of as many as a core has under way. What comes in order is overlapped
    /// already by what it counts for ([`Self::in_order`]): the others have the time that it leaves.
    pub(crate) fn overlapped(&self, heat: &EpochHeat, fast: &[bool]) -> Self {
        // Where nobody knows the channel they are not told apart (see channel.rs).
        let told = self.channel_ns > 0.0;
        let (mut alone_s, mut in_order_s) = (0.0, 0.0);
        for (row, fast) in fast.iter().enumerate() {
            let latency_s = (self.fast_ns + if *fast { 0.0 } else { self.gain_ns }) * 1e-9;
            let in_order = if told { heat.in_order_rate(row) } else { 0.0 };
            in_order_s += in_order * self.in_order * latency_s;
            alone_s += (f64::from(heat.rate[row]) - in_order) * latency_s;
        }
        let cores = f64::from(heat.cores);
        // Of who did not run nothing is known.
        if self.fast_ns <= 0.0 || cores <= 0.0 || alone_s + in_order_s <= cores {
            return *self;
        }
        let in_order = (cores / in_order_s).min(1.0);
        let left_s = cores - in_order_s.min(cores * MOST_IN_ORDER);
        let alone = (left_s / alone_s).clamp(LEAST_PART, 1.0);
        let in_order = self.in_order * in_order / alone;
        Self { gain_ns: self.gain_ns * alone, in_order, ..*self }
    }

    /// How often a second a base page must be accessed so that its move, and that of another one which makes room
    /// for it, pay; 0 where every one does.
    #[must_use]
    pub fn pays_from(&self) -> f64 {
        if self.within_s <= 0.0 {
            return 0.0;
        }
        2.0 * self.base_us * 1e-6 / (self.gain_ns * 1e-9 * self.within_s)
    }

    /// Takes in what moving so many pages of either size took, together: CPU seconds. The more moved, the less counts what
    /// they were taken to cost before. Few pages say nothing: what a round takes besides them is in it. `said`: what was
    /// said at first, which is not off by more than [`OFF_BY`].
    pub(crate) fn learn(&mut self, said: &Self, base_pages: u64, huge_pages: u64, cpu_s: f64) {
        let (base, huge) = (base_pages as f64, huge_pages as f64);
        let expected_us = base * self.base_us + huge * self.huge_us;
        if base / 256.0 + huge * 2.0 < LEAST_MIB || expected_us <= 0.0 {
            return;
        }
        let times = cpu_s * 1e6 / expected_us;
        for (price_us, said_us, mib) in [
            (&mut self.base_us, said.base_us, base / 256.0),
            (&mut self.huge_us, said.huge_us, huge * 2.0),
        ] {
            *price_us *= 1.0 + mib / (mib + EXPECTED_MIB) * (times - 1.0);
            *price_us = price_us.clamp(said_us / OFF_BY, said_us * OFF_BY);
        }
    }

    /// Seconds a second by which so many accesses a second wait longer in slow memory.
    pub(crate) fn waits(&self, accesses_per_s: f64) -> f64 {
        accesses_per_s * self.gain_ns * 1e-9
    }

    /// What moving so much takes, seconds.
    pub(crate) fn moving(&self, huge: bool, bytes: Bytes) -> f64 {
        let pages = bytes.as_f64() / 4096.0;
        let page_us = if huge { self.huge_us / 512.0 } else { self.base_us };
        page_us * 1e-6 * pages
    }

    /// What a unit's being fast brings in the time, seconds.
    pub(crate) fn gain(&self, heat: &EpochHeat, row: usize) -> f64 {
        self.waits(f64::from(heat.rate[row])) * self.within_s
    }

    /// What it brings at least.
    pub(crate) fn sure_gain(&self, heat: &EpochHeat, row: usize) -> f64 {
        self.waits(f64::from(heat.least_rate(row))) * self.within_s
    }

    /// Whether its being fast brings more than moving it takes.
    pub(crate) fn is_worth_its_place(&self, heat: &EpochHeat, row: usize) -> bool {
        self.within_s > 0.0 && self.gain(heat, row) > self.cost(heat, row)
    }

    /// Whether what will be born, with so many accesses a second and page, is expected to bring so much more in its
    /// place that moving it down pays.
    pub(crate) fn gives_way(&self, heat: &EpochHeat, row: usize, birth_rate: f64) -> bool {
        let born = self.waits(birth_rate * f64::from(heat.pages[row])) * self.within_s;
        born - self.gain(heat, row) > self.cost(heat, row)
    }

    /// How many accesses a second are worth what moving it takes.
    pub(crate) fn pays_by(&self, heat: &EpochHeat, row: usize) -> f64 {
        let waits_s = self.waits(1.0) * self.within_s;
        if waits_s > 0.0 { self.cost(heat, row) / waits_s } else { 0.0 }
    }

    /// What moving it takes, seconds.
    pub(crate) fn cost(&self, heat: &EpochHeat, row: usize) -> f64 {
        self.moving(heat.flags[row].has(HeatFlags::HUGE), heat.bytes(row))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatRow, NodeId, UnitId};

    /// 10 us a move, 100 ns an access.
    pub(crate) const TERMS: CostBenefit = CostBenefit {
        gain_ns: 100.0,
        fast_ns: 0.0,
        channel_ns: 0.0,
        in_order: 1.0,
        base_us: 10.0,
        huge_us: 370.0,
        within_s: 1.0,
    };

    #[test]
    fn cores_wait_for_no_longer_than_they_run() {
        let mut heat = EpochHeat::new(EpochId(0));
        for unit in (0..2).map(UnitId) {
            let (flags, node) = (HeatFlags::SAMPLED, NodeId(0));
            heat.push(HeatRow { unit, rate: 4e6, flags, pages: 1, watched: 1, touched: 1, node });
        }
        let terms = CostBenefit { fast_ns: 50.0, channel_ns: 1.0, in_order: 0.25, ..TERMS };
        let part =
            |heat: &EpochHeat, fast: &[bool]| terms.overlapped(heat, fast).gain_ns / terms.gain_ns;
        heat.cores = 1.0;
        assert_eq!(part(&heat, &[true, false]), 1.0, "200 and 600 ms of a second");
        assert!((part(&heat, &[false, false]) - 1.0 / 1.2).abs() < 1e-6, "1.2 s of a second");
        heat.cores = 0.4;
        assert!((part(&heat, &[true, false]) - 0.5).abs() < 1e-6);
        heat.in_order = vec![0.0, 4e6];
        assert_eq!(part(&heat, &[true, false]), 1.0, "four at a time anyway");
        // In order 150 ms are waited for, which leaves as many of the 200 that the others would take, and nothing else changes.
        heat.cores = 0.3;
        let both = terms.overlapped(&heat, &[true, false]);
        assert!((both.gain_ns - 75.0).abs() < 1e-4, "{both:?}");
        assert!((both.in_order * both.gain_ns - 25.0).abs() < 1e-4, "{both:?}");
        // More than there is time for: half of it is left.
        heat.cores = 0.1;
        let more = terms.overlapped(&heat, &[true, false]);
        assert!((more.in_order * more.gain_ns - 25.0 / 1.5).abs() < 1e-4, "{more:?}");
        heat.cores = 0.01;
        let least = part(&heat, &[false, false]);
        assert!((least - 1.0 / 24.0).abs() < 1e-9, "no core has more of them under way: {least}");
        heat.cores = 0.0;
        assert_eq!(part(&heat, &[true, false]), 1.0, "nobody says how long they ran");
    }

    #[test]
    fn an_exchange_of_base_pages_pays_from_some_rate_on() {
        let terms = CostBenefit { within_s: 2.0, ..TERMS };
        assert!((terms.pays_from() - 100.0).abs() < 1e-9, "20 us, and 100 ns for each access");
        assert_eq!(CostBenefit { within_s: 0.0, ..terms }.pays_from(), 0.0, "whatever is wanted");
    }

    #[test]
    fn prices_become_what_moves_take() {
        let mut terms = TERMS;
        // 6 us a page.
        terms.learn(&TERMS, 2048, 0, 2048.0 * 6e-6);
        assert!((terms.base_us - 8.0).abs() < 1e-9, "8 MiB: {}", terms.base_us);
        for _ in 0..4 {
            terms.learn(&TERMS, 25_600, 0, 25_600.0 * 6e-6);
        }
        assert!((terms.base_us - 6.0).abs() < 0.01, "400 MiB more: {}", terms.base_us);
        assert_eq!(terms.huge_us, TERMS.huge_us, "none moved");
        // Both in a round that took half of what they were taken to.
        let (mut both, whole_us) = (TERMS, 2560.0 * 10.0 + 96.0 * 370.0);
        both.learn(&TERMS, 2560, 96, whole_us / 2.0 * 1e-6);
        assert!((both.base_us - 10.0 * (1.0 - 0.5 * 10.0 / 18.0)).abs() < 1e-9, "10 MiB of them");
        assert!((both.huge_us - 370.0 * (1.0 - 0.5 * 192.0 / 200.0)).abs() < 1e-9, "192 MiB");
    }

    #[test]
    fn few_moves_say_nothing_of_prices_and_many_not_all() {
        let mut terms = TERMS;
        for _ in 0..1000 {
            terms.learn(&TERMS, 1, 0, 0.1);
            terms.learn(&TERMS, 0, 0, 0.1);
        }
        assert_eq!(terms, TERMS, "what was refused took that");
        for _ in 0..100 {
            terms.learn(&TERMS, 25_600, 100, 1e3);
        }
        assert!((terms.base_us, terms.huge_us) == (40.0, 1480.0), "{terms:?}");
        for _ in 0..100 {
            terms.learn(&TERMS, 25_600, 100, 1e-9);
        }
        assert!((terms.base_us, terms.huge_us) == (2.5, 92.5), "{terms:?}");
    }

    #[test]
    fn what_has_lasted_is_taken_to_last_as_long_again() {
        let terms = CostBenefit { within_s: 30.0, ..TERMS };
        let within = |age_s| terms.at_age(age_s).within_s;
        assert_eq!([0.0, 29.0, 100.0, 1e4].map(within), [30.0, 30.0, 100.0, 150.0]);
        assert_eq!(CostBenefit { within_s: 0.0, ..terms }.at_age(1e4).within_s, 0.0);
    }
}
