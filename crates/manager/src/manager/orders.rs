//! What becomes of a decision: orders for the mover, or, in a dry run, what they would have moved.

use super::{MUCH, Manager};
use crate::Tracker;
use crate::place::{Layout, Target};
use crate::room::NodesRoom;
use pagetide_migrate::{Kernel, Mapping, Order, Work};
use pagetide_policy::{Chosen, Outcome};
use pagetide_types::{Bytes, EpochHeat, NodeId, Pid, UnitId};
use std::collections::BTreeMap;

impl<T: Tracker, K: Kernel + Send + 'static> Manager<T, K> {
    /// Has it moved, and the target looked at again soon where that is much. `reserve`: what must stay free of each fast node;
    /// `idle_cache`: what page cache of it may be given up; `births`: memory will be born.
    pub(super) fn order(
        &mut self,
        heat: &EpochHeat,
        (chosen, layout): (&Chosen, &Layout),
        room: &NodesRoom,
        ([reserve, idle_cache], capacity, births): ([BTreeMap<NodeId, Bytes>; 2], Bytes, bool),
    ) {
        let work = self.work(chosen, layout, room, &idle_cache);
        // What will be born goes to what is free, and to that alone.
        let is_wanted = self.settings.budget.reserve.is_some() || births;
        let short = |(node, stays): (&NodeId, &Bytes)| {
            room.free(*node) < *stays && idle_cache.get(node).is_some_and(|cache| *cache > Bytes(0))
        };
        if work.is_empty() && !(is_wanted && reserve.iter().any(short)) {
            return;
        }
        let mut mover = self.moving.mover();
        mover.options_mut().reserve = reserve;
        mover.options_mut().idle_cache = idle_cache;
        if let Some(held) = self.tracker.held() {
            mover.kernel().only(held);
        }
        drop(mover);
        let waited = self.ordered.drain(..).filter(|outcome| outcome.up);
        let mut waited: Vec<UnitId> = waited.map(|outcome| outcome.unit).collect();
        waited.sort_unstable();
        let outcome = |orders: &[Order], up| -> Vec<Outcome> {
            orders.iter().map(|order| Outcome::of(heat, order.tag as usize, up)).collect()
        };
        self.ordered = outcome(&work.promote, true);
        let off_books = &self.off_books;
        let is_new = |outcome: &&Outcome| {
            [&waited, off_books].iter().all(|units| units.binary_search(&outcome.unit).is_err())
        };
        let new: Bytes =
            (self.ordered.iter().filter(is_new)).map(|outcome| heat.bytes(outcome.row)).sum();
        if new.as_f64() > MUCH * capacity.as_f64() {
            self.tracker.changed();
            self.tenant.changed();
        }
        self.ordered.extend(outcome(&work.demote, false));
        self.moving.order(work);
    }

    fn work(
        &self,
        chosen: &Chosen,
        layout: &Layout,
        room: &NodesRoom,
        idle_cache: &BTreeMap<NodeId, Bytes>,
    ) -> Work {
        let tiers = &self.tiers;
        let mover = self.moving.mover();
        // Once for all units of the same 2 MiB.
        let mut known = BTreeMap::new();
        let mut sharing = |mappings: &[Mapping]| {
            let of = mappings.first().map(|mapping| (mapping.pid, mapping.start));
            *known.entry(of).or_insert_with(|| mover.kernel().sharing(mappings))
        };
        // Who is bound to one node's CPUs is to have fast memory there.
        let mut homes = BTreeMap::new();
        let several = tiers.fast.len() > 1;
        let mut home = |pid: Pid| {
            let find = || mover.kernel().bound_to(pid, &|cpu| tiers.node_of(cpu));
            several.then(|| *homes.entry(pid).or_insert_with(find)).flatten()
        };
        let mut room = room.above_floor(tiers.leaving, idle_cache);
        let mut work = Work::default();
        for row in &chosen.demote {
            let mut target = Target { nodes: &tiers.slow, tiers, home: &mut |_| None };
            layout.orders(*row, &mut target, &mut sharing, &mut room, &mut work.demote);
        }
        for row in &chosen.promote {
            let mut target = Target { nodes: &tiers.fast, tiers, home: &mut home };
            layout.orders(*row, &mut target, &mut sharing, &mut room, &mut work.promote);
        }
        work
    }

    /// Takes what was decided for done: a governor is to judge a dry run as it would the real one.
    pub(super) fn assume(&mut self, heat: &EpochHeat, chosen: &Chosen) {
        let ups = chosen.promote.iter().map(|row| (*row, true));
        let moves: Vec<_> = ups.chain(chosen.demote.iter().map(|row| (*row, false))).collect();
        for (row, up) in &moves {
            self.assumed.moved(heat.unit[*row], *up);
        }
        let off_books = |row: &usize| self.off_books.binary_search(&heat.unit[*row]).is_ok();
        let moves = moves.into_iter().filter(|(row, _)| !off_books(row));
        let outcome = |(row, up)| Outcome { moved: heat.bytes(row), ..Outcome::of(heat, row, up) };
        self.tenant.learn(moves.map(outcome), 0.0);
    }
}
