//! What AMP keeps of every unit: age and history at its own epochs, and the places in the orders
//! of LRU and LFU (4 B age, 8 B history, 4 B shadow: section 4.2). It goes with the unit.
//!
//! Each rival has an order of its own, which it keeps whether it is in force or not. The order of
//! the one in force is where the units are; if not all of its moves were made, what really is fast
//! comes first.

use crate::interval_history::IntervalHistory;
use crate::policy::key_by;
use crate::population::Population;
use crate::shadow::Shadow;
use crate::{EpochView, Known};

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

/// Bits of an age where it shares a key with a frequency; in epochs of 5 s, 60 days.
const AGE_BITS: u32 = 20;
const OLDEST: u32 = (1 << AGE_BITS) - 1;
/// Bits of a frequency in such a key, and the highest frequency.
const FREQUENCY_BITS: u32 = 7;
const MOST_FREQUENT: u32 = 64;

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
    /// Intervals of the history that make up the frequency.
    window: u32,
    history: IntervalHistory,
    population: Population,
    orders: [Shadow; 2],
    keys: Vec<u32>,
    /// Per row, in the interval that just ended.
    accessed: Vec<bool>,
}

impl Pages {
    /// No unit; `history` epochs make up the frequency, 1 to 64.
    pub(crate) fn new(ties: Ties, history: u64) -> Self {
        Self {
            ties,
            window: u32::try_from(history.clamp(1, 64)).unwrap_or(64),
            history: IntervalHistory::default(),
            population: Population::default(),
            orders: Default::default(),
            keys: Vec::new(),
            accessed: Vec::new(),
        }
    }

    /// Takes in what was accessed, and who was born and died in both orders.
    pub(crate) fn arrive(&mut self, view: &EpochView<'_>) {
        self.history.gather(view.heat);
        if self.population.update(view.heat) {
            for order in &mut self.orders {
                order.arrive(&self.population, view.heat);
            }
        }
    }

    /// Brings ages and histories up to date, and counts the hits of the rival in force where units
    /// are, of others in their shadows.
    pub(crate) fn count(&mut self, in_force: Option<Rival>, view: &EpochView<'_>) -> Seen {
        let heat = view.heat;
        let mut seen = Seen::default();
        let mut hits_in_force = 0;
        self.accessed.clear();
        for (row, number) in heat.unit.iter().enumerate() {
            let (pages, fast) = (u64::from(heat.pages[row]), view.is_fast(row));
            seen.all += pages;
            seen.fast += if fast { pages } else { 0 };
            let accessed = self.history.end_interval(*number);
            seen.observed += if accessed.is_some() { pages } else { 0 };
            let accessed = accessed == Some(true);
            if accessed {
                seen.accessed += pages;
                hits_in_force += if fast { pages } else { 0 };
            }
            self.accessed.push(accessed);
        }
        let capacity = view.capacity_pages();
        seen.hits = RIVALS.map(|rival| {
            if Some(rival) == in_force {
                return hits_in_force;
            }
            self.orders[rival as usize].hits(&heat.pages, &self.accessed, capacity)
        });
        seen
    }

    /// Decides nothing: `in_force` and its shadow keep their orders.
    pub(crate) fn keep(&mut self, in_force: Option<Rival>, view: &EpochView<'_>) {
        self.follow(in_force, view);
        self.orders.iter_mut().for_each(Shadow::close_holes);
    }

    /// Orders both rivals anew. `in_force` was so until now.
    pub(crate) fn place(&mut self, in_force: Option<Rival>, view: &EpochView<'_>) {
        self.follow(in_force, view);
        let mut keys = std::mem::take(&mut self.keys);
        keys.resize(view.heat.len(), 0);
        for rival in RIVALS {
            self.write_keys(rival, view, &mut keys);
            let order = &mut self.orders[rival as usize];
            if self.ties == Ties::Address {
                order.by_row();
            }
            order.rank(&keys);
        }
        self.keys = keys;
    }

    /// The keys that put the units into the order of a rival.
    pub(crate) fn write(&self, rival: Rival, keys: &mut [u32]) {
        self.orders[rival as usize].write(keys);
    }

    /// Takes in where the rival in force really has the units.
    fn follow(&mut self, in_force: Option<Rival>, view: &EpochView<'_>) {
        if let Some(rival) = in_force {
            self.orders[rival as usize].reconcile(|row| view.is_fast(row));
        }
    }

    /// The keys by which one of the rivals orders, but for ties by address.
    fn write_keys(&self, rival: Rival, view: &EpochView<'_>, keys: &mut [u32]) {
        key_by(
            keys,
            &view.heat.unit,
            |unit| self.history.get(unit),
            |known| self.key(rival, known),
        );
    }

    fn key(&self, rival: Rival, known: Known) -> u32 {
        let age = known.age.min(OLDEST);
        let rarity = self.window - known.frequency(self.window);
        let (first, second, bits, most) = match rival {
            Rival::Lfu => (rarity, age, AGE_BITS, OLDEST),
            Rival::Lru => (age, rarity, FREQUENCY_BITS, MOST_FREQUENT),
        };
        match self.ties {
            Ties::Stay | Ties::Address => first,
            Ties::Other => first << bits | second,
            Ties::Reversed => first << bits | (most - second),
        }
    }
}
