//! The loop over a simulated kernel and a tracker that knows the truth: budgets, reserve, back-off,
//! governor, dry runs.

mod come_and_go;
mod governed;
mod leaving;
mod limits;
mod moves;
mod one_tenant;
mod prices;
#[expect(clippy::unwrap_used, reason = "tests of their own making")]
mod world;
