//! A stream of `pagetide record --exact --stream`: its threads are read apart, each as far as it is,
//! by where their blocks begin.

use super::file::At;
use super::problem::Failure;
use super::{Rounds, Shared, StreamProblem, Streamed, Thread, Wanted, countable};
use crate::engine::HUGE_PAGES;
use crate::scenario::read::MOST_THREADS;
use pagetide_access::patterns::{Op, Source, Step};
use pagetide_access::{Access, Block, Kind, Page, StreamReader, read_block};
use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// A page that was not accessed so far.
const NOWHERE: u32 = u32::MAX;

/// Reads all of it.
pub(super) fn open(
    mut reader: StreamReader<impl Read>,
    file: &At,
    wanted: Wanted,
    failure: &Failure,
) -> Result<Streamed, StreamProblem> {
    let mut found = Found::new(wanted.huge);
    loop {
        let offset = reader.offset();
        let Some(block) = reader.next().transpose()? else { break };
        found.take_in(block, offset)?;
    }
    let first_us = found.threads.iter().flatten().map(|thread| thread.begins_us).min();
    let first_us = first_us.ok_or(StreamProblem::Empty)?;
    let pages = countable(found.next)?;
    let places: Shared<u32> = found.places.into();
    let thread = |(number, thread): (u32, FoundThread)| Thread {
        begins_s: (thread.begins_us - first_us) as f64 * 1e-6,
        source: Box::new(ThreadSource {
            file: file.clone(),
            places: Arc::clone(&places),
            number,
            blocks: thread.blocks,
            next: 0,
            rounds: Rounds::of(wanted.repeat),
            accesses: Vec::new().into_iter(),
            failure: failure.clone(),
        }),
    };
    let threads = (0..).zip(found.threads).filter_map(|(n, thread)| Some((n, thread?)));
    let (threads, failure) = (threads.map(thread).collect(), failure.clone());
    Ok(Streamed { threads, pages, counted: true, failure })
}

/// What the first reading finds.
struct Found {
    huge: bool,
    pages: Vec<Page>,
    /// By page of the stream, where it lies in the tenant's memory.
    places: Vec<u32>,
    /// By object and 2 MiB block in it, the first base page.
    blocks: HashMap<(u32, u64), u64>,
    /// Where the next new page, or block, lies.
    next: u64,
    threads: Vec<Option<FoundThread>>,
}

struct FoundThread {
    begins_us: u64,
    /// Where its blocks begin.
    blocks: Vec<u64>,
}

impl Found {
    fn new(huge: bool) -> Self {
        let (pages, places, threads) = (Vec::new(), Vec::new(), Vec::new());
        Self { huge, pages, places, blocks: HashMap::new(), next: 0, threads }
    }

    fn take_in(&mut self, block: Block, offset: u64) -> Result<(), StreamProblem> {
        match block {
            Block::Pages(pages) => {
                self.pages.extend(pages);
                self.places.resize(self.pages.len(), NOWHERE);
            }
            Block::Accesses { thread, time_us, accesses } => {
                if thread >= MOST_THREADS {
                    return Err(StreamProblem::Threads(thread));
                }
                let number = thread as usize;
                if self.threads.len() <= number {
                    self.threads.resize_with(number + 1, || None);
                }
                let new = FoundThread { begins_us: time_us, blocks: Vec::new() };
                self.threads[number].get_or_insert(new).blocks.push(offset);
                for access in &accesses {
                    if self.places[access.page as usize] == NOWHERE {
                        self.place(access.page as usize)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Lays a page out that is accessed for the first time.
    fn place(&mut self, page: usize) -> Result<(), StreamProblem> {
        let place = if self.huge {
            let Page { object, number } = self.pages[page];
            let size = HUGE_PAGES as u64;
            let next = &mut self.next;
            let first = self.blocks.entry((object.0, number / size)).or_insert_with(|| {
                *next += size;
                *next - size
            });
            *first + number % size
        } else {
            self.next += 1;
            self.next - 1
        };
        countable(self.next)?;
        self.places[page] = u32::try_from(place).map_err(|_| StreamProblem::Memory)?;
        Ok(())
    }
}

/// A thread of it.
struct ThreadSource {
    file: At,
    places: Shared<u32>,
    number: u32,
    /// Where its blocks begin, and which comes next.
    blocks: Vec<u64>,
    next: usize,
    rounds: Rounds,
    /// What is left of the block under way.
    accesses: std::vec::IntoIter<Access>,
    failure: Failure,
}

impl Source for ThreadSource {
    fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
        for _ in 0..n {
            match self.step() {
                Ok(Some(step)) => steps.push(step),
                Ok(None) => return,
                Err(problem) => return self.failure.set(problem),
            }
        }
    }
}

impl ThreadSource {
    fn step(&mut self) -> Result<Option<Step>, StreamProblem> {
        let Some(access) = self.accesses.next() else {
            return if self.read()? { self.step() } else { Ok(None) };
        };
        let place = self.places.get(access.page as usize).filter(|place| **place != NOWHERE);
        let place = place.ok_or_else(|| StreamProblem::Changed(format!("page {}", access.page)))?;
        let op = match access.kind {
            Kind::Read => Op::Read,
            Kind::Write | Kind::WriteBack => Op::Write,
        };
        Ok(Some(Step {
            offset: u64::from(*place) << 12 | u64::from(access.line) << 6,
            gap: u32::try_from(access.gap).unwrap_or(u32::MAX),
            op,
            dependent: false,
        }))
    }

    /// Reads the next block; whether there is one.
    fn read(&mut self) -> Result<bool, StreamProblem> {
        if self.failure.is_set() {
            return Ok(false);
        }
        if self.next == self.blocks.len() && self.rounds.again() {
            self.next = 0;
        }
        let Some(offset) = self.blocks.get(self.next).copied() else { return Ok(false) };
        self.next += 1;
        match read_block(&mut self.file.at(offset), offset, self.places.len() as u64)? {
            Some(Block::Accesses { thread, accesses, .. }) if thread == self.number => {
                self.accesses = accesses.into_iter();
                Ok(true)
            }
            _ => Err(StreamProblem::Changed(format!(
                "no accesses of thread {} at byte {offset}",
                self.number
            ))),
        }
    }
}
