//! Clearing accessed bits and reading them: the live kernel, behind a trait (`eyes`) that a simulated process
//! fulfils as well. `madv_cold` clears by `MADV_COLD` and reads by the walk; `clear_refs` clears what that passes over, where
//! `--clear-shared` asks for it.

pub(crate) mod clear_refs;
pub(crate) mod eyes;
pub(crate) mod madv_cold;
