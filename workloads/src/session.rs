//! What a program has besides its arguments: where it prints, and whether it was asked to end.

use crate::{
    drive::Summary,
    error::{Result, system},
    memory::Region,
    stop::Stop,
};
use std::{fmt::Display, io::Write};

/// One run of one workload.
pub(crate) struct Session<'o> {
    /// Standard output, or a test's buffer.
    pub(crate) out: &'o mut (dyn Write + Send),
    /// Set when the run ought to end.
    pub(crate) stop: Stop,
}

impl Session<'_> {
    /// Prints a line and flushes it: whoever started us waits for it.
    pub(crate) fn say(&mut self, line: impl Display) -> Result<()> {
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .map_err(system("write to standard output"))
    }

    /// Prints that the memory is populated and where it is, unless the end was asked for before
    /// it was; `more` are further `key=value`s.
    pub(crate) fn ready(&mut self, name: &str, region: &Region, more: impl Display) -> Result<()> {
        if self.stop.is_set() {
            return Ok(());
        }
        let (start, end) = region.range();
        let pid = std::process::id();
        let (bytes, page, huge) = (end.0 - start.0, region.page(), region.huge_bytes().0);
        self.say(format_args!(
            "ready {name} pid={pid} range={start}-{end} bytes={bytes} page={page} huge={huge} {more}"
        ))
    }

    /// Prints what was done; `more` are further `key=value`s.
    pub(crate) fn done(&mut self, name: &str, did: &Summary, more: impl Display) -> Result<()> {
        let rate = did.accesses as f64 / did.seconds;
        self.say(format_args!(
            "done {name} accesses={} seconds={:.3} per_second={rate:.0} checksum={:#018x} {more}",
            did.accesses, did.seconds, did.checksum
        ))
    }
}
