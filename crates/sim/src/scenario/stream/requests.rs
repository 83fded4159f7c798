//! A trace in oracleGeneral: one thread, whose requests are reads of objects, each a page.

use super::file::At;
use super::problem::Failure;
use super::{Rounds, StreamProblem, Streamed, Thread, Wanted, countable};
use crate::curve::dense::Dense;
use pagetide_access::patterns::{Op, Source, Step};
use pagetide_access::{Accesses, OracleReader, open as open_accesses};
use std::io::Read;
use std::time::Duration;

/// Reads all of it.
pub(super) fn open(
    mut reader: OracleReader<impl Read>,
    file: &At,
    wanted: Wanted,
    failure: &Failure,
) -> Result<Streamed, StreamProblem> {
    let (mut names, mut objects, mut numbers) = (Dense::new(), Vec::new(), Vec::new());
    while let Some(batch) = reader.batch()? {
        objects.clear();
        numbers.clear();
        batch.objects(&mut objects);
        names.number(&objects, &mut numbers).map_err(|_| StreamProblem::Memory)?;
    }
    let count = names.count();
    if count == 0 {
        return Err(StreamProblem::Empty);
    }
    let source = RequestSource {
        file: file.clone(),
        reader: None,
        names,
        count,
        objects,
        numbers: Vec::new(),
        at: 0,
        rounds: Rounds::of(wanted.repeat),
        over: false,
        failure: failure.clone(),
    };
    let threads = vec![Thread { source: Box::new(source), begins_s: 0.0 }];
    let (pages, failure) = (countable(count.into())?, failure.clone());
    Ok(Streamed { threads, pages, counted: false, failure })
}

/// Its thread.
struct RequestSource {
    file: At,
    /// None before it begins, or begins again.
    reader: Option<OracleReader<Box<dyn Read + Send>>>,
    /// Objects to pages; all were met before.
    names: Dense,
    count: u32,
    /// Of the requests under way: objects, their pages, and which comes next.
    objects: Vec<u64>,
    numbers: Vec<u32>,
    at: usize,
    rounds: Rounds,
    over: bool,
    failure: Failure,
}

impl Source for RequestSource {
    fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
        for _ in 0..n {
            if self.at == self.numbers.len() && !self.over {
                self.over = !self.read().unwrap_or_else(|problem| {
                    self.failure.set(problem);
                    false
                });
            }
            let Some(page) = self.numbers.get(self.at) else { return };
            self.at += 1;
            steps.push(Step {
                offset: u64::from(*page) << 12,
                gap: 0,
                op: Op::Read,
                dependent: false,
            });
        }
    }
}

impl RequestSource {
    /// Reads the next requests; whether there are some.
    fn read(&mut self) -> Result<bool, StreamProblem> {
        self.numbers.clear();
        self.at = 0;
        let mut rounds = 0;
        while self.numbers.is_empty() {
            let reader = match &mut self.reader {
                Some(reader) => reader,
                None => self.reader.insert(begin(&self.file)?),
            };
            let Some(batch) = reader.batch()? else {
                self.reader = None;
                rounds += 1;
                if !self.rounds.again() {
                    return Ok(false);
                }
                if rounds > 1 {
                    return Err(StreamProblem::Changed("there is no request in it".to_owned()));
                }
                continue;
            };
            self.objects.clear();
            let first = batch.first;
            batch.objects(&mut self.objects);
            let numbered = self.names.number(&self.objects, &mut self.numbers);
            if numbered.is_err() || self.names.count() > self.count {
                self.numbers.clear();
                let place = format!("a new object at record {first} or after");
                return Err(StreamProblem::Changed(place));
            }
        }
        Ok(true)
    }
}

/// The trace from its beginning.
fn begin(file: &At) -> Result<OracleReader<Box<dyn Read + Send>>, StreamProblem> {
    match open_accesses(file.at(0))? {
        Accesses::Oracle(reader) => Ok(reader),
        Accesses::Stream(_) => Err(StreamProblem::Changed("it is another format".to_owned())),
    }
}
