//! The processes of a tenant: what each was seen to do, and what its governor says.

use crate::channel::Worth;
use crate::priority_order::RowOf;
use crate::process::Process;
use crate::tenant::Outcome;
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
    /// By unit, when it went up, if it did not come down yet; seconds.
    promoted: Vec<Option<f64>>,
    /// Of all processes so far.
    promoted_then_demoted: Bytes,
    now_s: f64,
    /// When the target was last seen to change.
    changed_s: f64,
    /// CPU seconds that watching the epoch took.
    watching_s: f64,
    /// CPU seconds that making room took for what has not gone up so far.
    room_s: f64,
    /// Memory that is watched together, if somebody says so.
    piece: Option<Bytes>,
    /// CPU seconds that processes used until the end of the epoch, by number.
    ran_s: BTreeMap<u32, f64>,
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
            promoted: Vec::new(),
            promoted_then_demoted: Bytes(0),
            now_s: 0.0,
            changed_s: 0.0,
            watching_s: 0.0,
            room_s: 0.0,
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
    /// row, whose it is.
    pub(crate) fn judge(
        &mut self,
        heat: &EpochHeat,
        fast: &[bool],
        length_s: f64,
        process: Option<&[u32]>,
    ) -> Vec<Change> {
        self.now_s += length_s;
        self.overlapped = self.prices.map(|prices| prices.overlapped(heat, fast));
        self.of_row.clear();
        self.of_row.extend_from_slice(process.unwrap_or_default());
        let rows = RowOf::of(heat);
        for (unit, promoted) in (0..).map(UnitId).zip(&mut self.promoted) {
            *promoted = promoted.filter(|_| rows.row(unit).is_some());
        }
        self.count(heat, &rows, fast, length_s);
        self.count_gains(heat, &rows, fast);
        self.share_watching();
        let mut ran_s = std::mem::take(&mut self.ran_s);
        let mut changes = Vec::new();
        for (number, process) in &mut self.by_number {
            process.ran(ran_s.remove(number));
            let verdict = process.governor.judge(&process.counters);
            if verdict != process.verdict {
                process.since_s = self.now_s;
                let reason = process.governor.reason();
                changes.push(Change { process: *number, at_s: self.now_s, verdict, reason });
            }
            process.verdict = verdict;
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
                let moving_s = process.counters.balance.map_or(0.0, |balance| balance.moving_s);
                process.recent.end_epoch(self.now_s, moving_s, |unit| rows.row(unit).is_some());
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
            let up_s = self.promoted.get(heat.unit[row].index()).copied().flatten();
            if was_fast.is_none() && up_s.is_none() {
                continue;
            }
            let process = self.by_number.get_mut(&number_of(&self.of_row, row));
            let Some(process) = process else { continue };
            let Some(balance) = process.counters.balance.as_mut() else { continue };
            let counts = worth.map_or(1.0, |worth| worth.of_row(heat, row));
            let gained = prices.waits(counts * f64::from(heat.memory_rate(row)));
            if let Some(was_fast) = *was_fast {
                balance.gained += f64::from(i8::from(fast[row]) - i8::from(was_fast)) * gained;
            } else if fast[row] && up_s.is_some_and(|up_s| process.recent.is_older(up_s)) {
                process.older += gained;
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

    /// For how long all processes that migrate have done so and been the same, seconds: the time of the youngest. Of one
    /// for which what moves bring fades a part of it.
    pub(crate) fn age_s(&self) -> f64 {
        let all = self.by_number.values();
        let migrating = all.filter(|process| process.verdict == Verdict::Migrate);
        let same_s = |process: &Process| {
            let fading = process.counters.balance.map_or(0.0, |balance| balance.fading);
            (self.now_s - process.since_s.max(self.changed_s)) * (1.0 - fading)
        };
        migrating.map(same_s).reduce(f64::min).unwrap_or(0.0)
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

    /// Making room took so many CPU seconds.
    pub(crate) fn room_took(&mut self, cpu_s: f64) {
        self.room_s += cpu_s;
    }

    /// Takes in what became of orders for rows of the heat that was judged last.
    pub(crate) fn learn(&mut self, outcomes: &[Outcome]) {
        let up = outcomes.iter().filter(|outcome| outcome.up);
        let up: Bytes = up.map(|outcome| outcome.moved).sum();
        // What nobody went up by is borne by who comes next.
        let room_s = if up > Bytes(0) { std::mem::take(&mut self.room_s) } else { 0.0 };
        let byte_s = room_s / up.as_f64().max(1.0);
        outcomes.iter().for_each(|outcome| self.learn_one(outcome, byte_s));
    }

    /// `room_s`: what making room for a byte took.
    fn learn_one(&mut self, outcome: &Outcome, room_s: f64) {
        let unit = &outcome.unit;
        let number = number_of(&self.of_row, outcome.row);
        let Some(process) = self.by_number.get_mut(&number) else { return };
        let counters = &mut process.counters;
        counters.moved_back += outcome.moved_back;
        if outcome.moved == Bytes(0) {
            return;
        }
        process.recent.moved(*unit, outcome.up);
        if let (Some(balance), Some(prices)) = (&mut counters.balance, &self.prices) {
            balance.moving_s += prices.moving(outcome.huge, outcome.moved);
            balance.moving_s += if outcome.up { room_s * outcome.moved.as_f64() } else { 0.0 };
        }
        if outcome.up {
            counters.promoted += outcome.moved;
            self.promoted.resize(self.promoted.len().max(unit.index() + 1), None);
            self.promoted[unit.index()] = Some(self.now_s);
        } else {
            counters.demoted += outcome.moved;
            if self.promoted.get_mut(unit.index()).and_then(Option::take).is_some() {
                counters.promoted_then_demoted += outcome.moved;
                self.promoted_then_demoted += outcome.moved;
            }
        }
    }

    /// Bytes that went down after they had gone up.
    pub(crate) fn promoted_then_demoted(&self) -> Bytes {
        self.promoted_then_demoted
    }
}
