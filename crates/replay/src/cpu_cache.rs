//! From accesses to memory traffic: what the CPU's own caches serve, no placement speeds up or
//! slows down. Accessed bits cannot tell a hit in a cache from a miss, so it is estimated: a cache
//! that keeps the lines used last holds a line with probability 1 - exp(-rate x T), where T, the
//! time that a line survives unused, is the one at which the lines held fill the cache (Che, Tung,
//! Wang, "Hierarchical Web Caching Systems", IEEE JSAC 2002; exact as caches grow, Fricker et al. 2012).
//!
//! Without it a program's code and stacks, a few pages that are accessed most of all, are most
//! of its "memory traffic", and the plan is a plan for them.

use pagetide_machine::Machine;
use pagetide_trace::Epoch;
use pagetide_types::{Bytes, EpochHeat, HeatFlags};

/// Lines of a base page.
const LINES: f64 = 64.0;
const LINE: f64 = 64.0;
/// Units are sorted by the rate of their lines into bins, 8 for every factor of 2, from 2^-40/s.
const BINS_PER_OCTAVE: f64 = 8.0;
const BINS: usize = 80 * 8;
const LOWEST: f64 = -40.0;

/// The caches of a machine's cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuCache {
    per_core: Bytes,
}

impl CpuCache {
    /// None: every access counts as traffic.
    pub const NONE: Self = Self { per_core: Bytes(0) };

    /// That of a machine, as far as its file says.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        Self { per_core: machine.cache_per_core.unwrap_or_default() }
    }

    /// Bytes per core.
    #[must_use]
    pub fn per_core(&self) -> Bytes {
        self.per_core
    }

    /// Fills in [`EpochHeat::traffic`] of the heat of `epoch`.
    pub(crate) fn filter_epoch(&self, heat: &mut EpochHeat, epoch: &Epoch) {
        self.filter(heat, epoch.target_cpu_s / epoch.length_s);
    }

    /// Fills in [`EpochHeat::traffic`] where it was not recorded, for a program that kept so many
    /// cores busy; less than one counts as one, for it had that core's cache.
    pub fn filter(&self, heat: &mut EpochHeat, cores: f64) {
        let cores = if cores.is_finite() { cores.max(1.0) } else { 1.0 };
        let size = self.per_core.as_f64() * cores;
        if size <= 0.0 || !heat.traffic.is_empty() {
            return;
        }
        let survival = survival(heat, size);
        let past = (0..heat.len()).map(|i| {
            let (rate, lines) = (f64::from(heat.rate[i]), lines(heat, i));
            #[expect(clippy::cast_possible_truncation, reason = "not above the rate")]
            let past =
                if rate > 0.0 { (rate * (-rate / lines * survival).exp()) as f32 } else { 0.0 };
            past
        });
        heat.traffic = past.collect();
    }
}

/// Cache lines over which a unit's accesses are spread, as far as known: those of its pages that
/// were seen accessed, all of them where no single page can be told.
fn lines(heat: &EpochHeat, i: usize) -> f64 {
    let pages = f64::from(heat.pages[i]);
    let (watched, touched) = (f64::from(heat.watched[i]), f64::from(heat.touched[i]));
    let told = watched > 0.0 && touched > 0.0 && !heat.flags[i].has(HeatFlags::HUGE);
    LINES * if told { pages * (touched / watched).min(1.0) } else { pages }.max(1.0)
}

/// The time in seconds that an unused line stays in a cache of `size` bytes; infinite if all
/// that is accessed fits.
fn survival(heat: &EpochHeat, size: f64) -> f64 {
    let mut bins = vec![0.0; BINS];
    for i in 0..heat.len() {
        let (rate, lines) = (f64::from(heat.rate[i]), lines(heat, i));
        if rate > 0.0 {
            let bin = ((rate / lines).log2() - LOWEST) * BINS_PER_OCTAVE;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let bin = bin.clamp(0.0, (BINS - 1) as f64) as usize;
            bins[bin] += lines * LINE;
        }
    }
    if bins.iter().sum::<f64>() <= size {
        return f64::INFINITY;
    }
    let held = |time: f64| -> f64 {
        let of = |(bin, bytes): (usize, &f64)| {
            let rate = ((bin as f64 + 0.5) / BINS_PER_OCTAVE + LOWEST).exp2();
            bytes * -(-rate * time).exp_m1()
        };
        bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0.0).map(of).sum()
    };
    let (mut low, mut high) = (1e-12_f64.ln(), 1e15_f64.ln());
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if held(middle.exp()) > size {
            high = middle;
        } else {
            low = middle;
        }
    }
    low.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatRow, NodeId, UnitId};
    use proptest::prelude::*;

    fn unit(unit: u32, rate: f32, pages: u16, watched: u16, touched: u16) -> HeatRow {
        let flags = HeatFlags::SAMPLED;
        HeatRow { unit: UnitId(unit), rate, flags, pages, watched, touched, node: NodeId(0) }
    }

    fn filtered(rows: &[HeatRow], mib: u64, cores: f64) -> Vec<f32> {
        let mut heat = EpochHeat::new(EpochId(0));
        rows.iter().for_each(|row| heat.push(*row));
        CpuCache { per_core: Bytes::mib(mib) }.filter(&mut heat, cores);
        (0..heat.len()).map(|i| heat.memory_rate(i)).collect()
    }

    #[test]
    fn a_uniform_program_hits_in_proportion_to_the_cache() {
        // 8 MiB, each line as likely as any other: a cache of 2 MiB serves a quarter.
        let rows: Vec<_> = (0..4).map(|i| unit(i, 1e6, 512, 512, 512)).collect();
        for rate in filtered(&rows, 2, 1.0) {
            assert!((rate / 0.75e6 - 1.0).abs() < 0.02, "{rate}");
        }
        for rate in filtered(&rows, 2, 2.0) {
            assert!((rate / 0.5e6 - 1.0).abs() < 0.02, "two cores have two caches: {rate}");
        }
    }

    #[test]
    fn code_and_stacks_are_held_and_large_data_is_not() {
        let mut rows = vec![unit(0, 5e6, 348, 348, 60), unit(1, 1e6, 15, 15, 15)];
        rows.extend((2..600).map(|i| unit(i, 3000.0, 512, 100, 100)));
        let past = filtered(&rows, 2, 1.0);
        assert!(past[0] < 100.0 && past[1] < 100.0, "{:?}", &past[..2]);
        assert!(past[2..].iter().all(|rate| *rate > 2800.0), "{}", past[2]);
    }

    #[test]
    fn what_fits_whole_makes_no_traffic_and_no_cache_lets_all_through() {
        let rows = [unit(0, 1e6, 100, 100, 100), unit(1, 0.0, 512, 0, 0)];
        assert_eq!(filtered(&rows, 2, 1.0), [0.0, 0.0]);
        assert_eq!(filtered(&rows, 0, 1.0), [1e6, 0.0]);
    }

    #[test]
    fn a_huge_page_shows_not_which_part_of_it_is_used() {
        let mut huge = unit(0, 1e6, 512, 512, 1);
        huge.flags |= HeatFlags::HUGE;
        let rows = [huge, unit(1, 1e6, 512, 512, 512)];
        let past = filtered(&rows, 2, 1.0);
        assert!((past[0] / past[1] - 1.0).abs() < 1e-3, "{past:?}");
    }

    proptest! {
        #[test]
        fn never_more_than_all_never_less_than_none(
            rows in prop::collection::vec((0.0f32..1e8, 1u16..=512, 0u16..=512, 0u16..=512), 0..40),
            mib in 0u64..300, cores in 0.0f64..64.0,
        ) {
            let rows: Vec<_> = (0u32..).zip(&rows)
                .map(|(i, (rate, pages, watched, touched))| unit(i, *rate, *pages, *watched, *touched))
                .collect();
            for (past, row) in filtered(&rows, mib, cores).iter().zip(&rows) {
                prop_assert!(past.is_finite() && (0.0..=row.rate).contains(past));
            }
        }
    }
}
