//! Whether a device is opened or closed by others while it is read: who writes to it and closes it before it is looked who
//! uses it would not be seen otherwise.

use nix::{
    errno::Errno,
    sys::inotify::{AddWatchFlags, InitFlags, Inotify},
};
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// A device that we have opened, and watch since.
#[derive(Debug)]
pub(crate) struct Alone {
    file: File,
    watch: Inotify,
}

impl Alone {
    /// Opens a device to read. Who has it open already is noticed when he closes it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_with(path, 0)
    }

    /// The same, with flags as of open(2).
    pub(crate) fn open_with(path: &Path, flags: i32) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let watch = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        watch.add_watch(path, AddWatchFlags::IN_OPEN | AddWatchFlags::IN_CLOSE)?;
        Ok(Self { file, watch })
    }

    /// The device.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether nobody else has opened or closed it by its path since.
    ///
    /// # Errors
    /// `EBUSY` when somebody has.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.watch.read_events() {
            Err(Errno::EAGAIN) => Ok(()),
            Err(errno) => Err(errno.into()),
            Ok(_) => Err(Errno::EBUSY.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(alone: &Alone) -> bool {
        alone.check().is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    }

    #[test]
    fn who_opens_or_closes_it_meanwhile_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = File::open(file.path()).unwrap();
        let alone = Alone::open(file.path()).unwrap();
        alone.check().unwrap();
        drop(before);
        assert!(busy(&alone), "it was closed");
        alone.check().unwrap();
        let after = File::open(file.path()).unwrap();
        assert!(busy(&alone), "it was opened");
        drop(after);
        assert!(busy(&alone));
        assert!(Alone::open(Path::new("/no/such/device")).is_err());
    }

    #[test]
    fn the_kernel_tells_it_of_devices_too() {
        let alone = Alone::open(Path::new("/dev/null")).unwrap();
        drop(File::open("/dev/null").unwrap());
        assert!(busy(&alone));
    }
}
