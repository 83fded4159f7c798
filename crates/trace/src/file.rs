//! Files that are there whole or not at all: written under a temporary name, synchronised,
//! renamed. Only the owner may read them.

use crate::{Error, Result, layout::temporary};
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

/// Makes the directory of a new recording, mode 0700.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    DirBuilder::new().mode(0o700).create(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
        _ => Error::io(path, error),
    })
}

/// Writes `bytes` to `path`, mode 0600. On failure neither the file nor a temporary one is left.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary(path);
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // The first error is the one to report; a second one here could not be helped.
        let _ = fs::remove_file(&temporary);
        Error::io(path, error)
    })
}

/// Makes the names in directory `path` durable.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(|e| Error::io(path, e))
}
