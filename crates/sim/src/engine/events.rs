//! Hardware's sampling of events (Intel's PEBS): of the loads that miss the caches, and of the stores,
//! every so many leaves a record of what it accessed in a buffer, which a thread of the kernel reads.
//! What finds the buffer full is lost.
//!
//! Simpler than hardware: a tenant has one counter for each event, where each of its cores has its own;
//! a line that was prefetched counts as a load that missed [I]; an access is a line, so that several stores
//! to one count once.

/// From one record of an event to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPeriods {
    /// Loads that memory served.
    pub loads: u32,
    /// Stores, whatever served them.
    pub stores: u32,
}

/// What is left until the next record of an event.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    loads: u32,
    stores: u32,
}

/// The events of one tenant.
#[derive(Clone, Debug)]
pub struct Events {
    periods: EventPeriods,
    left: Counter,
    /// Pages that were accessed.
    records: Vec<u32>,
    /// Records that the buffer holds.
    room: usize,
    lost: u64,
}

impl Events {
    /// Counts from now on, with a buffer of so many records.
    #[must_use]
    pub fn new(periods: EventPeriods, room: usize) -> Self {
        let mut events =
            Self { periods, left: Counter::default(), records: Vec::new(), room, lost: 0 };
        events.set_periods(periods);
        events
    }

    /// Other periods, which begin now.
    pub fn set_periods(&mut self, periods: EventPeriods) {
        self.periods = periods;
        self.left = Counter { loads: periods.loads.max(1), stores: periods.stores.max(1) };
    }

    /// From now on the buffer holds so many records.
    pub fn set_room(&mut self, room: usize) {
        self.room = room;
    }

    /// An access, and whether a cache served it.
    #[inline]
    pub(crate) fn count(&mut self, page: usize, write: bool, hit: bool) {
        if !write && hit {
            return;
        }
        let (left, period) = match write {
            true => (&mut self.left.stores, self.periods.stores),
            false => (&mut self.left.loads, self.periods.loads),
        };
        *left -= 1;
        if *left == 0 {
            *left = period.max(1);
            self.record(page);
        }
    }

    #[cold]
    fn record(&mut self, page: usize) {
        if self.records.len() < self.room {
            self.records.push(u32::try_from(page).unwrap_or(u32::MAX));
        } else {
            self.lost += 1;
        }
    }

    /// Empties the buffer: the base pages of its records, in order.
    pub fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.records)
    }

    /// Records that found the buffer full so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_so_many_loads_and_stores_leave_a_record() {
        let mut events = Events::new(EventPeriods { loads: 3, stores: 5 }, 100);
        for page in 1..=30 {
            events.count(page, page % 2 == 0, false);
        }
        // Loads are 1, 3, 5 and so on, stores 2, 4, 6.
        assert_eq!(events.take(), [5, 10, 11, 17, 20, 23, 29, 30]);
        assert_eq!((events.take().len(), events.lost()), (0, 0));
    }

    #[test]
    fn what_a_cache_serves_is_no_miss_but_may_be_a_store() {
        let mut events = Events::new(EventPeriods { loads: 1, stores: 1 }, 100);
        events.count(1, false, true);
        events.count(2, true, true);
        assert_eq!(events.take(), [2]);
    }

    #[test]
    fn what_finds_the_buffer_full_is_lost() {
        let mut events = Events::new(EventPeriods { loads: 1, stores: 1 }, 2);
        (0..5).for_each(|page| events.count(page, false, false));
        assert_eq!((events.take(), events.lost()), (vec![0, 1], 3));
        events.set_room(9);
        (5..9).for_each(|page| events.count(page, false, false));
        assert_eq!((events.take().len(), events.lost()), (4, 3));
    }

    #[test]
    fn new_periods_begin_at_once() {
        let mut events = Events::new(EventPeriods { loads: 100, stores: 100 }, 9);
        (0..99).for_each(|page| events.count(page, false, false));
        events.set_periods(EventPeriods { loads: 2, stores: 100 });
        (0..4).for_each(|page| events.count(page, false, false));
        assert_eq!(events.take(), [1, 3]);
    }
}
