//! How much page cache may be given up for the target (how: `make_room.rs` of the mover). What the kernel holds for least wanted may
//! be wanted all the same: then files are read from their disks again.

use pagetide_migrate::Reads;
use pagetide_types::Bytes;

/// A page that is needed again costs so much [I]: a read of 4 KiB from a fast disk.
const REFAULT_S: f64 = 100e-6;

/// A page that is read for whatever reason [I]: 4 of 128 KiB that are read at once. Some kernels count no refault where a page comes
/// back to another node (mm/workingset.c, `lru_gen_refault`).
const READ_S: f64 = 3e-6;

/// More than usual by so much is trouble: a part of what is usual, and one of the time.
const MORE: (f64, f64) = (0.25, 0.01);

/// What an epoch counts for in what is usual; and after something was given up, if it is more: it may come of that.
const WEIGHT: (f64, f64) = (0.1, 0.01);

/// So large a part of the fast tier may go at first, or so much if that is more, and twice as much whenever some went without
/// trouble: whether it is wanted shows later only. Half of what lies idle at most: the kernel finds no better victims where little is left.
const AT_FIRST: (u64, Bytes) = (64, Bytes::mib(64));
/// That part is doubled so often at most: to all of the tier.
const DOUBLED: u32 = 6;

/// After trouble it is left alone for so many epochs at first, twice as many each time, and so many at most.
const AFTER_TROUBLE: (u32, u32) = (2, 64);

/// What is known of the machine's reads.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// What was read when it was last asked, and when that was; none where nobody counts.
    before: Option<(Reads, f64)>,
    /// Seconds a second that reads cost; none before the first epoch.
    usual: Option<f64>,
    /// How often some went since the last trouble.
    went: u32,
    /// Whether some went so far.
    taken: bool,
    /// For so many epochs nothing is.
    waits: u32,
    /// For so many after the next trouble.
    next: u32,
    /// Epochs without trouble since.
    quiet: u32,
}

impl PageCache {
    /// With so many reads before the first epoch.
    pub(crate) fn new(reads: Option<Reads>) -> Self {
        let before = reads.map(|reads| (reads, 0.0));
        let (usual, next) = (None, AFTER_TROUBLE.0);
        Self { before, usual, went: 0, taken: false, waits: 0, next, quiet: 0 }
    }

    /// How much of what lies `idle` of a fast tier may be given up, at the end of an epoch. Nothing after the first one: what is usual
    /// is not known yet.
    pub(crate) fn may_go(
        &mut self,
        reads: Option<Reads>,
        now_s: f64,
        (idle, total): (Bytes, Bytes),
    ) -> Bytes {
        let before = std::mem::replace(&mut self.before, reads.map(|reads| (reads, now_s)));
        let Some(((now, _), (then, then_s))) = self.before.zip(before) else { return Bytes(0) };
        let read_s = now.read.saturating_sub(then.read) as f64 * READ_S;
        let refault_s = now.refaults.saturating_sub(then.refaults) as f64 * REFAULT_S;
        let cost = (read_s + refault_s) / (now_s - then_s).max(1e-3);
        let Some(usual) = self.usual else {
            self.usual = Some(cost);
            return Bytes(0);
        };
        let weight = if self.taken && cost > usual { WEIGHT.1 } else { WEIGHT.0 };
        self.usual = Some(usual + weight * (cost - usual));
        if self.waits > 0 {
            self.waits -= 1;
            return Bytes(0);
        }
        if cost > usual * (1.0 + MORE.0) + MORE.1 {
            self.trouble();
            return Bytes(0);
        }
        self.quiet += 1;
        if self.quiet > self.next {
            (self.next, self.quiet) = ((self.next / 2).max(AFTER_TROUBLE.0), 0);
        }
        let first = Bytes(total.0 / AT_FIRST.0).max(AT_FIRST.1);
        Bytes(first.0 << self.went).min(Bytes(idle.0 / 2))
    }

    /// So much went. `refused`: the kernel did not give up what it was to.
    pub(crate) fn went(&mut self, bytes: Bytes, refused: bool) {
        if refused {
            self.trouble();
        } else if bytes > Bytes(0) {
            self.taken = true;
            self.went = (self.went + 1).min(DOUBLED);
        }
    }

    fn trouble(&mut self) {
        self.waits = self.next;
        self.next = (2 * self.next).min(AFTER_TROUBLE.1);
        (self.quiet, self.went) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds in which so many pages are read, and needed again: whether any may go.
    fn goes(seconds: &[(u64, u64)]) -> Vec<bool> {
        let mut cache = PageCache::new(Some(Reads { read: 7, refaults: 5 }));
        let mut sum = Reads { read: 7, refaults: 5 };
        let of = |(second, (read, refaults)): (u32, &(u64, u64))| {
            sum.read += read;
            sum.refaults += refaults;
            let sizes = (Bytes::gib(1), Bytes::gib(1));
            let may = cache.may_go(Some(sum), f64::from(second), sizes);
            cache.went(may, false);
            may > Bytes(0)
        };
        (1..).zip(seconds).map(of).collect()
    }

    const NO: bool = false;
    const YES: bool = true;

    #[test]
    fn a_sixty_fourth_of_the_tier_may_go_at_first_then_twice_as_much_and_half_of_it_at_most() {
        let may = |idle, total| -> Vec<u64> {
            let mut cache = PageCache::new(Some(Reads::default()));
            let at = |second| {
                let may = cache.may_go(Some(Reads::default()), f64::from(second), (idle, total));
                cache.went(may, false);
                may.0 >> 20
            };
            (1..6).map(at).collect()
        };
        assert_eq!(may(Bytes::mib(50), Bytes::gib(1)), [0, 25, 25, 25, 25]);
        assert_eq!(may(Bytes::gib(1), Bytes::gib(1)), [0, 64, 128, 256, 512]);
        assert_eq!(may(Bytes::gib(60), Bytes::gib(128)), [0, 2048, 4096, 8192, 16384]);
    }

    #[test]
    fn nothing_goes_before_it_is_known_what_is_usual() {
        assert_eq!(goes(&[(0, 0), (0, 0)]), [NO, YES]);
        // A hundredth of a second, and a quarter of what is usual.
        assert_eq!(goes(&[(0, 0), (0, 100), (0, 100)]), [NO, YES, YES]);
        assert_eq!(goes(&[(100_000, 0), (110_000, 0), (90_000, 0)]), [NO, YES, YES], "a busy disk");
    }

    #[test]
    fn cache_that_is_read_again_is_left_alone_for_longer_and_longer() {
        let (quiet, again) = ((0, 0), (0, 200));
        assert_eq!(goes(&[quiet, quiet, again, quiet, quiet, quiet]), [NO, YES, NO, NO, NO, YES]);
        let twice = [quiet, again, quiet, quiet, again, quiet, quiet, quiet, quiet, quiet];
        assert_eq!(goes(&twice), [NO, NO, NO, NO, NO, NO, NO, NO, NO, YES]);
    }

    #[test]
    fn a_kernel_that_counts_no_refaults_is_told_by_its_disks() {
        let (quiet, again) = ((1000, 0), (6000, 0));
        assert_eq!(goes(&[quiet, quiet, again, quiet]), [NO, YES, NO, NO]);
    }

    #[test]
    fn what_is_read_since_something_went_is_not_soon_taken_for_usual() {
        let mut seconds = vec![(0, 0); 3];
        seconds.extend([(0, 1000); 40]);
        let goes = goes(&seconds);
        assert!(goes[2] && goes[3..].iter().all(|goes| !goes), "{goes:?}");
    }

    #[test]
    fn where_nobody_counts_reads_nothing_goes() {
        let mut cache = PageCache::new(None);
        let sizes = (Bytes::gib(1), Bytes::gib(1));
        assert_eq!(cache.may_go(None, 1.0, sizes), Bytes(0));
        assert_eq!(cache.may_go(Some(Reads::default()), 2.0, sizes), Bytes(0));
    }
}
