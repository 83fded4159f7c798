//! One file per policy.

pub(crate) mod amp;
pub(crate) mod bounds;
pub(crate) mod clairvoyant;
pub(crate) mod first_touch;
pub(crate) mod lfu;
pub(crate) mod lru;
pub(crate) mod memtis;
pub(crate) mod random;
pub(crate) mod rate;
pub(crate) mod two_lists;
