//! Runs a load on its threads for its time, and collects what they counted, epoch by epoch.

use crate::{
    args::Common,
    error::Result,
    memory::Region,
    session::Session,
    truth::Truth,
    worker::{Counts, Tally, Terms, Worker},
};
use pagetide_types::UnitSize;
use std::{
    collections::BTreeMap,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// What a run did.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Accesses of all threads.
    pub(crate) accesses: u64,
    /// From the start until the last thread ended.
    pub(crate) seconds: f64,
    /// Of all values read; the same for the same accesses.
    pub(crate) checksum: u64,
    /// Accesses per unit over the whole run.
    pub(crate) per_unit: Vec<u64>,
}

/// Runs `load` once per thread, until the time is over or the end is asked for; a load asks its
/// worker for batches and returns when there are none. Writes the truth if the arguments want it.
pub(crate) fn drive<F>(
    session: &mut Session<'_>,
    name: &str,
    common: &Common,
    region: &Region,
    load: F,
) -> Result<Summary>
where
    F: Fn(&mut Worker<'_>) + Sync,
{
    let mut truth = Truth::create(name, common, region)?;
    let terms = Terms {
        region,
        stop: session.stop.clone(),
        start: Instant::now(),
        duration: common.duration(),
        epoch: truth.is_some().then(|| Duration::from_secs_f64(common.truth_epoch)),
        shift: common.truth_unit.shift(),
        pages: truth.is_some()
            && common.truth_unit == UnitSize::Huge
            && common.page_size == UnitSize::Base,
        threads: common.threads,
        rate: common.rate,
        accesses: common.accesses,
    };
    let mut summary = Summary::default();
    let (tallies, arrived) = mpsc::channel();
    let written = thread::scope(|scope| {
        let workers: Vec<_> = (0..common.threads)
            .map(|number| {
                let mut worker = Worker::new(number, &terms, tallies.clone());
                let load = &load;
                scope.spawn(move || {
                    load(&mut worker);
                    worker.finish()
                })
            })
            .collect();
        drop(tallies);
        let written = collect(&arrived, &terms, &mut summary, truth.as_mut());
        for worker in workers {
            match worker.join() {
                Ok((checksum, until)) => {
                    summary.checksum = summary.checksum.wrapping_add(checksum);
                    summary.seconds = summary.seconds.max(until.as_secs_f64());
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        written
    });
    written?;
    if let Some(truth) = truth {
        truth.finish()?;
    }
    Ok(summary)
}

/// Adds up the threads' counts and writes every epoch as soon as all threads are through it.
/// On an error the load ends, and the first error is returned.
fn collect(
    arrived: &mpsc::Receiver<Tally>,
    terms: &Terms<'_>,
    summary: &mut Summary,
    mut truth: Option<&mut Truth>,
) -> Result<()> {
    let mut open: BTreeMap<u32, (u32, Duration, Counts)> = BTreeMap::new();
    let mut result = Ok(());
    let mut write = |epoch: u32, until: Duration, counts: &Counts| {
        summary.accesses += counts.accesses.iter().sum::<u64>();
        summary.per_unit.resize(counts.accesses.len(), 0);
        for (sum, n) in summary.per_unit.iter_mut().zip(&counts.accesses) {
            *sum += n;
        }
        if let (Some(truth), true) = (truth.as_mut(), result.is_ok()) {
            result = truth.epoch(epoch, until, counts, terms.region);
            if result.is_err() {
                terms.stop.set();
            }
        }
    };
    for Tally { epoch, until, counts } in arrived {
        let whole = match open.remove(&epoch) {
            None => (1, until, counts),
            Some((threads, before, mut sum)) => {
                sum.add(&counts);
                (threads + 1, before.max(until), sum)
            }
        };
        if whole.0 == terms.threads {
            write(epoch, whole.1, &whole.2);
        } else {
            open.insert(epoch, whole);
        }
    }
    for (epoch, (_, until, counts)) in open {
        write(epoch, until, &counts);
    }
    result
}
