//! What the loop says: a line per epoch, and a summary at the end.

use crate::Tiers;
use crate::second_half::Parts;
use pagetide_migrate::Report;
use pagetide_policy::{Change, Verdict};
use pagetide_types::{Bytes, EpochHeat, NodeId};
use serde::Serialize;

/// A governor stopped a process, or let it migrate again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Turn {
    /// When, seconds since the start.
    pub at_s: f64,
    /// The process.
    pub pid: u32,
    /// It stands still from now on; else it migrates.
    pub stopped: bool,
    /// Why, in a short sentence.
    pub reason: String,
}

impl Turn {
    pub(crate) fn new(change: Change, at_s: f64) -> Self {
        let Change { process: pid, verdict, reason, .. } = change;
        Self { at_s, pid, stopped: verdict == Verdict::StandStill, reason }
    }
}

/// The tiers were others from here on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TierChange {
    /// When that was found, seconds since the start.
    pub at_s: f64,
    /// What they are, in words.
    pub tiers: String,
}

/// One epoch: what was seen, decided and done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EpochLine {
    /// Its number, from 0.
    pub epoch: u32,
    /// When it began, seconds since the start.
    pub start_s: f64,
    /// Its length, seconds.
    pub length_s: f64,
    /// CPU seconds that observing took.
    pub observer_s: f64,
    /// CPU seconds of this program since the epoch before: observing, deciding, and moves.
    pub cpu_s: f64,
    /// Resident memory of the target.
    pub resident: Bytes,
    /// Of it, in fast memory: as found in the epoch, and with what moved beside it since.
    pub held: Bytes,
    /// Free in the fast tier when it was decided.
    pub free: Bytes,
    /// Page cache in it that could be given up.
    pub idle_cache: Bytes,
    /// Fast memory that the target could have.
    pub capacity: Bytes,
    /// What the tiers are from now on, in words; none: as before.
    pub tiers: Option<String>,
    /// Estimated accesses per second.
    pub accesses_per_s: f64,
    /// Share of them that went to what lay in fast memory; none without accesses.
    pub fast_share: Option<f64>,
    /// What is expected of memory that is born, accesses per second of a base page; none if nothing was born yet, or
    /// the policy expects nothing.
    pub birth_rate: Option<f64>,
    /// Fast memory that is to be free for what is born until the next decision.
    pub room_for_births: Bytes,
    /// Memory that was watched for accesses, share of the resident pages.
    pub watched_share: f64,
    /// The least memory that had nine tenths of the accesses; none without any, or of too many units.
    pub hot_set: Option<Bytes>,
    /// Share of the resident memory whose heat is unknown.
    pub unknown_share: f64,
    /// Whether the governor let pages move.
    pub migrate: bool,
    /// Processes that the governor stopped, or let go on.
    pub turns: Vec<Turn>,
    /// What the policy chose, where it chooses between ways.
    pub choice: Option<&'static str>,
    /// Bytes that were to be promoted.
    pub promote: Bytes,
    /// Bytes that were to be demoted.
    pub demote: Bytes,
    /// Slow memory that was about to be taken away; none: nothing was.
    pub leaving: Option<Bytes>,
    /// Of what was to be promoted, what goes up for that alone.
    pub for_leaving: Bytes,
    /// Promotions left out because they would not bring what they cost.
    pub unworthy: usize,
    /// What moving a base page was taken to cost, us; none where nobody says so.
    pub base_us: Option<f64>,
    /// The same of a huge page.
    pub huge_us: Option<f64>,
    /// Promotions left out for want of room, or over the bytes of one epoch.
    pub without_room: usize,
    /// Units that refused before and were not asked.
    pub backed_off: usize,
    /// Everybody stood still, and only what was visited was looked at: what is told of memory and accesses is as of the last
    /// epoch without this.
    pub glance: bool,
    /// What moved while it was watched, and after it; none where nothing was to.
    pub moves: Option<Report>,
}

impl EpochLine {
    /// Counts accesses, and the part of them that fast memory served; `fast_part`: the part of a
    /// row that lies there, 0 to 1.
    pub(crate) fn count_accesses(&mut self, heat: &EpochHeat, fast_part: impl Fn(usize) -> f64) {
        let rate = |row: usize| f64::from(heat.memory_rate(row));
        // The sum of nothing is -0.0.
        self.accesses_per_s = (0..heat.len()).map(rate).sum::<f64>() + 0.0;
        if self.accesses_per_s > 0.0 {
            let served: f64 = (0..heat.len()).map(|row| rate(row) * fast_part(row)).sum();
            self.fast_share = Some(served / self.accesses_per_s);
        }
    }
}

/// A run beside what a plan says for as much fast memory as it held, both in its second half.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// What the plan is for.
    pub recording: String,
    /// What that places: `2M` or `4K`.
    pub unit: String,
    /// Since when, seconds since the start.
    pub from_s: f64,
    /// Fast memory that the run held, mean over the time.
    pub held: Bytes,
    /// Share of the accesses that fast memory serves by the plan.
    pub plan_share: f64,
    /// Share that it served in the run.
    pub run_share: f64,
}

/// What ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The target did.
    Target,
    /// The time was up.
    Limit,
    /// Somebody asked it to stop.
    Interrupt,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// What was managed.
    pub target: String,
    /// The policy with its options.
    pub policy: String,
    /// The governor.
    pub governor: String,
    /// Fast nodes.
    pub fast_nodes: Vec<u16>,
    /// Slow nodes.
    pub slow_nodes: Vec<u16>,
    /// How the tiers were found.
    pub tiers_from: String,
    /// Memory that came or went meanwhile, in order; the nodes above are those with which there was slow memory
    /// last.
    pub tier_changes: Vec<TierChange>,
    /// The budget in words.
    pub budget: String,
    /// Nothing was moved.
    pub dry_run: bool,
    /// Epochs.
    pub epochs: u32,
    /// Their length together, seconds.
    pub seconds: f64,
    /// What ended it; none: an error.
    pub ended: Option<Ended>,
    /// CPU seconds that observing took.
    pub observer_s: f64,
    /// CPU seconds of this program: observing, deciding, and moves.
    pub cpu_s: f64,
    /// Bytes that were decided to be promoted.
    pub promote: Bytes,
    /// Bytes that were decided to be demoted.
    pub demote: Bytes,
    /// Bytes that were demoted after they had been promoted.
    pub promoted_then_demoted: Bytes,
    /// Epochs in which the governor let nothing be promoted.
    pub stood_still: u32,
    /// What the governor stopped and let go on, in order.
    pub turns: Vec<Turn>,
    /// All moves together.
    pub moves: Report,
    /// What is to be said of how it was watched, in clauses.
    pub notes: Vec<String>,
    /// The first epoch in which the target had at least half of its most memory: before that it
    /// was still filling it.
    pub first: EpochLine,
    /// The last one: after that it was ending.
    pub last: EpochLine,
    /// Held against a plan, where that was asked for.
    pub verified: Option<Verified>,
    /// The most memory so far; by it `first` and `last` are told.
    #[serde(skip)]
    pub most: Bytes,
    /// What tells of its halves.
    #[serde(skip)]
    pub parts: Parts,
}

impl Summary {
    /// The tiers that it is about.
    pub(crate) fn is_of(&mut self, tiers: &Tiers) {
        let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect();
        (self.fast_nodes, self.slow_nodes) = (numbers(&tiers.fast), numbers(&tiers.slow));
        self.tiers_from.clone_from(&tiers.source);
    }

    pub(crate) fn add(&mut self, line: &EpochLine) {
        // Before a command has its memory, and after its end, there is nothing to tell.
        self.most = self.most.max(line.resident);
        let much = |resident: Bytes| 2.0 * resident.as_f64() >= self.most.as_f64();
        let tells = much(line.resident);
        if self.epochs == 0 || !much(self.first.resident) {
            self.first = line.clone();
        }
        self.epochs += 1;
        self.seconds += line.length_s;
        self.observer_s += line.observer_s;
        self.cpu_s += line.cpu_s;
        self.promote += line.promote;
        self.demote += line.demote;
        self.stood_still += u32::from(!line.migrate);
        self.turns.extend_from_slice(&line.turns);
        let at_s = line.start_s + line.length_s;
        self.tier_changes
            .extend(line.tiers.iter().cloned().map(|tiers| TierChange { at_s, tiers }));
        if tells {
            self.last = line.clone();
            self.parts.keep(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_are_epochs_in_which_there_was_memory() {
        let mut summary = Summary::default();
        for (epoch, mib) in (0..).zip([0, 40, 50, 60, 0]) {
            let resident = Bytes::mib(mib);
            summary.add(&EpochLine { epoch, resident, ..EpochLine::default() });
        }
        assert_eq!((summary.first.epoch, summary.last.epoch, summary.epochs), (1, 3, 5));
        let mut summary = Summary::default();
        for (epoch, mib) in (0..).zip([10, 400, 1000, 900, 20]) {
            let resident = Bytes::mib(mib);
            summary.add(&EpochLine { epoch, resident, ..EpochLine::default() });
        }
        assert_eq!((summary.first.epoch, summary.last.epoch), (2, 3), "filled, and not yet ending");
    }
}
