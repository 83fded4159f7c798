//! Graph algorithms over the measured memory, as in graph500 and the GAP benchmark suite
//! (Beamer et al. 2015): everything that they read and write lies in the region and is counted.

mod array;
pub(crate) mod bfs;
pub(crate) mod build;
mod kronecker;
pub(crate) mod layout;
pub(crate) mod pagerank;
#[cfg(test)]
mod tests;
