//! A core on its way through its misses.

use super::hardware::Times;
use super::traffic::{Miss, Misses, Request};
use super::{Ps, Slots};
use std::borrow::Cow;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Core<'m> {
    misses: Cow<'m, [Miss]>,
    at: usize,
    /// When the instructions before the miss at `at` are done.
    ready: Ps,
    under_way: Slots,
    instructions: u64,
    done_at: Option<Ps>,
    /// It executes nothing, and nobody knows until when.
    frozen: bool,
}

impl<'m> Core<'m> {
    pub(super) fn new(misses: &'m Misses, (outstanding, start): (u32, Ps), times: &Times) -> Self {
        let under_way = Slots::new(outstanding);
        let instructions = misses.instructions();
        let misses = Cow::Borrowed(misses.all());
        let (ready, done_at, frozen) = (Ps::ZERO, None, false);
        let mut core = Self { misses, at: 0, ready, under_way, instructions, done_at, frozen };
        core.load(start, times);
        core
    }

    /// The miss that is next.
    #[inline]
    pub(super) fn miss(&self) -> Miss {
        self.misses[self.at]
    }

    /// When it is made; never, if there is none.
    #[inline]
    pub(super) fn next(&self) -> Ps {
        if self.done_at.is_some() || self.frozen {
            return Ps::MAX;
        }
        match self.miss().request() {
            Request::Fetch => self.ready.max(self.under_way.free_at()),
            _ => self.ready,
        }
    }

    /// It was made at `now`; what it waits for comes at `done`, which is never as long as nobody knows.
    #[inline]
    pub(super) fn made(&mut self, now: Ps, done: Option<Ps>, times: &Times) {
        if let Some(done) = done {
            self.under_way.take(done);
        }
        self.at += 1;
        self.load(now, times);
    }

    #[inline]
    fn load(&mut self, now: Ps, times: &Times) {
        match self.misses.get(self.at) {
            Some(miss) => self.ready = now + times.instructions(miss.instructions()),
            None => {
                self.ready = now;
                self.done_at = Some(now.max(self.under_way.all_free_at()));
            }
        }
    }

    /// One of those that nobody knew comes at `done`.
    pub(super) fn learns(&mut self, done: Ps) {
        self.under_way.give_up(done);
        let all = self.ready.max(self.under_way.all_free_at());
        self.done_at = self.done_at.map(|_| all);
    }

    /// All entries were made.
    pub(super) fn is_through(&self) -> bool {
        self.at >= self.misses.len()
    }

    /// Makes none of its entries.
    pub(super) fn forget(&mut self, now: Ps) {
        self.misses = Cow::Owned(Vec::new());
        (self.at, self.instructions, self.done_at) = (0, 0, Some(now));
    }

    /// Goes on with other entries, from when the last one was made; what it had is given in exchange.
    pub(super) fn refill(&mut self, misses: &mut Misses, now: Ps, times: &Times) {
        self.instructions += misses.instructions();
        misses.swap(self.misses.to_mut());
        (self.at, self.done_at) = (0, None);
        self.load(now, times);
    }

    /// What the instructions before its next miss take.
    #[inline]
    pub(super) fn executes(&self, times: &Times) -> Ps {
        self.misses.get(self.at).map_or(Ps::ZERO, |miss| times.instructions(miss.instructions()))
    }

    /// It executes nothing until it is stalled to a known time.
    pub(super) fn freeze(&mut self) {
        self.frozen = true;
    }

    /// It executes nothing from `from` to `to`; what is under way goes on.
    pub(super) fn stall(&mut self, from: Ps, to: Ps) {
        self.frozen = false;
        if self.done_at.is_none() {
            self.ready = if self.ready > from { self.ready + (to - from) } else { to };
        }
    }

    /// It executes nothing until then, and makes its next miss no sooner.
    pub(super) fn waits(&mut self, until: Ps) {
        self.ready = self.ready.max(until);
    }

    /// Entries that are left.
    pub(super) fn left(&self) -> u64 {
        (self.misses.len() - self.at) as u64
    }

    /// When its last miss was there.
    pub(super) const fn done_at(&self) -> Option<Ps> {
        self.done_at
    }

    /// Instructions in all.
    pub(super) const fn instructions(&self) -> u64 {
        self.instructions
    }
}
