//! The directory of a recording that is written, and files that are there whole or not at all:
//! written under a temporary name, synchronised, renamed. Only their owner may read them.

use crate::{Error, Owner, Result, layout::temporary};
use nix::{
    fcntl::{OFlag, openat, renameat},
    sys::stat::Mode,
    unistd::{UnlinkatFlags, unlinkat},
};
use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

/// Bytes of a reserved file: a block of most file systems.
pub(crate) const RESERVED: usize = 4096;

/// A file whose room on the disk is taken ([`Directory::reserve`]).
#[derive(Debug)]
pub(crate) struct Reserved {
    file: File,
    path: PathBuf,
}

/// A directory of our own making, held open. Names in it are looked up from here: whoever may
/// change what its path leads to cannot make us write elsewhere.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    open: File,
    owner: Option<Owner>,
}

impl Directory {
    /// Makes the directory of a new recording, mode 0700. It and its files are `owner`'s, if one
    /// is named, or stay ours where files cannot be given away.
    pub(crate) fn create(path: &Path, owner: Option<Owner>) -> Result<Self> {
        DirBuilder::new().mode(0o700).create(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
            _ => Error::io(path, error),
        })?;
        let open = open_new(path).map_err(|error| Error::io(path, error))?;
        let directory = Self { path: path.to_owned(), open, owner };
        directory.give(&directory.open);
        Ok(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `bytes` to the file at `path` in it, mode 0600. On failure neither the file nor a
    /// temporary one is left.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let temporary = temporary(path);
        let (name, temporary) = (name(path), name(&temporary));
        let written = || -> io::Result<()> {
            let mut file = self.create_new(temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            Ok(renameat(&self.open, temporary, &self.open, name)?)
        };
        written().map_err(|error| {
            // The first error is the one to report; a second one here could not be helped.
            let _ = unlinkat(&self.open, temporary, UnlinkatFlags::NoRemoveDir);
            Error::io(path, error)
        })
    }

    /// Takes the room for a file at `path` in it now, so that it can be written when the disk is
    /// full. Until then it has its temporary name.
    pub(crate) fn reserve(&self, path: &Path) -> Result<Reserved> {
        let temporary = temporary(path);
        let reserved = || -> io::Result<File> {
            let mut file = self.create_new(name(&temporary))?;
            file.write_all(&[b' '; RESERVED])?;
            file.sync_all()?;
            Ok(file)
        };
        match reserved() {
            Ok(file) => Ok(Reserved { file, path: path.to_owned() }),
            Err(error) => {
                self.remove(&temporary);
                Err(Error::io(path, error))
            }
        }
    }

    /// Writes `bytes` into a reserved file and gives it its name. Its blocks are written in place,
    /// which takes no room where the file system does not copy on write.
    pub(crate) fn put_reserved(&self, reserved: &Reserved, bytes: &[u8]) -> Result<()> {
        let Reserved { file, path } = reserved;
        let written = || -> io::Result<()> {
            file.write_all_at(bytes, 0)?;
            file.set_len(bytes.len() as u64)?;
            file.sync_all()?;
            Ok(renameat(&self.open, name(&temporary(path)), &self.open, name(path))?)
        };
        written().map_err(|error| Error::io(path, error))
    }

    /// Makes a file of our own, mode 0600.
    fn create_new(&self, name: &OsStr) -> io::Result<File> {
        // Exclusive: of somebody else's file or link of that name we want nothing.
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let file = File::from(openat(&self.open, name, flags, mode)?);
        self.give(&file);
        Ok(file)
    }

    /// Removes the file at `path` in it, if it is there.
    pub(crate) fn remove(&self, path: &Path) {
        // What cannot be removed stays; nobody relies on it.
        let _ = unlinkat(&self.open, name(path), UnlinkatFlags::NoRemoveDir);
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.open.sync_all().map_err(|error| Error::io(&self.path, error))
    }

    fn give(&self, file: &File) {
        if let Some(owner) = self.owner {
            // Where that cannot be done it stays ours, and whoever opens it is told so.
            let _ = owner.give(file);
        }
    }
}

/// Opens a directory that was made a moment ago, and makes sure that no other took its place.
fn open_new(path: &Path) -> io::Result<File> {
    let flags = (OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW).bits();
    let open = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if fs::read_dir(format!("/proc/self/fd/{}", open.as_raw_fd()))?.next().is_some() {
        return Err(io::Error::other("another directory took its place while it was made"));
    }
    Ok(open)
}

/// The last part of a path of a recording's file, which is never empty.
fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_not_the_one_just_made_is_not_taken() {
        let root = tempfile::tempdir().unwrap();
        let (made, link) = (root.path().join("made"), root.path().join("link"));
        fs::create_dir(&made).unwrap();
        assert!(open_new(&made).is_ok());
        std::os::unix::fs::symlink(&made, &link).unwrap();
        assert!(open_new(&link).is_err(), "a link that took its place");
        fs::write(made.join("x"), "").unwrap();
        assert!(open_new(&made).is_err(), "somebody else's");
    }
}
