//! The processes of a tenant: what each was seen to do, and what its governor says.

use crate::channel::Worth;
use crate::priority_order::RowOf;
use crate::recent_moves::RecentMoves;
use crate::tenant::Outcome;
use crate::{Balance, CostBenefit, Counters, Governor, Governors, Verdict, Watch, observed};
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
    /// See [`CostBenefit::part_waited`].
    part_waited: f64,
    /// Those that have memory.
    by_number: BTreeMap<u32, Process>,
    /// By row of the last decision; empty: all of process 0.
    of_row: Vec<u32>,
    /// By unit, whether it went up and did not come down yet.
    promoted: Vec<bool>,
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

/// Whose a row is.
fn number_of(of_row: &[u32], row: usize) -> u32 {
    of_row.get(row).copied().unwrap_or(0)
}

struct Process {
    governor: Box<dyn Governor>,
    verdict: Verdict,
    /// It is seen since, or was let go on.
    since_s: f64,
    counters: Counters,
    recent: RecentMoves,
    /// CPU seconds that it used until the last epoch's end, if somebody says so.
    ran_s: Option<f64>,
}

impl Process {
    fn new(governor: Box<dyn Governor>, priced: bool, now_s: f64) -> Self {
        let recent = RecentMoves::new(governor.recent_s());
        let balance = priced.then(Balance::default);
        let counters = Counters { balance, ..Counters::default() };
        let verdict = Verdict::default();
        Self { governor, verdict, since_s: now_s, counters, recent, ran_s: None }
    }

    /// What counts for one epoch begins anew.
    fn begin(&mut self, now_s: f64, length_s: f64, changed_s: f64) {
        let Counters { promoted, demoted, promoted_then_demoted, moved_back, .. } = self.counters;
        let Counters { watching_s, balance, .. } = self.counters;
        self.counters = Counters {
            now_s,
            length_s,
            changed_s,
            promoted,
            demoted,
            promoted_then_demoted,
            moved_back,
            watching_s,
            watch: self.verdict.watch(),
            balance: balance.map(|balance| Balance { gained: 0.0, ..balance }),
            ..Counters::default()
        };
    }

    /// By the end of the epoch it had used so many CPU seconds.
    fn ran(&mut self, cpu_s: Option<f64>) {
        let before = std::mem::replace(&mut self.ran_s, cpu_s);
        let used_s = cpu_s.zip(before).map(|(now, before)| (now - before).max(0.0));
        self.counters.cores = used_s.map(|used_s| used_s / self.counters.length_s);
    }

    /// One of its units.
    fn count(&mut self, heat: &EpochHeat, row: usize, fast: bool) {
        let counters = &mut self.counters;
        counters.resident += heat.bytes(row);
        if observed(heat.flags[row]) {
            let pages = |pages: u16| Bytes(u64::from(pages) << 12);
            let (watched, accessed) = (pages(heat.watched[row]), pages(heat.touched[row]));
            counters.watched += watched;
            counters.accessed += accessed;
            if fast {
                counters.watched_fast += watched;
                counters.accessed_fast += accessed;
            }
        }
    }
}

impl Processes {
    pub(crate) fn new(governors: Governors, prices: Option<CostBenefit>) -> Self {
        Self {
            governors,
            said: prices,
            prices,
            part_waited: 1.0,
            by_number: BTreeMap::new(),
            of_row: Vec::new(),
            promoted: Vec::new(),
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
        self.prices
            .map(|prices| CostBenefit { gain_ns: prices.gain_ns * self.part_waited, ..prices })
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
        self.part_waited = self.prices.map_or(1.0, |prices| prices.part_waited(heat, fast));
        self.of_row.clear();
        self.of_row.extend_from_slice(process.unwrap_or_default());
        let rows = RowOf::of(heat);
        for (unit, promoted) in (0..).map(UnitId).zip(&mut self.promoted) {
            *promoted &= rows.row(unit).is_some();
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
                process.recent.end_epoch(self.now_s, |unit| rows.row(unit).is_some());
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
            let Some(was_fast) = *was_fast else { continue };
            let process = self.by_number.get_mut(&number_of(&self.of_row, row));
            if let Some(balance) = process.and_then(|process| process.counters.balance.as_mut()) {
                let counts = worth.map_or(1.0, |worth| worth.of_row(heat, row));
                let sooner = f64::from(i8::from(fast[row]) - i8::from(was_fast));
                let rate = f64::from(heat.memory_rate(row));
                balance.gained += sooner * prices.waits(counts * rate);
            }
        }
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

    /// For how long all processes that migrate have done so and been the same, seconds: the time of the youngest.
    pub(crate) fn age_s(&self) -> f64 {
        let all = self.by_number.values();
        let migrating = all.filter(|process| process.verdict == Verdict::Migrate);
        let same_s = migrating.map(|process| self.now_s - process.since_s.max(self.changed_s));
        same_s.reduce(f64::min).unwrap_or(0.0)
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

    /// Takes in what became of an order for a row of the heat that was judged last.
    pub(crate) fn learn(&mut self, outcome: &Outcome) {
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
        }
        if outcome.up {
            counters.promoted += outcome.moved;
            self.promoted.resize(self.promoted.len().max(unit.index() + 1), false);
            self.promoted[unit.index()] = true;
        } else {
            counters.demoted += outcome.moved;
            if self.promoted.get_mut(unit.index()).is_some_and(std::mem::take) {
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
