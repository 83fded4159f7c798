//! How much fast memory the target may have, and what must stay free.

use pagetide_types::Bytes;
use std::str::FromStr;

/// Bytes, or a share: of the fast tier in a run, of the memory in use in a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So much.
    Bytes(Bytes),
    /// This share of it, 0 to 1.
    Share(f64),
}

impl Amount {
    /// How much that is of `all`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of u64")]
    pub fn of(self, all: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Share(share) => Bytes((all.as_f64() * share.clamp(0.0, 1.0)) as u64),
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    /// `64G`, or `25%`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            return Bytes::with_unit(text)
                .map(Self::Bytes)
                .map_err(|error| format!("{error}; or a share, for example 25%"));
        };
        match percent.trim().parse::<f64>() {
            Ok(value) if (0.0..=100.0).contains(&value) => Ok(Self::Share(value / 100.0)),
            _ => Err(format!("'{text}' is not between 0% and 100%")),
        }
    }
}

/// What the target may use of the fast tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// At most so much; none: all that nobody else uses.
    pub fast: Option<Amount>,
    /// What stays free of the fast tier, for new memory and for exchanges; none: a hundredth of
    /// it (nothing where files fill it), at least 16 MiB (a batch of huge pages) or a 32nd, or what is to be born until the next decision if that is
    /// more, above what the kernel makes free when it reclaims.
    pub reserve: Option<Amount>,
    /// Bytes that may move in one second; none: no limit.
    pub rate: Option<Bytes>,
    /// Most bytes that go up after one epoch, as long as three times as much is free of the fast tier
    /// (PMShifter, APSys 2022, section 4.1: 400 MB); none: both do not count.
    pub batch: Option<Bytes>,
    /// Page cache that nobody uses stays where it is; else it may be given up.
    pub keep_page_cache: bool,
}

/// So many times a batch must be free (section 4.1.2).
const FREE_FACTOR: u64 = 3;

/// What is known of the fast tier at the end of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FastNow {
    /// Its size.
    pub(crate) total: Bytes,
    /// Free of it.
    pub(crate) free: Bytes,
    /// Page cache in it that may be given up.
    pub(crate) idle_cache: Bytes,
    /// So much is free after the kernel has reclaimed.
    pub(crate) full: Bytes,
    /// The target's part.
    pub(crate) held: Bytes,
    /// So much is to be born until the next decision, and hot.
    pub(crate) ahead: Bytes,
}

impl FastNow {
    /// What nobody uses.
    pub(crate) fn room(&self) -> Bytes {
        self.free + self.idle_cache
    }
}

impl Budget {
    /// What stays free.
    pub(crate) fn reserve(&self, now: &FastNow) -> Bytes {
        let &FastNow { total, free, full, ahead, idle_cache, .. } = now;
        match self.reserve {
            Some(amount) => amount.of(total).max(full),
            None => {
                let small = Bytes::mib(16).min(Bytes(total.0 / 32));
                let part = Bytes(total.0 / 100);
                // Where files have filled that, they would fill it again at once.
                let filled = idle_cache > Bytes(0) && free < full + part;
                let part = if filled { Bytes(0) } else { part };
                full + part.max(small).max(ahead)
            }
        }
    }

    /// What the target may have: what it holds, and what nobody uses beyond the reserve, up to its
    /// budget. Less than it holds if the reserve is not there.
    pub(crate) fn capacity(&self, now: &FastNow) -> Bytes {
        let reserve = self.reserve(now);
        let possible = (now.held + now.room()).saturating_sub(reserve);
        self.fast.map_or(possible, |fast| fast.of(now.total).min(possible))
    }

    /// What it may have rather than give back what is worth its place. A reserve that nobody asked for is not
    /// made of that, but for what will be born ([`Self::for_births`]).
    pub(crate) fn most(&self, now: &FastNow) -> Bytes {
        let capacity = self.capacity(now);
        if self.reserve.is_some() {
            return capacity;
        }
        let held = self.fast.map_or(now.held, |fast| fast.of(now.total).min(now.held));
        held.max(capacity)
    }

    /// What is missing of the room for what will be born; none where somebody said what is to stay free.
    pub(crate) fn for_births(&self, now: &FastNow) -> Bytes {
        if self.reserve.is_some() || now.ahead.0 == 0 {
            return Bytes(0);
        }
        (now.full + now.ahead).saturating_sub(now.room())
    }

    /// Bytes that one decision may move.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub(crate) fn per_epoch(&self, length_s: f64) -> Bytes {
        self.rate.map_or(Bytes(u64::MAX), |rate| Bytes((rate.as_f64() * length_s.max(0.0)) as u64))
    }

    /// Bytes that may go up after one epoch.
    pub(crate) fn promotions(&self, free: Bytes) -> Bytes {
        self.batch.map_or(Bytes(u64::MAX), |batch| batch.min(Bytes(free.0 / FREE_FACTOR)))
    }
}

/// The budget in words, for the summary.
pub(crate) fn describe(budget: &Budget, total: Bytes, reserve: Bytes) -> String {
    let most = match budget.fast {
        Some(amount) => format!("at most {}", amount.of(total)),
        None => "what nobody uses".to_owned(),
    };
    format!("{most} of {total} of fast memory, {reserve} to stay free")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_LIMIT: Budget =
        Budget { fast: None, reserve: None, rate: None, batch: None, keep_page_cache: false };

    fn now(free: u64, held: u64) -> FastNow {
        let (total, full) = (Bytes::gib(1), Bytes::mib(8));
        let (free, held, ahead) = (Bytes::mib(free), Bytes::mib(held), Bytes(0));
        FastNow { total, full, free, idle_cache: ahead, held, ahead }
    }

    #[test]
    fn amounts_are_bytes_or_shares() {
        assert_eq!("64M".parse(), Ok(Amount::Bytes(Bytes::mib(64))));
        assert_eq!("25 %".parse::<Amount>().unwrap().of(Bytes::gib(4)), Bytes::gib(1));
        for wrong in ["", "x", "101%", "-1%", "%", "10"] {
            assert!(wrong.parse::<Amount>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn all_that_is_free_but_the_reserve_or_the_budget_if_that_is_less() {
        // A hundredth of 1 GiB is less than 16 MiB; 8 MiB are the kernel's.
        let of = |total| NO_LIMIT.reserve(&FastNow { total, ..now(0, 0) });
        assert_eq!(of(Bytes::gib(1)), Bytes::mib(24));
        assert_eq!(of(Bytes::mib(256)), Bytes::mib(16));
        assert_eq!(of(Bytes::gib(100)), Bytes::mib(1032));
        let (total, idle_cache) = (Bytes::gib(100), Bytes(1));
        let full_of_files = FastNow { total, idle_cache, ..now(0, 0) };
        assert_eq!(NO_LIMIT.reserve(&full_of_files), Bytes::mib(24));
        let with_some = FastNow { free: Bytes::gib(2), ..full_of_files };
        assert_eq!(NO_LIMIT.reserve(&with_some), Bytes::mib(1032), "much is free as well");
        let births = |mib| NO_LIMIT.reserve(&FastNow { ahead: Bytes::mib(mib), ..now(0, 0) });
        assert_eq!((births(10), births(40)), (Bytes::mib(24), Bytes::mib(48)));
        let missing =
            |mib, free| NO_LIMIT.for_births(&FastNow { ahead: Bytes::mib(mib), ..now(free, 300) });
        assert_eq!([missing(0, 4), missing(10, 4), missing(10, 18)], [0, 14, 0].map(Bytes::mib));
        assert_eq!(NO_LIMIT.capacity(&now(224, 300)), Bytes::mib(500));
        let cache = |mib| FastNow { idle_cache: Bytes::mib(mib), ..now(224, 300) };
        assert_eq!(NO_LIMIT.capacity(&cache(200)), Bytes::mib(700));
        let budget = Budget { fast: Some(Amount::Share(0.25)), ..NO_LIMIT };
        assert_eq!(budget.capacity(&now(224, 300)), Bytes::mib(256));
        assert_eq!(budget.capacity(&now(54, 100)), Bytes::mib(130));
    }

    #[test]
    fn a_missing_reserve_is_taken_from_what_is_held() {
        assert_eq!(NO_LIMIT.capacity(&now(4, 300)), Bytes::mib(280));
        assert_eq!(NO_LIMIT.capacity(&now(4, 10)), Bytes(0));
        let reserve = Some(Amount::Bytes(Bytes::mib(1)));
        let own = Budget { reserve, ..NO_LIMIT };
        assert_eq!(own.capacity(&now(108, 0)), Bytes::mib(100), "never below the kernel's mark");
    }

    #[test]
    fn a_reserve_that_nobody_asked_for_is_not_made_of_what_is_worth_its_place() {
        assert_eq!(NO_LIMIT.most(&now(4, 300)), Bytes::mib(300));
        assert_eq!(NO_LIMIT.most(&now(224, 300)), Bytes::mib(500));
        let budget = Budget { fast: Some(Amount::Bytes(Bytes::mib(290))), ..NO_LIMIT };
        assert_eq!(budget.most(&now(4, 300)), Bytes::mib(290));
        let asked = Budget { reserve: Some(Amount::Bytes(Bytes::mib(24))), ..NO_LIMIT };
        assert_eq!(asked.most(&now(4, 300)), Bytes::mib(280));
    }

    #[test]
    fn a_rate_is_bytes_per_second_of_the_epoch() {
        assert_eq!(NO_LIMIT.per_epoch(5.0), Bytes(u64::MAX));
        let budget = Budget { rate: Some(Bytes::mib(100)), ..NO_LIMIT };
        assert_eq!(budget.per_epoch(0.2), Bytes::mib(20));
    }

    #[test]
    fn a_batch_waits_for_three_times_its_size() {
        assert_eq!(NO_LIMIT.promotions(Bytes(0)), Bytes(u64::MAX));
        let budget = Budget { batch: Some(Bytes::mib(400)), ..NO_LIMIT };
        for (free, may) in [(4000, 400), (1200, 400), (900, 300), (0, 0)] {
            assert_eq!(budget.promotions(Bytes::mib(free)), Bytes::mib(may));
        }
    }
}
