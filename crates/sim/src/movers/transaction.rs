//! NOMAD's mover (OSDI 2024, transactional page migration): a thread of the kernel that copies a page
//! while it stays mapped. If nobody has written to it by the end of the copy, it is mapped in its new
//! place; else the copy was for nothing, and is made again.

use super::copy::{Copy, Step};
use crate::engine::{World, bit};
use pagetide_machine::Kernel;
use std::ops::Range;

/// Times that a page is copied at most (`migrate_pages` of Linux's mm/migrate.c).
const PASSES: u32 = 10;
/// Of what a page costs, the part before its copy [I].
const BEFORE_COPY: f64 = 0.5;

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
        Self { costs: costs.clone(), state: State::Idle, passes: 0, wasted: 0 }
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
        State::Cleaning(of, until)
    }

    /// Maps the page in its new place, unless it was written to.
    fn commit(&mut self, of: Transaction, now_ns: f64, world: &mut World) -> State {
        let written = |page| world.pages.entry(page) & bit::DIRTY != 0;
        if of.pages.clone().any(written) {
            self.wasted += 1;
            let again = self.passes < PASSES;
            return if again { State::Waiting(of) } else { State::Ended(Ended::Aborted(of)) };
        }
        world.pages.transfer(of.pages.clone(), 0);
        world.pages.clear_all(of.pages.clone(), bit::HINT);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Pages;
    use pagetide_machine::Machine;

    fn costs() -> Kernel {
        Kernel { page_us: 7.0, copy_gb_s: 4.0, ..Kernel::default() }
    }

    /// What becomes of a page that is written to once in each of its first copies; when, ns, and with
    /// how many copies wasted.
    fn moved(written: u64) -> (Ended, f64, u64, World) {
        let mut world = World::new(&Machine::load("cxl").unwrap(), Pages::all_in(1, 512 << 12));
        world.pages.set(3, bit::DIRTY | bit::HINT);
        let mut mover = TransactionalMover::new(&costs());
        mover.begin(Transaction { tenant: 0, pages: 3..4 });
        let (mut now_ns, mut copies) = (0.0, 0);
        let ended = loop {
            let before = matches!(mover.state, State::Copying(..));
            let next = mover.step(now_ns, &mut world);
            if !before && matches!(mover.state, State::Copying(..)) {
                copies += 1;
                assert_eq!(world.pages.entry(3) & (bit::MOVING | bit::DIRTY), 0, "mapped, clean");
                if copies <= written {
                    world.pages.set(3, bit::DIRTY);
                }
            }
            match mover.take_ended() {
                Some(ended) => break ended,
                None => now_ns = next.unwrap(),
            }
        };
        assert!(mover.is_idle());
        (ended, now_ns, mover.wasted(), world)
    }

    #[test]
    fn a_page_that_nobody_writes_to_moves_in_the_time_of_its_copy_and_ends_clean() {
        let (ended, took_ns, wasted, world) = moved(0);
        assert_eq!(ended, Ended::Committed(Transaction { tenant: 0, pages: 3..4 }));
        let right = 7_000.0 + 4096.0 / 4.0;
        assert!((right..1.05 * right).contains(&took_ns), "{took_ns} for {right}");
        assert_eq!((wasted, world.pages.entry(3)), (0, 0));
    }

    #[test]
    fn a_write_during_the_copy_aborts_it_and_it_is_made_again() {
        let (ended, took_ns, wasted, world) = moved(3);
        assert!(matches!(ended, Ended::Committed(_)) && world.pages.tier(3) == 0);
        let right = 4.0 * (3_500.0 + 4096.0 / 4.0) + 3_500.0;
        assert!((right..1.05 * right).contains(&took_ns), "{took_ns} for {right}");
        assert_eq!(wasted, 3);
    }

    #[test]
    fn after_ten_copies_for_nothing_the_page_stays() {
        let (ended, _, wasted, world) = moved(10);
        assert!(matches!(ended, Ended::Aborted(_)) && wasted == 10);
        assert_eq!(world.pages.entry(3) & (bit::TIER | bit::DIRTY), 1 | bit::DIRTY);
        assert!(matches!(moved(9).0, Ended::Committed(_)), "the tenth succeeds");
    }
}
