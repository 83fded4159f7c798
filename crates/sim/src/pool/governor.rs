//! A governor for each node ([`pagetide_policy::GOVERNORS`]): whether its pages move at all, judged at the
//! ends of epochs by what the node's own counters say, its page table's accessed bits among them. Governors
//! count in seconds, and here everything takes microseconds: so a second of theirs is a short time here,
//! and what they are told of times is stretched by as much.

use super::Ps;
use super::counts::PageId;
use super::lost::Left;
use super::node::Tally;
use super::policy::NodeView;
use super::settings::{Migration, PoolError, refuse};
use pagetide_policy::{Balance, Counters, Governor, GovernorSpec, Verdict};
use pagetide_types::Bytes;
use std::fmt;

/// A second of a governor, microseconds: 20 of them are one millisecond.
const SECOND_US: f64 = 50.0;

/// See the module.
pub(super) struct Governed {
    governor: Box<dyn Governor>,
    /// What it takes for a second.
    second: Ps,
    /// For how long a move counts as recent.
    recent: Ps,
    begun: Ps,
    asked: Ps,
    verdict: Verdict,
    pages: Vec<Page>,
    /// How often it was asked: an accessed bit is set that is of this number.
    asks: u32,
    now: Seen,
    promoted: u64,
    demoted: u64,
    returned: u64,
    pool_delay: Option<Ps>,
    local_delay: Option<Ps>,
    /// For how long the node stood still, and what that cost all who share the pool, in seconds of the node.
    stalled: Ps,
    moving_s: f64,
    /// How often, and for how long, it stood still.
    pub(super) stopped: (u64, Ps),
}

/// What it knows of a page.
#[derive(Clone, Copy, Default)]
struct Page {
    /// When it was asked for the first time after the page was accessed.
    accessed: u32,
    /// When it moved, and where it was before; later moves within the time that is recent do not count.
    moved: Option<(Ps, bool)>,
    /// It came in, ever.
    promoted: bool,
}

/// Since it was asked.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Pages accessed, and those of them that were local.
    accessed: u64,
    accessed_local: u64,
    /// Fetches from local memory of what was in the pool, less those from the pool of what was local.
    nearer_fetches: i64,
    /// The same of lines given back, and those that went with their page and are never given back to the pool.
    nearer_write_backs: i64,
    /// Fetches of lines that moves took from the caches: they are what moves cost.
    lost: u64,
    /// Lines that left the shared cache with their page: so many fetches evict nothing.
    room: u64,
}

impl fmt::Debug for Governed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Governed").field("verdict", &self.verdict).finish_non_exhaustive()
    }
}

/// The governor that a migration names, if it can stop anything.
pub(super) fn named(migration: &Migration) -> Result<Option<GovernorSpec>, PoolError> {
    let Some(text) = &migration.governor else { return Ok(None) };
    let spec: GovernorSpec = match text.parse() {
        Ok(spec) => spec,
        Err(error) => return refuse("migration.governor", text, error.to_string()),
    };
    let never = spec.info().name == GovernorSpec::default().info().name;
    Ok((!never).then_some(spec))
}

impl Governed {
    /// Of a node with so many pages that begins at `start`; none, if nothing stops it.
    pub(super) fn new(
        migration: &Migration,
        pages: u32,
        start: Ps,
    ) -> Result<Option<Self>, PoolError> {
        let second = Ps::from_ns(migration.governor_second_us.unwrap_or(SECOND_US) * 1e3);
        let make = |governor: Box<dyn Governor>| Self {
            second,
            recent: Ps::from_ns(governor.recent_s() * second.ns()),
            governor,
            begun: start,
            asked: start,
            verdict: Verdict::default(),
            pages: vec![Page::default(); pages as usize],
            asks: 1,
            now: Seen::default(),
            promoted: 0,
            demoted: 0,
            returned: 0,
            pool_delay: None,
            local_delay: None,
            stalled: Ps::ZERO,
            moving_s: 0.0,
            stopped: (0, Ps::ZERO),
        };
        Ok(named(migration)?.map(|spec| make(spec.build())))
    }

    /// A line of a page was fetched from local memory, or from the pool; `again`: nobody would have fetched it without
    /// moves.
    #[inline]
    pub(super) fn fetched(&mut self, page: PageId, (local, again): (bool, bool), now: Ps) {
        let nearer = self.nearer(page, local, now);
        let page = &mut self.pages[page.0 as usize];
        if page.accessed != self.asks {
            page.accessed = self.asks;
            self.now.accessed += 1;
            self.now.accessed_local += u64::from(local);
        }
        self.now.nearer_fetches += if again { -i64::from(!local) } else { nearer };
        self.now.lost += u64::from(again);
    }

    /// A line of a page was given back to local memory, or to the pool.
    #[inline]
    pub(super) fn given_back(&mut self, page: PageId, local: bool, now: Ps) {
        self.now.nearer_write_backs += self.nearer(page, local, now);
    }

    /// By how much a line is served nearer than where its page was before it moved, if that was lately.
    #[inline]
    fn nearer(&mut self, page: PageId, local: bool, now: Ps) -> i64 {
        let moved = &mut self.pages[page.0 as usize].moved;
        match *moved {
            Some((at, _)) if now - at > self.recent => *moved = None,
            Some((_, was_local)) => return i64::from(local) - i64::from(was_local),
            None => {}
        }
        0
    }

    /// A page came in, or went out, and with it these lines from the shared cache.
    pub(super) fn moved(&mut self, page: PageId, (came_in, left): (bool, Left), now: Ps) {
        let page = &mut self.pages[page.0 as usize];
        if page.moved.is_none_or(|(at, _)| now - at > self.recent) {
            page.moved = Some((now, !came_in));
        }
        self.now.room += u64::from(left.lines.count_ones());
        if let Some((_, false)) = page.moved {
            self.now.nearer_write_backs += i64::from(left.dirty.count_ones());
        }
        if came_in {
            self.promoted += 1;
            page.promoted = true;
        } else {
            self.demoted += 1;
            self.returned += u64::from(page.promoted);
        }
    }

    /// What recent moves brought all who share the pool since it was asked, nanoseconds of a core: by the prices that
    /// `payback` goes by, too.
    fn brought(&self, view: &NodeView) -> f64 {
        let Some(pool) = self.pool_delay else { return 0.0 };
        let local = self.local_delay.unwrap_or(view.local_idle);
        self.now.nearer_fetches as f64 * view.prices.fetch_ns(view.saves_ns(pool, local))
            + self.now.nearer_write_backs as f64 * view.prices.write_back_ns
            + self.now.room as f64 * view.prices.room_ns
            - self.now.lost as f64 * view.lost_ns(local)
    }

    /// The answer at an epoch's end: whether pages of the node may move.
    pub(super) fn may_move(&mut self, now: Ps, view: &NodeView, tally: &Tally) -> bool {
        self.pool_delay = view.pool_delay.or(self.pool_delay);
        self.local_delay = view.local_delay.or(self.local_delay);
        let length = now - self.asked;
        let seconds = |span: Ps| span.ns() / self.second.ns().max(1e-3);
        let bytes = |pages: u64| Bytes(pages * 4096);
        let cores = f64::from(view.cores.max(1));
        let stalled = tally.stalled - std::mem::replace(&mut self.stalled, tally.stalled);
        self.moving_s += seconds(stalled) * view.prices.standing / cores;
        let resident = bytes(self.pages.len() as u64);
        let counters = Counters {
            now_s: seconds(now - self.begun),
            length_s: seconds(length),
            promoted: bytes(self.promoted),
            demoted: bytes(self.demoted),
            promoted_then_demoted: bytes(self.returned),
            watch: self.verdict.watch(),
            resident,
            watched: resident,
            accessed: bytes(self.now.accessed),
            accessed_fast: bytes(self.now.accessed_local),
            balance: Some(Balance {
                gained: self.brought(view) / (length.ns() * cores).max(1e-3),
                moving_s: self.moving_s,
                ..Balance::default()
            }),
            ..Counters::default()
        };
        if self.verdict == Verdict::StandStill {
            self.stopped.1 += length;
        }
        let before = std::mem::replace(&mut self.verdict, self.governor.judge(&counters));
        let stands_still = self.verdict == Verdict::StandStill;
        self.stopped.0 += u64::from(stands_still && before != self.verdict);
        (self.now, self.asked) = (Seen::default(), now);
        self.asks = self.asks.wrapping_add(1);
        !stands_still
    }
}
