//! A recording that is being written, by a thread of its own: writing a span takes long against the gaps of a
//! burst.

use crate::tell::tell;
use anyhow::{Context as _, Result, anyhow, bail};
use pagetide_trace::{EpochRecord, Owner, RecordingWriter};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

/// Where a recording goes, and whose it is to be.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) path: &'a Path,
    /// None: ours.
    pub(crate) owner: Option<Owner>,
}

impl<'a> Output<'a> {
    /// A recording that stays: for who called us, be it through sudo.
    pub(crate) fn to_keep(path: &'a Path) -> Self {
        Self { path, owner: Owner::behind_sudo() }
    }

    /// Whether a recording can be made there, as far as that is known before anything is started.
    pub(crate) fn check(self) -> Result<()> {
        if self.path.exists() {
            bail!("{} already exists; remove it or name another file", self.path.display());
        }
        check_folder(self.path)
    }

    /// Says that a recording is a folder, where its name is that of something else.
    pub(crate) fn say_what_it_is(self) {
        let other = |ending: &&OsStr| *ending != "heat";
        if let Some(ending) = self.path.extension().filter(other) {
            tell!(
                "pagetide: note: a recording is a folder, and {} will be one; names that end in .heat rather than .{} \
                 say so",
                self.path.display(),
                ending.display()
            );
        }
    }
}

/// Whether there is the folder that this is to lie in.
pub(super) fn check_folder(path: &Path) -> Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        let what = if parent.exists() { "is not a directory" } else { "does not exist" };
        bail!("{} {what}; make it, or write elsewhere", parent.display());
    }
    Ok(())
}

/// See the module.
pub(crate) struct Writing {
    path: PathBuf,
    send: SyncSender<EpochRecord>,
    thread: JoinHandle<pagetide_trace::Result<()>>,
    epochs: u32,
}

impl Writing {
    /// Begins to write to `path`, where `writer` does.
    pub(crate) fn start(mut writer: RecordingWriter, path: &Path) -> Self {
        let (send, receive) = mpsc::sync_channel::<EpochRecord>(4);
        let thread = thread::spawn(move || {
            // It only writes, and has time.
            pagetide_privilege::ordinary();
            if let Err(error) = pagetide_privilege::Capabilities::WRITING.keep() {
                tracing::warn!(%error, "the writing thread keeps our capabilities");
            }
            for record in receive {
                writer.append(record)?;
            }
            writer.finish()
        });
        Self { path: path.to_owned(), send, thread, epochs: 0 }
    }

    /// Takes an epoch; false if the writer gave up, which [`Self::finish`] tells the reason of.
    pub(crate) fn take(&mut self, record: EpochRecord) -> bool {
        self.epochs += 1;
        self.send.send(record).is_ok()
    }

    /// Writes what is left; how many epochs the recording holds.
    pub(crate) fn finish(self) -> Result<u32> {
        drop(self.send);
        let written = self.thread.join().map_err(|_| anyhow!("the writing thread panicked"))?;
        written.with_context(|| format!("recording to {}", self.path.display()))?;
        Ok(self.epochs)
    }
}
