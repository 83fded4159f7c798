//! Whether page cache may make room for the target. What the kernel takes for least wanted may be wanted all the same: then
//! pages of files are read again that were reclaimed.

/// Reading one again takes so long [I]: a read of 4 KiB from a fast disk.
const READ_S: f64 = 100e-6;

/// So large a part of the time may go into that, of one thread.
const MOST: f64 = 0.01;

/// The machine's count of refaults when it was last asked, and when that was.
#[derive(Debug, Default)]
pub(crate) struct PageCache {
    refaults: u64,
    at_s: f64,
}

impl PageCache {
    /// With so many refaults before the first epoch.
    pub(crate) fn new(refaults: u64) -> Self {
        Self { refaults, at_s: 0.0 }
    }

    /// Whether there were few refaults since it was last asked.
    pub(crate) fn may_be_taken(&mut self, refaults: u64, now_s: f64) -> bool {
        let before = std::mem::replace(self, Self { refaults, at_s: now_s });
        let reading_s = refaults.saturating_sub(before.refaults) as f64 * READ_S;
        reading_s <= MOST * (now_s - before.at_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_that_is_read_again_is_not_taken() {
        // A hundredth of 2 s is 200 reads.
        let mut cache = PageCache::new(5000);
        assert!(cache.may_be_taken(5200, 2.0));
        assert!(!cache.may_be_taken(5401, 4.0));
        assert!(cache.may_be_taken(5401, 6.0), "by the last epoch alone");
    }
}
