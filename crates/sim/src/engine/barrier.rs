//! Where the threads of a tenant wait for each other, as at the end of a parallel loop.

/// A thread that waits looks that often, ns, or less often once it has waited long: then it is late by
/// a share of its wait.
const LOOK_NS: f64 = 20.0;
const LATE: f64 = 1.0 / 128.0;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// Accesses of each thread from one meeting to the next.
    every: u64,
    threads: u32,
    arrived: u32,
    /// Meetings so far.
    meetings: u64,
}

impl Barrier {
    pub(super) fn new(every: u64) -> Self {
        Self { every: every.max(1), threads: 0, arrived: 0, meetings: 0 }
    }

    /// One more thread meets the others.
    pub(super) fn join(&mut self) -> ToBarrier {
        self.threads += 1;
        ToBarrier { left: self.every, state: State::OnTheWay }
    }

    fn arrive(&mut self) -> u64 {
        let meeting = self.meetings;
        self.arrived += 1;
        self.meet();
        meeting
    }

    /// A thread has ended.
    pub(super) fn leave(&mut self) {
        self.threads = self.threads.saturating_sub(1);
        self.meet();
    }

    fn meet(&mut self) {
        if self.arrived >= self.threads && self.arrived > 0 {
            (self.arrived, self.meetings) = (0, self.meetings + 1);
        }
    }
}

/// How far a thread is from the next meeting.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToBarrier {
    /// Accesses until then.
    left: u64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    OnTheWay,
    /// All it asked for is there once its clock goes on.
    Arriving,
    /// Since a time, for the others to come to a meeting.
    Waiting(u64, f64),
}

impl ToBarrier {
    /// It meets nobody.
    pub(super) const NEVER: Self = Self { left: u64::MAX, state: State::OnTheWay };

    /// Whether an access is the first after a meeting that is to come.
    #[inline]
    pub(super) fn reached(&mut self) -> bool {
        if self.left == 0 {
            self.state = State::Arriving;
            return true;
        }
        self.left -= 1;
        false
    }

    /// When a thread that is there looks again, ns; none once it goes on.
    pub(super) fn look(&mut self, now_ns: f64, barrier: &mut Barrier) -> Option<f64> {
        match self.state {
            State::OnTheWay => return None,
            State::Arriving => self.state = State::Waiting(barrier.arrive(), now_ns),
            State::Waiting(..) => (),
        }
        match self.state {
            State::Waiting(meeting, since_ns) if barrier.meetings == meeting => {
                Some(now_ns + f64::max(LOOK_NS, (now_ns - since_ns) * LATE))
            }
            _ => {
                // The access that came upon the barrier is the first of the next round.
                *self = Self { left: barrier.every - 1, state: State::OnTheWay };
                None
            }
        }
    }

    /// Whether it is at a meeting.
    #[inline]
    pub(super) fn there(&self) -> bool {
        !matches!(self.state, State::OnTheWay)
    }
}
