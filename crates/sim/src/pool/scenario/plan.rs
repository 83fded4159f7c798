//! A scenario of a pool at many points: as [`crate::sweep::Plan`] does it for one of tiers.

use super::super::outcome::PoolOutcome;
use super::super::settings::{Accounting, Chooser, SwapStall};
use super::payback_keys::{dear, told};
use super::resolved::resolved;
use super::{PoolScenario, ProgramSpec, Traces, run};
use crate::scenario::OF_POOLS;
use crate::sweep::{
    Cells, Column, Journal, Setting, SweepError, Vary, combinations, one_kind, values,
};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use toml::{Table, Value};

/// Stands for all that computes an outcome: whoever changes what the simulation of pools or the programs
/// compute raises it.
const MODEL: u32 = 1;
/// Is added for what runs under [`Payback`](crate::pool::Payback) with pages that may move, or that may not.
const PAYBACK_MODEL: u32 = 256;
const PAYBACK_STILL_MODEL: u32 = 4;
/// Is added for it where DMA takes its turn in the banks, which its books know.
const PAYBACK_IN_BANKS_MODEL: u32 = 512;
/// Is added where requests wait for their page or its count, or DMA takes its turn in the banks.
const WAITING_MODEL: u32 = 2;
/// Is added where a count is looked for in memory as soon as one went there, and goes to its own line.
const COUNTED_MODEL: u32 = 128;
/// Is added for [`ProgramSpec::Simplemoc`], since regions are structures that are read, too.
const SIMPLEMOC_MODEL: u32 = 8;

/// Is added where pages may move, since the frame that one comes into counts as used.
const MOVING_MODEL: u32 = 1024;

/// Is added where DMA takes its turn in the banks, since these count as busy until the last core's end and no
/// longer.
const BUSY_MODEL: u32 = 2048;

/// The model that computes a program's accesses.
#[must_use]
pub const fn model_of_program(program: &ProgramSpec) -> u32 {
    match program {
        ProgramSpec::Simplemoc { .. } => MODEL + SIMPLEMOC_MODEL,
        _ => MODEL,
    }
}

/// The model that computes a scenario.
#[must_use]
pub fn model_of(scenario: &PoolScenario) -> u32 {
    let programs = scenario.programs.iter().map(model_of_program).max().unwrap_or(MODEL);
    let Some(migration) = &scenario.migration else { return programs };
    let waits = migration.dma_in_banks
        || migration.swap_stall == SwapStall::Page
        || migration.accounting == Accounting::Within;
    let policy = match migration.policy {
        Chooser::Payback if migration.most > 0 && migration.dma_in_banks => PAYBACK_IN_BANKS_MODEL,
        Chooser::Payback if migration.most > 0 => PAYBACK_MODEL,
        Chooser::Payback => PAYBACK_STILL_MODEL,
        Chooser::Hottest => 0,
    };
    let moving = if migration.most > 0 { MOVING_MODEL } else { 0 };
    let counted = if migration.accounting == Accounting::Free { 0 } else { COUNTED_MODEL };
    let busy = if migration.works_in_banks() { BUSY_MODEL } else { 0 };
    let waiting = if waits { WAITING_MODEL } else { 0 };
    programs + policy + moving + counted + waiting + busy
}

/// Whether a file's text is a scenario of a pool: it has a `[[program]]`, or else no `[[tenant]]` and another key that
/// only those have.
#[must_use]
pub fn is_pool(text: &str) -> bool {
    let Ok(table) = text.parse::<Table>() else { return false };
    let has = |key| table.contains_key(key);
    has("program") || (!has("tenant") && OF_POOLS.iter().any(|key| has(key)))
}

/// See the module.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// The keys that vary.
    pub keys: Vec<String>,
    /// Their combinations, the last key varying fastest.
    pub points: Vec<PoolPoint>,
    origin: String,
}

/// One combination.
#[derive(Clone, Debug)]
pub struct PoolPoint {
    /// The values of the keys that vary.
    pub values: Vec<Value>,
    /// The scenario with them.
    pub scenario: PoolScenario,
    key: String,
}

/// How far [`PoolPlan::run`] is.
#[derive(Clone, Copy, Debug)]
pub struct PoolNow {
    /// Points that are there.
    pub done: usize,
    /// Of these, those that were there before.
    pub kept: usize,
    /// Different points in all.
    pub total: usize,
    /// Which share of one of the others is done, and its number among the points.
    pub under_way: Option<(f64, usize)>,
}

impl PoolPlan {
    /// Every combination of values, each looked through; `origin` names the text in errors.
    ///
    /// # Errors
    /// A key that leads nowhere, a value that makes no sense at one of the points.
    pub fn new(
        text: &str,
        origin: &str,
        settings: &[Setting],
        vary: &[Vary],
    ) -> Result<Self, SweepError> {
        let table: Table = text.parse().map_err(|source| SweepError::Syntax {
            origin: origin.to_owned(),
            source: Box::new(source),
        })?;
        one_kind(&table, origin)?;
        let point = |combination: Vec<Setting>| {
            let all: Vec<Setting> = settings.iter().chain(&combination).cloned().collect();
            let (scenario, key) = resolved(&table, text, origin, &all)?;
            Ok(PoolPoint { values: values(combination), scenario, key })
        };
        let all = combinations(settings, vary)?;
        let points = all.into_iter().map(point).collect::<Result<_, SweepError>>()?;
        let keys = vary.iter().map(|vary| vary.path().to_owned()).collect();
        Ok(Self { keys, points, origin: origin.to_owned() })
    }

    /// Adds for each point the same without migration, after all others.
    pub fn compare(&mut self) {
        let still = |point: &PoolPoint| PoolPoint {
            values: point.values.clone(),
            scenario: PoolScenario { migration: None, ..point.scenario.clone() },
            key: format!("{} without migration", point.key),
        };
        let more: Vec<PoolPoint> = self.points.iter().map(still).collect();
        self.points.extend(more);
    }

    /// What is to be known before it runs: values that are given, do not vary, and cost most of the gain.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let varies = |key: &str| self.keys.contains(&format!("migration.{key}"));
        let note = |point: &PoolPoint| {
            let mut dear = dear(point.scenario.migration.as_ref()?);
            dear.retain(|(key, _)| !varies(key));
            told(&dear)
        };
        let mut all: Vec<String> = self.points.iter().filter_map(note).collect();
        all.dedup();
        all
    }

    /// How many points differ in more than their names.
    #[must_use]
    pub fn different(&self) -> usize {
        self.points.iter().map(|point| point.key.as_str()).collect::<HashSet<_>>().len()
    }

    /// How many of these a journal has.
    #[must_use]
    pub fn kept(&self, journal: &Journal<PoolOutcome>) -> usize {
        let keys: HashSet<&str> = self.points.iter().map(|point| point.key.as_str()).collect();
        keys.into_iter().filter(|key| journal.get(key).is_some()).count()
    }

    /// The outcomes of all points, in their order. What the journal lacks is computed, in the threads of
    /// the current rayon pool. `watch` is told again and again how far it is; once it says false nothing
    /// new is computed.
    ///
    /// # Errors
    /// The first error of a point or of the disk ends it, as does `watch`
    /// ([`SweepError::Stopped`]); points that are finished are in the journal.
    pub fn run(
        &self,
        journal: &mut Journal<PoolOutcome>,
        watch: &(dyn Fn(&PoolNow) -> bool + Sync),
    ) -> Result<Vec<PoolOutcome>, SweepError> {
        let mut asked = HashSet::new();
        let all: Vec<(usize, &PoolPoint)> =
            self.points.iter().enumerate().filter(|(_, point)| asked.insert(&point.key)).collect();
        let missing: Vec<(usize, &PoolPoint)> =
            all.iter().filter(|(_, point)| journal.get(&point.key).is_none()).copied().collect();
        let (total, kept) = (all.len(), all.len() - missing.len());
        let path = journal.path().map_or_else(Default::default, Path::to_owned);
        let (done, results) = (AtomicUsize::new(kept), Mutex::new(journal));
        let traces = Traces::default();
        watch(&PoolNow { done: kept, kept, total, under_way: None });
        missing.par_iter().with_max_len(1).try_for_each(|(number, point)| {
            let mut told = |share| {
                let done = done.load(Ordering::Relaxed);
                watch(&PoolNow { done, kept, total, under_way: Some((share, *number)) })
            };
            let outcome = run(&point.scenario, &self.origin, &traces, &mut told)?;
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.append(&point.key, outcome).map_err(SweepError::file(&path))?;
            drop(results);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch(&PoolNow { done, kept, total, under_way: None });
            Ok::<_, SweepError>(())
        })?;
        let journal = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(self.points.iter().filter_map(|point| journal.get(&point.key).cloned()).collect())
    }
}

/// Outcomes of a plan's points as columns: a row for each point.
#[must_use]
pub fn columns(plan: &PoolPlan, outcomes: &[PoolOutcome]) -> Vec<Column> {
    let column = |name: &str, cells: Cells| Column { name: name.to_owned(), cells };
    let numbers = |of: fn(&PoolOutcome) -> f64| {
        Cells::Numbers(outcomes.iter().map(|outcome| Some(of(outcome))).collect())
    };
    let whole = |of: fn(&PoolOutcome) -> u64| {
        let all = outcomes.iter().map(|outcome| i64::try_from(of(outcome)).unwrap_or(i64::MAX));
        Cells::Whole(all.collect())
    };
    let varied = plan.keys.iter().enumerate().map(|(at, key)| {
        let of: Vec<&Value> = plan.points.iter().map(|point| &point.values[at]).collect();
        column(key, Cells::of(&of))
    });
    let mut all: Vec<Column> = varied.collect();
    all.extend([
        column("ipc", numbers(|outcome| outcome.ipc)),
        column("seconds", numbers(|outcome| outcome.seconds)),
        column("delay_ns", numbers(PoolOutcome::delay_ns)),
        column("local_share", numbers(PoolOutcome::local_share)),
        column("busy_share", numbers(|outcome| outcome.busy_share)),
        column("epochs", whole(|outcome| outcome.epochs)),
        column("epochs_with_moves", whole(|outcome| outcome.epochs_with_moves)),
        column("moved_in", whole(|outcome| outcome.nodes.iter().map(|n| n.moved_in).sum())),
        column("moved_out", whole(|outcome| outcome.nodes.iter().map(|n| n.moved_out).sum())),
        column(
            "stalled_s",
            numbers(|outcome| {
                let all: f64 = outcome.nodes.iter().map(|node| node.stalled_s).sum();
                all / outcome.nodes.len().max(1) as f64
            }),
        ),
        column("walks", whole(|outcome| outcome.nodes.iter().map(|n| n.walks).sum())),
        column("walks_again", whole(|outcome| outcome.nodes.iter().map(|n| n.walks_again).sum())),
        column("stopped", whole(|outcome| outcome.nodes.iter().map(|n| n.stopped).sum())),
        column("stood_still_s", {
            let all = |outcome: &PoolOutcome| -> f64 {
                outcome.nodes.iter().map(|node| node.stood_still_s).sum()
            };
            let mean = |outcome: &PoolOutcome| all(outcome) / outcome.nodes.len().max(1) as f64;
            Cells::Numbers(outcomes.iter().map(|outcome| Some(mean(outcome))).collect())
        }),
        column("messages", whole(|outcome| outcome.messages)),
        column("metadata_bytes", whole(|outcome| outcome.metadata_bytes)),
        column("spilled_counts", whole(|outcome| outcome.spilled_counts)),
        column("filled_counts", whole(|outcome| outcome.filled_counts)),
    ]);
    all
}
