//! What the moves of the last seconds bring and cost a process: the books of `gain`.

use super::{Balance, Counters};
use std::collections::VecDeque;

/// What moves are judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Those of so many seconds.
    pub(crate) horizon_s: f64,
    /// For so many seconds the gain must not exceed the cost.
    pub(crate) patience_s: f64,
    /// This part of the time so far counts for what they bring.
    pub(crate) credit: f64,
    /// Where nothing moves for so many seconds nothing is to be gained any more.
    pub(crate) quiet_s: f64,
}

/// So many times the horizon at most.
const MOST_CREDIT: f64 = 10.0;

/// A process that migrates.
pub(crate) struct Books {
    begun_s: f64,
    /// The ends of epochs within the horizon, the oldest first, and one that is before it.
    entries: VecDeque<Entry>,
    /// The end of the epoch in which something moved last, or it began.
    last_move: Entry,
    /// For how long the gain has not exceeded the cost, seconds.
    poor_s: f64,
    /// How often all of its memory was watched since something moved.
    watched: f64,
    paid: bool,
}

/// The totals at the end of an epoch.
#[derive(Clone, Copy)]
struct Entry {
    now_s: f64,
    moving_s: f64,
    watching_s: f64,
}

impl Entry {
    fn new(counters: &Counters, balance: &Balance) -> Self {
        Self { now_s: counters.now_s, moving_s: balance.moving_s, watching_s: counters.watching_s }
    }

    /// What was spent since another one; what that brings is not in it.
    fn since(&self, then: &Self) -> Account {
        let within_s = self.now_s - then.now_s;
        Account {
            brings_s: 0.0,
            moving_s: self.moving_s - then.moving_s,
            watching_s: self.watching_s - then.watching_s,
            within_s,
            credit_s: within_s,
        }
    }
}

/// What the moves of some seconds bring and cost, seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    /// In `credit_s` seconds.
    pub(crate) brings_s: f64,
    pub(crate) moving_s: f64,
    pub(crate) watching_s: f64,
    pub(crate) within_s: f64,
    pub(crate) credit_s: f64,
}

impl Books {
    /// It migrates from now on.
    pub(crate) fn new(counters: &Counters, balance: &Balance) -> Self {
        let begun = Entry::new(counters, balance);
        let entries = [begun].into();
        Self {
            begun_s: begun.now_s,
            entries,
            last_move: begun,
            poor_s: 0.0,
            watched: 0.0,
            paid: false,
        }
    }

    /// Whether the gain exceeded the cost at any time.
    pub(crate) fn paid(&self) -> bool {
        self.paid
    }

    /// Takes in the end of an epoch; the account if it is time to stop.
    pub(crate) fn look(
        &mut self,
        counters: &Counters,
        balance: &Balance,
        terms: &Terms,
    ) -> Option<Account> {
        let Terms { horizon_s, patience_s, credit, quiet_s } = *terms;
        let now = Entry::new(counters, balance);
        let moved = self.entries.back().is_some_and(|last| now.moving_s > last.moving_s);
        self.watched = if moved { 0.0 } else { self.watched + counters.watched_share() };
        if moved {
            self.last_move = now;
        }
        self.entries.push_back(now);
        while self.entries.get(1).is_some_and(|entry| now.now_s - entry.now_s >= horizon_s) {
            self.entries.pop_front();
        }
        let then = *self.entries.front()?;
        let within_s = now.now_s - then.now_s;
        let so_far_s = credit * (now.now_s - self.begun_s);
        let credit_s = so_far_s.min(MOST_CREDIT * horizon_s).max(within_s.max(horizon_s));
        let account = Account { brings_s: balance.gained * credit_s, credit_s, ..now.since(&then) };
        let pays = account.brings_s > account.moving_s + account.watching_s;
        self.paid |= pays;
        let quiet = now.since(&self.last_move);
        if quiet.within_s >= quiet_s + patience_s && self.watched >= 1.0 {
            return Some(quiet);
        }
        if within_s < horizon_s {
            // What has just begun has not had the time to pay.
            return None;
        }
        if pays {
            self.poor_s = 0.0;
            return None;
        }
        self.poor_s += counters.length_s;
        // Where nothing moves, it may be that not enough has been seen so far.
        let seen = account.moving_s > 0.0 || self.watched >= 1.0;
        (self.poor_s >= patience_s && seen).then_some(account)
    }
}
