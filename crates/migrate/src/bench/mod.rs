//! What moving costs on this machine: by page size, batch, threads and mode, beside one page at a
//! time and a plain copy in the same run. After Nimble (ASPLOS 2019), figures 7 to 10.

mod cases;
mod memory;
mod parts;
mod table;

pub use cases::{Case, Mode, Row, measure};
pub use memory::{BenchError, BenchMemory};
pub use parts::{Parts, parts};
pub use table::{Line, Plan, Table};
