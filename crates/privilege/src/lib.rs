//! Who may do what: as whom a command runs that root was asked to start, what none of our children
//! and threads inherit, and what Pagetide gives up itself once it does not need it.
//!
//! Rules after capabilities(7), credentials(7), `Documentation/userspace-api/no_new_privs.rst` and
//! `seccomp_filter.rst`. What each of them is for stands in SECURITY.md.

mod account;
mod capability;
mod child;
mod drop;
mod files;
mod precedence;
mod seccomp;

pub use account::{Account, AccountError, RunAs};
pub use capability::Capabilities;
pub use child::{again_as, prepare};
pub use drop::{DropError, Paths, confine, without_privileges};
pub use files::raise_limit as raise_file_limit;
pub use precedence::{hurry, ordinary};
