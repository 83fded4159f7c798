//! The simulation of one policy: the order of the units, where it cuts, and what that adds up to.
//! Capacities that are told apart are numbered as bins, ascending.
//!
//! The same order as [`pagetide_policy::PriorityOrder`] keeps, and by the same rules, held as rows of the
//! epoch's heat for speed; `tests/stack.rs` proves the two equal. The stack property (Mattson,
//! Gecsei, Slutz, Traiger 1970, for caches) lets one order serve all capacities: a unit is fast
//! from the first bin on that holds its end, and is moved at a capacity if and only if its end
//! crosses it.

use crate::curves::demand::Demands;
use crate::curves::entry::Entry;
use crate::curves::evaluation::Cue;
use crate::curves::grid::Cuts;
use crate::curves::population::Change;
use crate::curves::radix::Sorter;
use crate::curves::reach::Reach;
use crate::curves::repair::{Repair, Repaired};
use crate::curves::tally::{Hits, Tally, moves_whole};
use pagetide_policy::{AccessHistory, EpochView, Needs, Observation, Placement, RankPolicy};
use pagetide_types::{EpochHeat, Succession};

/// What all simulations are shown of one epoch.
#[derive(Clone, Copy)]
pub(crate) struct EpochInput<'a> {
    pub(crate) heat: &'a EpochHeat,
    pub(crate) next: Option<&'a EpochHeat>,
    pub(crate) history: &'a AccessHistory,
    pub(crate) change: &'a Change,
    pub(crate) demands: &'a Demands,
    pub(crate) length_s: f64,
    pub(crate) cue: Cue,
    /// See [`EpochView::one_unit_in`].
    pub(crate) one_unit_in: u64,
}

/// Stands for the bin of a unit that has none yet: above all others.
const NEWBORN: u32 = Entry::LAST_BIN;

/// One policy at one set of cuts.
pub(crate) struct Simulation<C> {
    cuts: C,
    /// `None`: what is born stays where it is.
    policy: Option<Box<dyn RankPolicy>>,
    needs: Needs,
    /// The units of the current heat and holes, fastest first.
    order: Vec<Entry>,
    holes: bool,
    spare: Vec<Entry>,
    keys: Vec<u32>,
    /// The keys that `order` stands by; empty if units came or went since.
    keys_before: Vec<u32>,
    fast: Vec<bool>,
    sorter: Sorter,
    repair: Repair,
    reach: Reach,
    pub(crate) tally: Tally,
    /// What the policy told, with the epoch at whose end.
    pub(crate) told: Vec<(usize, Observation)>,
}

impl<C: Cuts> Simulation<C> {
    pub(crate) fn new(
        cuts: C,
        bins: usize,
        policy: Option<Box<dyn RankPolicy>>,
        needs: Needs,
    ) -> Self {
        Self {
            cuts,
            policy,
            needs,
            order: Vec::new(),
            holes: false,
            spare: Vec::new(),
            keys: Vec::new(),
            keys_before: Vec::new(),
            fast: Vec::new(),
            sorter: Sorter::default(),
            repair: Repair::default(),
            reach: Reach::default(),
            tally: Tally::new(bins),
            told: Vec::new(),
        }
    }

    /// Lives through one epoch and decides at its end.
    pub(crate) fn step(&mut self, input: &EpochInput<'_>) {
        if input.change.any {
            let pushed = self.arrive(input);
            let born = input.change.units.born.iter().map(|row| input.heat.unit[*row as usize]);
            self.reach.arrive(&input.heat.unit, born);
            self.lay_out(input.heat, pushed && input.cue.counts && !input.cue.begins);
            self.keys_before.clear();
        }
        if input.cue.begins {
            // What was moved before is the past, in which memory was put in place.
            self.reach.begin();
            for unit in self.order.iter().filter(|entry| !entry.is_hole()) {
                self.reach.note(input.heat.unit[unit.row() as usize], unit.bin());
            }
        }
        if self.needs.oracle {
            self.foresee(input);
            return charge_if_it_counts(&self.order, input, &mut self.tally);
        }
        let (order, tally) = (&self.order, &mut self.tally);
        let mut charge = || charge_if_it_counts(order, input, tally);
        let Some(policy) = self.policy.as_mut().filter(|_| input.next.is_some()) else {
            return charge();
        };
        if self.needs.placement {
            self.fast.resize(input.heat.len(), false);
            for unit in self.order.iter().filter(|entry| !entry.is_hole()) {
                self.fast[unit.row() as usize] = unit.bin() == 0;
            }
        }
        self.keys.resize(input.heat.len(), 0);
        let placement = Placement { fast: &self.fast, capacity: self.cuts.capacity() };
        let view = EpochView {
            heat: input.heat,
            history: input.history,
            length_s: input.length_s,
            free_moves: input.cue.free_moves,
            one_unit_in: input.one_unit_in,
            oracle: None,
            placement: self.needs.placement.then_some(placement),
        };
        rayon::join(charge, || policy.rank(&view, &mut self.keys));
        self.told.extend(policy.observation().map(|told| (input.cue.epoch, told)));
        self.decide(input.heat, input.cue.counts);
    }

    /// A policy that knows what an epoch brings decides as it begins.
    fn foresee(&mut self, input: &EpochInput<'_>) {
        let Some(policy) = &mut self.policy else { return };
        self.keys.resize(input.heat.len(), 0);
        let view = EpochView {
            heat: input.heat,
            history: input.history,
            length_s: input.length_s,
            free_moves: input.cue.free_moves,
            one_unit_in: input.one_unit_in,
            oracle: Some(input.heat),
            placement: None,
        };
        policy.rank(&view, &mut self.keys);
        self.decide(input.heat, input.cue.counts);
    }

    /// Turns rows of the epoch before into rows of this one; see [`pagetide_policy::PriorityOrder`] for
    /// the rules.
    ///
    /// Whether what was born pushed what was there, which is then moved.
    fn arrive(&mut self, input: &EpochInput<'_>) -> bool {
        let EpochInput { heat, change, .. } = input;
        let unit = |row: u32| {
            let (pages, flags) = (heat.pages[row as usize], heat.flags[row as usize]);
            let mut unit = Entry::unit(row, pages, moves_whole(flags, pages));
            unit.replace_bin(NEWBORN);
            unit
        };
        let mut taking = change.units.growth;
        let mut born = change.units.born.iter();
        self.spare.clear();
        self.holes = false;
        let mut pushed = false;
        let birth = self.policy.as_ref().and_then(|policy| policy.birth());
        let place = birth.map_or(usize::MAX, |birth| self.behind(birth.key));
        for (at, entry) in self.order.iter().enumerate() {
            if at == place {
                for row in born.by_ref() {
                    self.spare.push(unit(*row));
                    taking += u64::from(heat.pages[*row as usize]);
                    pushed = true;
                }
            }
            let mut room = entry.pages();
            if !entry.is_hole() {
                let row = change.units.row_now[entry.row() as usize];
                if row != Succession::GONE {
                    let mut unit = unit(row);
                    unit.replace_bin(entry.bin());
                    self.spare.push(unit);
                    continue;
                }
            }
            loop {
                let taken = taking.min(room);
                taking -= taken;
                room -= taken;
                if room == 0 {
                    break;
                }
                let Some(row) = born.next() else {
                    self.holes = true;
                    self.spare.push(Entry::hole(room));
                    break;
                };
                self.spare.push(unit(*row));
                taking = u64::from(heat.pages[*row as usize]);
            }
        }
        self.spare.extend(born.map(|row| unit(*row)));
        while self.spare.last().is_some_and(|last| last.is_hole()) {
            self.spare.pop();
        }
        std::mem::swap(&mut self.order, &mut self.spare);
        pushed
    }

    /// The first position behind the units of a key and those before them, in an order as it was decided on.
    fn behind(&self, key: u32) -> usize {
        if self.keys_before.is_empty() {
            return usize::MAX;
        }
        self.order.partition_point(|entry| self.keys_before[entry.row() as usize] <= key)
    }

    /// Finds every unit's bin from the order; whether being `pushed` to slow memory counts as a move.
    fn lay_out(&mut self, heat: &EpochHeat, pushed: bool) {
        let mut end = 0;
        for entry in &mut self.order {
            end += entry.pages();
            if !entry.is_hole() {
                let id = heat.unit[entry.row() as usize];
                let bin = self.cuts.bin(end);
                let old = entry.replace_bin(bin);
                if pushed && old < bin {
                    let (old, new) = self.reach.again(id, old, bin);
                    self.tally.moved(old, new, entry.pages(), entry.huge());
                }
                self.reach.note(id, bin);
            }
        }
    }

    /// Puts the new keys in force; whether what that moves `counts`.
    fn decide(&mut self, heat: &EpochHeat, counts: bool) {
        if self.holes {
            self.order.retain(|entry| !entry.is_hole());
        }
        let (order, spare) = (&mut self.order, &mut self.spare);
        let repaired = if self.keys_before.len() == self.keys.len() {
            self.repair.mend(order, &self.keys_before, &self.keys, spare)
        } else {
            Repaired::TooMany
        };
        let from = match repaired {
            Repaired::Same => None,
            Repaired::From(first) => {
                std::mem::swap(order, spare);
                Some(first)
            }
            // Where all keys are equal only the holes close.
            Repaired::TooMany => {
                let sorted = self.sorter.sort(order, &self.keys, spare);
                (sorted || self.holes).then_some(0)
            }
        };
        if let Some(from) = from {
            self.put(heat, from, counts);
        }
        self.holes = false;
        std::mem::swap(&mut self.keys, &mut self.keys_before);
    }

    /// Finds the bins of an order without holes from a position on; whether what that moves
    /// `counts`.
    fn put(&mut self, heat: &EpochHeat, from: usize, counts: bool) {
        let (before, changed) = self.order.split_at_mut(from);
        let mut end = before.iter().map(|unit| unit.pages()).sum();
        for unit in changed {
            let pages = unit.pages();
            end += pages;
            let new = self.cuts.bin(end);
            let old = unit.replace_bin(new);
            if old != new {
                let id = heat.unit[unit.row() as usize];
                if counts {
                    let (old, new) = self.reach.again(id, old, new);
                    self.tally.moved(old, new, pages, unit.huge());
                }
                self.reach.note(id, new);
            }
        }
    }
}

fn charge_if_it_counts(order: &[Entry], input: &EpochInput<'_>, tally: &mut Tally) {
    if input.cue.counts {
        charge_in_order(order, input, tally);
    }
}

/// Charges the epoch's accesses to the placement in force: in order, so that the bins come one
/// after the other.
fn charge_in_order(order: &[Entry], input: &EpochInput<'_>, tally: &mut Tally) {
    let Demands { units, counted } = input.demands;
    let any_counted = !counted.is_empty();
    let (mut bin, mut sum) = (0, Hits::default());
    for unit in order.iter().filter(|entry| !entry.is_hole()) {
        if unit.bin() != bin {
            tally.charge(bin, sum.over(input.length_s, any_counted));
            (bin, sum) = (unit.bin(), Hits::default());
        }
        sum.add(units[unit.row() as usize]);
        if any_counted {
            sum.add_counted(counted[unit.row() as usize]);
        }
    }
    tally.charge(bin, sum.over(input.length_s, any_counted));
    tally.end_epoch();
}
