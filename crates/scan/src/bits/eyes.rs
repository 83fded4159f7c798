//! What the survey needs of the world: a clock, clearing and looking. One implementation is
//! the live kernel, the other a simulated process with known rates (tests).

use crate::target::activity::Activity;
use crate::walk::row::{Range, Row, RowBits};

/// The process is gone or executes another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// Clears and reads accessed bits of the processes that are followed, numbered from 0.
pub(crate) trait Eyes {
    /// Monotonic time, ns; the clock of [`Row::ns`].
    fn now(&mut self) -> u64;
    /// CPU time that this thread has used, ns.
    fn cpu(&mut self) -> u64;
    /// What a followed process has run and runs now.
    fn activity(&mut self, process: usize) -> Result<Activity, Lost>;
    /// Waits until `now() >= ns`, asleep when it is far, spinning when it is near.
    fn wait_until(&mut self, ns: u64);
    /// Clears the accessed bits in `ranges`. Appends the indices of ranges that refused.
    fn clear(
        &mut self,
        process: usize,
        ranges: &[Range],
        refused: &mut Vec<usize>,
    ) -> Result<(), Lost>;
    /// Reads `ranges`; `rows` is emptied first. Says what the process did when it was read.
    fn look(
        &mut self,
        process: usize,
        ranges: &[Range],
        rows: &mut Vec<Row>,
    ) -> Result<Activity, Lost>;
    /// The single pages of the rows of the last look, one entry per row; empty unless they were
    /// asked for from the start.
    fn bits(&self) -> &[RowBits];
}
