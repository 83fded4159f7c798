//! A governor for each node ([`pagetide_policy::GOVERNORS`]): whether its pages move at all, judged at the
//! ends of epochs by what the node's own counters say, its page table's accessed bits among them. Governors
//! count in seconds, and here everything takes microseconds: so a second of theirs is a short time here,
//! and what they are told of times is stretched by as much.

use super::Ps;
use super::counts::PageId;
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
    nearer: i64,
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
            stopped: (0, Ps::ZERO),
        };
        Ok(named(migration)?.map(|spec| make(spec.build())))
    }

    /// A line of a page was fetched from local memory, or from the pool.
    #[inline]
    pub(super) fn fetched(&mut self, page: PageId, local: bool, now: Ps) {
        let page = &mut self.pages[page.0 as usize];
        if page.accessed != self.asks {
            page.accessed = self.asks;
            self.now.accessed += 1;
            self.now.accessed_local += u64::from(local);
        }
        if let Some((at, was_local)) = page.moved {
            if now - at > self.recent {
                page.moved = None;
            } else if local != was_local {
                self.now.nearer += if local { 1 } else { -1 };
            }
        }
    }

    /// A page came in, or went out.
    pub(super) fn moved(&mut self, page: PageId, came_in: bool, now: Ps) {
        let page = &mut self.pages[page.0 as usize];
        if page.moved.is_none_or(|(at, _)| now - at > self.recent) {
            page.moved = Some((now, !came_in));
        }
        if came_in {
            self.promoted += 1;
            page.promoted = true;
        } else {
            self.demoted += 1;
            self.returned += u64::from(page.promoted);
        }
    }

    /// The answer at an epoch's end: whether pages of the node may move.
    pub(super) fn may_move(&mut self, now: Ps, view: &NodeView, tally: &Tally) -> bool {
        self.pool_delay = view.pool_delay.or(self.pool_delay);
        self.local_delay = view.local_delay.or(self.local_delay);
        let length = now - self.asked;
        let seconds = |span: Ps| span.ns() / self.second.ns().max(1e-3);
        let bytes = |pages: u64| Bytes(pages * 4096);
        let local = self.local_delay.unwrap_or(view.local_idle);
        let each = self.pool_delay.map_or(0.0, |pool| view.saves_ns(pool, local));
        let cores = f64::from(view.cores.max(1));
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
                gained: self.now.nearer as f64 * each / (length.ns() * cores).max(1e-3),
                moving_s: seconds(tally.stalled),
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
