//! All cases of a bench, and what of them this machine can show.

use super::{BenchError, Case, Mode, Parts, Row, measure, parts};
use crate::Kernel;
use pagetide_types::{Bytes, NodeId, UnitSize};
use serde::Serialize;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Page sizes.
    pub pages: Vec<UnitSize>,
    /// Pages per call; empty: 1, 8 and all huge pages, 1, 64, 512 and all base pages.
    pub batches: Vec<usize>,
    /// Threads.
    pub threads: Vec<usize>,
    /// Memory to move, each way.
    pub size: Bytes,
    /// Rounds of which each case is the median.
    pub rounds: usize,
    /// CPUs of the machine.
    pub cpus: usize,
    /// Its CPUs are emulated by software, which cannot show what parallel copying gains.
    pub emulated: bool,
    /// Fast and slow node; none if there is only this one.
    pub between: Result<(NodeId, NodeId), NodeId>,
}

/// One line: a case with its figures, or why it has none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The case.
    pub case: Case,
    /// What was measured.
    pub row: Option<Row>,
    /// Why nothing was.
    pub not_measurable: Option<String>,
}

/// What a bench found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Fast node.
    pub fast: NodeId,
    /// Slow node; the fast one where there is no other.
    pub slow: NodeId,
    /// The parts of a move, by page size.
    pub parts: Vec<(UnitSize, Parts)>,
    /// All cases.
    pub lines: Vec<Line>,
}

/// Pages that a case of one page per call moves at most: it takes long and tells soon.
const SINGLES: u64 = 128;

impl Plan {
    /// The cases in their order: batches by one thread one way, then threads and modes with the
    /// batch that movers use.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for page in &self.pages {
            let all = usize::try_from(self.size.0 / page.bytes().0).unwrap_or(1).max(1);
            let (mut batches, usual) = match page {
                UnitSize::Huge => (vec![1, 8, all], 8),
                UnitSize::Base => (vec![1, 64, 512, all], 512),
            };
            if !self.batches.is_empty() {
                batches.clone_from(&self.batches);
            }
            batches.retain(|batch| *batch <= all);
            batches.sort_unstable();
            batches.dedup();
            let case = |batch, threads, mode| Case { page: *page, batch, threads, mode };
            cases.extend(batches.iter().map(|batch| case(*batch, 1, Mode::Promote)));
            let usual = if batches.contains(&usual) { usual } else { all };
            for threads in &self.threads {
                for mode in [Mode::Promote, Mode::Demote, Mode::Exchange] {
                    let case = case(usual, *threads, mode);
                    if !cases.contains(&case) {
                        cases.push(case);
                    }
                }
            }
        }
        cases
    }

    fn why_not(&self, case: &Case) -> Option<String> {
        match &self.between {
            Err(node) => Some(format!("one memory node ({node})")),
            Ok(_) if case.threads == 1 => None,
            Ok(_) if case.threads > self.cpus => Some(format!("{} CPUs", self.cpus)),
            Ok(_) if self.emulated => Some("emulated CPUs".to_owned()),
            Ok(_) => None,
        }
    }

    /// Measures everything that can be; `said` is told of each line.
    ///
    /// # Errors
    /// When there is no memory for it, or a page came back with other contents.
    pub fn run<K: Kernel>(
        &self,
        mut kernel: K,
        mut said: impl FnMut(&Line),
    ) -> Result<Table, BenchError> {
        let (fast, slow) = self.between.unwrap_or_else(|node| (node, node));
        let mut table = Table { fast, slow, ..Table::default() };
        for page in &self.pages {
            table.parts.push((*page, parts(&kernel, *page, (fast, slow), self.size)?));
        }
        for case in self.cases() {
            let not_measurable = self.why_not(&case);
            let mut row = None;
            if not_measurable.is_none() {
                let few = Bytes(SINGLES * case.page.bytes().0);
                let size = if case.batch == 1 { self.size.min(few) } else { self.size };
                let measured = measure(kernel, case, (fast, slow), size, self.rounds)?;
                kernel = measured.1;
                row = Some(measured.0);
            }
            let line = Line { case, row, not_measurable };
            said(&line);
            table.lines.push(line);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            pages: vec![UnitSize::Huge, UnitSize::Base],
            batches: Vec::new(),
            threads: vec![1, 2, 4],
            size: Bytes::mib(32),
            rounds: 1,
            cpus: 2,
            emulated: false,
            between: Ok((NodeId(0), NodeId(1))),
        }
    }

    #[test]
    fn every_batch_once_and_every_thread_and_mode_with_the_usual_batch() {
        let cases = plan().cases();
        let of = |page: UnitSize, threads, mode| -> Vec<usize> {
            let same = |case: &&Case| (case.page, case.threads, case.mode) == (page, threads, mode);
            cases.iter().filter(same).map(|case| case.batch).collect()
        };
        assert_eq!(of(UnitSize::Huge, 1, Mode::Promote), [1, 8, 16]);
        assert_eq!(of(UnitSize::Base, 1, Mode::Promote), [1, 64, 512, 8192]);
        assert_eq!(of(UnitSize::Base, 4, Mode::Exchange), [512]);
        assert_eq!(cases.len(), 3 + 4 + 2 * 8);
        let own = Plan { batches: vec![4, 2, 4, 1 << 20], ..plan() }.cases();
        assert_eq!(own[..2].iter().map(|case| case.batch).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn what_the_machine_cannot_show_is_said() {
        let why = |plan: &Plan, threads| {
            let case = Case { page: UnitSize::Huge, batch: 8, threads, mode: Mode::Promote };
            plan.why_not(&case)
        };
        assert_eq!((why(&plan(), 1), why(&plan(), 2)), (None, None));
        assert_eq!(why(&plan(), 4).as_deref(), Some("2 CPUs"));
        let emulated = Plan { emulated: true, ..plan() };
        assert_eq!(why(&emulated, 2).as_deref(), Some("emulated CPUs"));
        let one = Plan { between: Err(NodeId(0)), ..plan() };
        assert_eq!(why(&one, 1).as_deref(), Some("one memory node (0)"));
    }
}
