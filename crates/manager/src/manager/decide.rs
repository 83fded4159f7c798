//! What a manager decides at the end of an epoch: how much may be fast, and what goes up and down.

use super::{Manager, VISITED};
use crate::budget::{FastNow, describe};
use crate::leaving::{GoesUp, Limits};
use crate::parted;
use crate::place::Layout;
use crate::room::NodesRoom;
use crate::{EpochLine, Leaving, Tracker, Turn};
use pagetide_migrate::Kernel;
use pagetide_policy::{Chosen, Places, Room, Watch};
use pagetide_trace::{EpochRecord, Unknown};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, Pid, UnitId};

impl<T: Tracker, K: Kernel + Send + 'static> Manager<T, K> {
    /// Decides at the end of an epoch. Where pages lie, and where they lay when it `began`, if some moved meanwhile. `last`: no
    /// further epoch follows.
    pub(super) fn act(
        &mut self,
        record: &EpochRecord,
        (began, layout): (Option<&Layout>, &Layout),
        last: bool,
    ) -> EpochLine {
        let (heat, epoch) = (&record.heat, &record.epoch);
        self.refused.next_round();
        let now_s = epoch.start_s + epoch.length_s;
        let room = NodesRoom::look(self.moving.mover().kernel(), &self.tiers);
        self.tenant.arrive(heat);
        let (fast, mut now) = self.placement(heat, layout, (&room, now_s));
        if self.tenant.birth().is_some() {
            let passed_s = now_s - self.decided_s;
            self.ahead.add(self.tenant.born(heat), passed_s);
            now.ahead = self.ahead.room(self.settings.budget.capacity(&now));
        }
        let nowhere = self.tiers.slow.is_empty() && !self.settings.dry_run;
        let all = now.held + now.free;
        // What goes down to a node that fills up as memory leaves it is what whoever takes that brings up again.
        let kept = self.full(&room).map_or(Bytes(0), |_| now.held);
        let capacity = if nowhere { all } else { self.settings.budget.capacity(&now).max(kept) };
        let reserve = self.settings.budget.reserve(&now);
        self.summary.budget = describe(&self.settings.budget, now.total, reserve);
        let mut unknown = Unknown::default();
        unknown.add(epoch, heat.resident());
        let mut line = EpochLine {
            epoch: epoch.epoch.0,
            start_s: epoch.start_s,
            length_s: epoch.length_s,
            observer_s: epoch.recorder_s,
            resident: heat.resident(),
            held: now.held,
            free: now.free,
            idle_cache: now.idle_cache,
            capacity,
            birth_rate: self.tenant.birth().map(|birth| birth.rate),
            room_for_births: now.ahead,
            watched_share: epoch.watched_share,
            hot_set: heat.hot_set(),
            unknown_share: unknown.share(),
            base_us: self.tenant.prices().map(|prices| prices.base_us),
            huge_us: self.tenant.prices().map(|prices| prices.huge_us),
            ..EpochLine::default()
        };
        line.count_accesses(heat, |row| {
            if self.settings.dry_run {
                f64::from(u8::from(fast[row]))
            } else {
                // When in the epoch it moved is not known.
                let before = began.map_or(layout.fast_part(row), |began| began.fast_part(row));
                f64::midpoint(before, layout.fast_part(row))
            }
        });
        let most = if nowhere { all } else { self.settings.budget.most(&now).max(kept) };
        let for_births = self.settings.budget.for_births(&now);
        let (mut chosen, mut for_leaving) =
            self.decide(heat, &fast, layout, (most, for_births), &room, &mut line);
        let late = chosen.hold_back(heat, self.settings.budget.promotions(now.free));
        // They are the least wanted.
        for_leaving.truncate(for_leaving.len().saturating_sub(late));
        line.without_room += late;
        self.later |= late > 0;
        let bytes = |rows: &[usize]| rows.iter().map(|row| heat.bytes(*row)).sum::<Bytes>();
        (line.promote, line.demote) = (bytes(&chosen.promote), bytes(&chosen.demote));
        line.leaving = self.tiers.leaving.map(|leaving| leaving.bytes);
        line.for_leaving = bytes(&for_leaving);
        let off_books = chosen.for_births.iter().chain(&for_leaving);
        self.off_books = off_books.map(|row| heat.unit[*row]).collect();
        self.off_books.sort_unstable();
        if self.settings.dry_run {
            self.assume(heat, &chosen);
        } else if !last {
            // Nobody is left to profit from moves after the last epoch.
            let limits = (capacity, reserve, chosen.beyond);
            let kept = room.kept(&self.tiers, &now, limits);
            self.order(heat, (&chosen, layout), &room, (kept, capacity, now.ahead > Bytes(0)));
        }
        line
    }

    /// Which rows are fast, and what the fast tier has; in a dry run as the decisions so far would
    /// have left it.
    fn placement(
        &mut self,
        heat: &EpochHeat,
        layout: &Layout,
        (room, now_s): (&NodesRoom, f64),
    ) -> (Vec<bool>, FastNow) {
        let found: Vec<bool> = (0..heat.len()).map(|row| layout.is_fast(row)).collect();
        let part = |row: usize| heat.bytes(row).as_f64() * layout.fast_part(row);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let held = Bytes((0..heat.len()).map(part).sum::<f64>() as u64);
        let mut now = room.of_fast(&self.tiers, held);
        let reads = self.moving.mover().kernel().reads();
        let idle_cache = room.idle_cache(&self.tiers);
        let idle_cache = self.page_cache.may_go(reads, now_s, (idle_cache, now.total));
        if !self.settings.budget.keep_page_cache {
            now.idle_cache = idle_cache;
        }
        if !self.settings.dry_run {
            return (found, now);
        }
        let nowhere = self.tiers.fast.is_empty();
        if nowhere {
            // A tier of the size of the budget that nobody uses.
            let size = self.settings.budget.fast.map_or(Bytes(0), |fast| fast.of(heat.resident()));
            now = FastNow { total: size, free: size, ..FastNow::default() };
        }
        let first_touch = nowhere.then(|| self.settings.budget.capacity(&now));
        let fast = self.assumed.fast(heat, &found, first_touch);
        let held: Bytes = (0..heat.len()).filter(|row| fast[*row]).map(|row| heat.bytes(row)).sum();
        let left = (now.room() + now.held).saturating_sub(held);
        now.idle_cache = now.idle_cache.min(left);
        now.free = left.saturating_sub(now.idle_cache);
        now.held = held;
        (fast, now)
    }

    fn decide(
        &mut self,
        heat: &EpochHeat,
        fast: &[bool],
        layout: &Layout,
        (most, for_births): (Bytes, Bytes),
        room: &NodesRoom,
        line: &mut EpochLine,
    ) -> (Chosen, Vec<usize>) {
        // What nobody has watched yet is not cold. It goes down only where the tenant has too much, or of a process
        // most of which nobody is going to watch.
        let over = line.held > most;
        let process = &layout.process;
        let units = heat.unit.last().map_or(0, |last| last.index() + 1);
        self.known.resize(units.max(self.known.len()), false);
        let may = |((unit, flags), process): ((&UnitId, &HeatFlags), &u32)| {
            let known = &mut self.known[unit.index()];
            *known |= flags.has(HeatFlags::SAMPLED);
            let waits = self.refused.waits(unit);
            line.backed_off += usize::from(waits);
            !waits && (over || *known || self.sparse.binary_search(process).is_ok())
        };
        let rows = heat.unit.iter().zip(&heat.flags).zip(process);
        let movable: Vec<bool> = rows.map(may).collect();
        // What has to follow goes up like what is slow, and counts as such.
        let mut fast = fast.to_vec();
        let mut parts = 0.0;
        let behind = self.left_behind(heat, &fast, &movable, layout, process);
        for row in &behind {
            fast[*row] = false;
            parts += heat.bytes(*row).as_f64() * layout.fast_part(*row);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let parts = Bytes(parts as u64);
        let places = Places { fast: Some(&fast), movable: Some(&movable), process: Some(process) };
        let limits = Room::Limited {
            capacity: line.capacity,
            most,
            used: line.held.saturating_sub(parts),
            move_budget: self.settings.budget.per_epoch(line.length_s),
            for_births,
        };
        self.tell_what_was_watched(line.observer_s);
        let now_s = line.start_s + line.length_s;
        self.decided_s = now_s;
        // Programs go on between epochs, too.
        let passed_s = now_s - std::mem::replace(&mut self.asked_s, now_s);
        let decision = self.tenant.decide(heat, passed_s, places, limits, (false, None));
        line.turns = decision.changes.into_iter().map(|change| Turn::new(change, now_s)).collect();
        line.migrate = decision.standing_still == 0 || decision.migrating > 0;
        line.choice = self.tenant.observation().and_then(|told| told.choice);
        self.may_bring = decision.may_bring;
        self.watch_sparsely(decision.sparse);
        let mut chosen = decision.chosen;
        let free = line.capacity.as_f64() - line.held.as_f64();
        let moves = chosen.promote.iter().chain(&chosen.demote);
        let moved: Bytes = moves.map(|row| heat.bytes(*row)).sum();
        let mut left = self.settings.budget.per_epoch(line.length_s).as_f64() - moved.as_f64();
        let parts = parted::that_make_room(&behind, &chosen, heat, layout, free);
        chosen.demote.extend(parted::within(&mut left, parts, heat, layout));
        if let Some(birth) =
            self.tenant.birth().filter(|_| for_births.0 > 0 && !self.settings.dry_run)
        {
            let counted = decision.weighed.as_ref().unwrap_or(heat);
            let may = |row: usize| {
                let each = f64::from(counted.rate[row]) / f64::from(heat.pages[row].max(1));
                let stands = self.sparse.binary_search(&process[row]).is_ok();
                movable[row] && !stands && each < birth.rate
            };
            let parts = parted::for_births(may, (&chosen, for_births), heat, layout);
            let parts = parted::within(&mut left, parts, heat, layout);
            chosen.for_births.extend(&parts);
            chosen.demote.extend(parts);
        }
        (line.unworthy, line.without_room) = (chosen.unprofitable, chosen.without_room);
        let up = self.goes_up(heat, layout, (&chosen, &movable), room, (free, left));
        self.later = up.later;
        chosen.promote.extend(&up.rows);
        (chosen, up.rows)
    }

    /// What governors are told of an epoch beside its heat.
    pub(super) fn tell_what_was_watched(&mut self, observer_s: f64) {
        self.tenant.watched(observer_s, Some(VISITED));
        // Only of what stands still it is asked whether it accesses other memory.
        for number in &self.sparse {
            let cpu = i32::try_from(*number).ok().and_then(|pid| self.tracker.cpu(Pid(pid)));
            if let Some(cpu) = cpu {
                self.tenant.ran(*number, cpu.as_secs_f64());
            }
        }
    }

    pub(super) fn watch_sparsely(&mut self, processes: Vec<u32>) {
        self.sparse = processes;
        let sparse = self.sparse.iter().filter_map(|number| i32::try_from(*number).ok());
        let sparse: Vec<Pid> = sparse.map(Pid).collect();
        self.tracker.watch_sparsely(&sparse, Watch::Sparse.budget_share());
    }

    /// Memory that is about to leave a node which has no room then for all that is used on it.
    fn full(&self, room: &NodesRoom) -> Option<Leaving> {
        let real = !self.settings.dry_run;
        self.tiers.leaving.filter(|leaving| real && room.free(leaving.node) < leaving.bytes)
    }

    /// What goes up beside what was chosen, for slow memory is about to leave.
    fn goes_up(
        &self,
        heat: &EpochHeat,
        layout: &Layout,
        (chosen, movable): (&Chosen, &[bool]),
        nodes: &NodesRoom,
        (room, left): (f64, f64),
    ) -> GoesUp {
        let Some(leaving) = self.full(nodes) else { return GoesUp::default() };
        let order = self.tenant.order(heat);
        let limits = Limits { free: nodes.free(leaving.node), room, left };
        leaving.goes_up(&order, |row| movable[row], (heat, layout), chosen, limits)
    }

    /// Rows that are fast by most of their pages, and hot enough for the others to follow: of some moves a part was
    /// refused.
    fn left_behind(
        &self,
        heat: &EpochHeat,
        fast: &[bool],
        movable: &[bool],
        layout: &Layout,
        process: &[u32],
    ) -> Vec<usize> {
        let pays_from =
            self.tenant.prices().map_or(0.0, |terms| terms.pays_from() / terms.in_order.min(1.0));
        let hot = |row: usize| {
            let each = f64::from(heat.rate[row]) / f64::from(heat.pages[row].max(1));
            each > pays_from
        };
        let parted = |row: &usize| {
            !self.settings.dry_run
                && fast[*row]
                && movable[*row]
                && layout.fast_part(*row) < 1.0
                && hot(*row)
                && self.known[heat.unit[*row].index()]
                && self.sparse.binary_search(&process[*row]).is_err()
        };
        (0..heat.len()).filter(parted).collect()
    }
}
