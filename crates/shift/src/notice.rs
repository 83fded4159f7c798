//! Notices between processes of root's: small files that are there whole or not at all (renamed into place), and locked
//! for as long as their writer lives (flock(2)). What a writer left that was killed is not locked, and is not believed;
//! nor is what others than root own, may read or may write: who may read a file may lock it.

use crate::lock::{is_at, make};
use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Nobody says more.
const LONGEST: u64 = 4096;

/// A notice of ours. It goes when this is dropped, and counts no longer when our process ends.
#[derive(Debug)]
pub(crate) struct Notice {
    path: PathBuf,
    file: Flock<File>,
}

impl Notice {
    /// Puts up a notice; it takes the place of one that is there.
    pub(crate) fn put(path: &Path, text: &str) -> io::Result<Self> {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        make(folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Readers pass over names that begin with a point.
        let new = folder.join(format!(".{name}.{}", std::process::id()));
        // What is there was left by a process that had our number.
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let mut file =
            Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&new, path)?;
        Ok(Self { path: path.to_owned(), file })
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        // Another may have put up his in its place.
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What a notice says, if `owner` put it up and lives.
pub(crate) fn read(path: &Path, owner: u32) -> Option<String> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let is = file.metadata().ok()?;
    if !is.is_file() || is.uid() != owner || is.mode() & 0o077 != 0 {
        return None;
    }
    let (file, Errno::EWOULDBLOCK) = Flock::lock(file, FlockArg::LockSharedNonblock).err()? else {
        return None;
    };
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// What all notices in a folder say that `owner` put up and who lives.
pub(crate) fn read_all(folder: &Path, owner: u32) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let shown = entries.flatten().filter(|it| !it.file_name().to_string_lossy().starts_with('.'));
    shown.filter_map(|entry| read(&entry.path(), owner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    fn us() -> u32 {
        nix::unistd::geteuid().as_raw()
    }

    #[test]
    fn a_notice_is_there_as_long_as_its_writer_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/notice");
        assert_eq!(read(&path, us()), None);
        let first = Notice::put(&path, "one").unwrap();
        assert_eq!(read(&path, us()).as_deref(), Some("one"));
        let second = Notice::put(&path, "two").unwrap();
        drop(first);
        assert_eq!(read(&path, us()).as_deref(), Some("two"), "the first one's end is not its end");
        assert_eq!(read_all(path.parent().unwrap(), us()), ["two"]);
        drop(second);
        assert_eq!((read(&path, us()), path.exists()), (None, false));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn what_was_left_is_not_believed_whatever_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notice");
        let put = || Notice::put(&path, "one").unwrap();
        // Its writer was killed: the lock is gone, the file is not.
        let mut notice = put();
        notice.path = folder.path().join("elsewhere");
        drop(notice);
        assert!(path.exists());
        assert_eq!((read(&path, us()), read_all(folder.path(), us())), (None, vec![]));
        // It is in nobody's way, and nor is one that was left before it had its name.
        fs::write(folder.path().join(format!(".notice.{}", std::process::id())), "half").unwrap();
        let notice = put();
        assert_eq!(read(&path, us()).as_deref(), Some("one"));
        drop(notice);
    }

    #[test]
    fn nobody_but_its_owner_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notice");
        let _notice = Notice::put(&path, "one").unwrap();
        assert_eq!(read(&path, us() + 1), None, "another's");
        for mode in [0o644, 0o620, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path, us()), None, "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&path, us()).as_deref(), Some("one"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link, us()), None, "a link");
        assert_eq!(read(folder.path(), us()), None, "a folder");
    }
}
