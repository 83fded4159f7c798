//! Banks that a memory controller serves out of order: reads of the row that a bank has open before other reads
//! (first ready, first come, first served), and writes from a buffer, when their bank would be idle or the buffer
//! is nearly full. Everything happens in the order of simulated time: a request's end is known when its bank is
//! done with it, and not when it comes, as in [`super::bank_queues`].

use super::Ps;
use super::later::Ticket;
use super::network::Link;
use pagetide_machine::{Pool, WriteBuffer};
use std::collections::VecDeque;

/// A line that is to be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    /// Of the module.
    pub(super) line: u64,
    pub(super) write: bool,
    /// Whose it is.
    pub(super) ticket: Ticket,
}

/// One that has come.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    wanted: Wanted,
    since: Ps,
    bank: usize,
    row: u64,
}

#[derive(Clone, Debug, Default)]
struct Bank {
    open: Option<u64>,
    serves: Option<Waiting>,
    /// When it is done with that.
    until: Ps,
    /// What it is to serve, in the order of coming; writes that have a buffer wait there.
    waiting: VecDeque<Waiting>,
}

/// Writes that wait for their banks.
#[derive(Clone, Debug)]
struct Buffer {
    waiting: VecDeque<Waiting>,
    /// Those that came while it was full.
    before: VecDeque<Waiting>,
    entries: usize,
    /// So many begin to be written before anything is read, until so few are left.
    flush: (usize, usize),
    flushes: bool,
    under_way: u32,
    at_once: u32,
}

impl Buffer {
    fn new(of: &WriteBuffer) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of entries")]
        let share = |share: f64| (share * f64::from(of.entries)).ceil() as usize;
        Self {
            waiting: VecDeque::new(),
            before: VecDeque::new(),
            entries: of.entries as usize,
            flush: (share(of.flush_at).max(1), share(of.flush_to)),
            flushes: false,
            under_way: 0,
            at_once: of.at_once.unwrap_or(u32::MAX),
        }
    }

    fn put(&mut self, of: Waiting) {
        self.waiting.push_back(of);
        self.flushes |= self.waiting.len() >= self.flush.0;
    }

    /// Takes the oldest for a bank that `is_free`, if one more may be written.
    fn take(&mut self, is_free: impl Fn(usize) -> bool) -> Option<Waiting> {
        if self.under_way >= self.at_once {
            return None;
        }
        let at = self.waiting.iter().position(|of| is_free(of.bank))?;
        self.under_way += 1;
        let taken = self.waiting.remove(at);
        self.flushes &= self.waiting.len() > self.flush.1;
        taken
    }
}

/// What reads or writes kept their banks for, and how many there were.
#[derive(Clone, Copy, Debug, Default)]
struct Kept(Ps, u64);

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    banks: Vec<Bank>,
    buffer: Option<Buffer>,
    /// Requests past the entrance that no buffer holds.
    inside: u32,
    outstanding: u32,
    entrance: VecDeque<Waiting>,
    channel: Link,
    /// Reads of a closed row and of the open one, writes.
    times: [Ps; 3],
    path: Ps,
    /// log2 of the lines in a row that lie in one bank, and of those of a row of cells.
    shifts: (u32, u32),
    kept: [Kept; 2],
    queued: (Ps, u64),
}

impl Scheduler {
    /// One that has served nothing; none, if the pool's modules serve in order.
    pub(super) fn of(pool: &Pool) -> Option<Self> {
        if pool.rows.is_none() && pool.write_buffer.is_none() {
            return None;
        }
        let lines = |bytes: u64| (bytes / 64).max(1).ilog2();
        let hit = pool.rows.as_ref().map_or(pool.read_ns, |rows| rows.hit_ns);
        // Without rows every read opens one.
        let row = pool.rows.as_ref().map_or(0, |rows| lines(rows.size.0));
        Some(Self {
            banks: vec![Bank::default(); pool.banks.max(1) as usize],
            buffer: pool.write_buffer.as_ref().map(Buffer::new),
            inside: 0,
            outstanding: pool.outstanding,
            entrance: VecDeque::new(),
            channel: Link::new(pool.bandwidth_gb_s),
            times: [pool.read_ns, hit, pool.write_ns].map(Ps::from_ns),
            path: Ps::from_ns(pool.path_ns),
            shifts: (lines(pool.interleave.0), row),
            kept: [Kept::default(); 2],
            queued: (Ps::ZERO, 0),
        })
    }

    /// One comes; `begins` is told of each bank that begins to serve, and when it is done.
    pub(super) fn come(&mut self, wanted: Wanted, now: Ps, begins: &mut impl FnMut(usize, Ps)) {
        let stripe = wanted.line >> self.shifts.0;
        let banks = self.banks.len() as u64;
        let of_bank =
            ((stripe / banks) << self.shifts.0) | (wanted.line & ((1 << self.shifts.0) - 1));
        #[expect(clippy::cast_possible_truncation, reason = "below the number of banks")]
        let bank = (stripe % banks) as usize;
        self.entrance.push_back(Waiting {
            wanted,
            since: now,
            bank,
            row: of_bank >> self.shifts.1,
        });
        self.admit(now, begins);
    }

    /// A bank is done: what it served, and when that is where it is wanted.
    pub(super) fn done(
        &mut self,
        bank: usize,
        now: Ps,
        begins: &mut impl FnMut(usize, Ps),
    ) -> Option<(Wanted, Ps)> {
        let served = self.banks[bank].serves.take()?;
        let at = self.channel.pass(now) + self.path;
        match &mut self.buffer {
            Some(buffer) if served.wanted.write => {
                buffer.under_way -= 1;
                // Another bank's write may have waited for this one.
                let banks = &self.banks;
                let is_free =
                    |of: usize| banks[of].serves.is_none() && banks[of].waiting.is_empty();
                if let Some(write) = buffer.take(is_free) {
                    self.begin(write, now, begins);
                }
            }
            _ => self.inside -= 1,
        }
        self.go_on(bank, now, begins);
        self.admit(now, begins);
        Some((served.wanted, at))
    }

    /// Lets in whom there is room for.
    fn admit(&mut self, now: Ps, begins: &mut impl FnMut(usize, Ps)) {
        loop {
            if let Some(buffer) = &mut self.buffer
                && buffer.waiting.len() < buffer.entries
                && let Some(write) = buffer.before.pop_front()
            {
                self.inside -= 1;
                buffer.put(write);
                self.go_on(write.bank, now, begins);
                continue;
            }
            if self.inside >= self.outstanding {
                return;
            }
            let Some(of) = self.entrance.pop_front() else { return };
            match &mut self.buffer {
                Some(buffer) if of.wanted.write && buffer.waiting.len() < buffer.entries => {
                    buffer.put(of);
                }
                Some(buffer) if of.wanted.write => {
                    self.inside += 1;
                    buffer.before.push_back(of);
                }
                _ => {
                    self.inside += 1;
                    self.banks[of.bank].waiting.push_back(of);
                }
            }
            self.go_on(of.bank, now, begins);
        }
    }

    /// A bank begins with what comes next, if it serves nothing and something waits.
    fn go_on(&mut self, number: usize, now: Ps, begins: &mut impl FnMut(usize, Ps)) {
        let bank = &self.banks[number];
        if bank.serves.is_some() {
            return;
        }
        let is_its = |of: usize| of == number;
        let flushed = self.buffer.as_mut().filter(|of| of.flushes).and_then(|of| of.take(is_its));
        let next = flushed.or_else(|| {
            let bank = &mut self.banks[number];
            let hits = |of: &Waiting| !of.wanted.write && bank.open == Some(of.row);
            let at = bank.waiting.iter().position(hits).unwrap_or(0);
            bank.waiting.remove(at)
        });
        let next = next.or_else(|| self.buffer.as_mut().and_then(|of| of.take(is_its)));
        if let Some(next) = next {
            self.begin(next, now, begins);
        }
    }

    fn begin(&mut self, of: Waiting, now: Ps, begins: &mut impl FnMut(usize, Ps)) {
        let bank = &mut self.banks[of.bank];
        let takes = if of.wanted.write {
            self.times[2]
        } else {
            self.queued = (self.queued.0 + (now - of.since), self.queued.1 + 1);
            let hits = bank.open.replace(of.row) == Some(of.row);
            self.times[usize::from(hits)]
        };
        let kept = &mut self.kept[usize::from(of.wanted.write)];
        *kept = Kept(kept.0 + takes, kept.1 + 1);
        (bank.serves, bank.until) = (Some(of), now + takes);
        begins(of.bank, now + takes);
    }

    /// See [`super::Module::busy`].
    pub(super) fn busy(&self) -> Ps {
        self.kept[0].0 + self.kept[1].0
    }

    /// Of [`Self::busy`] what lies after a time, which nothing has happened after.
    pub(super) fn busy_after(&self, time: Ps) -> Ps {
        let at_work = self.banks.iter().filter(|bank| bank.serves.is_some());
        at_work.fold(Ps::ZERO, |sum, bank| sum + (bank.until - time))
    }

    /// What reads waited in all before their bank began, and how many there were.
    pub(super) const fn queued(&self) -> (Ps, u64) {
        self.queued
    }

    /// By how much a request keeps those behind it back, by what its like took so far.
    pub(super) fn occupies(&self, write: bool) -> Ps {
        let Kept(kept, count) = self.kept[usize::from(write)];
        let closed = self.times[2 * usize::from(write)];
        let takes = kept.0.checked_div(count).map_or(closed, Ps);
        let places = |of: usize| Ps(takes.0 / of.max(1) as u64);
        let at_once = self.buffer.as_ref().filter(|_| write).map_or(u32::MAX, |of| of.at_once);
        let banks = self.banks.len().min(at_once as usize);
        let inside = if write && self.buffer.is_some() {
            Ps::ZERO
        } else {
            places(self.outstanding as usize)
        };
        places(banks).max(self.channel.line()).max(inside)
    }

    pub(super) fn banks(&self) -> usize {
        self.banks.len()
    }
}
