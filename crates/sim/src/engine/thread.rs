//! A thread: a clock, and a bounded number of accesses under way. Like a core that executes out of
//! order it goes on past accesses that it does not need yet.

use super::Actor;
use super::access::{Access, Program};
use super::barrier::ToBarrier;
use super::hierarchy::{Asked, Hierarchy};
use super::pages::{Pages, bit};
use super::streams::Streams;
use super::system::Fault;
use super::touches::Touches;
use super::under_way::UnderWay;
use super::world::World;

/// What of a core matters here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    /// Accesses to memory that it has under way at most; they leave in any order.
    pub outstanding: u32,
    /// Accesses from the oldest that is not there yet to the newest, at most; not less than
    /// `outstanding`.
    pub reorder: u32,
    /// Time between two accesses that wait for nothing, ns.
    pub issue_ns: f64,
    /// How far it computes past an access that is not there yet, ns: its reorder buffer in
    /// instructions. Lines that its prefetcher asks for hold up nothing.
    pub ahead_ns: f64,
}

impl Default for Core {
    /// Ten line fill buffers, 72 loads and 192 instructions at four in a nanosecond, as Intel's cores of 2013
    /// had; 16, 192 and 512 today.
    fn default() -> Self {
        Self { outstanding: 10, reorder: 72, issue_ns: 0.25, ahead_ns: 48.0 }
    }
}

/// See the module.
pub(super) struct Thread<P, H> {
    program: P,
    core: Core,
    hierarchy: H,
    /// The tenant that it belongs to.
    tenant: usize,
    /// The number of its core, and what was taken from it there so far.
    seat: usize,
    stolen_ns: f64,
    clock_ns: f64,
    /// What it does next, at its clock's time.
    waiting: Option<Access>,
    under_way: UnderWay,
    /// What it has computed so far, ns, and the streams among what it accesses.
    place: f64,
    streams: Streams,
    /// The access under consideration was asked for by the prefetcher.
    fetched: bool,
    touches: Touches,
    last_ns: f64,
    meets: ToBarrier,
    ended: bool,
}

impl<P: Program, H: Hierarchy> Thread<P, H> {
    /// One that starts at `start_ns`; `seat` is from [`super::Cores::seat`], `meets` from
    /// [`World::join`].
    #[must_use]
    pub(super) fn new(
        program: P,
        tenant: usize,
        (seat, meets): (usize, ToBarrier),
        core: Core,
        hierarchy: H,
        start_ns: f64,
    ) -> Self {
        let under_way = UnderWay::new(core.outstanding, core.reorder);
        Self {
            program,
            core,
            hierarchy,
            tenant,
            seat,
            stolen_ns: 0.0,
            clock_ns: start_ns,
            waiting: None,
            under_way,
            place: 0.0,
            streams: Streams::new(),
            fetched: false,
            touches: Touches::new(),
            last_ns: start_ns,
            meets,
            ended: false,
        }
    }

    /// It is at its barrier, and looks for the others.
    #[cold]
    fn wait(&mut self, world: &mut World) {
        let Some(barrier) = world.barrier(self.tenant) else { return };
        let again = self.meets.look(self.clock_ns, barrier);
        let goes_on = || self.waiting.as_ref().map(|access| self.ready_ns(access));
        self.clock_ns = again.or_else(goes_on).unwrap_or(self.clock_ns);
    }

    /// Comes to an access in its program: what is too far behind must be there.
    #[inline]
    fn come_to(&mut self, access: &Access) {
        self.fetched = false;
        if access.compute_ns <= 0.0 {
            return;
        }
        self.place += f64::from(access.compute_ns);
        self.fetched = !access.dependent && self.streams.goes_on(access.address);
        if !self.fetched {
            self.under_way.retire(self.place - self.core.ahead_ns);
        }
    }

    /// When it can ask for it.
    #[inline]
    fn ready_ns(&self, access: &Access) -> f64 {
        let computed = self.clock_ns + f64::from(access.compute_ns);
        let known = if access.dependent { computed.max(self.last_ns) } else { computed };
        known.max(self.under_way.room_ns())
    }

    #[inline]
    fn access(&mut self, access: Access, world: &mut World) {
        let page = Pages::page(access.address);
        let entry = world.pages.entry(page);
        let (tenant, now_ns) = (self.tenant, self.clock_ns);
        if entry & bit::FAULTS != 0 {
            let (core, write) = (self.seat, access.write);
            if let Some(again) = world.fault(Fault { tenant, core, page, write, entry, now_ns }) {
                self.clock_ns = again;
                self.waiting = Some(access);
                return;
            }
        }
        let counted = world.counts_touches();
        let touches =
            if counted { self.touches.access(page, (access.address >> 6) % 64) } else { [0; 2] };
        let asked = Asked { access, page, entry, tenant, now_ns, touches };
        let done = self.hierarchy.access(asked, world);
        self.under_way.put(done, self.place, self.fetched);
        self.last_ns = done;
        self.clock_ns += self.core.issue_ns;
    }
}

impl<P: Program, H: Hierarchy> Actor for Thread<P, H> {
    fn clock_ns(&self) -> f64 {
        self.clock_ns
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn run(&mut self, until_ns: f64, world: &mut World) {
        while self.clock_ns <= until_ns {
            if self.meets.there() {
                self.wait(world);
                continue;
            }
            if let Some(access) = self.waiting.take() {
                self.access(access, world);
                continue;
            }
            let Some(access) = self.program.next(self.clock_ns) else {
                // It has ended once all that it asked for is there.
                self.clock_ns = self.clock_ns.max(self.under_way.all_ns());
                self.ended = true;
                if let Some(barrier) = world.barrier(self.tenant) {
                    barrier.leave();
                }
                return;
            };
            self.come_to(&access);
            if self.meets.reached() {
                // A loop has ended once all that it asked for is there.
                self.clock_ns = self.clock_ns.max(self.under_way.all_ns());
                self.waiting = Some(access);
                continue;
            }
            let seat = world.cores.at(self.seat);
            self.clock_ns += seat.stolen_ns - self.stolen_ns;
            self.stolen_ns = seat.stolen_ns;
            self.clock_ns = self.ready_ns(&access).max(seat.until_ns);
            if self.clock_ns <= until_ns {
                self.access(access, world);
            } else {
                // Others are earlier.
                self.waiting = Some(access);
            }
        }
    }
}
