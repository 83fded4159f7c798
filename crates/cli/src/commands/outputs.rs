//! What `pagetide run` writes beside its summary: a log and a recording. Where one cannot be written any more the run
//! goes on without it, for it is the moves that it is about.

use crate::commands::log::Log;
use crate::commands::writing::Writing;
use crate::exit::text;
use crate::progress::Progress;
use anyhow::Error;
use pagetide_manager::EpochLine;
use pagetide_trace::EpochRecord;

/// See the module.
pub(super) struct Outputs {
    log: Option<Log>,
    recording: Option<Writing>,
    /// One of them was given up.
    lost: bool,
}

impl Outputs {
    pub(super) fn new(log: Option<Log>, recording: Option<Writing>) -> Self {
        Self { log, recording, lost: false }
    }

    /// Adds what was seen in an epoch to the recording.
    pub(super) fn record(&mut self, record: EpochRecord, progress: &Progress) {
        if let Some(recording) = &mut self.recording
            && !recording.take(record)
            && let Some(Err(error)) = self.recording.take().map(Writing::finish)
        {
            self.give_up(&error, progress);
        }
    }

    /// Adds what was done after it to the log.
    pub(super) fn log(&mut self, line: &EpochLine, progress: &Progress) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(line)
        {
            self.log = None;
            self.give_up(&error, progress);
        }
    }

    /// Once for each of them.
    fn give_up(&mut self, error: &Error, progress: &Progress) {
        self.lost = true;
        progress.say(&format!("pagetide: note: {}; the run goes on without", text(error)));
    }

    /// Writes what is left; false if any of it could not be written, which was said then.
    pub(super) fn finish(self) -> bool {
        match self.recording.map_or(Ok(0), Writing::finish) {
            Ok(_) => !self.lost,
            Err(error) => {
                crate::tell::tell!("pagetide: {}", text(&error));
                false
            }
        }
    }
}
