//! One file per workload.

pub(crate) mod amp;
pub(crate) mod demo_redis;
pub(crate) mod graph;
pub(crate) mod gups;
pub(crate) mod hot_cold;
pub(crate) mod newest;
pub(crate) mod phases;
pub(crate) mod pointer_chase;
pub(crate) mod redis_load;
pub(crate) mod spin;
pub(crate) mod strided;
pub(crate) mod uniform;
pub(crate) mod zipf;
