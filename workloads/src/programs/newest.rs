//! Memory that is born hot, cools and dies: a window of events, a log's tail, a generational heap.

use crate::{
    args::Common,
    drive::drive,
    error::{Result, bad},
    memory::Region,
    registry::Program,
    session::Session,
    worker::Worker,
};
use clap::Args;
use pagetide_access::{
    generators::{Rng, threshold},
    parameter::{TEN_YEARS, positive, share},
    patterns::{Memory, every_page},
};
use pagetide_types::Bytes;
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Reads the newest memory most: fills slot after slot and gives the oldest back
#[derive(Args, Clone, Debug)]
pub struct Newest {
    /// Memory in use at any time; addresses are used again after twice as much
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Slots that it is divided into
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub slots: u64,
    /// Seconds until a new slot replaces the oldest
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub every: f64,
    /// How many of the newest slots are read most
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub recent: u64,
    /// Share of the reads that go to any slot
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub elsewhere: f64,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Newest {
    fn check(&self) -> Result<()> {
        self.common.check()?;
        self.common.check_one_thread()?;
        positive("every", self.every, TEN_YEARS)?;
        share("elsewhere", self.elsewhere)?;
        if self.common.truth.is_some() {
            return bad("truth", &"given", "a recording of this program's own has no dying memory");
        }
        let page = self.common.page_size.bytes();
        if !(1..=self.size.0 / page.0).contains(&self.slots) {
            return bad("slots", &self.slots, format!("give at least 1, each of {page} or more"));
        }
        if !(1..=self.slots).contains(&self.recent) {
            return bad("recent", &self.recent, format!("give 1 to {}", self.slots));
        }
        Ok(())
    }

    /// Of one slot, in whole pages.
    fn slot(&self) -> Bytes {
        let page = self.common.page_size.bytes().0;
        Bytes((self.size.0 / self.slots).next_multiple_of(page))
    }
}

/// The slots in use, by when they were born: the n-th lies in the n-th place of a ring of twice as many.
struct Window {
    slots: u64,
    slot: Bytes,
    newest: u64,
}

impl Window {
    /// The bytes of the slot that was born so many before the newest.
    const fn back(&self, n: u64) -> Range<u64> {
        let start = (self.newest - n) % (2 * self.slots) * self.slot.0;
        start..start + self.slot.0
    }

    /// Gives the oldest slot back and fills a new one; none at the end of the time.
    fn renew(&mut self, region: &Region, worker: &mut Worker<'_>) -> Result<Option<()>> {
        region.give_back(self.back(self.slots - 1))?;
        self.newest += 1;
        for offset in self.back(0).step_by(8) {
            if worker.spend(1).is_none() {
                return Ok(None);
            }
            worker.write(offset, offset);
        }
        Ok(Some(()))
    }
}

/// Runs until the time is over; the slots that were born.
fn work(program: &Newest, region: &Region, worker: &mut Worker<'_>) -> Result<u64> {
    let Newest { slots, recent, elsewhere, .. } = *program;
    let mut window = Window { slots, slot: program.slot(), newest: slots - 1 };
    let mut rng = Rng::new(program.common.seed, 1);
    let anywhere = threshold(elsewhere);
    let every = Duration::from_secs_f64(program.every);
    let mut due = every;
    loop {
        if worker.now >= due {
            due += every;
            if window.renew(region, worker)?.is_none() {
                break;
            }
        }
        if worker.spend(1).is_none() {
            break;
        }
        let among = if rng.word() < anywhere { slots } else { recent };
        let slot = window.back(rng.below(among));
        worker.read(slot.start + rng.below(window.slot.0 / 8) * 8);
    }
    Ok(window.newest + 1 - slots)
}

impl Program for Newest {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.check()?;
        let in_use = self.slot().0 * self.slots;
        let mut region = Region::map(Bytes(2 * in_use), self.common.page_size)?;
        region.begin_with(Bytes(in_use));
        region.populate(self.common.node, every_page(Bytes(in_use)), &session.stop)?;
        let more = format!("slots={} slot={} in_use={in_use}", self.slots, self.slot().0);
        session.ready("newest", &region, &more)?;
        let born = Mutex::new(Ok(0));
        let did = drive(session, "newest", &self.common, &region, |worker| {
            *born.lock().unwrap_or_else(PoisonError::into_inner) = work(self, &region, worker);
        })?;
        let born = born.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        session.done("newest", &did, format!("{more} born={born}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_dies_a_whole_round_before_its_addresses_are_used_again() {
        let at = |newest| Window { slots: 3, slot: Bytes(4096), newest };
        assert_eq!(at(2).back(0), 2 * 4096..3 * 4096);
        assert_eq!(at(2).back(2), 0..4096);
        assert_eq!(at(5).back(0), 5 * 4096..6 * 4096);
        assert_eq!(at(6).back(0), 0..4096, "its last owner was given back three slots ago");
        assert_eq!(at(7).back(2), 5 * 4096..6 * 4096);
    }
}
