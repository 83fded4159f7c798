//! The way of a line: from the core that asks for it, or gives it back, to memory and back.

use super::Engine;
use crate::pool::Ps;
use crate::pool::counts::PageId;
use crate::pool::places::Place;

/// A line that a node's core fetches or gives back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) node: usize,
    pub(super) line: u32,
    pub(super) write: bool,
}

impl Asked {
    const fn page(self) -> PageId {
        PageId(self.line >> 6)
    }
}

impl Engine<'_> {
    /// When what a core asks for now is there, or what it gives back is stored.
    #[inline]
    pub(super) fn ask(&mut self, asked: Asked, now: Ps) -> Ps {
        let node = &mut self.nodes[asked.node];
        let page = asked.page();
        let mut from = now;
        if !node.coming.is_empty()
            && let Some(there) = node.coming.get(&page)
        {
            from = from.max(*there);
        }
        let (by_pool, done) = match node.places.of(page) {
            Place::Local(frame) => {
                node.table.touch(frame);
                let line = u64::from(frame.0) << 6 | u64::from(asked.line & 63);
                (false, node.memory.serve(line, asked.write, from))
            }
            Place::Pool(slot) => (true, self.ask_pool(asked, slot, from)),
        };
        self.count(asked, by_pool, (now, done));
        done
    }

    /// The same of a page that is in the pool.
    #[inline]
    fn ask_pool(&mut self, asked: Asked, slot: u32, now: Ps) -> Ps {
        let port = &mut self.nodes[asked.node].port[usize::from(asked.write)];
        let at_pool = port.pass(now) + self.times.there;
        let module = &mut self.pool[(slot % self.modules) as usize];
        let mut from = at_pool;
        if let Some(controller) = &mut self.controller {
            let page = asked.page();
            let waited = controller.access(asked.node, page, asked.write);
            if let Some(manager) = self.manager.as_mut().filter(|manager| manager.watches) {
                manager.policy.saw(asked.node, page, waited.count, at_pool);
            }
            // Eight counts lie in a line.
            let counts = u64::from(waited.key) >> 3;
            if waited.spilled {
                module.serve(counts, true, at_pool);
            }
            if waited.filled {
                from = module.serve(counts, false, at_pool);
            }
        }
        let line = u64::from(slot / self.modules) << 6 | u64::from(asked.line & 63);
        module.serve(line, asked.write, from) + self.times.back
    }

    /// Counts a request that was made and served then.
    #[inline]
    fn count(&mut self, asked: Asked, by_pool: bool, (since, done): (Ps, Ps)) {
        let node = &mut self.nodes[asked.node];
        let of = usize::from(by_pool);
        if asked.write {
            node.tally.written[of] += 1;
        } else {
            node.tally.fetched[of] += 1;
            node.tally.delay[of] += u128::from((done - since).0);
            if let Some(governed) = &mut node.governed {
                governed.fetched(asked.page(), !by_pool, since);
            }
        }
    }
}
