//! How much page cache may be given up for the target. What the kernel holds for least wanted may be wanted all the same: then
//! files are read from their disks again.

use pagetide_types::Bytes;

/// Reading a page from a disk takes so long [I]: 4 KiB from a fast one.
const READ_S: f64 = 100e-6;

/// So large a part of one thread's time may go into more reads than before.
const MORE: f64 = 0.01;

/// What an epoch's reads count for in what is usual.
const WEIGHT: f64 = 0.1;

/// Not more than this part of it at once: the kernel finds no better victims where little of it is left, and whether it is read
/// again shows later only.
const AT_ONCE: u64 = 2;

/// After trouble it is left alone for so many epochs at first, twice as many each time, and so many at most.
const AFTER_TROUBLE: (u32, u32) = (2, 64);

/// What is known of the machine's reads.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// The machine's count when it was last asked, and when that was.
    before: Option<(u64, f64)>,
    /// Pages a second; none before the first epoch.
    usual: Option<f64>,
    /// For so many epochs nothing is taken.
    waits: u32,
    /// For so many after the next trouble.
    next: u32,
}

impl PageCache {
    /// With so many reads before the first epoch; none: nobody counts them.
    pub(crate) fn new(reads: Option<u64>) -> Self {
        let before = reads.map(|reads| (reads, 0.0));
        Self { before, usual: None, waits: 0, next: AFTER_TROUBLE.0 }
    }

    /// How much of `idle` may be given up, at the end of an epoch.
    pub(crate) fn may_be_taken(&mut self, reads: Option<u64>, now_s: f64, idle: Bytes) -> Bytes {
        let before = std::mem::replace(&mut self.before, reads.map(|reads| (reads, now_s)));
        let Some(((reads, _), (read, at_s))) = self.before.zip(before) else { return Bytes(0) };
        let rate = reads.saturating_sub(read) as f64 / (now_s - at_s).max(1e-3);
        let usual = *self.usual.get_or_insert(rate);
        self.usual = Some(usual + WEIGHT * (rate - usual));
        if self.waits > 0 {
            self.waits -= 1;
        } else if (rate - usual) * READ_S > MORE {
            self.trouble();
        } else {
            return Bytes(idle.0 / AT_ONCE);
        }
        Bytes(0)
    }

    /// The kernel did not give up what it was to.
    pub(crate) fn trouble(&mut self) {
        self.waits = self.next;
        self.next = (2 * self.next).min(AFTER_TROUBLE.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Bytes = Bytes::mib(100);

    /// For each second's reads, whether it may be taken.
    fn taken(reads: &[u64]) -> Vec<bool> {
        let mut cache = PageCache::new(Some(5000));
        let mut sum = 5000;
        let of = |(second, reads): (u32, &u64)| {
            sum += reads;
            cache.may_be_taken(Some(sum), f64::from(second), IDLE) == Bytes::mib(50)
        };
        (1..).zip(reads).map(of).collect()
    }

    #[test]
    fn half_of_it_is_taken_where_no_more_is_read_than_before() {
        assert_eq!(taken(&[0, 90, 0]), [true; 3]);
        assert_eq!(taken(&[1000, 1000, 1090]), [true; 3], "a busy disk");
    }

    #[test]
    fn cache_that_is_read_again_is_left_alone_for_longer_and_longer() {
        let (yes, no) = (true, false);
        assert_eq!(taken(&[0, 101, 0, 0, 0]), [yes, no, no, no, yes]);
        let twice = taken(&[0, 200, 0, 0, 0, 200, 0, 0, 0, 0, 0]);
        assert_eq!(twice, [yes, no, no, no, yes, no, no, no, no, no, yes]);
    }

    #[test]
    fn where_nobody_counts_reads_nothing_is_taken() {
        let mut cache = PageCache::new(None);
        assert_eq!(cache.may_be_taken(None, 1.0, IDLE), Bytes(0));
        assert_eq!(cache.may_be_taken(Some(0), 2.0, IDLE), Bytes(0));
    }
}
