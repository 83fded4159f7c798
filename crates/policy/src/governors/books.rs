//! What the moves of the last seconds bring and cost a process: the books of `gain`.

use super::{Balance, Counters};
use crate::cost_benefit::LONGEST;
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
    /// What moves in so many seconds must be worth the watching.
    pub(crate) quiet_s: f64,
}

/// A process that migrates.
pub(crate) struct Books {
    begun: Entry,
    /// The ends of epochs, the oldest first: those within the horizon and one before it, and as many
    /// more as it took to watch all of its memory.
    entries: VecDeque<Entry>,
    /// For how long the gain has not exceeded the cost, seconds.
    poor_s: f64,
    /// What moves have brought so far, each for the time for which it is remembered.
    brought_s: f64,
}

/// The totals at the end of an epoch.
#[derive(Clone, Copy)]
struct Entry {
    now_s: f64,
    moving_s: f64,
    watching_s: f64,
    /// How much was watched, in parts of all of its memory: 1 is as much as all of it, of which some may have been watched
    /// several times and some never.
    watched: f64,
}

impl Entry {
    fn new(counters: &Counters, balance: &Balance, watched: f64) -> Self {
        Self {
            now_s: counters.now_s,
            moving_s: balance.moving_s,
            watching_s: counters.watching_s,
            watched,
        }
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

impl Terms {
    /// How far back it is asked for at least, seconds.
    fn longest_s(&self) -> f64 {
        self.horizon_s.max(self.quiet_s + self.patience_s)
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

/// Why it is time to stop.
pub(crate) enum Stop {
    /// What moves does not bring what it costs.
    DoesNotPay(Account),
    /// So little moves that it does not bring what the watching costs.
    Settled(Account),
}

impl Account {
    fn pays(&self) -> bool {
        self.brings_s > self.moving_s + self.watching_s
    }
}

impl Books {
    /// It migrates from now on.
    pub(crate) fn new(counters: &Counters, balance: &Balance) -> Self {
        let begun = Entry::new(counters, balance, 0.0);
        Self { begun, entries: [begun].into(), poor_s: 0.0, brought_s: 0.0 }
    }

    /// Whether what moves have brought so far is more than all that was spent. What they promise to bring counts only of what is
    /// in place, and for as long as moves are judged by: it goes on without being watched.
    pub(crate) fn paid(&self, stop: &Stop, balance: &Balance, terms: &Terms) -> bool {
        let goes_on_s = match stop {
            Stop::Settled(_) => balance.gained * (1.0 - balance.fading) * terms.horizon_s,
            Stop::DoesNotPay(_) => 0.0,
        };
        let spent = self.entries.back().map(|now| now.since(&self.begun));
        spent.is_some_and(|spent| self.brought_s + goes_on_s > spent.moving_s + spent.watching_s)
    }

    /// Takes in the end of an epoch; why to stop, if it is time to.
    pub(crate) fn look(
        &mut self,
        counters: &Counters,
        balance: &Balance,
        terms: &Terms,
    ) -> Option<Stop> {
        let now = self.enter(counters, balance, terms);
        let then = self.latest(|entry| now.now_s - entry.now_s >= terms.horizon_s);
        let within_s = now.now_s - then.now_s;
        let so_far_s = terms.credit * (now.now_s - self.begun.now_s.max(counters.changed_s));
        let least_s = within_s.max(terms.horizon_s);
        let more_s = (so_far_s.min(LONGEST * terms.horizon_s) - least_s).max(0.0);
        let credit_s = least_s + more_s * (1.0 - balance.fading);
        let account = Account { brings_s: balance.gained * credit_s, credit_s, ..now.since(&then) };
        self.brought_s += balance.gained * counters.length_s;
        if let Some(settled) = self.settled(&now, &account, terms) {
            return Some(Stop::Settled(settled));
        }
        if within_s < terms.horizon_s {
            // What has just begun has not had the time to pay.
            return None;
        }
        if account.pays() {
            self.poor_s = 0.0;
            return None;
        }
        self.poor_s += counters.length_s;
        // Where nothing moves, or what does brings its own cost, it may be that not enough has been seen so far.
        let in_vain = account.moving_s > 0.0 && account.brings_s <= account.moving_s;
        let seen = in_vain || now.watched - then.watched >= 1.0;
        (self.poor_s >= terms.patience_s && seen).then_some(Stop::DoesNotPay(account))
    }

    fn enter(&mut self, counters: &Counters, balance: &Balance, terms: &Terms) -> Entry {
        let before = self.entries.back().map_or(0.0, |last| last.watched);
        let now = Entry::new(counters, balance, before + counters.watched_share());
        self.entries.push_back(now);
        let old = |entry: &Entry| {
            now.now_s - entry.now_s >= terms.longest_s() && now.watched - entry.watched >= 1.0
        };
        while self.entries.get(1).is_some_and(old) {
            self.entries.pop_front();
        }
        now
    }

    /// The latest end of an epoch that is as wanted; the oldest if none is.
    fn latest(&self, wanted: impl Fn(&Entry) -> bool) -> Entry {
        *self.entries.iter().rev().find(|entry| wanted(entry)).unwrap_or(&self.entries[0])
    }

    /// What moved of late, if that cost less than the watching and does not bring what that cost: in the
    /// least time in which a process may be quiet, and in which all of it was watched. Such moves bring at
    /// most their part of what all those of `account` bring (what is worth most goes first).
    fn settled(&self, now: &Entry, account: &Account, terms: &Terms) -> Option<Account> {
        let least_s = terms.quiet_s + terms.patience_s;
        let then = self.entries.iter().rev().find(|entry| {
            now.now_s - entry.now_s >= least_s && now.watched - entry.watched >= 1.0
        })?;
        let late = now.since(then);
        let part = if late.moving_s > 0.0 { late.moving_s / account.moving_s } else { 0.0 };
        let late = Account {
            brings_s: account.brings_s * part.min(1.0),
            credit_s: account.credit_s,
            ..late
        };
        let begun = late.moving_s > 0.0 && account.within_s < terms.horizon_s;
        let little = late.moving_s <= late.watching_s;
        (!begun && little && !late.pays()).then_some(late)
    }
}
