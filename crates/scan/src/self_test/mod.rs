//! Is the tracker blind? A child of ours spins on known pages; what the scan then sees is compared
//! with what was touched. On a machine where bits cannot be cleared, are not set again, or are
//! read from the wrong place, this fails, and nothing is recorded.

mod spinner;

use crate::bits::eyes::Eyes;
use crate::bits::madv_cold::{Followed, Live};
use crate::error::ScanError;
use crate::self_test::spinner::{Order, PATIENCE, Spinner, Task};
use crate::walk::row::{Range, Row, RowBits};
use crate::walk::walker::Walker;
use pagetide_types::{Bytes, PageSize};
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// Recall and precision below this fail the test.
const REQUIRED: f64 = 0.99;
/// Pages or huge pages that spin in each test.
const HUGE: [usize; 3] = [8, 32, 800];
const BASE: [usize; 3] = [16, 1_000, 100_000];
/// Memory of the test over what spins at most: the rest must stay unseen.
const SPARE: f64 = 1.25;
/// Share of the available memory that the test may use.
const MEMORY_SHARE: f64 = 0.25;
/// So often a test may be tried. A single try can fail for a reason that says nothing of the
/// machine: DAMON clears bits as well, and what it cleared between the child's last touch and our
/// look is missing. Of a machine that is blind all tries fail.
const TRIES: u32 = 5;
/// Clearing goes in steps of this size.
const CHUNK: u64 = 2 << 20;

/// What one test found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The size of the pages.
    pub page: PageSize,
    /// How many were touched over and over.
    pub spinning: usize,
    /// Whether in random order at random places, or in sequence.
    pub random: bool,
    /// Share of the touched that were seen; None if the test was left out.
    pub recall: Option<f64>,
    /// Share of the seen that were touched.
    pub precision: Option<f64>,
    /// How often it was tried: until it passed, five times at most.
    pub tries: u32,
    /// Why it was left out.
    pub skipped: Option<String>,
}

impl Finding {
    /// Whether it is as good as required, or was left out.
    #[must_use]
    pub fn passed(&self) -> bool {
        let enough = |share: Option<f64>| share.is_none_or(|share| share >= REQUIRED);
        enough(self.recall) && enough(self.precision)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.page == PageSize::Huge { "2 MiB" } else { "4 KiB" };
        let order = if self.random { "random" } else { "sequential" };
        write!(f, "{} {kind} pages, {order}: ", self.spinning)?;
        match (&self.skipped, self.recall, self.precision) {
            (Some(why), ..) => write!(f, "left out, {why}"),
            (_, Some(recall), Some(precision)) => write!(
                f,
                "{:.1} % of the touched pages seen, {:.1} % of the seen were touched",
                recall * 100.0,
                precision * 100.0
            ),
            _ => write!(f, "nothing was seen"),
        }?;
        if self.tries > 1 { write!(f, ", at try {} of {TRIES}", self.tries) } else { Ok(()) }
    }
}

/// All findings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = self.findings.iter().filter(|finding| finding.skipped.is_none()).count();
        let passed = self.findings.iter().filter(|f| f.skipped.is_none() && f.passed()).count();
        write!(f, "{passed} of {run} tests passed, {} left out", self.findings.len() - run)
    }
}

/// Runs all tests that the `available` memory and the huge pages allow; gives the walker back.
pub(crate) fn run(mut live: Live, available: Bytes) -> Result<(Walker, Report), ScanError> {
    let available = available.as_f64() * MEMORY_SHARE;
    live.walker.report_pages(true);
    let mut findings = Vec::new();
    for (page, counts) in [(PageSize::Huge, HUGE), (PageSize::Base, BASE)] {
        let size = page.bytes().as_f64();
        let fits = |count: &&usize| **count as f64 * SPARE * size <= available;
        let most = counts.iter().filter(fits).max().copied().unwrap_or(0);
        findings.extend(one_size(&mut live, page, &counts, most)?);
    }
    live.walker.report_pages(false);
    Ok((live.walker, Report { findings }))
}

/// All tests with one page size.
fn one_size(
    live: &mut Live,
    page: PageSize,
    counts: &[usize],
    most: usize,
) -> Result<Vec<Finding>, ScanError> {
    let skip = |spinning, random, why: &str| Finding {
        page,
        spinning,
        random,
        recall: None,
        precision: None,
        tries: 0,
        skipped: Some(why.to_owned()),
    };
    let both = |counts: &[usize], why: &str| -> Vec<Finding> {
        counts.iter().flat_map(|n| [skip(*n, false, why), skip(*n, true, why)]).collect()
    };
    if most == 0 {
        return Ok(both(counts, "too little memory is free"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    let pages = (most as f64 * SPARE) as usize + 8;
    let Some(spinner) = Spinner::start(page, pages)? else {
        return Ok(both(counts, "the kernel gives no huge pages"));
    };
    live.followed.clear();
    live.followed.push(Followed::new(&live.walker, spinner.pid())?);
    let mut findings = Vec::new();
    for &spinning in counts {
        for random in [false, true] {
            if spinning > most {
                findings.push(skip(spinning, random, "too little memory is free"));
                continue;
            }
            let order = if random { Order::Random } else { Order::Sequential };
            let task = Task { spinning, order };
            findings.push(until_passed(|tries| {
                let (recall, precision) = measure(live, &spinner, task)?;
                let (recall, precision, skipped) = (Some(recall), Some(precision), None);
                Ok(Finding { page, spinning, random, recall, precision, tries, skipped })
            })?);
        }
    }
    live.followed.clear();
    Ok(findings)
}

/// What the first try that passed found, or the last.
fn until_passed(
    mut try_it: impl FnMut(u32) -> Result<Finding, ScanError>,
) -> Result<Finding, ScanError> {
    for number in 1..TRIES {
        let found = try_it(number)?;
        if found.passed() {
            return Ok(found);
        }
        tracing::debug!("self test: {found}");
    }
    try_it(TRIES)
}

/// Clears everything while the child spins, waits until it has been round, and looks.
fn measure(live: &mut Live, spinner: &Spinner, task: Task) -> Result<(f64, f64), ScanError> {
    let gone = |_| ScanError::Gone(spinner.pid());
    spinner.set(task);
    wait_laps(spinner, 1)?;
    let area = spinner.area();
    let mut refused = Vec::new();
    let mut at = area.start;
    while at < area.end {
        let chunk = Range { start: at, end: area.end.min(at + CHUNK) };
        live.clear(0, &[chunk], &mut refused).map_err(gone)?;
        at = chunk.end;
    }
    wait_laps(spinner, 2)?;
    std::thread::sleep(Duration::from_millis(1));
    let (mut rows, mut bits) = (Vec::new(), Vec::new());
    let ranges = [area];
    live.walk_pages(0, &ranges, &mut rows, &mut bits).map_err(gone)?;
    Ok(score(spinner, task, &rows, &bits))
}

/// Recall and precision over pages of the spinner's size.
fn score(spinner: &Spinner, task: Task, rows: &[Row], bits: &[RowBits]) -> (f64, f64) {
    let touched = spinner.touched(task);
    let (mut hit, mut seen) = (0usize, 0usize);
    let mut count = |address: u64| {
        seen += 1;
        hit += usize::from(touched.contains(&spinner.page_of(address)));
    };
    for (row, bits) in rows.iter().zip(bits) {
        if spinner.page_size() == PageSize::Huge {
            if row.accessed > 0 {
                count(row.addr);
            }
            continue;
        }
        let region = row.addr & !((1 << 21) - 1);
        for page in 0..512u64 {
            if bits.accessed[(page / 64) as usize] >> (page % 64) & 1 == 1 {
                count(region + page * 4096);
            }
        }
    }
    let share = |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
    (share(hit, touched.len()), share(hit, seen))
}

/// Waits until the child went round `laps` times more.
fn wait_laps(spinner: &Spinner, laps: u64) -> Result<(), ScanError> {
    let target = spinner.laps() + laps + 1;
    let (mut moved, mut before) = (Instant::now(), 0);
    loop {
        let now = spinner.laps();
        if now >= target {
            return Ok(());
        }
        if now != before {
            (moved, before) = (Instant::now(), now);
        } else if moved.elapsed() > PATIENCE {
            return Err(ScanError::Blind("the test program got no CPU time".into()));
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a test ends with whose tries saw these shares of the touched pages.
    fn after(recalls: &[f64]) -> Finding {
        let try_it = |tries: u32| {
            Ok(Finding {
                page: PageSize::Huge,
                spinning: 800,
                random: true,
                recall: Some(recalls[tries as usize - 1]),
                precision: Some(1.0),
                tries,
                skipped: None,
            })
        };
        until_passed(try_it).unwrap()
    }

    #[test]
    fn pages_that_another_cleared_meanwhile_fail_a_try_not_the_test() {
        let found = after(&[0.866, 1.0]);
        assert!(found.passed());
        assert!(found.to_string().ends_with("were touched, at try 2 of 5"), "{found}");
        assert_eq!(after(&[1.0]).tries, 1);
        assert!(!after(&[1.0]).to_string().contains("try"));
    }

    #[test]
    fn a_machine_that_is_blind_at_each_try_fails() {
        let found = after(&[0.866, 0.5, 0.0, 0.98, 0.866]);
        assert!(!found.passed());
        assert!(found.to_string().contains("86.6 % of the touched pages seen"), "{found}");
        assert_eq!(found.tries, 5);
    }
}
