//! The log of `pagetide run`: a line of JSON per epoch, in a file that it makes, or into a pipe or a device that is there.

use crate::commands::writing::check_folder;
use anyhow::{Context, Result, bail};
use pagetide_manager::EpochLine;
use pagetide_trace::Owner;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A line per epoch; without any it is removed on drop.
pub(super) struct Log {
    file: File,
    path: PathBuf,
    /// The file is ours: it was made for the log.
    made: bool,
    /// Bytes of whole lines.
    whole: u64,
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.made && self.whole == 0 {
            // An empty file that stays is in nobody's way but the next run's.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Log {
    pub(super) fn create(path: &Path) -> Result<Self> {
        if path.metadata().is_ok_and(|there| takes_lines(there.file_type())) {
            return Self::open(path);
        }
        check_folder(path)?;
        // As recordings: nothing is replaced, and only who called us reads the addresses in it.
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = match made {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if path.is_dir() {
                    bail!("{} is a directory; name a file for the log", path.display());
                }
                if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
                    bail!("{} is no ordinary file; name one for the log", path.display());
                }
                bail!("{} already exists; remove it or name another file", path.display())
            }
            made => {
                made.with_context(|| format!("the log {} cannot be written", path.display()))?
            }
        };
        if let Some(owner) = Owner::behind_sudo() {
            // Where files cannot be given away it stays ours.
            let _ = owner.give(&file);
        }
        Ok(Self { file, path: path.to_owned(), made: true, whole: 0 })
    }

    /// Into a pipe or a device; a named pipe is waited for until somebody reads it.
    fn open(path: &Path) -> Result<Self> {
        let open = OpenOptions::new().write(true).custom_flags(libc::O_NOCTTY).open(path);
        let what = || format!("the log {} cannot be written", path.display());
        let file = open.with_context(what)?;
        // Somebody may have put a file in its place meanwhile.
        if !takes_lines(file.metadata().with_context(what)?.file_type()) {
            bail!("{} is no ordinary file; name one for the log", path.display());
        }
        Ok(Self { file, path: path.to_owned(), made: false, whole: 0 })
    }

    /// Whether that is the log, however it is written.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let place = |file: &Metadata| (file.dev(), file.ino());
        let own = self.file.metadata().map(|own| place(&own));
        path.metadata().is_ok_and(|other| own.is_ok_and(|own| own == place(&other)))
    }

    /// Adds a line, or leaves the log with the whole lines before it.
    ///
    /// # Errors
    /// What could not be written and what helps.
    pub(super) fn write(&mut self, line: &EpochLine) -> Result<()> {
        let text = serde_json::to_string(line)? + "\n";
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Who reads it finds whole lines. Where it cannot be cut either, the last one is torn.
            let _ = self.file.set_len(self.whole);
            bail!(unwritten(&self.path, &error));
        }
        self.whole += text.len() as u64;
        Ok(())
    }
}

/// Whether that is there to have lines written to it, and loses nothing by it.
fn takes_lines(there: FileType) -> bool {
    there.is_fifo() || there.is_char_device()
}

/// Why a log could not be written, and what helps the next run.
fn unwritten(path: &Path, error: &Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; the lines before it are whole; free some space or log to another disk"
        }
        ErrorKind::BrokenPipe => "; its reader went away",
        _ => "; log to another disk",
    };
    format!("the log {} cannot be written: {error}{remedy}", path.display())
}
