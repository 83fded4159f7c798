//! A region without labels is one namespace, and nobody may have made it: whether anything is on it, and whose it is.

use crate::{
    Answer, Fault, LiveKernel, PrepareError, Why,
    live::{SLOWEST, fault},
};
use pagetide_host::{DeviceKind, Namespace, Region};
use pagetide_types::Bytes;
use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

/// Whether a namespace that nobody may have made holds nothing, and is nobody's.
pub(crate) fn is_empty(
    kernel: &LiveKernel,
    region: &Region,
    namespace: &Namespace,
) -> Result<(), PrepareError> {
    let occupied = |why: &str| PrepareError::Occupied {
        region: region.name.clone(),
        namespace: namespace.name.clone(),
        why: why.to_owned(),
    };
    if namespace.mode != "raw" {
        return Err(occupied(&format!("is used in mode {}", namespace.mode)));
    }
    let Some(device) = &namespace.block_device else {
        return Err(occupied("cannot be looked at: it has no block device (is nd_pmem loaded?)"));
    };
    let path = kernel.host().path(format!("dev/{device}"));
    // Whoever mounts it, swaps on it, or has it in a volume, has it exclusively; so have we for now.
    let exclusive = OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&path);
    let held = match exclusive {
        Ok(held) => held,
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            return Err(occupied("is mounted, or held by another device (lsblk shows it)"));
        }
        Err(error) => {
            return Err(occupied(&format!("cannot be opened ({}): {error}", path.display())));
        }
    };
    let users = kernel.block_users(device)?;
    if !users.is_empty() {
        return Err(occupied(&format!("is open in {}; end them first", users.join(", "))));
    }
    let found = kernel.first_nonzero_of(&path, namespace.size);
    drop(held);
    match found {
        Ok(None) => Ok(()),
        Ok(Some(offset)) => Err(occupied(&format!(
            "holds data (the first at byte {offset}): a file system, a partition table or other data. \
             If nobody wants them, `blkdiscard -z {}` clears it",
            path.display()
        ))),
        Err(fault) => Err(occupied(&format!("cannot be read whole: {fault}"))),
    }
}

impl LiveKernel {
    /// Offset of the first byte of a block device that is not zero.
    fn first_nonzero_of(&self, path: &Path, size: Bytes) -> Answer<Option<u64>> {
        let limit = Duration::from_secs(30 + size.0 / SLOWEST);
        let doing = format!("read {}", path.display());
        let words = ["first-nonzero-of-blocks", &path.to_string_lossy(), &size.0.to_string()];
        self.helpers.helper().run(&doing, &words, Some(limit))
    }

    /// Who has a block device open, but for us.
    fn block_users(&self, name: &str) -> Answer<Vec<String>> {
        let doing = "find out who has it open";
        let number = self.host().block_device(name).ok_or_else(|| Fault {
            doing: doing.into(),
            why: Why::Said("the kernel does not tell its number".into()),
        })?;
        let users = self.host().device_users(number, DeviceKind::Block).map_err(fault(doing))?;
        let us = std::process::id();
        Ok(users
            .into_iter()
            .filter(|user| u32::try_from(user.pid.0) != Ok(us))
            .map(|user| format!("{} ({})", user.name, user.pid))
            .collect())
    }
}
