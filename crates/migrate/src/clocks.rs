//! CPU time of the threads that move pages, also while they do.

use nix::time::{ClockId, clock_gettime};
use nix::unistd::gettid;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// linux/posix-timers.h: the kind of CPU clock that counts nanoseconds, of one thread.
const CPUCLOCK_SCHED: libc::clockid_t = 2;
const CPUCLOCK_PERTHREAD: libc::clockid_t = 4;

/// The threads of a round, and what those used that are through.
#[derive(Debug, Default)]
pub(crate) struct Clocks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Clock, and what it showed at first.
    threads: Vec<(ClockId, Duration)>,
    through: Duration,
}

/// The calling thread moves pages until this is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    clocks: &'a Clocks,
    own: ClockId,
}

fn now(clock: ClockId) -> Duration {
    clock_gettime(clock).map_or(Duration::ZERO, Duration::from)
}

impl Clocks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new round begins.
    pub(crate) fn reset(&self) {
        self.state().through = Duration::ZERO;
    }

    /// The calling thread counts from now on.
    pub(crate) fn enter(&self) -> Running<'_> {
        // As `pthread_getcpuclockid(3)` makes it.
        let clock = (!gettid().as_raw() << 3) | CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED;
        let own = ClockId::from_raw(clock);
        self.state().threads.push((own, now(own)));
        Running { clocks: self, own }
    }

    /// CPU time of the round so far, ns.
    pub(crate) fn ns(&self) -> u64 {
        let state = self.state();
        let running = state.threads.iter().map(|(clock, first)| now(*clock).saturating_sub(*first));
        let all = state.through + running.sum::<Duration>();
        u64::try_from(all.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.clocks.state();
        let Some(at) = state.threads.iter().position(|(clock, _)| *clock == self.own) else {
            return;
        };
        let (clock, first) = state.threads.swap_remove(at);
        state.through += now(clock).saturating_sub(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn work() {
        let clock = ClockId::CLOCK_THREAD_CPUTIME_ID;
        let until = now(clock) + Duration::from_millis(20);
        while now(clock) < until {}
    }

    #[test]
    fn threads_count_while_they_run_and_when_they_are_through() {
        let clocks = Clocks::default();
        let (worked, when_worked) = channel();
        let (asked, when_asked) = channel();
        let clocks = &clocks;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _running = clocks.enter();
                work();
                worked.send(()).unwrap();
                when_asked.recv().unwrap();
            });
            when_worked.recv().unwrap();
            let _running = clocks.enter();
            let one = clocks.ns();
            assert!((20_000_000..500_000_000).contains(&one), "another's while it waits: {one}");
            asked.send(()).unwrap();
            work();
            assert!(clocks.ns() >= 40_000_000);
        });
        assert!(clocks.ns() >= 40_000_000, "both");
        work();
        let through = clocks.ns();
        work();
        assert_eq!(clocks.ns(), through, "who is through does something else");
        clocks.reset();
        assert_eq!(clocks.ns(), 0);
    }
}
