//! Clearing accessed bits and reading them: the live kernel, behind a trait that a simulated process
//! fulfils as well.

pub(crate) mod clear_refs;
pub(crate) mod eyes;
pub(crate) mod live;
