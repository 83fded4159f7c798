//! "Adaptive Migration Decision for Multi-Tenant Memory Systems" (*Adaptive*).

mod programs;
