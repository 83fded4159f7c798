//! How much memory the kernel holds of what an area maps, whoever maps it.

use crate::{Area, Error, Host, files::fault};
use pagetide_types::{Bytes, Pid};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::io;

/// What `st_blocks` counts in (stat(2)).
const BLOCK: u64 = 512;

impl Host {
    /// What the kernel holds of the shared memory behind an area, mapped by somebody or by nobody, swapped pages
    /// included: the blocks of the file that `/proc/PID/map_files` shows, to root alone.
    ///
    /// # Errors
    /// When it is not mapped there any more, or may not be looked at.
    pub fn held_behind(&self, pid: Pid, area: &Area) -> Result<Bytes, Error> {
        let path = self.proc(pid, &format!("map_files/{:x}-{:x}", area.start.0, area.end.0));
        // What the kernel has at hand: a file system of somebody's own need not answer, ever.
        let (flags, mask) = (AtFlags::STATX_DONT_SYNC, StatxFlags::BLOCKS | StatxFlags::INO);
        let found = statx(CWD, &path, flags, mask);
        let found = found.map_err(|source| fault(path.clone(), source.into()))?;
        if found.stx_ino != area.inode {
            let source = io::Error::other("another file is mapped there by now");
            return Err(Error::Read { path, source });
        }
        Ok(Bytes(found.stx_blocks * BLOCK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Maps, fake::Fake};
    use std::{fs, os::unix::fs::MetadataExt};

    const FILE: &str = "proc/9/map_files/7000-9000";

    /// A tree in which process 9 maps a file, and its memory map.
    fn mapped(inode: impl Fn(u64) -> u64) -> (Fake, Maps) {
        let fake = Fake::new();
        fake.file(FILE, [1; 8192]);
        let inode = inode(fs::metadata(fake.path(FILE)).unwrap().ino());
        fake.file("proc/9/maps", format!("00007000-00009000 rw-s 0 00:01 {inode} /memfd:x\n"));
        let mut maps = Maps::new();
        fake.host().read_maps(Pid(9), &mut maps).unwrap();
        (fake, maps)
    }

    #[test]
    fn what_is_held_is_the_blocks_of_the_file_that_is_mapped() {
        let (fake, maps) = mapped(|inode| inode);
        let held = fake.host().held_behind(Pid(9), &maps.areas()[0]).unwrap();
        assert_eq!(held.0, 512 * fs::metadata(fake.path(FILE)).unwrap().blocks());
        assert!(fake.host().held_behind(Pid(8), &maps.areas()[0]).is_err(), "nobody");
    }

    #[test]
    fn another_file_at_the_same_place_is_not_taken_for_it() {
        let (fake, maps) = mapped(|inode| inode + 1);
        assert!(fake.host().held_behind(Pid(9), &maps.areas()[0]).is_err());
    }
}
