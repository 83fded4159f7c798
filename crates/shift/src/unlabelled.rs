//! A region without labels is one namespace, and nobody may have made it: whether anything is on it, and whose it is.

use crate::{Answer, Fault, LiveKernel, PrepareError, Why, alone::Alone, live::SLOWEST, users};
use pagetide_host::{DeviceKind, Namespace, Region};
use pagetide_types::Bytes;
use std::{io, path::Path, time::Duration};

/// A namespace that holds nothing and is nobody's. As long as this is there nobody can mount it, or have it in a volume.
#[derive(Debug)]
pub(crate) struct Unclaimed {
    alone: Alone,
    region: String,
    namespace: String,
}

impl Unclaimed {
    /// Lets go of it, so that its region can be taken from its driver.
    ///
    /// # Errors
    /// When somebody opened or closed it since it was looked at.
    pub(crate) fn let_go(self) -> Result<(), PrepareError> {
        self.check()
    }

    fn check(&self) -> Result<(), PrepareError> {
        self.alone.check().map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY) => self.occupied("was opened or closed by somebody just now"),
            _ => self.occupied(&format!("cannot be watched: {error}")),
        })
    }

    fn occupied(&self, why: &str) -> PrepareError {
        occupied(&self.region, &self.namespace, why)
    }
}

fn occupied(region: &str, namespace: &str, why: &str) -> PrepareError {
    let (region, namespace) = (region.to_owned(), namespace.to_owned());
    PrepareError::Occupied { region, namespace, why: why.to_owned() }
}

/// Whether a namespace that nobody may have made holds nothing, and is nobody's. The reading takes time: who has it open
/// afterwards is looked for again, and who has opened or closed it by then is noticed.
pub(crate) fn is_empty(
    kernel: &LiveKernel,
    region: &Region,
    namespace: &Namespace,
) -> Result<Unclaimed, PrepareError> {
    let occupied = |why: &str| occupied(&region.name, &namespace.name, why);
    if namespace.mode != "raw" {
        return Err(occupied(&format!("is used in mode {}", namespace.mode)));
    }
    let Some(device) = &namespace.block_device else {
        return Err(occupied("cannot be looked at: it has no block device (is nd_pmem loaded?)"));
    };
    let path = kernel.host().path(format!("dev/{device}"));
    let alone = exclusive(&path).map_err(|error| match error.raw_os_error() {
        Some(libc::EBUSY) => {
            occupied("is mounted, in use as swap, or held by another device (lsblk shows it)")
        }
        _ => occupied(&format!("cannot be opened ({}): {error}", path.display())),
    })?;
    let (region, name) = (region.name.clone(), namespace.name.clone());
    let unclaimed = Unclaimed { alone, region, namespace: name };
    let unused = || match kernel.block_users(device)? {
        users if users.is_empty() => Ok(()),
        users => Err(occupied(&format!("is open in {}; end them first", users.join(", ")))),
    };
    unused()?;
    match kernel.first_nonzero_of(&unclaimed.alone, &path, namespace.size) {
        Ok(None) => {}
        Ok(Some(offset)) => {
            return Err(occupied(&format!(
                "holds data (the first at byte {offset}): a file system, a partition table or other data. \
                 If nobody wants them, `blkdiscard -z {}` clears it",
                path.display()
            )));
        }
        Err(fault) => return Err(occupied(&format!("cannot be read whole: {fault}"))),
    }
    unused()?;
    unclaimed.check()?;
    Ok(unclaimed)
}

/// Opens a block device as those do who mount it, swap on it, or have it in a volume: only one can. It is read past the
/// page cache where that goes.
fn exclusive(path: &Path) -> io::Result<Alone> {
    match Alone::open_with(path, libc::O_EXCL | libc::O_DIRECT) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            Alone::open_with(path, libc::O_EXCL)
        }
        other => other,
    }
}

impl LiveKernel {
    /// Offset of the first byte of a block device that is not zero. The helper is given it open: to open it would look like
    /// another's doing.
    fn first_nonzero_of(&self, device: &Alone, path: &Path, size: Bytes) -> Answer<Option<u64>> {
        let limit = Duration::from_secs(30 + size.0 / SLOWEST);
        let doing = format!("read {}", path.display());
        let file = device.file().try_clone().map_err(|error| {
            let why = Why::Said(error.to_string());
            Fault { doing: doing.clone(), why }
        })?;
        let words = ["first-nonzero-of-blocks", &size.0.to_string()];
        self.helpers.helper().run_on(file.into(), &doing, &words, Some(limit))
    }

    /// Who has a block device open, but for us.
    fn block_users(&self, name: &str) -> Answer<Vec<String>> {
        let number = self.host().block_device(name).ok_or_else(users::unknown)?;
        self.users_of(number, DeviceKind::Block)
    }
}

#[cfg(test)]
#[path = "unlabelled_tests.rs"]
mod tests;
