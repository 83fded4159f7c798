//! The way of a line: from the core that asks for it, or gives it back, to memory and back.

use super::Engine;
use crate::pool::Ps;
use crate::pool::bank_scheduler::Wanted;
use crate::pool::dma::LINES;
use crate::pool::later::{Asked, Event, Ticket};
use crate::pool::lost::Lost;
use crate::pool::places::Place;
use crate::pool::pool_module::PoolModule;

impl Engine<'_> {
    /// When what a core asks for now is there, or what it gives back is stored; none, if that waits for
    /// something, and goes on later.
    #[inline]
    pub(super) fn ask(&mut self, asked: Asked, now: Ps) -> Option<Ps> {
        let node = &mut self.nodes[asked.node];
        let page = asked.page();
        if node.dma.keeps(asked) {
            return None;
        }
        match node.places.of(page) {
            Place::Local(frame) => {
                node.table.touch(frame);
                let line = u64::from(frame.0) << 6 | u64::from(asked.line & 63);
                let done = node.memory.serve(line, asked.write, now);
                Some(self.served(asked, false, done))
            }
            Place::Pool(slot) => self.ask_pool(asked, slot, now),
        }
    }

    /// The same of a page that is in the pool.
    #[inline]
    fn ask_pool(&mut self, asked: Asked, slot: u32, now: Ps) -> Option<Ps> {
        let port = &mut self.nodes[asked.node].port[usize::from(asked.write)];
        let at_pool = port.pass(now) + self.times.there;
        if let Some(controller) = &mut self.controller {
            let page = asked.page();
            let waited = controller.access(asked.node, page, asked.write);
            if let Some(manager) = self.manager.as_mut().filter(|manager| manager.watches) {
                manager.policy.saw(asked.node, page, waited.count, at_pool);
            }
            // Eight counts lie in a line.
            let (module, counts) = (slot % self.modules, u64::from(waited.key) >> 3);
            if let Some(spilled) = waited.spilled {
                self.module(module, u64::from(spilled) >> 3, true, Ticket::Spilled, at_pool);
            }
            if waited.filled {
                let ticket = Ticket::Counts(asked, slot);
                if let Some(counted) = self.module(module, counts, false, ticket, at_pool) {
                    self.counted(asked, slot, counted);
                }
                return None;
            }
        }
        self.at_pool(asked, slot, at_pool)
    }

    /// Asks a module for a line, to which that comes at `now`: when it is done; none, if that is known later.
    #[inline]
    fn module(
        &mut self,
        number: u32,
        line: u64,
        write: bool,
        ticket: Ticket,
        now: Ps,
    ) -> Option<Ps> {
        match &mut self.pool[number as usize] {
            PoolModule::InOrder(module) => Some(module.serve(line, write, now)),
            PoolModule::Scheduled(_) => {
                self.later.add(now, Event::Come(number, Wanted { line, write, ticket }));
                None
            }
        }
    }

    /// A module that serves out of order does what it does at `now`.
    fn scheduled(&mut self, number: u32, now: Ps, come: Option<Wanted>, bank: usize) {
        let PoolModule::Scheduled(module) = &mut self.pool[number as usize] else { return };
        let later = &mut self.later;
        let mut begins = |bank, end| later.add(end, Event::Bank(number, bank));
        let done = match come {
            Some(wanted) => {
                module.come(wanted, now, &mut begins);
                None
            }
            None => module.done(bank, now, &mut begins),
        };
        let Some((wanted, done)) = done else { return };
        match wanted.ticket {
            Ticket::Core(asked) => {
                let done = self.served(asked, true, done + self.times.back);
                self.answer(asked, done);
            }
            Ticket::Counts(asked, slot) => self.counted(asked, slot, done),
            Ticket::Spilled => {}
            Ticket::Copied(node, own) => {
                self.later.add(done + self.times.back, Event::Store(node, own, false));
            }
            Ticket::Stored(node) => self.stored(node, done),
        }
    }

    /// A page's count is there, and its request goes on.
    fn counted(&mut self, asked: Asked, slot: u32, done: Ps) {
        // Requests are in the order in which they left their nodes.
        self.later.add(done - self.times.there, Event::Counted(asked, slot));
    }

    /// A request is served by its module, to which it has come.
    #[inline]
    fn at_pool(&mut self, asked: Asked, slot: u32, now: Ps) -> Option<Ps> {
        let line = u64::from(slot / self.modules) << 6 | u64::from(asked.line & 63);
        let ticket = Ticket::Core(asked);
        let done = self.module(slot % self.modules, line, asked.write, ticket, now)?;
        Some(self.served(asked, true, done + self.times.back))
    }

    /// Counts a request.
    #[inline]
    fn served(&mut self, asked: Asked, by_pool: bool, done: Ps) -> Ps {
        let node = &mut self.nodes[asked.node];
        let of = usize::from(by_pool);
        let fetched = || node.tally.fetched.iter().sum();
        let again = |lost: &mut Lost| !asked.write && lost.fetched(asked.line, fetched());
        // Without moves a line that is fetched again would have been fetched from nowhere.
        let again = node.lost.as_mut().is_some_and(again);
        let nearer = if again { -i64::from(by_pool) } else { node.places.nearer(asked.page()) };
        node.tally.lost += u64::from(again);
        node.tally.nearer[usize::from(asked.write)] += nearer;
        if asked.write {
            node.tally.written[of] += 1;
        } else {
            node.tally.fetched[of] += 1;
            node.tally.delay[of] += u128::from((done - asked.since).0);
        }
        if let Some(governed) = &mut node.governed {
            if asked.write {
                governed.given_back(asked.page(), !by_pool, asked.since);
            } else {
                governed.fetched(asked.page(), (!by_pool, again), asked.since);
            }
        }
        done
    }

    /// What waited goes on.
    pub(super) fn go_on(&mut self, now: Ps) {
        match self.later.take() {
            Some(Event::Moved(asked)) => {
                if let Some(done) = self.ask(asked, now) {
                    self.answer(asked, done);
                }
            }
            Some(Event::Counted(asked, slot)) => {
                if let Some(done) = self.at_pool(asked, slot, now + self.times.there) {
                    self.answer(asked, done);
                }
            }
            Some(Event::Copy(node)) => self.copy(node, now),
            Some(Event::Store(node, line, to_pool)) => self.store(node, line, to_pool, now),
            Some(Event::Come(module, wanted)) => self.scheduled(module, now, Some(wanted), 0),
            Some(Event::Bank(module, bank)) => self.scheduled(module, now, None, bank),
            None => {}
        }
    }

    /// A core that waited without knowing until when learns it.
    fn answer(&mut self, asked: Asked, done: Ps) {
        if !asked.write {
            let core = &mut self.nodes[asked.node].cores[asked.core];
            core.learns(done);
            self.turns.set(asked.node * self.cores + asked.core, core.next());
        }
    }

    /// DMA of a node is done with a page, and begins with the next one.
    fn copy(&mut self, number: usize, now: Ps) {
        let node = &mut self.nodes[number];
        for asked in node.dma.end() {
            self.later.add(now, Event::Moved(asked));
        }
        let (Some(manager), Some(controller)) = (&mut self.manager, &mut self.controller) else {
            return;
        };
        let Some(pair) = node.dma.next() else {
            node.resume(now);
            manager.resumed(&self.nodes);
            self.ask_cores(number);
            return;
        };
        node.swap(pair, now);
        controller.forget(number, pair.page);
        let done = now + manager.swap;
        node.dma.begin(pair, done, manager.waits_for_page());
        if !manager.swaps_in_banks() {
            self.later.add(done, Event::Copy(number));
            return;
        }
        let base = u64::from(LINES) * u64::from(pair.slot / self.modules);
        let own = u64::from(LINES) * u64::from(pair.frame.0);
        for line in 0..u64::from(LINES) {
            let node = &mut self.nodes[number];
            let at_pool = node.port[0].pass(now) + self.times.there;
            let read = node.memory.serve(own + line, false, now);
            self.later.add(read, Event::Store(number, base + line, true));
            let (module, ticket) = (pair.slot % self.modules, Ticket::Copied(number, own + line));
            if let Some(read) = self.module(module, base + line, false, ticket, at_pool) {
                let read = read + self.times.back;
                self.later.add(read, Event::Store(number, own + line, false));
            }
        }
    }

    /// DMA of a node writes a line that it has read.
    fn store(&mut self, number: usize, line: u64, to_pool: bool, now: Ps) {
        let node = &mut self.nodes[number];
        let written = if to_pool {
            let at_pool = node.port[1].pass(now) + self.times.there;
            let module = node.dma.slot() % self.modules;
            self.module(module, line, true, Ticket::Stored(number), at_pool)
        } else {
            Some(node.memory.serve(line, true, now))
        };
        if let Some(written) = written {
            self.stored(number, written);
        }
    }

    /// DMA of a node has written a line.
    fn stored(&mut self, number: usize, done: Ps) {
        if let Some(done) = self.nodes[number].dma.written(done) {
            self.later.add(done, Event::Copy(number));
        }
    }
}
