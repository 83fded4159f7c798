//! In which order private memory appears. Who is first to come gets fast memory where nothing is moved, but what is
//! resident is looked up once an epoch, and a program may fill all of its memory within one. So while it grows it is
//! peeked at in between, only for what is new to get its numbers in the order in which it appears.

use super::{Known, Options, whole};
use crate::bits::eyes::Eyes;
use crate::bits::madv_cold::Live;
use crate::target::units::Units;
use crate::walk::row::{Range, Row, RowBits};
use pagetide_host::{Area, Host, Maps};
use pagetide_types::{UnitKey, UnitSize};

/// Between two peeks at least, ns.
pub(super) const OFTEN_NS: u64 = 100_000_000;
/// Share of the budget that peeks may take while memory grows: then little else is worth knowing.
const SHARE: f64 = 0.5;
const HUGE: u64 = 1 << 21;

/// When to peek again, and reused storage.
#[derive(Default)]
pub(super) struct Births {
    due_ns: u64,
    /// How long after a peek the next one is due, and when it may be by what they cost.
    pause_ns: u64,
    affordable_ns: u64,
    maps: Maps,
    ranges: Vec<Range>,
    rows: Vec<Row>,
    bits: Vec<RowBits>,
}

/// Of whom, and at which addresses.
#[derive(Clone, Copy)]
pub(super) struct Whom<'a> {
    host: &'a Host,
    known: &'a [Known],
    within: Range,
    /// CPU time that observing may take, as a share of one core.
    budget: f64,
}

impl<'a> Whom<'a> {
    pub(super) fn of(host: &'a Host, known: &'a [Known], options: &Options) -> Self {
        Self { host, known, within: options.within, budget: options.budget }
    }
}

impl Births {
    /// Memory grows: it is peeked at soon, unless that would cost an epoch more than its share of the epoch's budget, as
    /// the last walk of all tells.
    pub(super) fn grows(&mut self, now_ns: u64, (walk_ns, budget_ns): (u64, f64)) {
        self.pause_ns = OFTEN_NS;
        let affordable = walk_ns as f64 <= SHARE * budget_ns;
        self.due_ns = if affordable { self.affordable_ns.max(now_ns + OFTEN_NS) } else { u64::MAX };
    }

    /// Numbers what is new, if it is time.
    pub(super) fn peek(&mut self, live: &mut Live, units: &mut Units, whom: Whom<'_>) {
        let now_ns = live.now();
        if now_ns < self.due_ns || units.size() != UnitSize::Huge {
            return;
        }
        let (cpu, before) = (live.cpu(), units.len());
        for (process, known) in whom.known.iter().enumerate().filter(|(_, known)| known.alive) {
            self.number(live, units, (process, known), whom);
        }
        let rest = whole((live.cpu() - cpu) as f64 / (SHARE * whom.budget).max(1e-9));
        self.affordable_ns = now_ns.saturating_add(rest);
        let grew = units.len() > before;
        self.pause_ns = if grew { OFTEN_NS } else { self.pause_ns.saturating_mul(2).max(OFTEN_NS) };
        self.due_ns = self.affordable_ns.max(now_ns.saturating_add(self.pause_ns));
    }

    fn number(
        &mut self,
        live: &mut Live,
        units: &mut Units,
        (process, known): (usize, &Known),
        whom: Whom<'_>,
    ) {
        if whom.host.read_maps(known.pid, &mut self.maps).is_err() {
            return;
        }
        let is_private = |area: &&Area| area.skip.is_none() && area.backing().is_none();
        self.ranges.clear();
        let mut object = None;
        for area in self.maps.areas().iter().filter(is_private) {
            let range = Range { start: area.start.0, end: area.end.0 };
            if let Some(range) = range.within(whom.within) {
                object = Some(units.mapping(known.space, area).object);
                self.ranges.push(range);
            }
        }
        let Some(object) = object else { return };
        // What executes another program by now is met at the next look for processes.
        if live.peek(process, &self.ranges, &mut self.rows, &mut self.bits) {
            for row in &self.rows {
                units.number(UnitKey { object, index: row.addr / HUGE });
            }
        }
    }
}
