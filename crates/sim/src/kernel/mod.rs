//! A small kernel under the simulated systems, after Linux: nodes with watermarks, first touch that
//! spills, lists of pages by age, reclaim that demotes, scanners. A model on which every system stands,
//! not a helper of one.

mod accessed_scanner;
mod activation;
mod first_touch;
mod hint_scanner;
mod hot_threshold;
mod last_cpupid;
mod lists;
mod lru;
mod nodes;
mod reclaim;
mod refault_distance;
mod scan_period;
mod shadows;
mod sparse_scanner;
mod units;

pub use accessed_scanner::AccessedScanner;
pub use activation::ActivationBatches;
pub use first_touch::{FirstTouch, Share};
pub use hint_scanner::{HintScanner, Scan};
pub use hot_threshold::{HotThreshold, PROMOTE_RATE_LIMIT};
pub use last_cpupid::{Attempt, LastCpupid};
pub use lists::{Kind, Lists};
pub use lru::{Lru, Rules, Shrunk};
pub use nodes::{Node, Nodes, Watermarks};
pub use reclaim::{Demoted, Kswapd, SWAP_CLUSTER_MAX};
pub use refault_distance::RefaultDistances;
pub use scan_period::{HintFaultCounts, ScanPeriod};
pub use shadows::Shadows;
pub use sparse_scanner::{SparseScanner, SparselySeen};
pub use units::Units;
