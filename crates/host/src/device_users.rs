//! Who has a device open, or mapped without having it open any more.

use crate::{Dev, Error, Host, Maps, Perms, files::fault};
use pagetide_types::Pid;
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What a device's number belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Bytes.
    Character,
    /// Blocks.
    Block,
}

/// A process that has a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceUser {
    /// Which process.
    pub pid: Pid,
    /// Its name.
    pub name: String,
    /// Whether it has it open; else it only maps it.
    pub open: bool,
}

impl Host {
    /// The number of a block device, such as `pmem0`.
    #[must_use]
    pub fn block_device(&self, name: &str) -> Option<Dev> {
        let text = self.text(format!("sys/class/block/{name}/dev"))?;
        let (major, minor) = text.split_once(':')?;
        Some(Dev { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The processes that have a device open or mapped, by whatever name.
    ///
    /// # Errors
    /// When a process may not be looked into: what it has is not known then.
    pub fn device_users(&self, device: Dev, kind: DeviceKind) -> Result<Vec<DeviceUser>, Error> {
        let pids = self.pids()?.into_iter();
        pids.filter_map(|pid| self.device_user(pid, device, kind).transpose()).collect()
    }

    /// A process, if it has a device open or mapped; one that has ended has not.
    ///
    /// # Errors
    /// When it may not be looked into.
    pub fn device_user(
        &self,
        pid: Pid,
        device: Dev,
        kind: DeviceKind,
    ) -> Result<Option<DeviceUser>, Error> {
        let open = match self.has_open(pid, device, kind) {
            Err(error) => match self.gone(pid, error) {
                Error::NoProcess(_) => return Ok(None),
                error => return Err(error),
            },
            Ok(open) => open,
        };
        let mapped = || match self.has_mapped(pid, device, kind) {
            Err(Error::NoProcess(_)) => Ok(false),
            other => other,
        };
        let name = || self.process(pid).map(|it| it.name).unwrap_or_default();
        Ok((open || mapped()?).then(|| DeviceUser { pid, name: name(), open }))
    }

    /// Whether a file of `/dev` is the device of that number: what is not must not be written to.
    ///
    /// # Errors
    /// When it may not be looked at.
    pub fn is_device(&self, path: &Path, device: Dev, kind: DeviceKind) -> Result<bool, Error> {
        is_device(path, device, kind)
    }

    fn has_open(&self, pid: Pid, device: Dev, kind: DeviceKind) -> Result<bool, Error> {
        let folder = self.path(format!("proc/{pid}/fd"));
        for entry in fs::read_dir(&folder).map_err(|source| fault(folder.clone(), source))? {
            // A descriptor that is closed meanwhile ends the listing of none.
            let Ok(entry) = entry else { continue };
            if is_device(&entry.path(), device, kind)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Devices of direct access can only be mapped shared, so few mappings need be asked.
    fn has_mapped(&self, pid: Pid, device: Dev, kind: DeviceKind) -> Result<bool, Error> {
        let mut maps = Maps::new();
        self.read_maps(pid, &mut maps)?;
        for area in
            maps.areas().iter().filter(|area| area.perms.has(Perms::SHARED) && area.inode > 0)
        {
            let range = format!("proc/{pid}/map_files/{:x}-{:x}", area.start.0, area.end.0);
            if is_device(&self.path(range), device, kind)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a link of procfs leads to a device; one that has gone leads nowhere. A file system is not asked, only what
/// the kernel has at hand: one that a user made (FUSE) need not answer.
fn is_device(link: &Path, device: Dev, kind: DeviceKind) -> Result<bool, Error> {
    match looked_at(link, StatxFlags::TYPE | StatxFlags::MODE) {
        Ok(found) => {
            let number = Dev { major: found.stx_rdev_major, minor: found.stx_rdev_minor };
            let kinds = FileType::from_raw_mode(found.stx_mode.into());
            Ok(number == device
                && match kind {
                    DeviceKind::Character => kinds.is_char_device(),
                    DeviceKind::Block => kinds.is_block_device(),
                })
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            if is_somebodys_own(link) {
                Ok(false)
            } else {
                Err(fault(link.to_owned(), error))
            }
        }
        Err(_) => Ok(false),
    }
}

fn looked_at(link: &Path, what: StatxFlags) -> io::Result<Statx> {
    Ok(statx(CWD, link, AtFlags::STATX_DONT_SYNC, what)?)
}

/// Whether a file that may not be looked at lies in a file system that a user mounted, which nobody else may look
/// into, root neither (fuse.rst): it holds no devices, and whoever has one mounted must not keep us from finding out
/// who has a device. Such a file is there for who asks nothing of it; on kernels that refuse that, too, it goes by its place.
fn is_somebodys_own(link: &Path) -> bool {
    let elsewhere = |to: PathBuf| !to.starts_with("/dev") || to.starts_with("/dev/shm");
    looked_at(link, StatxFlags::empty()).is_ok() || fs::read_link(link).is_ok_and(elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use std::fs::File;

    /// `/dev/full`, which nobody has open by chance.
    const FULL: Dev = Dev { major: 1, minor: 7 };

    #[test]
    fn we_are_found_by_the_device_that_we_have_open() {
        let host = Host::live();
        let us = Pid(i32::try_from(std::process::id()).unwrap());
        // Only root may look into every process; our own can always be.
        let found = || host.has_open(us, FULL, DeviceKind::Character).unwrap();
        assert!(!found());
        let file = File::open("/dev/full").unwrap();
        assert!(found());
        drop(file);
        assert!(!found());
    }

    #[test]
    fn a_process_that_ends_meanwhile_has_nothing() {
        let fake = Fake::new();
        fake.process(7, "app", 1);
        fake.dir("proc/7/fd").file("proc/7/maps", "");
        assert_eq!(fake.host().device_users(FULL, DeviceKind::Character).unwrap(), []);
        fake.link("proc/7/fd/3", "/dev/full");
        let user = DeviceUser { pid: Pid(7), name: "app".into(), open: true };
        assert_eq!(fake.host().device_users(FULL, DeviceKind::Character).unwrap(), [user]);
    }

    #[test]
    fn a_mapping_counts_without_a_descriptor() {
        let fake = Fake::new();
        fake.process(7, "app", 1).dir("proc/7/fd");
        fake.file("proc/7/maps", "7f0000000000-7f0000200000 rw-s 00000000 00:05 93 /dev/full\n");
        fake.link("proc/7/map_files/7f0000000000-7f0000200000", "/dev/full");
        let users = fake.host().device_users(FULL, DeviceKind::Character).unwrap();
        assert_eq!(users, [DeviceUser { pid: Pid(7), name: "app".into(), open: false }]);
    }
}

#[cfg(test)]
#[path = "fuse_tests.rs"]
mod fuse_tests;
