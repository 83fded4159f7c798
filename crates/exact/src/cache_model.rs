//! The cache behind which misses are counted.

use crate::error::ExactError;
use pagetide_types::Bytes;

const LINE: u64 = 64;
const MOST_WAYS: u64 = 64;

/// A cache of each thread's own: sets of ways, the least recently used goes first, lines of 64
/// bytes. In front of it stands a filter of 64 KiB (direct mapped, as a first-level cache would
/// be), whose hits it does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheModel {
    sets: u64,
    ways: u64,
}

impl CacheModel {
    /// Its ways unless said otherwise, and what it is a model of: the second-level cache of
    /// present-day server cores.
    pub const WAYS: u64 = 16;

    /// A cache of this size; the number of sets is rounded down to a power of two. Of no size:
    /// every access misses.
    ///
    /// # Errors
    /// More ways than 64, none, or a cache smaller than one set.
    pub fn new(size: Bytes, ways: u64) -> Result<Self, ExactError> {
        if size.0 == 0 {
            return Ok(Self { sets: 1, ways: 0 });
        }
        if !(1..=MOST_WAYS).contains(&ways) {
            return Err(ExactError::Cache(format!(
                "a cache of {ways} ways cannot be modelled; give 1 to {MOST_WAYS}"
            )));
        }
        let sets = (size.0 / LINE / ways).checked_ilog2().ok_or_else(|| {
            ExactError::Cache(format!(
                "a cache of {size} has not one set of {ways} ways; give at least {}, or 0 to count \
                 every access",
                Bytes(LINE * ways)
            ))
        })?;
        Ok(Self { sets: 1 << sets, ways })
    }

    /// Its size; 0 where there is none.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes(self.sets * self.ways * LINE)
    }

    /// Lines of a set; 0 where there is no cache.
    #[must_use]
    pub fn ways(&self) -> u64 {
        self.ways
    }

    pub(crate) fn sets(&self) -> u64 {
        self.sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_a_power_of_two() {
        let cache = |bytes, ways| CacheModel::new(bytes, ways).map_err(|error| error.to_string());
        assert_eq!(cache(Bytes::mib(2), 16).unwrap().sets(), 2048);
        let odd = cache(Bytes::kib(1280), 10).unwrap();
        assert_eq!((odd.size(), odd.sets()), (Bytes::kib(1280), 2048));
        assert_eq!(cache(Bytes::mib(3), 16).unwrap().size(), Bytes::mib(2));
        assert_eq!(cache(Bytes(0), 16).unwrap().size(), Bytes(0));
        assert!(cache(Bytes(1000), 16).unwrap_err().contains("at least 1.00 KiB"));
        assert!(cache(Bytes::mib(2), 65).unwrap_err().contains("1 to 64"));
        assert!(cache(Bytes::mib(2), 0).is_err());
    }
}
