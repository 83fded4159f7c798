//! What a recording may hold at most, and how its files are opened. Recordings come from others:
//! what they claim is held against these before anything is allocated for it, and a file that is no
//! ordinary one (a FIFO would wait forever, a device may act) is not opened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes of a file of JSON: header, end mark, checksums.
pub(crate) const JSON: u64 = 1 << 20;
/// Bytes of a table. A span of 4 M rows takes some 40 MiB.
pub(crate) const TABLE: u64 = 1 << 30;
/// Rows of a table: 128 GiB in units of 4 KiB in one epoch, 64 TiB in units of 2 MiB.
pub(crate) const ROWS: usize = 1 << 25;
/// Units of a recording, all spans together.
pub(crate) const UNITS: usize = 1 << 26;
/// Complete spans: a minute each.
pub(crate) const SPANS: usize = 1 << 17;
/// Bytes of a name, as the kernel limits paths (`PATH_MAX`), each shown as an escape.
pub(crate) const NAME: usize = 4096 * 8;
/// Bytes of all names in a table.
pub(crate) const NAMES: usize = 1 << 28;

/// Reads an ordinary file of at most so many bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Before it is opened: opening a device may do something.
    ordinary(&fs::metadata(path)?)?;
    let file = OpenOptions::new().read(true).custom_flags(libc_nonblock()).open(path)?;
    let found = file.metadata()?;
    ordinary(&found)?;
    if found.len() > most {
        return Err(too_long(most));
    }
    read_all(file, most)
}

fn read_all(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long(most)) } else { Ok(bytes) }
}

/// Should another file have taken its place: none is waited for.
fn libc_nonblock() -> i32 {
    nix::fcntl::OFlag::O_NONBLOCK.bits()
}

fn ordinary(found: &fs::Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let what = if found.is_dir() { "a directory" } else { "a FIFO, socket or device" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not an ordinary file")))
}

fn too_long(most: u64) -> io::Error {
    let what =
        format!("it is longer than the {most} bytes that such a file of a recording may have");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_files_are_opened_and_none_that_is_too_long() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = read(&path, 10).unwrap_err();
        assert!(error.to_string().contains("FIFO"), "{error}");
        assert!(read(Path::new("/dev/zero"), 10).is_err());
        assert!(read(directory.path(), 10).is_err());
        let file = directory.path().join("y");
        fs::write(&file, "0123456789").unwrap();
        assert_eq!(read(&file, 10).unwrap(), b"0123456789");
        assert_eq!(read(&file, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(
            read(&directory.path().join("no"), 9).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
