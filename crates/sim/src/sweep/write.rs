//! Writes a file so that it is there as a whole, or not at all.

use super::SweepError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Whoever may write there deletes and renames only what is theirs (`S_ISVTX`), and others may write there.
const SHARED_FOLDER: u32 = 0o1002;

/// Puts a file in the place of what is there. What is no file (`/dev/stdout`, a pipe) is written to as it
/// is.
///
/// # Errors
/// It cannot be written; what was there is left as it was.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), SweepError> {
    let content = content.as_ref();
    let written = target(path).and_then(|(target, what)| match what {
        What::Device => fs::OpenOptions::new()
            .write(true)
            .open(&target)
            .and_then(|mut to| to.write_all(content)),
        What::File => replace(&target, content),
    });
    written.map_err(SweepError::file(path))
}

/// Whether [`write()`] can make the file, or replace it: better known before an hour of simulating than after it.
/// Nothing is left behind, and what is there stays.
///
/// # Errors
/// It cannot.
pub fn writable(path: &Path) -> Result<(), SweepError> {
    let can = target(path).and_then(|(target, what)| match what {
        What::Device => fs::OpenOptions::new().write(true).open(&target).map(drop),
        What::File => {
            let beside = beside(&target, ".tmp");
            let _ = fs::remove_file(&beside);
            File::create_new(&beside).and_then(|_| fs::remove_file(&beside))
        }
    });
    can.map_err(SweepError::file(path))
}

/// How something is written to.
enum What {
    /// As it is there: a device, a pipe.
    Device,
    /// By putting another in its place.
    File,
}

/// What is to be written, of a link where it leads, and how.
fn target(path: &Path) -> io::Result<(PathBuf, What)> {
    no_link_of_a_stranger(path)?;
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let there = fs::metadata(&target).ok();
    if there.as_ref().is_some_and(fs::Metadata::is_dir) {
        let what = "that is a folder; name a file in it";
        return Err(io::Error::new(io::ErrorKind::IsADirectory, what));
    }
    let device = there.is_some_and(|there| !there.is_file());
    Ok((target, if device { What::Device } else { What::File }))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path, ".tmp");
    // What a killed program left. Nothing that is there is written into: it may be a link.
    let _ = fs::remove_file(&beside);
    let written = File::create_new(&beside)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It takes the room that was missing.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Refuses a link in a folder that all share (`/tmp`), if another made it: where it leads is their choice, and what
/// we may write they may not. As open(2) does where `fs.protected_symlinks` is set; looking up where a link leads
/// goes past that.
pub(super) fn no_link_of_a_stranger(path: &Path) -> io::Result<()> {
    let Ok(link) = path.symlink_metadata() else { return Ok(()) };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = parent.metadata()?;
    let ours = [nix::unistd::geteuid().as_raw(), folder.uid()].contains(&link.uid());
    if link.is_symlink() && !ours && folder.mode() & SHARED_FOLDER == SHARED_FOLDER {
        let what = "it is a link that somebody else made in a folder that all may write to; name another file";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(())
}

/// The path of a file that lies beside another one, which it belongs to.
#[must_use]
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_there_as_a_whole_or_as_it_was() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.csv");
        write(&path, "first").unwrap();
        write(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        writable(&path).unwrap();
        assert!(path.exists() && !beside(&path, ".tmp").exists());
        // Where the new one cannot be made.
        fs::create_dir(beside(&path, ".tmp")).unwrap();
        writable(&path).unwrap_err();
        let error = write(&path, "third").unwrap_err().to_string();
        assert!(error.contains("x.csv: "), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        fs::remove_dir(beside(&path, ".tmp")).unwrap();
        // What is planted in its place is not written into.
        let elsewhere = scratch.path().join("elsewhere");
        symlink(&elsewhere, beside(&path, ".tmp")).unwrap();
        write(&path, "second").unwrap();
        assert!(!elsewhere.exists() && !beside(&path, ".tmp").is_symlink());
        // A link stays one, a device is written to.
        let link = scratch.path().join("link.csv");
        symlink(&path, &link).unwrap();
        write(&link, "fourth").unwrap();
        assert!(link.is_symlink() && fs::read_to_string(&path).unwrap() == "fourth");
        assert!(write(Path::new("/dev/full"), "x").unwrap_err().to_string().contains("full"));
        write(Path::new("/dev/null"), "x").unwrap();
    }

    #[test]
    fn a_link_that_a_stranger_made_in_a_shared_folder_is_not_followed() {
        let name = "a_link_that_a_stranger_made_in_a_shared_folder_is_not_followed";
        let scratch = tempfile::tempdir().unwrap();
        let (shared, secret) = (scratch.path().join("shared"), scratch.path().join("secret"));
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(&secret, "ours").unwrap();
        let link = shared.join("x.csv");
        symlink(&secret, &link).unwrap();
        write(&link, "our own link").unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "our own link");
        if !nix::unistd::geteuid().is_root() {
            return pagetide_testing::skip(name, "only root can make a link somebody else's");
        }
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        let error = write(&link, "theirs").unwrap_err().to_string();
        assert!(error.contains("x.csv") && error.contains("somebody else"), "{error}");
        assert!(super::super::Journal::<u8>::open(&link).is_err());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "our own link");
    }
}
