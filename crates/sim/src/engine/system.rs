//! What a machine does beside running programs: its kernel, as far as it is simulated. It is asked at
//! faults, and at times of its own.

use super::{Actor, World, bit};

/// When a thread that waits for a page looks whether it is there, at the soonest, ns.
pub const LOOK_AGAIN_NS: f64 = 200.0;

/// An access that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// Whose.
    pub tenant: usize,
    /// On which core.
    pub core: usize,
    /// Where.
    pub page: usize,
    /// It stores.
    pub write: bool,
    /// The page's entry, with what asked for the fault: [`bit::ABSENT`], [`bit::HINT`], or both. What
    /// is [`bit::MOVING`] is dealt with by [`System::wait`].
    pub entry: u8,
    /// When.
    pub now_ns: f64,
}

impl Fault {
    /// Nothing is mapped there.
    #[must_use]
    pub fn absent(&self) -> bool {
        self.entry & bit::ABSENT != 0
    }
}

/// A simulated system.
pub trait System: Send {
    /// Handles a fault, after which the page is mapped and asks for no other; when the thread goes
    /// on, ns.
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64;

    /// A thread met a page that is being moved; when it looks again, ns: an estimate from below is
    /// right. None: it goes on as if the page were still where it was. A thread that moves the page
    /// itself, inside of its fault, does what is due of that.
    fn wait(&mut self, fault: Fault, world: &mut World) -> Option<f64> {
        let _ = world;
        Some(fault.now_ns + LOOK_AGAIN_NS)
    }

    /// How many threads of its own it has, with numbers from 0.
    fn daemons(&self) -> usize {
        0
    }

    /// One of them works at `now_ns`; when it wants to work again, ns: later, or never (infinity).
    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        let _ = (daemon, now_ns, world);
        f64::INFINITY
    }
}

/// A thread of the system's.
pub(super) struct Daemon {
    pub(super) number: usize,
    pub(super) next_ns: f64,
}

impl Actor for Daemon {
    fn clock_ns(&self) -> f64 {
        self.next_ns
    }

    /// It works for others: when they have ended it has nothing to do.
    fn ended(&self) -> bool {
        self.next_ns.is_infinite()
    }

    fn serves_others(&self) -> bool {
        true
    }

    fn run(&mut self, until_ns: f64, world: &mut World) {
        while self.next_ns <= until_ns {
            let now = self.next_ns;
            let next = world.with_system(|system, world| system.wake(self.number, now, world));
            self.next_ns = next.unwrap_or(f64::INFINITY).max(now + 1.0);
        }
    }
}
