//! A program with zipf rates over scattered units, as a recorder would see it: 20 % of estimation
//! noise from epoch to epoch, and neighbours that have nothing in common.

use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, UnitId, UnitKey};

/// xorshift64*: fast, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Uniform in [0, 1).
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Mean 0, variance 1, by twelve uniform ones.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

/// How its memory is mapped and watched.
#[derive(Clone, Copy)]
pub(crate) enum Memory {
    /// Huge pages, all watched in every epoch.
    Huge,
    /// Base pages: a quarter of the units sampled per epoch, 64 pages of each.
    Base,
}

/// What it does is the same in every run.
pub(crate) struct Program {
    memory: Memory,
    random: Random,
    truth: Vec<f64>,
    pages: Vec<u16>,
    last: Vec<HeatRow>,
}

impl Program {
    /// `units` units of `memory`.
    pub(crate) fn new(memory: Memory, units: u32) -> Self {
        let mut random = Random(88_172_645_463_325_252);
        let mut truth: Vec<f64> =
            (0..units).map(|rank| 1e6 / f64::from(rank + 1).powf(0.9)).collect();
        for i in (1..truth.len()).rev() {
            let other = usize::try_from(random.next() % (i as u64 + 1)).unwrap_or(i);
            truth.swap(i, other);
        }
        let pages = (0..units)
            .map(|_| match memory {
                Memory::Base if random.share() < 0.1 => 1 + (random.next() % 511) as u16,
                _ => 512,
            })
            .collect();
        Self { memory, random, truth, pages, last: Vec::new() }
    }

    fn row(&mut self, unit: u32) -> HeatRow {
        let i = unit as usize;
        let (truth, pages) = (self.truth[i], self.pages[i]);
        let (watched, flags) = match self.memory {
            Memory::Huge => (512, HeatFlags::HUGE | HeatFlags::SAMPLED),
            Memory::Base => (pages.min(64), HeatFlags::SAMPLED),
        };
        let estimate = truth * (0.2 * self.random.normal()).exp();
        let touched = match self.memory {
            Memory::Huge if self.random.share() < 1.0 - (-truth * 5.0).exp() => 512,
            Memory::Huge => 0,
            Memory::Base => {
                let share = 1.0 - (-truth * 5.0 / 512.0).exp();
                (0..watched).map(|_| u16::from(self.random.share() < share)).sum()
            }
        };
        let dirty = if unit.is_multiple_of(3) { HeatFlags::DIRTY } else { HeatFlags::default() };
        let seen = match touched {
            0 => HeatFlags::UNSEEN,
            _ if estimate >= 1e5 => HeatFlags::ACCESSED | HeatFlags::SATURATED | dirty,
            _ => HeatFlags::ACCESSED | dirty,
        };
        #[expect(clippy::cast_possible_truncation, reason = "an estimate has no such precision")]
        let rate = estimate.min(1e5) as f32;
        HeatRow {
            unit: UnitId(unit),
            rate: if touched == 0 { 0.0 } else { rate },
            flags: flags | seen,
            pages,
            watched,
            touched,
            node: NodeId(u16::from(unit.is_multiple_of(7))),
        }
    }

    /// The next epoch, number `number`; all units are new in epoch 0.
    pub(crate) fn epoch(&mut self, number: u32) -> EpochRecord {
        let units = u32::try_from(self.truth.len()).unwrap_or(u32::MAX);
        let mut heat = EpochHeat::new(EpochId(number));
        for unit in 0..units {
            let old = self.last.get(unit as usize).copied();
            let row = match (old, self.memory) {
                (Some(old), Memory::Base) if self.random.share() > 0.25 => HeatRow {
                    watched: 0,
                    touched: 0,
                    flags: HeatFlags(old.flags.0 & HeatFlags::DIRTY.0),
                    ..old
                },
                _ => self.row(unit),
            };
            heat.push(row);
        }
        self.last = heat.rows().collect();
        let new_units = if number == 0 {
            let key = |unit| UnitKey { object: ObjectId(0), index: 0x3f_8000 + u64::from(unit) };
            (0..units).map(key).collect()
        } else {
            Vec::new()
        };
        let epoch = Epoch { epoch: EpochId(number), length_s: 5.0, ..Epoch::default() };
        EpochRecord { epoch, new_units, new_areas: Vec::new(), heat }
    }
}
