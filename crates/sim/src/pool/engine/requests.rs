//! The way of a line: from the core that asks for it, or gives it back, to memory and back.

use super::Engine;
use crate::pool::Ps;
use crate::pool::dma::LINES;
use crate::pool::later::{Asked, Event};
use crate::pool::lost::Lost;
use crate::pool::places::Place;

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
            let module = &mut self.pool[(slot % self.modules) as usize];
            // Eight counts lie in a line.
            let counts = u64::from(waited.key) >> 3;
            if waited.spilled {
                module.serve(counts, true, at_pool);
            }
            if waited.filled {
                let counted = module.serve(counts, false, at_pool);
                // Requests are in the order in which they left their nodes.
                self.later.add(counted - self.times.there, Event::Counted(asked, slot));
                return None;
            }
        }
        Some(self.at_pool(asked, slot, at_pool))
    }

    /// A request is served by its module, to which it has come.
    #[inline]
    fn at_pool(&mut self, asked: Asked, slot: u32, now: Ps) -> Ps {
        let line = u64::from(slot / self.modules) << 6 | u64::from(asked.line & 63);
        let module = &mut self.pool[(slot % self.modules) as usize];
        let done = module.serve(line, asked.write, now) + self.times.back;
        self.served(asked, true, done)
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
            if let Some(governed) = &mut node.governed {
                governed.fetched(asked.page(), !by_pool, asked.since);
            }
        }
        done
    }

    /// What waited goes on.
    pub(super) fn go_on(&mut self, now: Ps) {
        match self.later.take() {
            Some(Event::Come(asked)) => {
                if let Some(done) = self.ask(asked, now) {
                    self.answer(asked, done);
                }
            }
            Some(Event::Counted(asked, slot)) => {
                let done = self.at_pool(asked, slot, now + self.times.there);
                self.answer(asked, done);
            }
            Some(Event::Copy(node)) => self.copy(node, now),
            Some(Event::Store(node, line, to_pool)) => self.store(node, line, to_pool, now),
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
            self.later.add(now, Event::Come(asked));
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
            let at_pool = node.port[0].pass(now) + self.times.there;
            let module = &mut self.pool[(pair.slot % self.modules) as usize];
            let read = module.serve(base + line, false, at_pool) + self.times.back;
            self.later.add(read, Event::Store(number, own + line, false));
            let read = node.memory.serve(own + line, false, now);
            self.later.add(read, Event::Store(number, base + line, true));
        }
    }

    /// DMA of a node writes a line that it has read.
    fn store(&mut self, number: usize, line: u64, to_pool: bool, now: Ps) {
        let node = &mut self.nodes[number];
        let written = if to_pool {
            let module = &mut self.pool[(node.dma.slot() % self.modules) as usize];
            let at_pool = node.port[1].pass(now) + self.times.there;
            module.serve(line, true, at_pool)
        } else {
            node.memory.serve(line, true, now)
        };
        if let Some(done) = node.dma.written(written) {
            self.later.add(done, Event::Copy(number));
        }
    }
}
