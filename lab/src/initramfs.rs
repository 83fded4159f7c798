//! The guest's first file system: a cpio archive that holds busybox, modules, the command and
//! what it needs. The kernel unpacks it into memory.

use cpio::newc::{Builder, ModeFileType, trailer};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};

/// Why the archive cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitramfsError {
    /// A file of the host cannot be read.
    #[error("cannot copy {0} into the guest")]
    Read(PathBuf, #[source] io::Error),
    /// The archive cannot be written.
    #[error("cannot write the guest's file system to {0}")]
    Write(PathBuf, #[source] io::Error),
    /// The format has 32 bits for a size.
    #[error("{0} is too large for the guest's file system (4 GiB)")]
    TooLarge(PathBuf),
}

/// What a path of the guest is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    Host(PathBuf),
    Text(String),
    Link(String),
}

/// A tree of files to be.
#[derive(Debug, Default)]
pub(crate) struct Initramfs(BTreeMap<String, Entry>);

impl Initramfs {
    /// A folder with all above it.
    pub(crate) fn folder(&mut self, guest: impl AsRef<Path>) {
        let key = key(guest.as_ref());
        if key.is_empty() || self.0.contains_key(&key) {
            return;
        }
        if let Some(parent) = Path::new(&key).parent() {
            self.folder(parent);
        }
        self.0.insert(key, Entry::Folder);
    }

    /// An executable text.
    pub(crate) fn script(&mut self, guest: &str, text: String) {
        self.put(Path::new(guest), Entry::Text(text));
    }

    /// A symbolic link to `target`; nothing where something is already.
    pub(crate) fn link(&mut self, guest: &str, target: &str) {
        if !self.0.contains_key(&key(Path::new(guest))) {
            self.put(Path::new(guest), Entry::Link(target.into()));
        }
    }

    /// A file or folder of the host, with all that is in it; links are followed. Of those in a folder that lead nowhere
    /// (packages leave them) the guest gets links.
    pub(crate) fn copy(&mut self, host: &Path, guest: &Path) -> Result<(), InitramfsError> {
        let wrong = |error| InitramfsError::Read(host.to_owned(), error);
        if fs::metadata(host).map_err(wrong)?.is_file() {
            self.put(guest, Entry::Host(host.to_owned()));
            return Ok(());
        }
        self.folder(guest);
        for entry in fs::read_dir(host).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let (path, guest) = (entry.path(), guest.join(entry.file_name()));
            match fs::read_link(&path) {
                Ok(target) if !path.exists() => {
                    self.put(&guest, Entry::Link(target.to_string_lossy().into_owned()));
                }
                _ => self.copy(&path, &guest)?,
            }
        }
        Ok(())
    }

    /// Writes the archive to `path`.
    pub(crate) fn write(&self, path: &Path) -> Result<(), InitramfsError> {
        let wrong = |error| InitramfsError::Write(path.to_owned(), error);
        let mut out = io::BufWriter::new(fs::File::create(path).map_err(wrong)?);
        for ((name, entry), number) in self.0.iter().zip(1..) {
            let builder = Builder::new(name).ino(number);
            match entry {
                Entry::Folder => {
                    let builder = builder.mode(0o755).set_mode_file_type(ModeFileType::Directory);
                    builder.write(&mut out, 0).finish().map_err(wrong)?;
                }
                Entry::Link(target) => {
                    let builder = builder.mode(0o777).set_mode_file_type(ModeFileType::Symlink);
                    bytes(builder, target.as_bytes(), &mut out, path)?;
                }
                Entry::Text(text) => {
                    let builder = builder.mode(0o755).set_mode_file_type(ModeFileType::Regular);
                    bytes(builder, text.as_bytes(), &mut out, path)?;
                }
                Entry::Host(host) => file(builder, host, &mut out, path)?,
            }
        }
        trailer(&mut out).map_err(wrong)?;
        out.flush().map_err(wrong)
    }

    fn put(&mut self, guest: &Path, entry: Entry) {
        if let Some(parent) = guest.parent() {
            self.folder(parent);
        }
        self.0.insert(key(guest), entry);
    }
}

fn bytes(
    builder: Builder,
    content: &[u8],
    out: &mut impl Write,
    path: &Path,
) -> Result<(), InitramfsError> {
    let wrong = |error| InitramfsError::Write(path.to_owned(), error);
    let size =
        u32::try_from(content.len()).map_err(|_| InitramfsError::TooLarge(path.to_owned()))?;
    let mut writer = builder.write(out, size);
    writer.write_all(content).map_err(wrong)?;
    writer.finish().map(drop).map_err(wrong)
}

fn file(
    builder: Builder,
    host: &Path,
    out: &mut impl Write,
    path: &Path,
) -> Result<(), InitramfsError> {
    let unread = |error| InitramfsError::Read(host.to_owned(), error);
    let unwritten = |error| InitramfsError::Write(path.to_owned(), error);
    let source = fs::File::open(host).map_err(unread)?;
    let meta = source.metadata().map_err(unread)?;
    let size = u32::try_from(meta.len()).map_err(|_| InitramfsError::TooLarge(host.to_owned()))?;
    let builder =
        builder.mode(meta.permissions().mode() & 0o7777).set_mode_file_type(ModeFileType::Regular);
    let mut writer = builder.write(out, size);
    // A file that grows while it is read is cut; one that shrinks is an error of `finish`.
    io::copy(&mut io::Read::take(source, size.into()), &mut writer).map_err(unwritten)?;
    writer.finish().map(drop).map_err(unread)
}

/// A path of the guest as the archive names it: without a leading `/`, `.` and `..`.
fn key(guest: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in guest.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpio::newc::Reader;

    /// Name, mode and content of everything in the archive.
    fn listed(tree: &Initramfs) -> Vec<(String, u32, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("initrd");
        tree.write(&path).unwrap();
        let mut from = io::BufReader::new(fs::File::open(&path).unwrap());
        let mut all = Vec::new();
        loop {
            let mut reader = Reader::new(&mut from).unwrap();
            if reader.entry().is_trailer() {
                return all;
            }
            let (name, mode) = (reader.entry().name().to_owned(), reader.entry().mode());
            let mut content = String::new();
            io::Read::read_to_string(&mut reader, &mut content).unwrap();
            reader.finish().unwrap();
            all.push((name, mode, content));
        }
    }

    #[test]
    fn folders_come_before_what_is_in_them() {
        let host = tempfile::tempdir().unwrap();
        fs::write(host.path().join("data"), "content").unwrap();
        fs::set_permissions(host.path().join("data"), fs::Permissions::from_mode(0o640)).unwrap();
        let mut tree = Initramfs::default();
        tree.script("init", "#!/bin/sh\n".into());
        tree.link("bin/sh", "busybox");
        tree.link("bin/sh", "not again");
        tree.copy(host.path(), Path::new("/a/../b/c")).unwrap();
        let expected = [
            ("b", 0o040_755, ""),
            ("b/c", 0o040_755, ""),
            ("b/c/data", 0o100_640, "content"),
            ("bin", 0o040_755, ""),
            ("bin/sh", 0o120_777, "busybox"),
            ("init", 0o100_755, "#!/bin/sh\n"),
        ];
        let expected = expected.map(|(name, mode, text)| (name.to_owned(), mode, text.to_owned()));
        assert_eq!(listed(&tree), expected);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_one_in_the_guest() {
        let host = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("not/there", host.path().join("font")).unwrap();
        let mut tree = Initramfs::default();
        tree.copy(host.path(), Path::new("/x")).unwrap();
        let link = ("x/font".to_owned(), 0o120_777, "not/there".to_owned());
        assert!(listed(&tree).contains(&link), "{:?}", listed(&tree));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Initramfs::default().copy(Path::new("/no/such"), Path::new("/x")).unwrap_err();
        assert_eq!(error.to_string(), "cannot copy /no/such into the guest");
    }
}
