//! Movers: what carries pages from one tier to the other, in simulated time.

mod copy;
mod in_fault;
mod mechanism;
mod meetings;
mod mover;
mod timing;
mod transaction;

pub use in_fault::InFaultMover;
pub use mechanism::{Exchange, Mechanism, MechanismChange};
pub use mover::{Moved, Mover};
pub use timing::{Timing, time_of};
pub use transaction::{Ended, Transaction, TransactionalMover};
