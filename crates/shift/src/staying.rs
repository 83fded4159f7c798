//! The two helpers that stay: one is asked, the other one zeroes a device beside that. One that does not answer in time is
//! ended, and the next question starts another.

use crate::{Answer, Fault, Helper, Why, worker::Worker};
use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

/// Both, as far as they were needed, and how they are started.
#[derive(Debug)]
pub(crate) struct Staying {
    helper: Helper,
    /// Moves pages off blocks, takes them offline, zeroes and reads devices, finds who has them open, and writes to sysfs;
    /// it stays for the next device.
    asked: Place,
    /// Zeroes a device beside that.
    second: Place,
    /// While it does so.
    beside: RefCell<Option<Beside>>,
}

/// Where a helper waits for its next question; none has been started, or it is at work or was ended.
type Place = RefCell<Option<Worker>>;

/// What the second one is at.
#[derive(Debug)]
struct Beside {
    worker: Worker,
    doing: String,
    since: Instant,
    limit: Duration,
}

impl Staying {
    pub(crate) fn new(helper: Helper) -> Self {
        let (asked, second) = Default::default();
        Self { helper, asked, second, beside: RefCell::default() }
    }

    /// How they are started.
    pub(crate) fn helper(&self) -> &Helper {
        &self.helper
    }

    /// Starts both.
    pub(crate) fn start(&self) -> Answer<()> {
        for place in [&self.asked, &self.second] {
            let worker = self.worker(place, "be ready to give back")?;
            place.replace(Some(worker));
        }
        Ok(())
    }

    /// The helper that waits there, or another one where it has ended.
    fn worker(&self, place: &Place, doing: &str) -> Answer<Worker> {
        if let Some(mut worker) = place.take()
            && worker.is_ready()
        {
            return Ok(worker);
        }
        Worker::start(&self.helper, &["blocks"]).map_err(|error| {
            let why = Why::Said(format!("cannot start a helper: {error}"));
            Fault { doing: doing.to_owned(), why }
        })
    }

    /// Asks, and waits so long for the answer, a number perhaps, unless it is to stop before.
    pub(crate) fn ask(
        &self,
        doing: &str,
        question: &str,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<Option<u64>> {
        self.ask_in_words(doing, question, limit, stop).map(|said| said.parse().ok())
    }

    /// The same, for an answer that is no number.
    pub(crate) fn ask_in_words(
        &self,
        doing: &str,
        question: &str,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<String> {
        let mut worker = self.worker(&self.asked, doing)?;
        let answer = worker.begin(doing, question).and_then(|()| worker.answer(doing, limit, stop));
        keep_or_end(worker, &self.asked, doing)?;
        answer
    }

    /// Asks the second one, which has so long for it. What it was at before is ended.
    pub(crate) fn begin(&self, doing: String, question: &str, limit: Duration) -> Answer<()> {
        self.end()?;
        let mut worker = self.worker(&self.second, &doing)?;
        worker.begin(&doing, question)?;
        self.beside.replace(Some(Beside { worker, doing, since: Instant::now(), limit }));
        Ok(())
    }

    /// Waits so long for what it was asked, unless it is to stop waiting before. None: it is still at it, or it was asked
    /// nothing.
    pub(crate) fn answer(&self, limit: Duration, stop: &dyn Fn() -> bool) -> Answer<Option<u64>> {
        let Some(mut it) = self.beside.take() else { return Ok(None) };
        let answer = it.worker.answer(&it.doing, limit, stop);
        if matches!(&answer, Err(Fault { why: Why::TimeUp(_), .. }))
            && it.since.elapsed() < it.limit
        {
            self.beside.replace(Some(it));
            return Ok(None);
        }
        keep_or_end(it.worker, &self.second, &it.doing)?;
        answer.map(|said| said.parse().ok())
    }

    /// Ends it if it is at anything.
    pub(crate) fn end(&self) -> Answer<()> {
        self.beside.take().map_or(Ok(()), |it| keep_or_end(it.worker, &self.second, &it.doing))
    }

    /// Whether the one that is asked has ended.
    #[cfg(test)]
    pub(crate) fn has_ended(&self) -> bool {
        !self.asked.borrow_mut().as_mut().is_some_and(Worker::is_ready)
    }
}

/// Keeps a helper that has answered; ends another.
fn keep_or_end(mut worker: Worker, place: &Place, doing: &str) -> Answer<()> {
    if worker.is_ready() {
        place.replace(Some(worker));
    } else if !worker.end() {
        let why = Why::Said("the kernel does not let go of it; see `dmesg`".into());
        return Err(Fault { doing: doing.to_owned(), why });
    }
    Ok(())
}
