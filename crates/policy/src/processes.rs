//! The processes of a tenant: what each was seen to do, and what its governor says.

use crate::channel::Worth;
use crate::priority_order::RowOf;
use crate::process::Process;
use crate::recent_moves::Older;
use crate::tenant::{Here, Outcome};
use crate::{CostBenefit, Governors, Verdict, Watch};
use pagetide_types::{Bytes, EpochHeat, UnitId};
use std::collections::BTreeMap;

/// A governor changed its mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The process's number.
    pub process: u32,
    /// Seconds since the tenant was first seen.
    pub at_s: f64,
    /// What holds from now on.
    pub verdict: Verdict,
    /// A short sentence with its numbers.
    pub reason: String,
}

/// See the module.
pub(crate) struct Processes {
    governors: Governors,
    /// What moves cost and bring: as was said at first, and as far as that is known now.
    said: Option<CostBenefit>,
    prices: Option<CostBenefit>,
    /// What an access brings by what was accessed in the last epoch: see [`CostBenefit::overlapped`].
    overlapped: Option<CostBenefit>,
    /// Those that have memory.
    by_number: BTreeMap<u32, Process>,
    /// By row of the last decision; empty: all of process 0.
    of_row: Vec<u32>,
    /// By unit, its last move.
    moved: Vec<Option<LastMove>>,
    /// By row of the last decision, whether it was fast.
    was_fast: Vec<bool>,
    /// Of all processes so far.
    promoted_then_demoted: Bytes,
    now_s: f64,
    /// When the target was last seen to change.
    changed_s: f64,
    /// CPU seconds that watching the epoch took.
    watching_s: f64,
    /// Memory that is watched together, if somebody says so.
    piece: Option<Bytes>,
    /// CPU seconds that processes used until the end of the epoch, by number.
    ran_s: BTreeMap<u32, f64>,
}

/// A unit's last move.
#[derive(Clone, Copy, Debug)]
struct LastMove {
    at_s: f64,
    up: bool,
}

impl LastMove {
    fn is_of(self, older: &Older) -> bool {
        (older.from_s..older.to_s).contains(&self.at_s)
    }
}

/// Whose a row is.
fn number_of(of_row: &[u32], row: usize) -> u32 {
    of_row.get(row).copied().unwrap_or(0)
}

impl Processes {
    pub(crate) fn new(governors: Governors, prices: Option<CostBenefit>) -> Self {
        Self {
            governors,
            said: prices,
            prices,
            overlapped: prices,
            by_number: BTreeMap::new(),
            of_row: Vec::new(),
            moved: Vec::new(),
            was_fast: Vec::new(),
            promoted_then_demoted: Bytes(0),
            now_s: 0.0,
            changed_s: 0.0,
            watching_s: 0.0,
            piece: None,
            ran_s: BTreeMap::new(),
        }
    }

    /// What moves cost and bring, as far as that is known.
    pub(crate) fn prices(&self) -> Option<CostBenefit> {
        let now = |(prices, now): (CostBenefit, CostBenefit)| CostBenefit {
            gain_ns: now.gain_ns,
            in_order: now.in_order,
            ..prices
        };
        self.prices.zip(self.overlapped).map(now)
    }

    /// Moving so many pages of either size took so many CPU seconds.
    pub(crate) fn moves_took(&mut self, base_pages: u64, huge_pages: u64, cpu_s: f64) {
        if let (Some(prices), Some(said)) = (&mut self.prices, &self.said) {
            prices.learn(said, base_pages, huge_pages, cpu_s);
        }
    }

    /// The governor's name with options.
    pub(crate) fn governor(&self) -> &str {
        self.governors.name()
    }

    /// Watching the epoch took so many CPU seconds; each process bears a part by what was watched
    /// of it. `piece`: see [`crate::Tenant::watched`].
    pub(crate) fn watched(&mut self, cpu_s: f64, piece: Option<Bytes>) {
        self.watching_s += cpu_s;
        self.piece = piece;
    }

    /// What the target accesses has become another thing: how long it was what it was says nothing any more.
    pub(crate) fn changed(&mut self) {
        self.changed_s = self.now_s;
    }

    /// A process has used so many CPU seconds so far.
    pub(crate) fn ran(&mut self, process: u32, cpu_s: f64) {
        self.ran_s.insert(process, cpu_s);
    }

    /// Asks the governor once for every process that has memory; what of it is new. `process`: by
    /// row, whose it is. `room`: as [`crate::Counters::room`].
    pub(crate) fn judge(
        &mut self,
        heat: &EpochHeat,
        (fast, room): (&[bool], Option<f64>),
        length_s: f64,
        process: Option<&[u32]>,
    ) -> Vec<Change> {
        self.now_s += length_s;
        self.overlapped = self.prices.map(|prices| prices.overlapped(heat, fast));
        self.of_row.clear();
        self.of_row.extend_from_slice(process.unwrap_or_default());
        let rows = RowOf::of(heat);
        for (unit, moved) in (0..).map(UnitId).zip(&mut self.moved) {
            *moved = moved.filter(|_| rows.row(unit).is_some());
        }
        self.was_fast.clear();
        self.was_fast.extend_from_slice(fast);
        self.count(heat, &rows, fast, length_s);
        self.count_gains(heat, &rows, fast);
        self.ask(room)
    }

    /// As [`crate::Tenant::glance`]; and whether rows belong to others.
    pub(crate) fn glance(
        &mut self,
        heat: &EpochHeat,
        length_s: f64,
        here: &Here<'_>,
    ) -> (Vec<Change>, bool) {
        self.now_s += length_s;
        for process in self.by_number.values_mut() {
            let resident = process.counters.resident;
            process.begin(self.now_s, length_s, self.changed_s);
            process.counters.resident = resident;
            process.end_epoch(|_| true);
        }
        let mut strangers = false;
        for (row, number) in here.process.iter().enumerate() {
            match self.by_number.get_mut(number) {
                Some(process) => process.observe(heat, row, here.fast[row]),
                None => strangers = true,
            }
        }
        (self.ask(Some(here.room)), strangers)
    }

    fn ask(&mut self, room: Option<f64>) -> Vec<Change> {
        self.share_watching();
        let mut ran_s = std::mem::take(&mut self.ran_s);
        let mut changes = Vec::new();
        for (number, process) in &mut self.by_number {
            process.ran(ran_s.remove(number));
            process.counters.room = room;
            let verdict = process.governor.judge(&process.counters);
            if verdict != process.verdict {
                process.turns(verdict, self.now_s);
                let reason = process.governor.reason();
                changes.push(Change { process: *number, at_s: self.now_s, verdict, reason });
            }
        }
        changes
    }

    fn count(&mut self, heat: &EpochHeat, rows: &RowOf, fast: &[bool], length_s: f64) {
        let mut before = std::mem::take(&mut self.by_number);
        // Rows that follow each other are mostly of the same.
        let mut from = 0;
        while from < fast.len() {
            let number = number_of(&self.of_row, from);
            let others = (from..fast.len()).find(|row| number_of(&self.of_row, *row) != number);
            let end = others.unwrap_or(fast.len());
            let process = self.by_number.entry(number).or_insert_with(|| {
                let mut process = before.remove(&number).unwrap_or_else(|| {
                    let governor = self.governors.build(number);
                    Process::new(governor, self.prices.is_some(), self.now_s - length_s)
                });
                process.begin(self.now_s, length_s, self.changed_s);
                process.end_epoch(|unit| rows.row(unit).is_some());
                process
            });
            (from..end).for_each(|row| process.count(heat, row, fast[row]));
            from = end;
        }
    }

    /// What units gain by having moved lately. Accesses are worth as much as if nothing had.
    fn count_gains(&mut self, heat: &EpochHeat, rows: &RowOf, fast: &[bool]) {
        let Some(prices) = self.prices() else { return };
        let mut was_fast: Vec<Option<bool>> = vec![None; heat.len()];
        for (number, process) in &self.by_number {
            for (unit, fast) in process.recent.were_fast() {
                let row = rows.row(unit).filter(|row| number_of(&self.of_row, *row) == *number);
                if let Some(row) = row {
                    was_fast[row] = Some(fast);
                }
            }
        }
        let worth = Worth::of(heat, &prices, |row| !was_fast[row].unwrap_or(fast[row]));
        for (row, was_fast) in was_fast.iter().enumerate() {
            let last = self.moved.get(heat.unit[row].index()).copied().flatten();
            let before = was_fast.or(last.map(|last| !last.up));
            let Some(sooner) = before.map(|before| i8::from(fast[row]) - i8::from(before)) else {
                continue;
            };
            let process = self.by_number.get_mut(&number_of(&self.of_row, row));
            let Some(process) = process.filter(|_| sooner != 0) else { continue };
            let Some(balance) = process.counters.balance.as_mut() else { continue };
            let counts = worth.map_or(1.0, |worth| worth.of_row(heat, row));
            let gained = prices.waits(counts * f64::from(heat.memory_rate(row)));
            let gained = f64::from(sooner) * gained;
            let is_older = |older: Older| last.is_some_and(|last| last.is_of(&older));
            if was_fast.is_some() {
                balance.gained += gained;
            } else if process.older.is_some_and(is_older) {
                process.older_gained += gained;
            }
        }
        self.by_number.values_mut().for_each(Process::fade);
    }

    fn share_watching(&mut self) {
        let all: Bytes = self.by_number.values().map(|process| process.counters.watched).sum();
        let cpu_s = std::mem::take(&mut self.watching_s);
        for process in self.by_number.values_mut().filter(|_| all > Bytes(0)) {
            let counters = &mut process.counters;
            counters.watching_s += cpu_s * counters.watched.as_f64() / all.as_f64();
            counters.pieces = self.piece.map(|piece| counters.watched.as_f64() / piece.as_f64());
        }
    }

    /// The time in which moves must bring what they cost, by how long all processes that migrate have been the same
    /// ([`CostBenefit::at_age`]): that of the youngest, and of those for which what moves bring fades, a part of what is beyond
    /// the usual.
    pub(crate) fn at_age(&self, prices: &CostBenefit) -> CostBenefit {
        let all = self.by_number.values();
        let migrating = all.filter(|process| process.verdict == Verdict::Migrate);
        let within_s = |process: &Process| {
            let fading = process.counters.balance.map_or(0.0, |balance| balance.fading);
            let usual_s = prices.within_s;
            usual_s + (prices.at_age(process.same_s()).within_s - usual_s) * (1.0 - fading)
        };
        let within_s = migrating.map(within_s).reduce(f64::min).unwrap_or(prices.within_s);
        CostBenefit { within_s, ..*prices }
    }

    /// Whether nothing of the row's process may go up.
    pub(crate) fn stands_still(&self, row: usize) -> bool {
        let number = number_of(&self.of_row, row);
        self.by_number.get(&number).is_some_and(|process| process.verdict == Verdict::StandStill)
    }

    /// How many migrate, and how many stand still.
    pub(crate) fn standing(&self) -> (usize, usize) {
        let still = |process: &&Process| process.verdict == Verdict::StandStill;
        let still = self.by_number.values().filter(still).count();
        (self.by_number.len() - still, still)
    }

    /// Those that are to be watched sparsely from now on.
    pub(crate) fn sparse(&self) -> Vec<u32> {
        let sparse = |process: &Process| process.verdict.watch() == Watch::Sparse;
        let all = self.by_number.iter();
        all.filter(|(_, process)| sparse(process)).map(|(number, _)| *number).collect()
    }

    /// Takes in what became of orders for rows of the heat that was judged last. `room_s`: what making room for a byte that
    /// went up took.
    pub(crate) fn learn(&mut self, outcome: &Outcome, room_s: f64) {
        let unit = &outcome.unit;
        let number = number_of(&self.of_row, outcome.row);
        let Some(process) = self.by_number.get_mut(&number) else { return };
        let counters = &mut process.counters;
        counters.moved_back += outcome.moved_back;
        if outcome.moved == Bytes(0) {
            return;
        }
        if let (Some(balance), Some(prices)) = (&mut counters.balance, &self.prices) {
            balance.moving_s += prices.moving(outcome.huge, outcome.moved);
            balance.moving_s += if outcome.up { room_s * outcome.moved.as_f64() } else { 0.0 };
        }
        self.moved.resize(self.moved.len().max(unit.index() + 1), None);
        let last = &mut self.moved[unit.index()];
        if outcome.up {
            counters.promoted += outcome.moved;
        } else {
            counters.demoted += outcome.moved;
            if last.is_some_and(|last| last.up) {
                counters.promoted_then_demoted += outcome.moved;
                self.promoted_then_demoted += outcome.moved;
            }
        }
        // The rest of one that was there already says nothing of where it was.
        let was_fast = self.was_fast.get_mut(outcome.row);
        if was_fast.map(|was| std::mem::replace(was, outcome.up)) == Some(outcome.up) {
            *last = last.map(|last| LastMove { up: outcome.up, ..last });
        } else {
            process.recent.moved(*unit, outcome.up);
            *last = Some(LastMove { at_s: self.now_s, up: outcome.up });
        }
    }

    /// Bytes that went down after they had gone up.
    pub(crate) fn promoted_then_demoted(&self) -> Bytes {
        self.promoted_then_demoted
    }
}
