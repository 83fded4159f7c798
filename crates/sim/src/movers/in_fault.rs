//! Moving pages inside of the faults that ask for them (`migrate_misplaced_folio` of Linux's
//! mm/migrate.c): the thread that faulted unmaps the page, copies it, maps it again, and goes on then.
//! Who else meets the page waits for that; until it is unmapped he goes on.

use super::copy::{BEFORE_COPY, Copy, Step};
use super::meetings::Meetings;
use crate::engine::{Fault, LOOK_AGAIN_NS, World, bit};
use pagetide_machine::Kernel;
use std::ops::Range;

/// See the module. What it moves goes up.
#[derive(Clone, Debug)]
pub struct InFaultMover {
    costs: Kernel,
    /// Memory is so many times smaller than what is modelled.
    scale: f64,
    /// At most one for each thread.
    moves: Vec<Move>,
    moved: Option<Range<usize>>,
    /// Moves so far.
    begun: usize,
}

/// A page on its way.
#[derive(Clone, Debug)]
struct Move {
    /// Whose it is, and who moves it.
    tenant: usize,
    core: usize,
    pages: Range<usize>,
    state: State,
    /// Threads that share the work, and when it began, ns.
    sharers: f64,
    begun_ns: f64,
    /// Its number, and who else comes to it.
    number: usize,
    meetings: Meetings,
}

#[derive(Clone, Debug)]
enum State {
    /// The thread is not through with the fault itself.
    Faulting,
    /// The page is unmapped, until then.
    Unmapping(f64),
    Copying(Copy),
    /// All is copied then.
    Copied(f64),
    /// It is mapped again, until then.
    Mapping(f64),
}

impl InFaultMover {
    /// One that moves nothing yet.
    #[must_use]
    pub fn new(costs: &Kernel) -> Self {
        Self { costs: costs.clone(), scale: 1.0, moves: Vec::new(), moved: None, begun: 0 }
    }

    /// The same where memory is so many times smaller than what is modelled: a visit to a page while it
    /// moves waits for a share of the time.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { scale: scale.max(1.0), ..self }
    }

    /// What one entry maps, and a thread has just faulted on, is to go up. The thread does it once
    /// it is through with the fault, whenever it is asked to wait.
    pub fn begin(&mut self, fault: &Fault, pages: Range<usize>, world: &mut World) {
        world.pages.set_all(pages.clone(), bit::MOVING);
        let Fault { tenant, core, .. } = *fault;
        self.begun += 1;
        let mut meetings = Meetings::default();
        meetings.begin(1.0 / self.scale, fault.now_ns);
        self.moves.push(Move {
            tenant,
            core,
            pages,
            state: State::Faulting,
            sharers: world.cores.faulting(tenant),
            begun_ns: 0.0,
            number: self.begun,
            meetings,
        });
    }

    /// Whether a page is on its way.
    #[must_use]
    pub fn moves(&self, page: usize) -> bool {
        self.moves.iter().any(|one| one.pages.contains(&page))
    }

    /// A thread meets a page on its way. Who moves it goes on with that; others wait or go on: see
    /// [`crate::engine::System::wait`].
    pub fn wait(&mut self, fault: &Fault, world: &mut World) -> Option<f64> {
        let Self { costs, scale, moves, moved, .. } = self;
        let at = moves.iter().position(|one| one.pages.contains(&fault.page))?;
        let (one, now_ns) = (&mut moves[at], fault.now_ns);
        if one.core == fault.core {
            let next = one.step(now_ns, costs, world);
            if next.is_none() {
                *moved = Some(moves.swap_remove(at).pages);
            }
            return Some(next.unwrap_or(now_ns));
        }
        if matches!(one.state, State::Faulting) {
            return None;
        }
        let there_ns = if *scale > 1.0 {
            // On average half of what one thread takes for it. As many times as threads share the work it
            // is met too rarely.
            now_ns + one.sharers * one.alone_ns(costs) / 2.0
        } else {
            one.there_ns(now_ns).max(now_ns + LOOK_AGAIN_NS)
        };
        one.meetings.waits(|| one.number, fault.page, fault.core, (now_ns, there_ns))
    }

    /// What is in its new place now, after a thread was asked to wait; once.
    pub fn take_moved(&mut self) -> Option<Range<usize>> {
        self.moved.take()
    }
}

impl Move {
    /// The thread works at `now_ns`, as do others if a scaled page stands for theirs; when it goes on with it, ns, or none at the end.
    fn step(&mut self, now_ns: f64, costs: &Kernel, world: &mut World) -> Option<f64> {
        let sharers = self.sharers;
        let until = |part: f64| now_ns + costs.page_us / sharers * part * 1e3;
        loop {
            self.state = match &mut self.state {
                State::Unmapping(until) | State::Copied(until) | State::Mapping(until)
                    if *until > now_ns =>
                {
                    return Some(*until);
                }
                State::Faulting => {
                    self.begun_ns = now_ns;
                    // No core has a base page's translation while its entry asks for a hint fault
                    // (`pte_accessible`); a huge page's is flushed all the same.
                    if world.pages.entry(self.pages.start) & bit::HUGE != 0 {
                        world.cores.interrupt(self.tenant, costs.interrupt_us * 1e3);
                    }
                    State::Unmapping(until(BEFORE_COPY))
                }
                State::Unmapping(_) => {
                    let bytes = (self.pages.len() * 4096) as f64;
                    State::Copying(Copy::in_fault(bytes, costs.copy_gb_s * sharers, now_ns))
                }
                State::Copying(copy) => match copy.step(now_ns, world) {
                    Step::At(next) => return Some(next),
                    Step::There(there) => State::Copied(there),
                },
                State::Copied(_) => State::Mapping(until(1.0 - BEFORE_COPY)),
                State::Mapping(_) => {
                    if sharers > 1.0 {
                        let own_ns = now_ns - self.begun_ns;
                        let others_ns = (self.alone_ns(costs) - own_ns).max(0.0);
                        world.cores.spread(self.tenant, others_ns);
                    }
                    world.pages.transfer(self.pages.clone(), 0);
                    world.pages.clear_all(self.pages.clone(), bit::MOVING | bit::HINT);
                    return None;
                }
            };
        }
    }

    /// What one thread takes for it, but for memory's latency, ns.
    fn alone_ns(&self, costs: &Kernel) -> f64 {
        costs.page_us * 1e3 + (self.pages.len() * 4096) as f64 / costs.copy_gb_s
    }

    /// When it is there, at the soonest, ns.
    fn there_ns(&self, now_ns: f64) -> f64 {
        match &self.state {
            State::Faulting => now_ns,
            State::Copying(copy) => now_ns + copy.at_least_ns(),
            State::Unmapping(until) | State::Copied(until) | State::Mapping(until) => *until,
        }
    }
}

#[cfg(test)]
#[path = "in_fault_tests.rs"]
mod tests;
