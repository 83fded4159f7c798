//! What AMP keeps of every unit: age and history at its own epochs, and the places in the shadows
//! of LRU and LFU (4 B age, 8 B history, 4 B shadow: section 4.2). It goes with the unit.

use crate::policy::{UNKNOWN, settle_unknown};
use crate::{EpochView, observed, shadow};
use pagetide_types::HeatFlags;

/// The policies that are compared, in the order of all pairs here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    Lru,
    Lfu,
}

pub(crate) const RIVALS: [Rival; 2] = [Rival::Lru, Rival::Lfu];

/// What decides among units of equal age or frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// What is fast stays fast; all keep their order.
    Stay,
    /// The address: the number of the unit.
    Address,
    /// The other rival's key.
    Other,
    /// The other rival's key, reversed.
    Reversed,
}

/// Bits of a unit. The first two: fast in the shadow of LRU, of LFU.
const SHADOW: [u8; 2] = [1, 2];
/// Observed, and accessed, since the last decision.
const OBSERVED: u8 = 4;
const ACCESSED: u8 = 8;

/// The age of what was never observed.
const NEVER: u32 = u32::MAX;
/// Bits of an age where it shares a key with a frequency; in epochs of 5 s, 60 days.
const AGE_BITS: u32 = 20;
const OLDEST: u32 = (1 << AGE_BITS) - 1;

#[derive(Clone, Copy)]
struct Unit {
    /// The last epoch in which it was alive.
    epoch: u32,
    age: u32,
    history: u64,
    bits: u8,
}

const BLANK: Unit = Unit { epoch: 0, age: NEVER, history: 0, bits: 0 };

/// Base pages, at one decision.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) all: u64,
    pub(crate) fast: u64,
    pub(crate) observed: u64,
    pub(crate) accessed: u64,
    pub(crate) hits: [u64; 2],
}

/// All units of a tenant.
pub(crate) struct Pages {
    ties: Ties,
    /// Bits of the history that do not count.
    unused: u32,
    epoch: u32,
    /// By unit number.
    units: Vec<Unit>,
    newborn: Vec<usize>,
    keys: Vec<u32>,
    fast: Vec<bool>,
}

impl Pages {
    /// No unit; `history` epochs make up the frequency, 1 to 64.
    pub(crate) fn new(ties: Ties, history: u64) -> Self {
        Self {
            ties,
            unused: u32::try_from(64 - history.clamp(1, 64)).unwrap_or(0),
            epoch: 0,
            units: Vec::new(),
            newborn: Vec::new(),
            keys: Vec::new(),
            fast: Vec::new(),
        }
    }

    /// Takes in what was accessed, and gives the newborn a place in the shadows: fast while there
    /// is room.
    pub(crate) fn look(&mut self, view: &EpochView<'_>) {
        self.epoch += 1;
        let heat = view.heat;
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.units.len() < len {
            self.units.resize(len, BLANK);
        }
        self.newborn.clear();
        let mut room = [view.capacity_pages(); 2];
        for (row, number) in heat.unit.iter().enumerate() {
            let unit = &mut self.units[number.index()];
            if unit.epoch + 1 != self.epoch || unit.epoch == 0 {
                *unit = BLANK;
                self.newborn.push(row);
            }
            unit.epoch = self.epoch;
            if observed(heat.flags[row]) {
                unit.bits |= OBSERVED;
                unit.bits |= if heat.flags[row].has(HeatFlags::ACCESSED) { ACCESSED } else { 0 };
            }
            for (room, shadow) in room.iter_mut().zip(SHADOW) {
                let pages = if unit.bits & shadow == 0 { 0 } else { heat.pages[row] };
                *room = room.saturating_sub(u64::from(pages));
            }
        }
        for row in &self.newborn {
            let pages = u64::from(heat.pages[*row]);
            for (room, shadow) in room.iter_mut().zip(SHADOW) {
                if pages <= *room {
                    *room -= pages;
                    self.units[heat.unit[*row].index()].bits |= shadow;
                }
            }
        }
    }

    /// Brings ages and histories up to date, and counts the hits of the rival in force where units
    /// are, of others in their shadows.
    pub(crate) fn count(&mut self, in_force: Option<Rival>, view: &EpochView<'_>) -> Seen {
        let mut seen = Seen::default();
        for (row, number) in view.heat.unit.iter().enumerate() {
            let (pages, fast) = (u64::from(view.heat.pages[row]), view.is_fast(row));
            seen.all += pages;
            seen.fast += if fast { pages } else { 0 };
            let unit = &mut self.units[number.index()];
            if unit.bits & OBSERVED == 0 {
                continue;
            }
            let accessed = unit.bits & ACCESSED != 0;
            unit.bits &= !(OBSERVED | ACCESSED);
            let age = if unit.age == NEVER { 1 } else { unit.age.saturating_add(1) };
            unit.age = if accessed { 0 } else { age.min(NEVER - 1) };
            unit.history = unit.history >> 1 | u64::from(accessed) << 63;
            seen.observed += pages;
            if accessed {
                seen.accessed += pages;
                for at in 0..2 {
                    let in_shadow = unit.bits & SHADOW[at] != 0;
                    let hit = if Some(RIVALS[at]) == in_force { fast } else { in_shadow };
                    seen.hits[at] += if hit { pages } else { 0 };
                }
            }
        }
        seen
    }

    /// The keys of the rival that is in force from now on.
    pub(crate) fn write(&self, rival: Rival, view: &EpochView<'_>, keys: &mut [u32]) {
        self.write_keys(rival, view, keys);
        if self.ties == Ties::Address {
            let rows = u32::try_from(keys.len()).unwrap_or(u32::MAX).max(1);
            let most = u32::MAX / rows - 1;
            for (row, key) in (0..).zip(keys) {
                *key = (*key).min(most) * rows + row;
            }
        }
    }

    /// The keys by which one of the rivals orders, but for ties by address.
    fn write_keys(&self, rival: Rival, view: &EpochView<'_>, keys: &mut [u32]) {
        let mut unknown = 0;
        for (key, number) in keys.iter_mut().zip(&view.heat.unit) {
            let unit = &self.units[number.index()];
            *key = if unit.age == NEVER {
                unknown += 1;
                UNKNOWN
            } else {
                self.key(rival, unit)
            };
        }
        settle_unknown(keys, unknown);
    }

    fn key(&self, rival: Rival, unit: &Unit) -> u32 {
        let (age, rarity) = (unit.age.min(OLDEST), (!unit.history >> self.unused).count_ones());
        let (first, second, bits, most) = match rival {
            Rival::Lfu => (rarity, age, AGE_BITS, OLDEST),
            Rival::Lru => (age, rarity, 7, 64),
        };
        match self.ties {
            Ties::Stay | Ties::Address => first,
            Ties::Other => first << bits | second,
            Ties::Reversed => first << bits | (most - second),
        }
    }

    /// Places a rival that is not in force: from where it had things, which is where they are if it
    /// was in force until now.
    pub(crate) fn place_shadow(&mut self, rival: Rival, was_in_force: bool, view: &EpochView<'_>) {
        let (heat, bit) = (view.heat, SHADOW[usize::from(rival == Rival::Lfu)]);
        let mut keys = std::mem::take(&mut self.keys);
        keys.resize(heat.len(), 0);
        self.write_keys(rival, view, &mut keys);
        self.fast.clear();
        self.fast.extend(heat.unit.iter().enumerate().map(|(row, number)| {
            if was_in_force {
                view.is_fast(row)
            } else {
                self.units[number.index()].bits & bit != 0
            }
        }));
        let sticky = self.ties != Ties::Address;
        shadow::place(&keys, &heat.pages, sticky, view.capacity_pages(), &mut self.fast);
        for (number, fast) in heat.unit.iter().zip(&self.fast) {
            let unit = &mut self.units[number.index()];
            unit.bits = unit.bits & !bit | if *fast { bit } else { 0 };
        }
        self.keys = keys;
    }
}
