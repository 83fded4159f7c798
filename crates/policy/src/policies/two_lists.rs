//! Two lists: the active and inactive lists of Linux, kept per tier and scanned periodically.
//! Active units of slow memory are promoted, inactive ones of fast memory demoted.
//!
//! A unit has two bits: *accessed* (the hardware's, gathered until a scan clears it) and
//! *referenced* (the software's). Every period, of each list of each tier, a part from the tail
//! is scanned, slow memory first, the inactive list before the active one:
//! - inactive, accessed, referenced: it becomes active, at the head; both bits are cleared
//!   (figure 7: test-and-clear). The published code sets the reference again, as Linux does, so
//!   that a unit that became inactive again is active after one access: `keep-reference`;
//! - inactive, accessed, not referenced: it is marked referenced and goes to the head;
//! - inactive, not accessed: it is no longer referenced and goes to the head;
//! - active: accessed or not, it becomes inactive, at the head; accessed is cleared.
//!
//! Then what is active in slow memory, from the tail on, takes free fast memory and the place of
//! what is inactive in fast memory, from the tail on. If that was not enough to fill fast memory,
//! inactive units of slow memory follow. What has moved goes to the head of its list there.
//!
//! Not modelled, since recordings do not tell: pages of executable files (which stay active) and
//! pages that several processes map (which become active at once). [I]: new units begin active,
//! as anonymous memory did in the kernels of that time, and what a scan leaves on the inactive
//! list goes to its head, without which the same tail would be scanned for ever.

use crate::options::OptionInfo;
use crate::period::{INTERVAL, PHASE, Period};
use crate::policy::FigureInfo;
use crate::{Class, EpochView, Needs, Observation, Policy, PolicyInfo, RankPolicy, observed};
use pagetide_types::HeatFlags;

const fn scanned(name: &'static str, summary: &'static str) -> OptionInfo {
    OptionInfo { name, summary, default: 50.0, range: (0.0, 100.0), whole: false }
}

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "two-lists",
    summary: "Linux's active and inactive lists, scanned in part every 5 s",
    source: "Nimble, section 3.2; scan ratios: AMP, section 3.3",
    class: Class::Runnable,
    needs: Needs { placement: true, ..Needs::NOTHING },
    options: &[
        INTERVAL,
        PHASE,
        scanned("active", "percent of each active list that a scan looks at"),
        scanned("inactive", "percent of each inactive list that a scan looks at"),
        OptionInfo {
            name: "born-active",
            summary: "1: new units begin on the active list; 0: on the inactive list",
            default: 1.0,
            range: (0.0, 1.0),
            whole: true,
        },
        OptionInfo {
            name: "keep-reference",
            summary: "1: activation keeps the software reference, as the published code; 0: it \
                      clears it (figure 7)",
            default: 0.0,
            range: (0.0, 1.0),
            whole: true,
        },
    ],
    figures: &[
        FigureInfo { name: "fast-active", summary: "share of the units: active, in fast memory" },
        FigureInfo { name: "fast-inactive", summary: "share of the units: inactive, there" },
        FigureInfo { name: "slow-active", summary: "share of the units: active, in slow memory" },
        FigureInfo { name: "slow-inactive", summary: "share of the units: inactive, there" },
    ],
    build: |settings| {
        Policy::Rank(Box::new(TwoLists {
            period: Period::new(settings.get(INTERVAL.name), settings.get(PHASE.name)),
            scanned: [settings.get("inactive") / 100.0, settings.get("active") / 100.0],
            born: if settings.whole("born-active") == 1 { ACTIVE } else { 0 },
            activation_clears: if settings.whole("keep-reference") == 1 { 0 } else { REFERENCED },
            epoch: 0,
            units: Vec::new(),
            lists: Default::default(),
            newborn: Vec::new(),
            spare: Vec::new(),
            shares: None,
        }))
    },
};

/// Bits of a unit; the first two are the number of its list.
const ACTIVE: u8 = 1;
const FAST: u8 = 2;
const REFERENCED: u8 = 4;
const ACCESSED: u8 = 8;
/// Observed since it was scanned: only then does the lack of [`ACCESSED`] say anything.
const OBSERVED: u8 = 16;

const SLOW_INACTIVE: usize = 0;
const SLOW_ACTIVE: usize = ACTIVE as usize;
const FAST_INACTIVE: usize = FAST as usize;
const FAST_ACTIVE: usize = (FAST | ACTIVE) as usize;

#[derive(Clone, Copy, Default)]
struct Unit {
    /// The last epoch in which it was alive.
    epoch: u32,
    row: u32,
    bits: u8,
}

struct TwoLists {
    period: Period,
    /// Share of an inactive and of an active list that a scan looks at.
    scanned: [f64; 2],
    born: u8,
    /// Bits that a unit loses when it becomes active.
    activation_clears: u8,
    epoch: u32,
    /// By unit number.
    units: Vec<Unit>,
    /// Unit numbers from the tail to the head.
    lists: [Vec<u32>; 4],
    newborn: Vec<u32>,
    spare: Vec<u32>,
    /// Of the last scan.
    shares: Option<[f64; 4]>,
}

impl RankPolicy for TwoLists {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        self.look(view);
        self.follow(view);
        self.shares = None;
        if !self.period.due(view.length_s) {
            for (row, key) in keys.iter_mut().enumerate() {
                *key = u32::from(!view.is_fast(row));
            }
            return;
        }
        for tier in [SLOW_INACTIVE, FAST_INACTIVE] {
            self.scan_inactive(tier);
            self.scan_active(tier | SLOW_ACTIVE);
        }
        self.write(keys);
        let all = keys.len().max(1) as f64;
        self.shares = Some(
            [FAST_ACTIVE, FAST_INACTIVE, SLOW_ACTIVE, SLOW_INACTIVE]
                .map(|list| self.lists[list].len() as f64 / all),
        );
    }

    fn observation(&self) -> Option<Observation> {
        let figures = self.shares?.to_vec();
        Some(Observation { choice: None, figures })
    }
}

impl TwoLists {
    /// Takes in what was accessed, and finds who is new.
    fn look(&mut self, view: &EpochView<'_>) {
        self.epoch += 1;
        let len = view.heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.units.len() < len {
            self.units.resize(len, Unit::default());
        }
        self.newborn.clear();
        for (row, (number, flags)) in (0..).zip(view.heat.unit.iter().zip(&view.heat.flags)) {
            let unit = &mut self.units[number.index()];
            if unit.epoch + 1 != self.epoch || unit.epoch == 0 {
                self.newborn.push(number.0);
                unit.bits = self.born;
            }
            (unit.epoch, unit.row) = (self.epoch, row);
            if observed(*flags) {
                unit.bits |= OBSERVED;
                unit.bits |= if flags.has(HeatFlags::ACCESSED) { ACCESSED } else { 0 };
            }
        }
    }

    /// Drops who died, and puts who was moved, and who is new, at the head of a list.
    fn follow(&mut self, view: &EpochView<'_>) {
        let mut moved = std::mem::take(&mut self.spare);
        for (at, list) in self.lists.iter_mut().enumerate() {
            list.retain(|number| {
                let unit = &self.units[*number as usize];
                if unit.epoch != self.epoch {
                    return false;
                }
                let stays = view.is_fast(unit.row as usize) == (at & FAST_INACTIVE != 0);
                if !stays {
                    moved.push(*number);
                }
                stays
            });
        }
        for number in moved.iter().chain(&self.newborn) {
            let unit = &mut self.units[*number as usize];
            let tier = if view.is_fast(unit.row as usize) { FAST } else { 0 };
            unit.bits = unit.bits & !FAST | tier;
            self.lists[usize::from(unit.bits & (FAST | ACTIVE))].push(*number);
        }
        moved.clear();
        self.spare = moved;
    }

    /// How many units of a list a scan looks at.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part")]
    fn part(&self, list: usize) -> usize {
        (self.lists[list].len() as f64 * self.scanned[list & SLOW_ACTIVE]) as usize
    }

    fn scan_inactive(&mut self, list: usize) {
        let mut tail = std::mem::take(&mut self.spare);
        tail.extend(self.lists[list].drain(..self.part(list)));
        for number in tail.drain(..) {
            let unit = &mut self.units[number as usize];
            let bits = unit.bits & (FAST | REFERENCED);
            unit.bits = match (unit.bits & ACCESSED != 0, unit.bits & REFERENCED != 0) {
                (true, true) => bits & !self.activation_clears | ACTIVE,
                (true, false) => bits | REFERENCED,
                (false, _) if unit.bits & OBSERVED != 0 => bits & !REFERENCED,
                (false, _) => bits,
            };
            self.lists[usize::from(unit.bits & (FAST | ACTIVE))].push(number);
        }
        self.spare = tail;
    }

    fn scan_active(&mut self, list: usize) {
        let tail = self.part(list);
        let (active, inactive) = (list, list & FAST_INACTIVE);
        let mut moved = std::mem::take(&mut self.spare);
        moved.extend(self.lists[active].drain(..tail));
        for number in &moved {
            self.units[*number as usize].bits &= FAST | REFERENCED;
        }
        self.lists[inactive].append(&mut moved);
        self.spare = moved;
    }

    /// What is fast and active stays; slow and active follows from the tail, fast and inactive
    /// from the head, slow and inactive from the tail.
    fn write(&self, keys: &mut [u32]) {
        let [slow_inactive, slow_active, fast_inactive, fast_active] = &self.lists;
        let row = |number: &u32| self.units[*number as usize].row as usize;
        for number in fast_active {
            keys[row(number)] = 0;
        }
        let rest = slow_active.iter().chain(fast_inactive.iter().rev()).chain(slow_inactive);
        for (key, number) in (1..).zip(rest) {
            keys[row(number)] = key;
        }
    }
}
