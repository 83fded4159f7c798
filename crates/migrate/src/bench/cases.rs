//! The table: one case after the other, each some rounds, each page checked.

use super::memory::{BenchError, BenchMemory};
use crate::{Kernel, Mover, Options, Report, Work};
use pagetide_types::{Bytes, NodeId, UnitSize};
use serde::Serialize;

/// Which way pages move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// To the fast node, which has room.
    Promote,
    /// To the slow node.
    Demote,
    /// As many both ways, overlapped.
    Exchange,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Size of the pages.
    pub page: UnitSize,
    /// Pages in one call.
    pub batch: usize,
    /// Threads that call at once.
    pub threads: usize,
    /// Which way.
    pub mode: Mode,
}

/// A case, measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which.
    pub case: Case,
    /// Bytes that moved in one round, both ways together.
    pub bytes: Bytes,
    /// Time of a round from the first call to the last check, the median, seconds.
    pub seconds: f64,
    /// Of that, in calls that move, all threads together, seconds.
    pub moving_s: f64,
    /// Of that, in calls that check, all threads together, seconds.
    pub checking_s: f64,
    /// The longest call of all rounds, seconds.
    pub longest_call_s: f64,
    /// Pages that did not arrive, all rounds together.
    pub failed: u64,
    /// Huge pages split meanwhile on the machine.
    pub splits: u64,
}

/// Moves `size` of memory (each way) for `rounds` rounds; the contents are checked after every round.
///
/// # Errors
/// When there is no memory for it, or a page came back with other contents.
pub fn measure<K: Kernel>(
    kernel: K,
    case: Case,
    (fast, slow): (NodeId, NodeId),
    size: Bytes,
    rounds: usize,
) -> Result<(Row, K), BenchError> {
    let at = |node| BenchMemory::new(&kernel, node, size, case.page);
    let mut memories = match case.mode {
        Mode::Promote => vec![(at(slow)?, slow)],
        Mode::Demote => vec![(at(fast)?, fast)],
        Mode::Exchange => vec![(at(slow)?, slow), (at(fast)?, fast)],
    };
    let options = Options {
        huge_batch: case.batch,
        base_batch: case.batch,
        threads: case.threads,
        ..Options::default()
    };
    let mut mover = Mover::new(kernel, options);
    let mut reports = Vec::new();
    for _ in 0..rounds.max(1) {
        reports.push(round(&mut mover, &mut memories, fast, slow));
        for (memory, _) in &memories {
            memory.verify()?;
        }
        // Back again, without being measured; an exchange has only swapped the two.
        if case.mode != Mode::Exchange {
            round(&mut mover, &mut memories, fast, slow);
        }
    }
    let bytes = memories.iter().map(|(memory, _)| memory.size()).sum();
    Ok((row(case, bytes, &reports), mover.into_kernel()))
}

/// Moves every memory to the other node.
fn round<K: Kernel>(
    mover: &mut Mover<K>,
    memories: &mut [(BenchMemory, NodeId)],
    fast: NodeId,
    slow: NodeId,
) -> Report {
    let mut work = Work::default();
    for (tag, (memory, on)) in (0..).zip(memories) {
        let (to, list) =
            if *on == slow { (fast, &mut work.promote) } else { (slow, &mut work.demote) };
        list.push(memory.order(tag, *on, to));
        *on = to;
    }
    mover.run(&work, &|| false)
}

fn row(case: Case, bytes: Bytes, reports: &[Report]) -> Row {
    let median = |what: fn(&Report) -> u64| {
        let mut all: Vec<u64> = reports.iter().map(what).collect();
        all.sort_unstable();
        all.get(all.len() / 2).map_or(0.0, |ns| *ns as f64 * 1e-9)
    };
    let failed = |report: &Report| {
        let refused = report.refused.values().copied();
        refused.chain([report.moved_back]).map(|a| a.base_pages + a.huge_pages).sum::<u64>()
    };
    let longest = reports.iter().map(|report| report.longest_call_ns).max().unwrap_or(0);
    Row {
        case,
        bytes,
        seconds: median(|report| report.wall_ns),
        moving_s: median(|report| report.moving_ns),
        checking_s: median(|report| report.looking_ns),
        longest_call_s: longest as f64 * 1e-9,
        failed: reports.iter().map(failed).sum(),
        splits: reports.iter().map(|report| report.splits).sum(),
    }
}
