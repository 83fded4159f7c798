//! One policy in a replay: the order of the units, where it cuts, and what that adds up to.
//!
//! The same order as [`pagetide_policy::PriorityOrder`] keeps, and by the same rules, held as rows of the
//! epoch's heat for speed; `tests/stack.rs` proves the two equal. The stack property (Mattson,
//! Gecsei, Slutz, Traiger 1970, for caches) lets one order serve all capacities: a unit is fast
//! from the first cell on that holds its end, and is moved at a capacity if and only if its end
//! crosses it.

use crate::grid::Cuts;
use crate::place::Place;
use crate::population::{Change, DEAD, Population};
use crate::radix::Sorter;
use crate::rehearsal::Cue;
use crate::tally::Tally;
use pagetide_policy::{AccessHistory, EpochView, Needs, Observation, Placement, RankPolicy};
use pagetide_types::EpochHeat;

/// What all lanes are shown of one epoch.
#[derive(Clone, Copy)]
pub(crate) struct EpochInput<'a> {
    pub(crate) heat: &'a EpochHeat,
    pub(crate) next: Option<&'a EpochHeat>,
    pub(crate) history: &'a AccessHistory,
    pub(crate) before: &'a Population,
    pub(crate) change: &'a Change,
    pub(crate) length_s: f64,
    pub(crate) cue: Cue,
}

/// An entry of the order with this bit is a hole; the other bits are its base pages.
pub(crate) const HOLE: u32 = 1 << 31;

/// One policy at one set of cuts.
pub(crate) struct Lane<C> {
    cuts: C,
    /// `None`: what is born stays where it is.
    policy: Option<Box<dyn RankPolicy>>,
    needs: Needs,
    /// Rows of the current heat and holes, fastest first.
    order: Vec<u32>,
    holes: bool,
    spare: Vec<u32>,
    /// Per row.
    places: Vec<Place>,
    keys: Vec<u32>,
    fast: Vec<bool>,
    sorter: Sorter,
    pub(crate) tally: Tally,
    /// What the policy told, with the epoch at whose end.
    pub(crate) told: Vec<(usize, Observation)>,
}

impl<C: Cuts> Lane<C> {
    pub(crate) fn new(
        cuts: C,
        cells: usize,
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
            places: Vec::new(),
            keys: Vec::new(),
            fast: Vec::new(),
            sorter: Sorter::default(),
            tally: Tally::new(cells),
            told: Vec::new(),
        }
    }

    /// Lives through one epoch and decides at its end.
    pub(crate) fn step(&mut self, input: &EpochInput<'_>) {
        if input.change.any {
            self.arrive(input);
            self.lay_out();
        }
        if input.cue.counts {
            self.charge(input);
        }
        if input.next.is_some() {
            self.decide(input);
        }
    }

    /// Turns rows of the epoch before into rows of this one; see [`pagetide_policy::PriorityOrder`] for
    /// the rules.
    fn arrive(&mut self, input: &EpochInput<'_>) {
        let EpochInput { heat, before, change, .. } = input;
        let mut taking = change.growth;
        let mut born = change.born.iter();
        self.spare.clear();
        self.holes = false;
        for entry in &self.order {
            let mut room = if *entry & HOLE != 0 {
                u64::from(*entry & !HOLE)
            } else {
                let row = change.row_now[*entry as usize];
                if row != DEAD {
                    self.spare.push(row);
                    continue;
                }
                u64::from(before.pages[*entry as usize])
            };
            loop {
                let taken = taking.min(room);
                taking -= taken;
                room -= taken;
                if room == 0 {
                    break;
                }
                let Some(row) = born.next() else {
                    self.holes = true;
                    push_hole(&mut self.spare, room);
                    break;
                };
                self.spare.push(*row);
                taking = u64::from(heat.pages[*row as usize]);
            }
        }
        self.spare.extend(born);
        while self.spare.last().is_some_and(|last| *last & HOLE != 0) {
            self.spare.pop();
        }
        std::mem::swap(&mut self.order, &mut self.spare);
        self.places.clear();
        self.places.extend(heat.pages.iter().map(|pages| Place::new(*pages)));
    }

    /// Finds every unit's cell from the order.
    fn lay_out(&mut self) {
        let mut end = 0;
        for entry in &self.order {
            if *entry & HOLE != 0 {
                end += u64::from(*entry & !HOLE);
            } else {
                let place = &mut self.places[*entry as usize];
                end += u64::from(place.pages());
                place.replace_cell(self.cuts.cell(end));
            }
        }
    }

    /// Charges the epoch's accesses to the placement in force.
    fn charge(&mut self, input: &EpochInput<'_>) {
        let hits = &mut self.tally.hits;
        for (row, place) in self.places.iter().enumerate() {
            hits[place.cell() as usize].add(input.heat, row, input.length_s);
        }
    }

    fn decide(&mut self, input: &EpochInput<'_>) {
        let Some(policy) = &mut self.policy else { return };
        let heat = input.heat;
        if self.needs.placement {
            self.fast.clear();
            self.fast.extend(self.places.iter().map(|place| place.cell() == 0));
        }
        self.keys.resize(heat.len(), 0);
        let view = EpochView {
            heat,
            history: input.history,
            length_s: input.length_s,
            free_moves: !input.cue.counts,
            oracle: input.next.filter(|_| self.needs.oracle),
            placement: self
                .needs
                .placement
                .then(|| Placement { fast: &self.fast, capacity: self.cuts.capacity() }),
        };
        policy.rank(&view, &mut self.keys);
        if !input.cue.rehearsal {
            self.told.extend(policy.observation().map(|told| (input.cue.epoch, told)));
        }
        if self.holes {
            self.order.retain(|entry| *entry & HOLE == 0);
        }
        let (cuts, tally, counted) = (self.cuts, &mut self.tally, input.cue.counts);
        let mut put = |place: &mut Place, end| {
            let new = cuts.cell(end);
            let old = place.replace_cell(new);
            if counted {
                tally.moved(old, new, place.pages());
            }
        };
        let (order, places) = (&self.order, &mut self.places);
        if self.sorter.sort(order, &self.keys, places, &mut self.spare, &mut put) {
            std::mem::swap(&mut self.order, &mut self.spare);
        } else if self.holes {
            // All keys are equal: only the holes close.
            let mut end = 0;
            for row in order {
                let place = &mut places[*row as usize];
                end += u64::from(place.pages());
                put(place, end);
            }
        }
        self.holes = false;
    }
}

/// Appends a hole, in several entries if it is larger than one can say (8 TiB).
fn push_hole(order: &mut Vec<u32>, mut room: u64) {
    while room > 0 {
        let part = room.min(u64::from(HOLE - 1));
        #[expect(clippy::cast_possible_truncation, reason = "below HOLE")]
        order.push(HOLE | part as u32);
        room -= part;
    }
}
