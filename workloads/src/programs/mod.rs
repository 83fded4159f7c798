//! One file per workload.

pub(crate) mod demo_redis;
pub(crate) mod hot_cold;
pub(crate) mod redis_load;
