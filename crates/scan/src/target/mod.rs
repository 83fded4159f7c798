//! Whom to watch and what of its memory is resident: processes, regions, units.

pub(crate) mod activity;
pub(crate) mod claims;
pub(crate) mod follow;
pub(crate) mod pidfd;
pub(crate) mod region;
pub(crate) mod resident_set;
pub(crate) mod sharing;
pub(crate) mod units;
pub(crate) mod unmapped;
