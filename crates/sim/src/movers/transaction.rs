//! NOMAD's mover (OSDI 2024, transactional page migration): a thread of the kernel that copies a page
//! while it stays mapped. If nobody has written to it by the end of the copy, it is mapped in its new
//! place; else the copy was for nothing, and is made again.

use super::copy::{BEFORE_COPY, Copy, Step};
use crate::engine::{World, bit};
use pagetide_machine::Kernel;
use std::ops::Range;

/// Times that a page is copied at most (`migrate_pages` of Linux's mm/migrate.c).
const PASSES: u32 = 10;
/// A page on its way up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Whose.
    pub tenant: usize,
    /// Its base pages.
    pub pages: Range<usize>,
}

/// How a transaction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The page is in its new place.
    Committed(Transaction),
    /// It was written to during every copy, and is where it was.
    Aborted(Transaction),
}

/// See the module. It moves one page at a time.
#[derive(Clone, Debug)]
pub struct TransactionalMover {
    costs: Kernel,
    state: State,
    /// Copies of the page so far, the one under way among them.
    passes: u32,
    /// Copies that were for nothing, of all pages.
    wasted: u64,
    /// Memory is so many times smaller than what is modelled.
    scale: f64,
    watch: Watch,
}

/// Whether a page is written to.
#[derive(Clone, Debug, Default)]
struct Watch {
    pages: Range<usize>,
    /// Later writes do not count, ns.
    until_ns: f64,
    /// Once that is known.
    written: Option<bool>,
}

#[derive(Clone, Debug)]
enum State {
    Idle,
    /// To be copied.
    Waiting(Transaction),
    /// Its entry is made clean, until then.
    Cleaning(Transaction, f64),
    Copying(Transaction, Copy),
    /// All is copied then.
    Copied(Transaction, f64),
    /// It is being mapped, until then.
    Mapping(Transaction, f64),
    Ended(Ended),
}

impl TransactionalMover {
    /// One that has nothing to do.
    #[must_use]
    pub fn new(costs: &Kernel) -> Self {
        Self {
            costs: costs.clone(),
            state: State::Idle,
            passes: 0,
            wasted: 0,
            scale: 1.0,
            watch: Watch::default(),
        }
    }

    /// The same where memory is so many times smaller than what is modelled: a page is written to as
    /// many times too often, so that it is watched for that share of its copy only.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { scale: scale.max(1.0), ..self }
    }

    /// Whether it can begin another one.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Begins with a page, while it is idle.
    pub fn begin(&mut self, transaction: Transaction) {
        self.passes = 0;
        self.state = State::Waiting(transaction);
    }

    /// Copies that were for nothing so far.
    #[must_use]
    pub fn wasted(&self) -> u64 {
        self.wasted
    }

    /// What became of the last page, once.
    pub fn take_ended(&mut self) -> Option<Ended> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Ended(ended) => Some(ended),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Works at `now_ns`; when it goes on, ns, or none if there is nothing to do.
    pub fn step(&mut self, now_ns: f64, world: &mut World) -> Option<f64> {
        self.watch.look(now_ns, world);
        let next = self.go_on(now_ns, world)?;
        let watched = self.watch.written.is_some();
        Some(if watched { next } else { next.min(self.watch.until_ns) })
    }

    fn go_on(&mut self, now_ns: f64, world: &mut World) -> Option<f64> {
        loop {
            self.state = match std::mem::replace(&mut self.state, State::Idle) {
                State::Cleaning(of, until) if until > now_ns => {
                    self.state = State::Cleaning(of, until);
                    return Some(until);
                }
                State::Copied(of, until) if until > now_ns => {
                    self.state = State::Copied(of, until);
                    return Some(until);
                }
                State::Mapping(of, until) if until > now_ns => {
                    self.state = State::Mapping(of, until);
                    return Some(until);
                }
                idle @ (State::Idle | State::Ended(_)) => {
                    self.state = idle;
                    return None;
                }
                State::Waiting(of) => self.clean(of, now_ns, world),
                State::Cleaning(of, _) => {
                    let bytes = (of.pages.len() * 4096) as f64;
                    let copy = Copy::new(1, [bytes, 0.0], self.costs.copy_gb_s, now_ns);
                    State::Copying(of, copy)
                }
                State::Copying(of, mut copy) => match copy.step(now_ns, world) {
                    Step::At(next) => {
                        self.state = State::Copying(of, copy);
                        return Some(next);
                    }
                    Step::There(there) => State::Copied(of, there),
                },
                State::Copied(of, _) => self.commit(of, now_ns, world),
                State::Mapping(of, _) => State::Ended(Ended::Committed(of)),
            };
        }
    }

    /// Makes the entry clean, so that a write from now on shows.
    fn clean(&mut self, of: Transaction, now_ns: f64, world: &mut World) -> State {
        self.passes += 1;
        world.pages.clear_all(of.pages.clone(), bit::DIRTY);
        let until = self.work(&of, BEFORE_COPY, now_ns, world);
        let copied_ns = until + (of.pages.len() * 4096) as f64 / self.costs.copy_gb_s;
        // On a machine of full size until it is mapped in its new place.
        let whole = self.scale <= 1.0;
        let until_ns =
            if whole { f64::INFINITY } else { now_ns + (copied_ns - now_ns) / self.scale };
        self.watch = Watch { pages: of.pages.clone(), until_ns, written: None };
        State::Cleaning(of, until)
    }

    /// Maps the page in its new place, unless it was written to.
    fn commit(&mut self, of: Transaction, now_ns: f64, world: &mut World) -> State {
        if self.watch.written(world) {
            self.wasted += 1;
            let again = self.passes < PASSES;
            return if again { State::Waiting(of) } else { State::Ended(Ended::Aborted(of)) };
        }
        world.pages.transfer(of.pages.clone(), 0);
        world.pages.clear_all(of.pages.clone(), bit::HINT | bit::DIRTY);
        let until = self.work(&of, 1.0 - BEFORE_COPY, now_ns, world);
        State::Mapping(of, until)
    }

    /// Works for a part of what a page costs, and flushes its translations; until when, ns.
    fn work(&self, of: &Transaction, part: f64, now_ns: f64, world: &mut World) -> f64 {
        world.cores.interrupt(of.tenant, self.costs.interrupt_us * 1e3);
        let ns = self.costs.page_us * part * 1e3;
        world.cores.kernel(now_ns, ns);
        now_ns + ns
    }
}

impl Watch {
    /// Ends it when its time has come.
    fn look(&mut self, now_ns: f64, world: &World) {
        if now_ns >= self.until_ns {
            self.written = Some(self.written(world));
        }
    }

    /// Whether the page was written to while it was watched, or is so by now.
    fn written(&self, world: &World) -> bool {
        let written = |page| world.pages.entry(page) & bit::DIRTY != 0;
        self.written.unwrap_or_else(|| self.pages.clone().any(written))
    }
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
