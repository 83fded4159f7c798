//! Where pages go: the subjects of one, and writing it so that it is there whole or not at all.

use crate::commands::writing::check_folder;
use crate::tell::tell;
use anyhow::{Context, Result, anyhow, bail};
use pagetide_replay::{Pictures, Plan, Split};
use pagetide_report::{Subject, Together};
use pagetide_trace::{Diff, Owner, Recording};
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Plans side by side at most: more do not fit beside each other.
pub(crate) const MOST: usize = 4;

/// What a page is about.
#[derive(Default)]
pub(crate) struct Subjects {
    plans: Vec<Subject>,
    /// How the recordings of the first two differ, where that was looked at.
    pub(crate) diff: Option<Diff>,
}

impl Subjects {
    /// Adds a plan of a recording, which is read once more for its pictures: what to draw depends
    /// on the answer.
    pub(crate) fn add(&mut self, recording: &Recording, plan: Plan) -> Result<()> {
        let pictures = Pictures::read(recording, &plan)
            .with_context(|| format!("drawing {}", recording.path().display()))?;
        let (header, unfinished) = (recording.header().clone(), recording.unfinished());
        self.plans.push(Subject { plan, pictures, header, unfinished });
        Ok(())
    }

    /// Writes the page, and says where.
    pub(crate) fn write(&self, path: &Path, split: Option<&Split>) -> Result<()> {
        let together = Together { diff: self.diff.as_ref(), split };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs());
        let page = pagetide_report::html(&self.plans, together, now)?;
        write(path, &page).map_err(|error| anyhow!(unwritten(path, &error)))?;
        tell!("report: {} (open it in a browser)", path.display());
        Ok(())
    }
}

/// Whether a page can be written there, as far as can be told before.
pub(crate) fn check(path: &Path) -> Result<()> {
    check_folder(path)?;
    match path.metadata() {
        Ok(there) if there.is_dir() => {
            bail!("{} is a directory; name a file for the report", path.display())
        }
        // A pipe or a device would be replaced by the page.
        Ok(there) if !there.is_file() => {
            bail!("{} is no ordinary file; name one for the report", path.display())
        }
        _ => {}
    }
    Ok(())
}

/// Addresses and command lines are nobody else's business: only the owner can read the page. Under
/// sudo that is who called it, not root: the page is for their browser. A link in its place is
/// replaced and not followed.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = (|| -> std::io::Result<()> {
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        if let Some(owner) = Owner::behind_sudo() {
            // Where files cannot be given away it stays ours.
            let _ = owner.give(&file);
        }
        file.write_all(text.as_bytes())?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Why a page could not be written, and what helps.
fn unwritten(path: &Path, error: &std::io::Error) -> String {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let free = match error.kind() {
        StorageFull | QuotaExceeded => "free some space, or ",
        _ => "",
    };
    format!(
        "writing {}: {error}; {free}name another place for the page (report -o, plan --report)",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_page_that_cannot_be_written_is_said_with_what_helps() {
        let said = |kind: ErrorKind| unwritten(Path::new("m.html"), &Error::from(kind));
        let denied = said(ErrorKind::PermissionDenied);
        assert!(denied.starts_with("writing m.html: permission denied; name another"), "{denied}");
        let full = said(ErrorKind::StorageFull);
        assert!(full.contains("; free some space, or name another place"), "{full}");
    }
}
