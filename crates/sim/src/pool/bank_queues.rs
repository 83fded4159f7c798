//! Banks of memory behind a queue: a module of the pool, or a node's own memory. Whoever comes waits
//! in order at the entrance until less than so many requests are inside, then for the channel, then
//! for its bank. So contention comes out of queues, and of nothing else.

use super::network::Link;
use super::{Ps, Slots};
use pagetide_types::Bytes;

/// See the module.
#[derive(Clone, Debug)]
pub struct Module {
    inside: Slots,
    channel: Link,
    /// From when on each bank is free.
    banks: Vec<Ps>,
    read: Ps,
    write: Ps,
    path: Ps,
    /// log2 of the lines in a row that lie in one bank.
    shift: u32,
    /// `banks - 1`, if that is a mask.
    mask: Option<u64>,
    busy: Ps,
    /// From when to when banks are at work, only if asked for.
    booked: Option<Vec<(Ps, Ps)>>,
    /// What reads waited in all before their bank began, and how many there were.
    queued: (Ps, u64),
}

/// What a module is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Banks {
    /// How many.
    pub banks: u32,
    /// Requests past the queue at the entrance.
    pub outstanding: u32,
    /// A read keeps its bank, ns.
    pub read_ns: f64,
    /// So does a write, ns.
    pub write_ns: f64,
    /// What a request takes beside its bank, ns.
    pub path_ns: f64,
    /// What its channel carries; unlimited, if none.
    pub bandwidth_gb_s: Option<f64>,
    /// Bytes in a row that lie in one bank.
    pub interleave: Bytes,
}

impl Module {
    /// One that has served nothing.
    #[must_use]
    pub fn new(banks: &Banks) -> Self {
        let count = u64::from(banks.banks.max(1));
        Self {
            inside: Slots::new(banks.outstanding),
            channel: Link::new(banks.bandwidth_gb_s),
            banks: vec![Ps::ZERO; banks.banks.max(1) as usize],
            read: Ps::from_ns(banks.read_ns),
            write: Ps::from_ns(banks.write_ns),
            path: Ps::from_ns(banks.path_ns),
            shift: (banks.interleave.0 / 64).max(1).ilog2(),
            mask: count.is_power_of_two().then(|| count - 1),
            busy: Ps::ZERO,
            booked: None,
            queued: (Ps::ZERO, 0),
        }
    }

    /// When a request for a line of it is done that comes at `now`. Those that came before were served
    /// before, in order.
    #[inline]
    pub fn serve(&mut self, line: u64, write: bool, now: Ps) -> Ps {
        let admitted = now.max(self.inside.free_at());
        let on = self.channel.pass(admitted);
        let stripe = line >> self.shift;
        let bank = match self.mask {
            Some(mask) => stripe & mask,
            None => stripe % self.banks.len() as u64,
        };
        let takes = if write { self.write } else { self.read };
        #[expect(clippy::cast_possible_truncation, reason = "below the number of banks")]
        let bank = &mut self.banks[bank as usize];
        *bank = on.max(*bank) + takes;
        let end = *bank;
        let done = end + self.path;
        self.busy += takes;
        if let Some(booked) = &mut self.booked {
            booked.push((end - takes, end));
        }
        if !write {
            self.queued.0 += done - self.path - takes - now;
            self.queued.1 += 1;
        }
        self.inside.take(done);
        done
    }

    /// Of all banks together, how long they were at work.
    #[must_use]
    pub const fn busy(&self) -> Ps {
        self.busy
    }

    /// Remembers when banks are at work after a time, for [`Self::busy_after`].
    pub(super) fn remember(&mut self, after: Ps) {
        self.booked.get_or_insert_default().retain(|(_, end)| *end > after);
    }

    /// Of [`Self::busy`] what lies after a time, at which that is remembered.
    pub(super) fn busy_after(&self, time: Ps) -> Ps {
        let after = |(begin, end): &(Ps, Ps)| *end - time.max(*begin);
        self.booked.iter().flatten().map(after).fold(Ps::ZERO, |sum, span| sum + span)
    }

    /// What reads waited in all before their bank began, and how many there were.
    pub(super) const fn queued(&self) -> (Ps, u64) {
        self.queued
    }

    /// By how much a request keeps those behind it back, if all places are in use alike: by its share of the
    /// scarcest of banks, channel and places inside.
    pub(super) fn occupies(&self, write: bool) -> Ps {
        let takes = if write { self.write } else { self.read };
        let share = |of: Ps, places: usize| Ps(of.0 / places.max(1) as u64);
        let bank = share(takes, self.banks.len());
        bank.max(self.channel.line()).max(share(takes + self.path, self.inside.count()))
    }

    /// How many banks there are.
    #[must_use]
    pub fn banks(&self) -> usize {
        self.banks.len()
    }
}
