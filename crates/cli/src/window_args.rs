//! Which part of a recording is asked about: `--from` and `--to`, alike for every command.

use crate::values::{seconds, seconds_or_0};
use anyhow::{Result, bail};
use clap::Args;
use pagetide_trace::Recording;
use std::time::Duration;

/// The part of a recording by time.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct WindowArgs {
    /// Judge only what was recorded from this time on (20s, 2min), counted from the beginning of the
    /// recording; policies still learn the program in the time before.
    #[arg(long, value_name = "TIME", value_parser = seconds_or_0, allow_hyphen_values = true)]
    from: Option<Duration>,
    /// Leave out what was recorded after this time.
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    to: Option<Duration>,
}

impl WindowArgs {
    /// Whether a part was asked for.
    pub(crate) fn given(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Refuses what no recording has.
    pub(crate) fn check(&self) -> Result<()> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            bail!(
                "--from {} --to {} holds nothing: the part must begin before it ends",
                crate::short::time(from),
                crate::short::time(to)
            );
        }
        Ok(())
    }

    /// The part of a recording that was asked for.
    pub(crate) fn of(&self, recording: Recording) -> Result<Recording> {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        Ok(recording.within(seconds(self.from), seconds(self.to))?)
    }
}
