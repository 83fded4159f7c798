//! Writes a file so that it is there as a whole, or not at all.

use super::SweepError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Puts a file in the place of what is there. What is no file (`/dev/stdout`, a pipe) is written to as it
/// is.
///
/// # Errors
/// It cannot be written; what was there is left as it was.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), SweepError> {
    let content = content.as_ref();
    // Of a link, where it leads.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let there = fs::metadata(&target).ok();
    let written = match there {
        Some(there) if !there.is_file() => fs::OpenOptions::new()
            .write(true)
            .open(&target)
            .and_then(|mut to| to.write_all(content)),
        _ => replace(&target, content),
    };
    written.map_err(SweepError::file(path))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path, ".tmp");
    let written = File::create(&beside)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It takes the room that was missing.
        let _ = fs::remove_file(&beside);
    }
    written
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
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_there_as_a_whole_or_as_it_was() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.csv");
        write(&path, "first").unwrap();
        write(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        // Where the new one cannot be made.
        symlink("/dev/full", beside(&path, ".tmp")).unwrap();
        let error = write(&path, "third").unwrap_err().to_string();
        assert!(error.contains("x.csv: ") && error.contains("the disk is full"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert!(!beside(&path, ".tmp").exists());
        // A link stays one, a device is written to.
        let link = scratch.path().join("link.csv");
        symlink(&path, &link).unwrap();
        write(&link, "fourth").unwrap();
        assert!(link.is_symlink() && fs::read_to_string(&path).unwrap() == "fourth");
        assert!(write(Path::new("/dev/full"), "x").unwrap_err().to_string().contains("full"));
        write(Path::new("/dev/null"), "x").unwrap();
    }
}
